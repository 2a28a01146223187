"""Stimuli that ask for an answer: made once, of which stimuli, and when they cannot be made."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from beholder.cli import cli
from beholder.errors import PlanError, StudyError
from beholder.methods import find, load_study
from beholder.planning import open_plan
from beholder.planning.message_trials import load_stimuli, load_with_messages, study_requests
from beholder.stimuli.ingestion import load_catalogue
from beholder.testing import write_study
from beholder.workflow.check import check
from support.gold_stimuli import ACR
from support.method_studies import catalogue_of, make_study


def test_all_stimuli_and_all_answers_are_taken_equally_often() -> None:
    design = {"participants": 30, "trials": 2}
    study = make_study("acr", ["a", "b"], design=design, checks={"trap": {"clips": 20}})
    requests = study_requests(study, catalogue_of(study), find("acr"))
    assert len(requests) == 20
    assert sorted(Counter(one.source.id for one in requests).values()) == [3, 3, 3, 3, 4, 4]
    assert set(Counter(one.source.content for one in requests[:3]).values()) == {1}
    assert set(Counter(one.value for one in requests).values()) == {4}
    words = {one.value: one.message.words for one in requests}
    assert words[2] == "Attention check: please choose “Poor”."
    own = make_study("acr", checks={"trap": {"words": "Take {label}, which is {value}."}})
    (said,) = {one.message.words for one in study_requests(own, catalogue_of(own), find("acr")) if one.value == 2}
    assert said == "Take Poor, which is 2."


def test_clips_are_made_once_and_told(tmp_path: Path, tiny: Path) -> None:
    path = write_study(tmp_path, tiny, **ACR, checks={"trap": True, "attention": {"per_session": 1, "clips": 1}})
    first = CliRunner().invoke(cli, ["check", "--make", str(path)])
    assert first.output == "Made 1 attention clip in media/.\nMade 4 trap clips in media/.\n"
    again = CliRunner().invoke(cli, ["check", "--make", str(path)])
    assert again.output == "1 attention clip was there.\nAll 4 trap clips were there.\n"
    some = next(file for file in (tmp_path / "media" / "made").iterdir())
    some.unlink()
    assert "in media/" in CliRunner().invoke(cli, ["check", "--make", str(path)]).output
    output = CliRunner().invoke(cli, ["check", str(path)]).output
    assert "rating (acr), 4 trials, 1 attention check, 1 trap" in output
    study = load_study(path)
    catalogue, fresh, unmade = load_with_messages(study, find("acr"))
    assert dict(fresh) == dict(unmade) == {}
    for clip in catalogue.of_role("trap"):
        source = catalogue.by_id[clip.derived_from]
        assert (clip.content, clip.medium) == (source.content, source.medium)
        assert (clip.probe.duration_ms, clip.probe.fps) == (source.probe.duration_ms, source.probe.fps)
        assert catalogue.class_sizes[clip.id] == catalogue.class_sizes[source.id]
    plan = open_plan(study, catalogue)
    assert open_plan(study, load_stimuli(study, find("acr"))) == plan
    assert all(sum(slot.role == "trap" for trial in one.trials for slot in trial.slots) == 1 for one in plan.lists)


@pytest.mark.parametrize(
    ("playback", "expected"),
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
    tmp_path: Path, tiny: Path, playback: dict[str, Any], expected: str
) -> None:
    keys = ACR | {"playback": {"fullscreen": False} | playback}
    path = write_study(tmp_path, tiny, **keys, checks={"trap": {"say": "voice"}})
    with pytest.raises(StudyError) as raised:
        check(path)
    (problem,) = raised.value.problems
    study = load_study(path)
    files = sorted({one.source.file for one in study_requests(study, load_catalogue(study), find("acr"))})
    assert str(problem).endswith("  " + expected.format(first=files[0].removeprefix("stimuli/")))
    assert not (tmp_path / "media" / "made").exists()


@pytest.mark.variant
def test_clips_that_say_the_same_are_one(tmp_path: Path, tiny: Path) -> None:
    design = {"participants": 8, "trials": 4, "seed": 3}
    keys = {"method": "pair", "conditions": ["natural", "smooth"], "design": design}
    path = write_study(tmp_path, tiny, **keys, checks={"trap": {"clips": 50, "per_session": 2}})
    counts = check(path, make=True).asking["trap"]
    assert counts.needed == counts.fresh == len(list((tmp_path / "media" / "made").iterdir()))
    assert not counts.unmade


@pytest.mark.variant
def test_a_check_makes_one_clip_of_each_kind_and_the_first_plan_all(tmp_path: Path, tiny: Path) -> None:
    path = write_study(tmp_path, tiny, **ACR, checks={"trap": True})
    output = CliRunner().invoke(cli, ["check", str(path)]).output
    made = tmp_path / "media" / "made"
    assert len(list(made.iterdir())) == 1
    later = "the others are made when the study is first planned or served, or by beholder check --make"
    assert f"1 of 4 trap clips is there; {later}.\n" in output
    again = check(path)
    assert again.asking["trap"] == (4, 0, 3)
    study = load_study(path)
    open_plan(study, load_stimuli(study, find("acr")))
    assert len(list(made.iterdir())) == 4
    whole = check(path)
    assert whole.asking["trap"] == (4, 0, 0)
    assert (whole.stages, whole.warnings) == (again.stages, again.warnings)


def test_nothing_is_made_for_a_plan_that_cannot_be(tmp_path: Path, tiny: Path) -> None:
    path = write_study(tmp_path, tiny, **ACR, checks={"trap": {"per_session": 9}})
    with pytest.raises(PlanError, match=r"checks.trap.per_session is 9, and a list of 4 trials has 3 places"):
        check(path)
    assert not (tmp_path / "media" / "made").exists()


def test_statements_that_are_checks_are_told(tmp_path: Path, tiny: Path) -> None:
    rules = {"trap_item": True, "repeat": {"items_per_trial": 1}}
    keys = ACR | {"method": "likert", "options": {"items": "avatar-a"}, "questions": []}
    stages = check(write_study(tmp_path, tiny, **keys, checks=rules)).stages
    name = "rating (likert), 4 trials, 4 obvious statements, 4 repeated statements"
    assert name in [stage.name for stage in stages]


def test_minutes_count_what_is_checked(tmp_path: Path, tiny: Path) -> None:
    plain = check(write_study(tmp_path / "plain", tiny, **ACR))
    checked = check(write_study(tmp_path / "checked", tiny, **ACR, checks={"trap": {"per_session": 3}}))
    names = [[stage.name for stage in result.stages if not stage.is_before] for result in (plain, checked)]
    assert names == [["rating (acr), 4 trials"], ["rating (acr), 4 trials, 3 traps"]]
    assert checked.stages[-1].minutes == pytest.approx(plain.stages[-1].minutes * 7 / 4)
    assert checked.ratings_per_stimulus == plain.ratings_per_stimulus
