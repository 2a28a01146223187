"""Instructions: pages of text, examples to see or hear before the first rating, and what is read before and after."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from beholder.errors import StimuliError, StudyError
from beholder.methods import load_study
from beholder.methods.contract import Trial
from beholder.planning import plan_study as make
from beholder.planning.digest import plan_digest, study_digest
from beholder.server.process import run_server
from beholder.server.public_steps import step_texts
from beholder.server.script import make_script
from beholder.simulation.crowd import send_robots
from beholder.simulation.robot import watch_events
from beholder.stimuli.catalogue import Catalogue
from beholder.stimuli.ingestion import load_catalogue
from beholder.study.model import Study
from beholder.study.serialization import resolved_yaml
from beholder.study.texts import instruction_pages, study_text
from beholder.testing import write_study
from beholder.words import read_words
from support.visitor import Site, Visitor

PLAYED: dict[str, Any] = {
    "text": "## Look for *this*",
    "play": True,
    "examples": [
        {"file": "examples/torn.mp4", "caption": "Torn blocks"},
        {"file": "examples/still.mp4", "caption": "It stands still"},
    ],
}


def written(folder: Path, tiny: Path, instructions: Any, **keys: Any) -> Path:
    """Write a study with these instructions, and two examples in its folder."""
    path = write_study(folder, tiny, texts={"instructions": instructions}, **keys)
    clips = sorted((folder / "stimuli").rglob("*.mp4"))
    (folder / "examples").mkdir()
    for clip, name in zip(clips, ("torn", "still"), strict=False):
        shutil.copy(clip, folder / "examples" / f"{name}.mp4")
    return path


@asynccontextmanager
async def served(path: Path) -> AsyncIterator[Site]:
    async with (
        run_server(load_study(path), port=0) as server,
        httpx.AsyncClient(base_url=server.address, timeout=60) as client,
    ):
        yield Site(server.service, server.store, server.address, client)


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


def texts(instructions: Any) -> Any:
    base = {"beholder": 1, "name": "a", "title": "A", "method": "acr", "stimuli": "s"}
    return Study.model_validate({**base, "texts": {"instructions": instructions}}).texts


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
    told = [str(problem).split("  ", 1)[1] for problem in refused.value.problems]
    assert told[0] == (
        "texts.instructions.0.examples.0.file is examples/tron.mp4, and there is no such file. "
        "Allowed: a file in the study folder. Did you mean torn.mp4?"
    )
    assert told[1].startswith(
        "texts.instructions.0.examples.1.file is examples/torn.xyz, an unknown kind of file. Allowed: "
    )
    assert told[2] == (
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
    shown = step_texts(study, read_words("en"), catalogue.examples)
    assert "They are not rated." in shown["instructions:2"]
    assert "<li>Quite good</li>" in shown["help"]


def test_an_example_of_a_manifest_needs_a_caption(tmp_path: Path, tiny: Path) -> None:
    study = listed(tmp_path, tiny, f"{first_clip(tiny)},a,natural,example,\n")
    with pytest.raises(StimuliError) as refused:
        load_catalogue(study)
    (problem,) = refused.value.problems
    assert str(problem) == ("list.csv:18  has role example and no caption. Allowed: words in the column message.")


# The steps


def test_every_page_is_a_step_and_the_volume_comes_before_what_is_heard(tmp_path: Path, tiny: Path) -> None:
    study = load_study(written(tmp_path, tiny, ["First.", PLAYED, "Last."]))
    catalogue = load_catalogue(study)
    steps = make_script(study, [], has_volume=True, examples=catalogue.examples).steps
    assert [step.key for step in steps] == [
        "consent", "volume", "text:instructions", "text:instructions:2", "text:instructions:3",
    ]  # fmt: skip
    assert [len(step.trial.slots) if step.trial else 0 for step in steps] == [0, 0, 0, 2, 0]
    plain = make_script(study, [], has_volume=True).steps
    assert [step.key for step in plain][:2] == ["consent", "text:instructions"]


def test_the_words_for_p910_name_the_kinds_of_flaws() -> None:
    base = {"beholder": 1, "name": "a", "title": "A", "method": "acr", "stimuli": "s"}
    words = read_words("en")
    shown = step_texts(Study.model_validate({**base, "preset": "p910"}), words)["instructions"]
    for word in ("Fragmentation", "Discontinuity", "Uncleanness", "short", "small place", "other kinds"):
        assert word in shown
    assert "Fragmentation" not in step_texts(Study.model_validate(base), words)["instructions"]
    own = {**base, "preset": "p910", "texts": {"instructions": "Mine."}}
    assert step_texts(Study.model_validate(own), words)["instructions"] == "<p>Mine.</p>"


def test_who_will_be_asked_by_a_stimulus_is_told_so_in_our_own_words() -> None:
    base = {"beholder": 1, "name": "a", "title": "A", "method": "acr", "stimuli": "s"}
    words = read_words("en")
    asking = Study.model_validate({**base, "checks": {"trap": True}})
    assert words["text_asking"] in step_texts(asking, words)["instructions"]
    assert words["text_asking"] not in step_texts(Study.model_validate(base), words)["instructions"]


# Over HTTP


async def until(visitor: Visitor, key: str) -> None:
    await visitor.arrive()
    await visitor.answer({"agree": True})
    while visitor.step["key"] != key:
        (await visitor.answer({})).raise_for_status()


async def test_what_has_to_be_played_is_proved_before_the_next_page(tmp_path: Path, tiny: Path) -> None:
    async with served(written(tmp_path, tiny, ["First.", PLAYED])) as site:
        visitor = Visitor(site, participant="ada")
        await until(visitor, "text:instructions:2")
        step = visitor.step
        assert step["captions"] == ["Torn blocks", "It stands still"]
        assert step["trial"]["asked"] == []
        assert "torn.mp4" not in str(step)
        refused = await visitor.answer({})
        assert (refused.status_code, refused.json()["error"]["code"]) == (422, "not_watched")
        refused = await visitor.answer({"missing": {"s1": "media_error"}}, watch_events(step["trial"]))
        assert (refused.status_code, refused.json()["error"]["code"]) == (422, "not_missing")
        refused = await visitor.answer({"scores": {}}, watch_events(step["trial"]))
        assert (refused.status_code, refused.json()["error"]["allowed"]) == (422, "{}, or what would not play")
        refused = await visitor.answer({"missing": {"s9": "media_error"}}, watch_events(step["trial"]))
        assert (refused.status_code, refused.json()["error"]["allowed"]) == (422, "s1, s2")
        for slot in step["trial"]["slots"]:
            media = await site.client.get(slot["media"]["url"])
            assert media.status_code == 200
            assert len(media.content) == slot["media"]["bytes"]


async def test_the_clock_of_the_server_has_to_allow_what_was_played(tmp_path: Path, tiny: Path) -> None:
    async with served(written(tmp_path, tiny, [PLAYED])) as site:
        visitor = Visitor(site, participant="ada")
        await until(visitor, "text:instructions")
        refused = await visitor.answer({}, watch_events(visitor.step["trial"]))
        assert refused.json()["error"]["allowed"] == "no more than the time that passed"


async def test_an_example_that_would_not_play_keeps_nobody_from_going_on(tmp_path: Path, tiny: Path) -> None:
    async with served(written(tmp_path, tiny, [PLAYED])) as site:
        visitor = Visitor(site, participant="ada")
        await until(visitor, "text:instructions")
        missing = {"missing": {"s1": "media_error", "s2": "media_error"}}
        errors = [[10, "error", slot, {"what": "decode"}] for slot in ("s1", "s2")]
        assert (await visitor.answer(missing, errors)).status_code == 200
        assert visitor.step["kind"] == "trial"


async def test_examples_that_may_be_left_out_are_left_out(tmp_path: Path, tiny: Path) -> None:
    async with served(written(tmp_path, tiny, [{**PLAYED, "play": False}])) as site:
        visitor = Visitor(site, participant="ada")
        await until(visitor, "text:instructions")
        assert visitor.step["trial"]["playback"]["watch"] == "none"
        assert (await visitor.answer({})).status_code == 200


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
        told = response.json()["study"]["instructions"]
        assert "First." in told
        assert "<em>this</em>" in told
        assert "<li>Torn blocks</li>" in told


async def test_the_first_page_fetches_the_examples_of_the_second(tmp_path: Path, tiny: Path) -> None:
    async with served(written(tmp_path, tiny, ["First.", PLAYED])) as site:
        visitor = Visitor(site, participant="ada")
        await until(visitor, "text:instructions")
        ahead = [media["url"] for media in visitor.step["prefetch"]]
        await visitor.answer({})
        assert [slot["media"]["url"] for slot in visitor.step["trial"]["slots"]] == ahead


# Before and after


async def test_people_read_what_is_needed_before_they_agree(tmp_path: Path, tiny: Path) -> None:
    checks = {"brightness": True, "colour": {"action": "flag"}}
    async with served(write_study(tmp_path / "a", tiny, qualification=checks)) as site:
        visitor = Visitor(site, participant="ada")
        await visitor.arrive()
        assert visitor.step["needs"]
        assert visitor.step["checks"]["senses"] == "eyes"
        assert visitor.step["checks"]["minutes"] >= 1
    async with served(write_study(tmp_path / "b", tiny, qualification={"tones": True, "brightness": True})) as site:
        visitor = Visitor(site, participant="ada")
        await visitor.arrive()
        assert visitor.step["checks"]["senses"] == "both"
    async with served(write_study(tmp_path / "c", tiny)) as site:
        visitor = Visitor(site, participant="ada")
        await visitor.arrive()
        assert (visitor.step["needs"], visitor.step["checks"]) == ([], None)


async def test_whoever_is_turned_away_reads_which_requirement_it_was_and_gets_a_code(
    tmp_path: Path, tiny: Path
) -> None:
    async with served(write_study(tmp_path, tiny, qualification={"brightness": {"attempts": 1}})) as site:
        visitor = Visitor(site, participant="ada")
        await until(visitor, "check:brightness:1")
        await visitor.answer({"cannot": True})
        assert (visitor.step["kind"], visitor.step["outcome"]) == ("end", "screened_out")
        assert visitor.step["text"].startswith("<p>Thank you.")
        assert "You did nothing wrong." in visitor.step["text"]
        assert visitor.step["code"]


async def test_a_questionnaire_of_the_study_has_its_own_last_words(server: Site) -> None:
    visitor = Visitor(server, participant="ada")
    await visitor.arrive()
    await visitor.answer({"agree": True})
    await visitor.answer({"answers": {"field": "yes"}})
    assert visitor.step["outcome"] == "screened_out"
    assert "other experience" in visitor.step["text"]


def test_every_outcome_has_words() -> None:
    base = {"beholder": 1, "name": "a", "title": "A", "method": "acr", "stimuli": "s"}
    shown = step_texts(Study.model_validate(base), read_words("en"))
    for outcome in ("screened_out", "wrong_device", "no_consent", "failed_checks", "technical", "withdrawn"):
        assert shown[outcome].startswith("<p>")


def test_a_catalogue_knows_its_examples_by_id(tmp_path: Path, tiny: Path) -> None:
    catalogue = load_catalogue(load_study(written(tmp_path, tiny, [PLAYED, PLAYED])))
    assert isinstance(catalogue, Catalogue)
    assert len(catalogue.examples) == 2, "a file that two pages show is served once"
    assert {one.id for one in catalogue.examples} <= set(catalogue.class_sizes)
