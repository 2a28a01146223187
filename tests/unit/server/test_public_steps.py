"""Instructions: pages of text, examples to see or hear before the first rating, and what is read before and after."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from beholder.errors import StimuliError, StudyError
from beholder.methods import load_study
from beholder.methods.contract import Trial
from beholder.planning import plan_study as make
from beholder.planning.digest import plan_digest, study_digest
from beholder.server.public_steps import step_texts
from beholder.server.script import make_script
from beholder.simulation.crowd import send_robots
from beholder.stimuli.catalogue import Catalogue
from beholder.stimuli.ingestion import load_catalogue
from beholder.study.model import Study, installed_study_model
from beholder.study.serialization import resolved_yaml
from beholder.study.texts import instruction_pages, study_text
from beholder.testing import write_study
from beholder.words import read_words
from support.instruction_pages import PLAYED, served, until, written
from support.visitor import Visitor

# What the researcher writes


def test_instructions_are_a_text_or_pages_and_load_as_they_are_printed(tmp_path: Path, tiny: Path) -> None:
    (tmp_path / "one").mkdir()
    path = written(tmp_path / "one", tiny, ["First.", "second.md", PLAYED])
    (tmp_path / "one" / "second.md").write_text("Second.", "utf-8")
    study = load_study(path)
    assert [page.text for page in instruction_pages(study)] == ["First.", "Second.", "## Look for *this*"]
    assert [page.play for page in study.texts.pages] == [False, False, True]
    assert study_text(study, "instructions") == "First.\n\nSecond.\n\n## Look for *this*"
    again = tmp_path / "one" / "again.yaml"
    again.write_text(resolved_yaml(study), "utf-8")
    assert load_study(again) == study
    assert "instructions: Only one." in resolved_yaml(study.model_copy(update={"texts": texts("Only one.")}))


def test_a_reminder_is_a_text_or_a_file_and_stands_on_rating_pages_only(tmp_path: Path, tiny: Path) -> None:
    path = write_study(tmp_path / "study", tiny, texts={"reminder": "reminder.md"})
    with pytest.raises(StudyError, match=r"texts\.reminder is reminder\.md, and there is no such file"):
        load_study(path)
    (tmp_path / "study" / "reminder.md").write_text("Look at **motion** only. <script>x</script>", "utf-8")
    study = load_study(path)
    shown = step_texts(study, read_words("en"))
    assert shown["reminder"] == "<p>Look at <strong>motion</strong> only. x</p>"
    assert "reminder" not in step_texts(load_study(write_study(tmp_path / "plain", tiny)), read_words("en"))


def texts(instructions: Any) -> Any:
    base = {"beholder": 1, "name": "a", "title": "A", "method": "acr", "stimuli": "s"}
    return installed_study_model().model_validate({**base, "texts": {"instructions": instructions}}).texts


@pytest.mark.parametrize(
    ("instructions", "message"),
    [
        (["", "b"], "texts.instructions.0 is empty. Allowed: a map with the keys text, examples and play."),
        ([{"examples": []}], "texts.instructions.0.text is missing. Allowed: text that is not empty."),
        (["a", {"text": "gone.md"}],
         "texts.instructions.1.text is gone.md, and there is no such file. Allowed: Markdown, or the name of a file "
         "that ends in .md. Write it to gone.md in the study folder."),
        (["gone.md"],
         "texts.instructions.0 is gone.md, and there is no such file. Allowed: Markdown, or the name of a file "
         "that ends in .md. Write it to gone.md in the study folder."),
        ([{"text": "a", "examples": [{"file": "a.mp4"}]}],
         "texts.instructions.0.examples.0.caption is missing. Allowed: text that is not empty."),
        ([{"text": "a", "plays": True}],
         "texts.instructions.0.plays is not a known key. Allowed: text, examples and play. Did you mean play?"),
    ],
)  # fmt: skip
def test_a_page_that_is_wrong_is_told_at_its_place(tmp_path: Path, tiny: Path, instructions: Any, message: str) -> None:
    with pytest.raises(StudyError) as refused:
        load_study(written(tmp_path, tiny, instructions))
    assert [str(problem).split("  ", 1)[1] for problem in refused.value.problems] == [message]


def test_examples_that_cannot_be_shown_are_told_with_their_line(tmp_path: Path, tiny: Path) -> None:
    files = ["examples/tron.mp4", "examples/torn.xyz", "../torn.mp4"]
    page = {"text": "a", "examples": [{"file": file, "caption": "x"} for file in files]}
    study = load_study(written(tmp_path, tiny, [page]))
    with pytest.raises(StimuliError) as refused:
        load_catalogue(study)
    texts = [str(problem).split("  ", 1)[1] for problem in refused.value.problems]
    assert texts[0] == (
        "texts.instructions.0.examples.0.file is examples/tron.mp4, and there is no such file. "
        "Allowed: a file in the study folder. Did you mean torn.mp4?"
    )
    assert texts[1].startswith(
        "texts.instructions.0.examples.1.file is examples/torn.xyz, an unknown kind of file. Allowed: "
    )
    assert texts[2] == (
        "texts.instructions.0.examples.2.file is ../torn.mp4, outside the study folder. Allowed: paths inside it. "
        "Move it into the folder."
    )


# Examples among the stimuli


def test_examples_are_served_and_never_planned(tmp_path: Path, tiny: Path) -> None:
    plain, shown = written(tmp_path / "a", tiny, "Rate."), written(tmp_path / "b", tiny, ["Rate.", PLAYED])
    before, after = (load_catalogue(load_study(path)) for path in (plain, shown))
    assert (before.stimuli, before.conditions) != ((), ())
    assert [stimulus.id for stimulus in after.stimuli] == [stimulus.id for stimulus in before.stimuli]
    assert after.conditions == before.conditions
    assert after.contents == before.contents
    assert [(one.role, one.file) for one in after.examples] == [
        ("example", "examples/torn.mp4"), ("example", "examples/still.mp4"),
    ]  # fmt: skip
    assert all(one.served.is_file() and one.id in after.by_id for one in after.examples)
    planned = {slot.stimulus for entry in make(shown).lists for trial in entry.entries if isinstance(trial, Trial)
               for slot in trial.slots}  # fmt: skip
    assert planned.isdisjoint(one.id for one in after.examples)


def test_an_example_that_changes_keeps_the_plan(tmp_path: Path, tiny: Path) -> None:
    path = written(tmp_path, tiny, ["Rate.", PLAYED])
    study = load_study(path)
    first = load_catalogue(study)
    shutil.copy(tmp_path / "examples" / "still.mp4", tmp_path / "examples" / "torn.mp4")
    second = load_catalogue(study)
    assert plan_digest(study, first) == plan_digest(study, second)
    assert study_digest(study, first) != study_digest(study, second)


def listed(folder: Path, tiny: Path, rows: str) -> Study:
    write_study(folder, tiny, stimuli={"manifest": "list.csv"}, conditions=None)
    files = "".join(
        f"{file.relative_to(folder).as_posix()},{file.stem},{file.parent.name},,\n"
        for file in sorted((folder / "stimuli").rglob("*.mp4"))
    )
    (folder / "list.csv").write_text(f"file,content,condition,role,message\n{files}{rows}", "utf-8")
    return load_study(folder / "study.yaml")


def first_clip(tiny: Path) -> str:
    return sorted((tiny / "stimuli").rglob("*.mp4"))[0].relative_to(tiny).as_posix()


def test_examples_of_a_manifest_are_one_more_page(tmp_path: Path, tiny: Path) -> None:
    file = first_clip(tiny)
    study = listed(tmp_path, tiny, f"{file},a,natural,example,Quite good\n{file},a,jerky,example,Quite bad\n")
    catalogue = load_catalogue(study)
    assert [one.caption for one in catalogue.examples] == ["Quite good", "Quite bad"]
    assert not [warning for warning in catalogue.warnings if "example" in str(warning) or "message" in str(warning)]
    steps = make_script(study, [], examples=catalogue.examples).steps
    assert [step.key for step in steps] == ["consent", "text:instructions", "text:instructions:2"]
    assert steps[2].page is not None
    assert [example.caption for example in steps[2].page.examples] == ["Quite good", "Quite bad"]
    shown = step_texts(study, read_words("en"), catalogue)
    assert "They are not rated." in shown["instructions:2"]
    assert "<li>Quite good</li>" in shown["help"]


def test_an_example_of_a_manifest_needs_a_caption(tmp_path: Path, tiny: Path) -> None:
    study = listed(tmp_path, tiny, f"{first_clip(tiny)},a,natural,example,\n")
    with pytest.raises(StimuliError) as refused:
        load_catalogue(study)
    (problem,) = refused.value.problems
    assert str(problem) == ("list.csv:18  has role example and no caption. Allowed: words in the column message.")


# The steps


def test_the_words_for_p910_name_the_kinds_of_flaws() -> None:
    base = {"beholder": 1, "name": "a", "title": "A", "method": "acr", "stimuli": "s"}
    words = read_words("en")
    shown = step_texts(installed_study_model().model_validate({**base, "preset": "p910"}), words)["instructions"]
    for word in ("Fragmentation", "Discontinuity", "Uncleanness", "short", "small place", "other kinds"):
        assert word in shown
    assert "Fragmentation" not in step_texts(installed_study_model().model_validate(base), words)["instructions"]
    own = {**base, "preset": "p910", "texts": {"instructions": "Mine."}}
    assert step_texts(installed_study_model().model_validate(own), words)["instructions"] == "<p>Mine.</p>"


def test_who_will_be_asked_by_a_stimulus_is_told_so_in_our_own_words() -> None:
    base = {"beholder": 1, "name": "a", "title": "A", "method": "acr", "stimuli": "s"}
    words = read_words("en")
    asking = installed_study_model().model_validate({**base, "checks": {"trap": True}})
    assert words["text_asking"] in step_texts(asking, words)["instructions"]
    assert words["text_asking"] not in step_texts(installed_study_model().model_validate(base), words)["instructions"]


# Over HTTP


async def test_robots_play_the_examples_and_everybody_can_read_all_pages_again(tmp_path: Path, tiny: Path) -> None:
    async with served(written(tmp_path, tiny, ["First.", PLAYED])) as site:
        crowd = await send_robots(site.service.served, site.store, site.address, 2)
        assert [robot.step["outcome"] for robot in crowd.robots] == ["completed", "completed"]
        rows = [row async for row in site.store.rows("answers") if row["key"] == "text:instructions:2"]
        assert [row["playback"]["s2"]["coverage"] for row in rows] == [1.0, 1.0]
        stimuli = [row async for row in site.store.rows("stimuli") if row["role"] == "example"]
        assert len(stimuli) == 2
        visitor = Visitor(site, participant="ada")
        response = await visitor.arrive()
        texts = response.json()["study"]["instructions"]
        assert "First." in texts
        assert "<em>this</em>" in texts
        assert "<li>Torn blocks</li>" in texts


async def test_the_first_page_fetches_the_examples_of_the_second(tmp_path: Path, tiny: Path) -> None:
    async with served(written(tmp_path, tiny, ["First.", PLAYED])) as site:
        visitor = Visitor(site, participant="ada")
        await until(visitor, "text:instructions")
        ahead = [media["url"] for media in visitor.step["prefetch"]]
        await visitor.answer({})
        assert [slot["media"]["url"] for slot in visitor.step["trial"]["slots"]] == ahead


MARKED = {
    "questions": [{"id": "real", "text": "How **real**?",
                   "scale": {"min": 1, "max": 2, "labels": ["*not*", "2*3*4"], "look": "radio"}}],
    "before": [{"id": "who", "text": "Who **are** you?", "type": "single", "options": ["A *person*", "A **robot**"]}],
}  # fmt: skip


async def test_marked_words_are_a_tree_on_the_page_and_robots_answer_without_marks(tmp_path: Path, tiny: Path) -> None:
    page = {"text": "Look", "examples": [{"file": "examples/torn.mp4", "caption": "**Torn** blocks"}]}
    async with served(written(tmp_path, tiny, [page], method="acr", **MARKED)) as site:
        crowd = await send_robots(site.service.served, site.store, site.address, 1)
        assert [robot.step["outcome"] for robot in crowd.robots] == ["completed"]
        answers = {row["key"]: row["answer"] async for row in site.store.rows("answers")}
        assert answers["questions:before"] == {"answers": {"who": "A robot"}}
        visitor = Visitor(site, participant="ada")
        await visitor.arrive()
        await visitor.answer({"agree": True})
        robot = {"mark": "strong", "words": ["robot"]}
        assert visitor.step["items"][0]["options"][1] == ["A ", robot]
        assert (await visitor.answer({"answers": {"who": "A **robot**"}})).status_code == 422
        await visitor.answer({"answers": {"who": "A robot"}})
        assert visitor.step["captions"] == [[{"mark": "strong", "words": ["Torn"]}, " blocks"]]
        await visitor.answer({})
        asked = visitor.step["trial"]["asked"][0]
        assert asked["text"] == ["How ", {"mark": "strong", "words": ["real"]}, "?"]
        assert asked["scale"]["labels"] == [[1, [{"mark": "em", "words": ["not"]}]], [2, "2*3*4"]]


# Before and after


def test_a_catalogue_knows_its_examples_by_id(tmp_path: Path, tiny: Path) -> None:
    catalogue = load_catalogue(load_study(written(tmp_path, tiny, [PLAYED, PLAYED])))
    assert isinstance(catalogue, Catalogue)
    assert len(catalogue.examples) == 2, "a file that two pages show is served once"
    assert {one.id for one in catalogue.examples} <= set(catalogue.class_sizes)
