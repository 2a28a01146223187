"""Known answers: tolerances, and expectations that cannot be met."""

from __future__ import annotations

from typing import Any

import pytest

from beholder.errors import PlanError
from beholder.planning.known_answers import default_tolerance
from beholder.study.model import Study
from beholder.study.questions import SCALES
from support.method_studies import make_study
from support.training_plans import REFERENCE, plan_of, training_of
from support.training_studies import lesson


@pytest.mark.parametrize(("name", "near"), [("acr5", 1), ("acr9", 2), ("acr11", 2), ("cont100", 25), ("agree5", 1)])
def test_a_quarter_of_the_scale_is_near_enough(name: str, near: float) -> None:
    assert default_tolerance(SCALES[name]) == near


def test_a_trap_wants_the_answer_itself_and_on_a_slider_nearly() -> None:
    trap = lesson(1, 2, is_trap=True)
    assert training_of(make_study("acr"), ("a/x", trap))[0]["targets"] == {"q1.s1": (2, 0)}
    questions = [{"id": "quality", "text": "?", "scale": "cont100"}]
    assert training_of(make_study("acr", questions=questions), ("a/x", trap))[0]["targets"] == {"q1.s1": (2, 3)}


def test_likert_expects_an_answer_to_each_statement_wherever_it_stands() -> None:
    questions = [{"id": "nice", "text": "?"}, {"id": "creepy", "text": "?", "keyed": "-"}]
    study = make_study("likert", questions=questions)
    plan = plan_of(study, ("a/x", lesson(1, {"nice": 5, "creepy": 1})))
    (trial,) = plan.lists[0].training
    asked = {one.id: one.question for one in trial.asked}
    assert {asked[where.split(".")[0]]: target.value for where, target in trial.targets.items()} == {
        "nice": 5, "creepy": 1,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("study", "taught", "problem"),
    [
        (
            make_study("pair"),
            [("a/x", lesson(1, 1)), ("b/x", lesson(2))],
            "list.csv:2  expected is 1, and pair gives no score to a single stimulus. "
            "Leave it out: any answer is right.",
        ),
        (
            make_study("pair"),
            [("a/x", lesson(1))],
            "list.csv:2  has nothing to be shown with: pair needs another stimulus of content x. "
            "Add one with role training and the same content, or the reference of that content.",
        ),
        (
            make_study("dcr", REFERENCE),
            [("a/x", lesson(1, 5))],
            "list.csv:2  has nothing to be shown with: dcr needs another stimulus of content x. "
            "Add one with role training and the same content, or the reference of that content.",
        ),
        (
            make_study("parallel"),
            [(f"c{n}/x", lesson(n)) for n in range(1, 14)],
            "list.csv:14  content x has 13 training stimuli. Allowed: up to 12 of a content.",
        ),
        (
            make_study("likert", questions=[{"id": "q", "text": "?"}, {"id": "faults", "text": "?", "ticks": ["a"]}]),
            [("a/x", lesson(1, {"faults": 1}))],
            "list.csv:2  expected_faults is about faults, which has ticks and no scale. Allowed: q.",
        ),
    ],
)
def test_training_that_a_method_cannot_make_is_told(study: Study, taught: list[Any], problem: str) -> None:
    with pytest.raises(PlanError) as caught:
        plan_of(study, *taught)
    assert [str(one) for one in caught.value.problems] == [problem]
