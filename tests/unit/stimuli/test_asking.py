"""Stimuli that ask for an answer: which answers, made of what, and made once."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from beholder.cli import cli
from beholder.errors import PlanError, StimuliError, StudyError
from beholder.methods import find, load_study
from beholder.planning import open_plan
from beholder.planning.message_trials import load_stimuli, load_with_messages, page_form, study_requests
from beholder.stimuli.ingestion import load_catalogue
from beholder.study.checks import Attention, Trap
from beholder.testing import write_study
from beholder.workflow.check import check
from support.method_studies import catalogue_of, make_study
from support.training_studies import write_manifest, write_taught

ACR = {"method": "acr", "playback": {"fullscreen": False}, "design": {"participants": 4, "trials": 4, "seed": 3}}


def form(method: str, rule: Attention | Trap | None = None, **keys: Any) -> Any:
    study = make_study(method, keys.pop("conditions", ["a", "b"]), **keys)
    return page_form(study, catalogue_of(study), find(method), rule or Attention())


# Which answers


def test_a_slider_is_asked_for_whole_numbers_in_the_range() -> None:
    found = form("parallel")
    assert (found.way, found.tolerance) == ("slider", 3)
    assert [choice.value for choice in found.choices] == list(range(5, 96))
    assert [choice.value for choice in form("parallel", Attention(targets=(40, 45), tolerance=1)).choices] == [
        40, 41, 42, 43, 44, 45,
    ]  # fmt: skip


def test_a_range_for_a_hundred_is_brought_to_other_sliders() -> None:
    scale = {"min": 0, "max": 10, "step": 1}
    found = form("parallel", questions=[{"id": "q", "text": "?", "scale": scale}])
    assert ([choice.value for choice in found.choices], found.tolerance) == ([1, 2, 3, 4, 5, 6, 7, 8, 9], 0)


def test_numbers_that_sound_alike_are_not_said() -> None:
    found = form("parallel", Attention(say="voice"))
    values = {choice.value for choice in found.choices}
    assert values.isdisjoint((13, 30, 15, 50, 19, 90))
    assert {12, 37, 88} <= values


def test_categories_are_asked_for_by_their_words() -> None:
    found = form("acr", Trap())
    assert (found.way, found.tolerance) == ("label", 0)
    assert [(choice.value, choice.label) for choice in found.choices] == [
        (1, "Bad"), (2, "Poor"), (3, "Fair"), (4, "Good"), (5, "Excellent"),
    ]  # fmt: skip
    many = form("acr", Trap(), questions=[{"id": "one", "text": "?"}, {"id": "two", "text": "?"}])
    assert many.way == "every"
    plain = {"min": 1, "max": 4, "look": "radio"}
    bare = form("acr", Trap(), questions=[{"id": "q", "text": "?", "scale": plain}])
    assert (bare.way, [choice.value for choice in bare.choices]) == ("value", [1, 2, 3, 4])


def test_one_of_two_asks_to_be_chosen_or_for_a_grade() -> None:
    assert (form("pair", Trap()).way, form("pair", Trap()).choices[0].value) == ("this", 1)
    grades = {"min": -3, "max": 3, "step": 2, "look": "radio"}
    graded = form("pair", Trap(), questions=[{"id": "q", "text": "?", "scale": grades}])
    assert (graded.choices[0].value, graded.tolerance) == (3, 2)  # any grade, for this one
    assert [choice.label for choice in form("ccr", Trap()).choices][::6] == ["Much worse", "Much better"]
    assert form("abx", Trap(), options={"mode": "identify"}) is None
    third = [{"name": "o", "role": "reference"}, "a", "b"]
    assert form("abx", Trap(), conditions=third, options={"mode": "closest"}) is None


def test_all_stimuli_and_all_answers_are_taken_equally_often() -> None:
    design = {"participants": 30, "trials": 2}
    study = make_study("acr", ["a", "b"], design=design, checks={"trap": {"clips": 20}})
    found = study_requests(study, catalogue_of(study), find("acr"))
    assert len(found) == 20
    assert sorted(Counter(one.source.id for one in found).values()) == [3, 3, 3, 3, 4, 4]
    assert set(Counter(one.source.content for one in found[:3]).values()) == {1}
    assert set(Counter(one.value for one in found).values()) == {4}
    words = {one.value: one.message.words for one in found}
    assert words[2] == "Attention check: please choose “Poor”."
    own = make_study("acr", checks={"trap": {"words": "Take {label}, which is {value}."}})
    (said,) = {one.message.words for one in study_requests(own, catalogue_of(own), find("acr")) if one.value == 2}
    assert said == "Take Poor, which is 2."


# Made


def test_clips_are_made_once_and_told(tmp_path: Path, tiny: Path) -> None:
    path = write_study(tmp_path, tiny, **ACR, checks={"trap": True, "attention": {"per_session": 1, "clips": 1}})
    first = CliRunner().invoke(cli, ["check", "--make", str(path)])
    assert first.output == "Made 1 attention clip in media/.\nMade 4 trap clips in media/.\n"
    again = CliRunner().invoke(cli, ["check", "--make", str(path)])
    assert again.output == "1 attention clip was there.\nAll 4 trap clips were there.\n"
    some = next(file for file in (tmp_path / "media" / "made").iterdir())
    some.unlink()
    told = CliRunner().invoke(cli, ["check", str(path)]).output
    assert "in media/" in told
    assert "rating (acr), 4 trials, 1 attention check, 1 trap" in told
    study = load_study(path)
    catalogue, fresh = load_with_messages(study, find("acr"))
    assert dict(fresh) == {}
    for clip in catalogue.of_role("trap"):
        source = catalogue.by_id[clip.derived_from]
        assert (clip.content, clip.medium) == (source.content, source.medium)
        assert (clip.probe.duration_ms, clip.probe.fps) == (source.probe.duration_ms, source.probe.fps)
        assert catalogue.class_sizes[clip.id] == catalogue.class_sizes[source.id]
    plan = open_plan(study, catalogue)
    assert open_plan(study, load_stimuli(study, find("acr"))) == plan
    assert all(sum(slot.role == "trap" for trial in one.trials for slot in trial.slots) == 1 for one in plan.lists)


@pytest.mark.parametrize(
    ("playback", "told"),
    [
        (
            {},
            "checks.trap.say is voice, and stimuli/{first} has no sound to speak over (nor have 3 more). "
            "Allowed: text. Or add a sound track.",
        ),
        (
            {"sound": "off"},
            "checks.trap.say is voice, and playback.sound is off: nobody would hear it. Allowed: text.",
        ),
    ],
)  # fmt: skip
def test_what_nobody_could_hear_is_told_once_and_not_made(
    tmp_path: Path, tiny: Path, playback: dict[str, Any], told: str
) -> None:
    keys = ACR | {"playback": {"fullscreen": False} | playback}
    path = write_study(tmp_path, tiny, **keys, checks={"trap": {"say": "voice"}})
    with pytest.raises(StudyError) as raised:
        check(path)
    (problem,) = raised.value.problems
    study = load_study(path)
    files = sorted({one.source.file for one in study_requests(study, load_catalogue(study), find("acr"))})
    assert str(problem).endswith("  " + told.format(first=files[0].removeprefix("stimuli/")))
    assert not (tmp_path / "media" / "made").exists()


def test_clips_that_say_the_same_are_one(tmp_path: Path, tiny: Path) -> None:
    design = {"participants": 8, "trials": 4, "seed": 3}
    keys = {"method": "pair", "conditions": ["natural", "smooth"], "design": design}
    path = write_study(tmp_path, tiny, **keys, checks={"trap": {"clips": 50, "per_session": 2}})
    found = check(path).asking["trap"]
    assert found.there == found.fresh == len(list((tmp_path / "media" / "made").iterdir()))


def test_nothing_is_made_for_a_plan_that_cannot_be(tmp_path: Path, tiny: Path) -> None:
    path = write_study(tmp_path, tiny, **ACR, checks={"trap": {"per_session": 9}})
    with pytest.raises(PlanError, match=r"checks.trap.per_session is 9, and a list of 4 trials has 3 places"):
        check(path)
    assert not (tmp_path / "media" / "made").exists()


def test_statements_that_are_checks_are_told(tmp_path: Path, tiny: Path) -> None:
    rules = {"trap_item": True, "repeat": {"items_per_trial": 1}}
    keys = ACR | {"method": "likert", "options": {"items": "avatar-a"}, "questions": []}
    stages = check(write_study(tmp_path, tiny, **keys, checks=rules)).stages
    told = "rating (likert), 4 trials, 4 obvious statements, 4 repeated statements"
    assert told in [stage.name for stage in stages]


def test_minutes_count_what_is_checked(tmp_path: Path, tiny: Path) -> None:
    plain = check(write_study(tmp_path / "plain", tiny, **ACR))
    checked = check(write_study(tmp_path / "checked", tiny, **ACR, checks={"trap": {"per_session": 3}}))
    names = [[stage.name for stage in found.stages if not stage.is_before] for found in (plain, checked)]
    assert names == [["rating (acr), 4 trials"], ["rating (acr), 4 trials, 3 traps"]]
    assert checked.stages[-1].minutes == pytest.approx(plain.stages[-1].minutes * 7 / 4)
    assert checked.ratings_per_stimulus == plain.ratings_per_stimulus


# Gold, and one's own


GOLD = {"condition": "natural", "content": "gold1", "role": "gold", "expected": "5"}


def test_a_manifest_holds_gold_and_traps(tmp_path: Path, tiny: Path) -> None:
    rows = [
        GOLD | {"tolerance": "0"},
        {"condition": "frozen", "content": "gold2", "role": "gold", "expected_quality": "1"},
        {"condition": "smooth", "content": "ask1", "role": "trap", "expected": "2"},
    ]
    keys = {**ACR, "stimuli": {"manifest": "stimuli.csv"}, "checks": {"gold": {"per_session": 2}, "trap": True}}
    study = load_study(write_taught(tmp_path, tiny, rows, **keys))
    catalogue = load_stimuli(study, find("acr"))
    assert catalogue.warnings == ()
    assert [stimulus.id for stimulus in catalogue.of_role("trap")] == ["trap:smooth/ask1"]
    plan = open_plan(study, catalogue)
    targets = {
        slot.stimulus: tuple(trial.targets["q1.s1"])
        for planned in plan.lists for trial in planned.trials for slot in trial.slots if trial.targets
    }  # fmt: skip
    assert targets == {
        "gold:natural/gold1": (5, 0, "", False, ()), "gold:frozen/gold2": (1, 1, "", False, ()),
        "trap:smooth/ask1": (2, 0, "", True, ()),
    }  # fmt: skip
    assert not (tmp_path / "media" / "made").exists()


def test_a_folder_study_lists_its_own_gold(tmp_path: Path, tiny: Path) -> None:
    items = [{"file": "stimuli/natural/greeting.mp4", "expected": 5}, {"file": "stimuli/frozen/greeting.mp4",
             "content": "stop", "condition": "worst", "expected": {"quality": 1}, "tolerance": 0}]  # fmt: skip
    study = load_study(write_study(tmp_path, tiny, **ACR, checks={"gold": {"items": items, "tolerance": 2}}))
    catalogue = load_stimuli(study, find("acr"))
    plan = open_plan(study, catalogue)
    found = {(t.slots[0].stimulus, t.targets["q1.s1"][:2]) for one in plan.lists for t in one.trials if t.targets}
    assert found == {("gold:gold/greeting", (5, 2)), ("gold:worst/stop", (1, 0))}


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ({**GOLD, "expected": ""}, "has role gold, and no answer is expected. Write in expected the right answer."),
        (
            {**GOLD, "role": "trap", "expected": ""},
            "has role trap, and no answer is expected. Write in expected which answer it asks for.",
        ),
        ({**GOLD, "expected": "fine"}, "expected is fine. Allowed: a number."),
    ],
)
def test_a_line_without_its_answer_is_told(tmp_path: Path, tiny: Path, row: dict[str, str], told: str) -> None:
    study = load_study(write_taught(tmp_path, tiny, [row], checks={"gold": True}))
    with pytest.raises(StimuliError) as caught:
        load_stimuli(study, find("acr"))
    assert [str(problem) for problem in caught.value.problems] == [f"stimuli.csv:18  {told}"]


def test_an_item_without_its_answer_is_told_under_its_key(tmp_path: Path, tiny: Path) -> None:
    items = [{"file": "stimuli/natural/greeting.mp4"}]
    study = load_study(write_study(tmp_path, tiny, **ACR, checks={"gold": {"items": items}}))
    with pytest.raises(StimuliError) as caught:
        load_stimuli(study, find("acr"))
    (problem,) = caught.value.problems
    assert str(problem).partition("  ")[2] == (
        "checks.gold.items.0 has role gold, and no answer is expected. "
        "Write in checks.gold.items.0.expected the right answer."
    )


def test_what_no_rule_shows_is_told(tmp_path: Path, tiny: Path) -> None:
    study = load_study(write_taught(tmp_path, tiny, [GOLD | {"message": "Look!"}]))
    assert [str(problem) for problem in load_stimuli(study, find("acr")).warnings] == [
        "stimuli.csv  column message is used on lines with role training or example alone.",
        "stimuli.csv  stimuli with role gold are not shown, as checks.gold is off. Write checks: {gold: true}.",
    ]


def test_a_preset_that_wants_gold_says_so_where_there_is_none(tmp_path: Path, tiny: Path) -> None:
    keys = {**ACR, "preset": "p910", "training": False}
    told = (
        "preset is p910, which wants a gold stimulus in each session, and no stimuli have the role gold. Give stimuli "
        "the role gold and an expected answer in a manifest, list files in checks.gold.items, or write "
        "checks: {gold: false}."
    )
    folder = tmp_path / "videos"
    found = check(write_study(folder, tiny, **keys))
    assert [str(problem).partition("  ")[2] for problem in found.warnings] == [told]
    assert found.stages[-1].name == "rating (acr), 4 trials, 1 trap"
    silent = write_study(tmp_path / "silent", folder, **keys, checks={"gold": False})
    assert check(silent).warnings == ()
    gold = check(write_taught(tmp_path / "gold", folder, [GOLD], **keys, stimuli={"manifest": "stimuli.csv"}))
    assert gold.stages[-1].name == "rating (acr), 4 trials, 1 trap, 1 gold"
    assert gold.warnings == ()


def test_columns_of_a_manifest_that_was_made_are_taken(tmp_path: Path, tiny: Path) -> None:
    path = write_study(tmp_path, tiny, stimuli={"manifest": "list.csv"}, checks={"attention": {"per_session": 1}})
    files = sorted((tmp_path / "stimuli").rglob("*.mp4"))
    rows = [{"file": f"stimuli/{f.parent.name}/{f.name}", "content": f.stem, "condition": f.parent.name} for f in files]
    first = [row for row in rows if row["condition"] == "smooth"]
    made = [row | {"condition": "attention", "role": "attention", "expected": "37"} for row in first]
    write_manifest(tmp_path / "list.csv", [*rows, *made])
    study = load_study(path)
    catalogue = load_stimuli(study, find("parallel"))
    plan = open_plan(study, catalogue)
    values = [target[:2] for one in plan.lists for trial in one.trials for target in trial.targets.values()]
    assert values == [(37, 3)] * 6
