"""Time marks: what the study may write, and which marks are read, normalised or refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from beholder.errors import Refused, StudyError
from beholder.methods import find, load_study
from beholder.methods.contract import Trial
from beholder.methods.time_marks import check_marks, mark_labels, marking, marks_of
from beholder.planning.builder import make_plan
from beholder.study.serialization import study_json
from support.method_studies import QUESTION, catalogue_of, make_study, problems
from support.method_trials import refusal, trial_of
from support.plans import with_clips

LABELS = {"labels": ["stutter", "blur"], "most": 3}
METHODS = ("acr", "parallel", "likert")
SCORES: dict[str, Any] = {
    "acr": {"q1": {"s1": 3}}, "parallel": {"q1": {"s1": 30, "s2": 60}}, "likert": {"q1": {"s1": 3}},
}  # fmt: skip
STUDY = """\
beholder: 1
name: marked
title: Marked
method: acr
stimuli: stimuli
questions:
  - {id: quality, text: How good is it?, scale: acr5}
options:
"""


def marked(method: str = "acr", marks: Any = LABELS, **keys: Any) -> tuple[Any, Trial]:
    return trial_of(method, questions=[QUESTION], options={"marks": marks}, **keys)


def mark(slot: Any = "s1", ms: Any = 1200, label: Any = "blur") -> dict[str, Any]:
    return {"slot": slot, "ms": ms, "label": label}


def said(options: str, folder: Path) -> list[str]:
    path = folder / "study.yaml"
    path.write_text(STUDY + options, "utf-8")
    with pytest.raises(StudyError) as caught:
        load_study(path)
    return [str(problem) for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("written", "message"),
    [
        (
            "  marks: yes\n",
            "study.yaml:9  options.marks is yes. Allowed: true or false, or a map with the keys labels, at_least, most "
            "and ask. Write true.",
        ),
        (
            "  marks: {label: blur}\n",
            "study.yaml:9  options.marks.label is not a known key. Allowed: labels, at_least, most and ask. "
            "Did you mean labels?",
        ),
        (
            "  marks:\n    labels: [blur, noise, blur]\n",
            "study.yaml:10  options.marks.labels.2 is blur, which is there already. Allowed: every label once.",
        ),
        (
            "  marks:\n    labels: [a, b, c, d, e, f, g, h, i, j]\n",
            "study.yaml:10  options.marks.labels has 10 labels, and there are keys for 9. Allowed: up to 9 labels.",
        ),
        (
            "  marks:\n    at_least: 4\n    most: 3\n",
            "study.yaml:10  options.marks.at_least is 4, above most, 3. Allowed: at_least up to most.",
        ),
        (
            "  marks:\n    most: 0\n",
            "study.yaml:10  options.marks.most is 0. Allowed: a whole number, 1 to 200.",
        ),
    ],
)  # fmt: skip
def test_what_is_wrong_with_marks_is_said_with_its_line(written: str, message: str, tmp_path: Path) -> None:
    assert [one.replace(f"{tmp_path}/", "") for one in said(written, tmp_path)] == [message]


def test_true_is_one_button_and_every_mark_is_called_mark() -> None:
    settings = marks_of(make_study("acr", options={"marks": True}))
    assert settings is not None
    assert (settings.labels, settings.at_least, settings.most, settings.ask) == ((), 0, 50, None)
    _, trial = marked(marks=True)
    assert mark_labels(trial) == ("mark",)


@pytest.mark.parametrize("method", METHODS)
def test_a_study_without_marks_is_as_it_was_before_there_were_any(method: str) -> None:
    """Its digests, and what its pages get."""
    plain, trial = trial_of(method, questions=[QUESTION])
    assert "marks" not in make_study(method).options
    assert "marks" not in study_json(make_study(method))["options"]
    assert make_study(method, options={"marks": False}).options == make_study(method).options
    assert "marks" not in study_json(make_study(method))["analyse"]
    assert "marks" not in {**trial.draws, **plain.extra(trial)}
    answer = {"scores": SCORES[method]}
    assert plain.read(trial, answer) == answer
    assert refusal(plain, trial, {**answer, "marks": []})[:2] == ("answer.marks", "marks is not part of an answer")


@pytest.mark.parametrize("medium", ["image", "text"])
@pytest.mark.parametrize("method", METHODS)
def test_what_does_not_play_cannot_be_marked(method: str, medium: Any) -> None:
    study = make_study(method, options={"marks": True}, playback={"fullscreen": False})
    found = problems(study, catalogue_of(study, medium=medium))
    assert found == [
        f"options.marks is on, and stimuli are {medium}s, which do not play. Allowed: videos and sounds. Take it out: "
        f"{method} rates them as they are."
    ]
    assert problems(study, catalogue_of(study, medium="audio")) == []


def test_nobody_is_locked_in_for_marks_that_can_no_longer_be_set() -> None:
    playback = {"max_plays": 2}
    study = make_study("acr", options={"marks": {"at_least": 1}}, playback=playback)
    assert problems(study) == [
        "options.marks.at_least is 1, and with playback.max_plays nobody could play it again to set what is missing. "
        "Allowed: 0, or no playback.max_plays."
    ]
    assert problems(make_study("acr", options={"marks": True}, playback=playback)) == []


def test_pages_that_check_people_can_be_marked_like_all_others() -> None:
    """Else a page without buttons would tell what it is."""
    checks = {"attention": {"per_session": 1}, "repeat": {"per_session": 1}}
    design = {"participants": 7, "trials": 6, "seed": 2}
    study = make_study("acr", list("abcd"), options={"marks": True}, checks=checks, design=design)
    method = find("acr")
    plan = make_plan(study, with_clips(study, catalogue_of(study), method), method)
    trials = [trial for one in plan.lists for trial in one.trials]
    assert {role for trial in trials for role in trial.roles} == {"test", "attention", "repeat"}
    assert all(marking(trial) is not None for trial in trials)


@pytest.mark.parametrize("method", METHODS)
def test_marks_are_kept_beside_the_answer_in_order_of_slots_and_time(method: str) -> None:
    rules, trial = marked(method)
    page = {**rules.extra(trial)}["marks"]
    assert page == {"labels": ["stutter", "blur"], "at_least": 0, "most": 3, "ask": None}
    answer = {"scores": SCORES[method], "marks": [mark(ms=900), mark(ms=100, label="stutter")]}
    assert rules.read(trial, answer)["marks"] == [mark(ms=100, label="stutter"), mark(ms=900)]
    assert rules.read(trial, {"scores": SCORES[method]})["marks"] == []
    assert rules.judgements(trial, rules.read(trial, answer)) == rules.judgements(trial, {"scores": SCORES[method]})


def test_in_parallel_a_mark_belongs_to_any_slot() -> None:
    rules, trial = marked("parallel")
    answer = {"scores": SCORES["parallel"], "marks": [mark("s2"), mark("s1")]}
    assert [one["slot"] for one in rules.read(trial, answer)["marks"]] == ["s1", "s2"]


@pytest.mark.parametrize(
    ("marks", "refused"),
    [
        (None, ("answer.marks", "The marks are not a list", '[{"slot": "s1", "ms": 3200, ...}]')),
        ({"s1": 3}, ("answer.marks", "The marks are not a list", '[{"slot": "s1", "ms": 3200, ...}]')),
        ("12", ("answer.marks", "The marks are not a list", '[{"slot": "s1", "ms": 3200, ...}]')),
        ([3], ("answer.marks.0", "This is not a mark", "an object with slot, ms and label")),
        ([{"slot": "s1", "ms": 3}], ("answer.marks.0", "This is not a mark", "an object with slot, ms and label")),
        ([{**mark(), "x": 1}], ("answer.marks.0", "This is not a mark", "an object with slot, ms and label")),
        ([mark("s9")], ("answer.marks.0.slot", "'s9' cannot be marked", "s1")),
        ([mark(), mark(["s1"])], ("answer.marks.1.slot", "['s1'] cannot be marked", "s1")),
        ([mark(label="noise")],
         ("answer.marks.0.label", "'noise' is not a label of this study", "stutter, blur")),
        ([mark(label=0)], ("answer.marks.0.label", "0 is not a label of this study", "stutter, blur")),
        ([mark(ms=-1)], ("answer.marks.0.ms", "-1 is not a time of a clip", "whole milliseconds, 0 or more")),
        ([mark(ms=True)], ("answer.marks.0.ms", "True is not a time of a clip", "whole milliseconds, 0 or more")),
        ([mark(ms=1.5)], ("answer.marks.0.ms", "1.5 is not a time of a clip", "whole milliseconds, 0 or more")),
        ([mark(ms="12")], ("answer.marks.0.ms", "'12' is not a time of a clip", "whole milliseconds, 0 or more")),
        ([mark()] * 4, ("answer.marks", "There are 4 marks, which are too many", "up to 3")),
    ],
)  # fmt: skip
def test_marks_of_another_shape_are_refused(marks: Any, refused: tuple[str, str, str]) -> None:
    rules, trial = marked()
    assert refusal(rules, trial, {"scores": SCORES["acr"], "marks": marks}) == refused


def why(trial: Trial, answer: Any, played: Any) -> tuple[str, str]:
    with pytest.raises(Refused) as caught:
        check_marks(trial, answer, {"s1": 3000}, played)
    return caught.value.where, caught.value.what


def test_a_mark_lies_within_the_clip_where_it_was_played() -> None:
    _, trial = marked(marks={"labels": ["blur"], "at_least": 1})
    played = {"s1": [(0.0, 800.0), (2000.0, 2600.0)]}
    for ms in (0, 1100, 1700, 2900):  # as much as a clock may be off, before and after what was played
        check_marks(trial, {"marks": [mark(ms=ms)]}, {"s1": 3000}, played)
    assert why(trial, {"marks": [mark(ms=400), mark(ms=1400)]}, played) == (
        "answer.marks.1.ms", "1,400 ms was not played",
    )  # fmt: skip
    assert why(trial, {"marks": [mark(ms=3001)]}, played) == (
        "answer.marks.0.ms",
        "3,001 ms is after the end of the clip",
    )
    assert why(trial, {"marks": [mark(ms=0)]}, {"s1": []}) == ("answer.marks.0.ms", "0 ms was not played")
    assert why(trial, {"marks": []}, played) == ("answer.marks", "There are 0 marks, which are too few")
    missing = {"s1": "media_error"}
    check_marks(trial, {"marks": [], "missing": missing}, {"s1": 3000}, played)
    assert why(trial, {"marks": [mark(ms=0)], "missing": missing}, played) == (
        "answer.marks.0", "s1 would not play, and has a mark",
    )  # fmt: skip
