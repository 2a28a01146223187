"""Pages with many stimuli of one content: how many, and which anchors."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from support.method_studies import QUESTION, catalogue_of, make_study, planned, problems
from support.method_trials import SOURCE


def test_a_board_has_two_stimuli_or_more_and_sliders() -> None:
    radio = [{**QUESTION, "scale": {"min": 1, "max": 5, "look": "radio"}}]
    assert problems(make_study("parallel", ["a"], questions=radio)) == [
        "conditions give every page 1 stimulus to rate, and parallel compares at least two. Allowed: two or more that "
        "are rated. Add one, or use method: acr.",
        "questions.0.scale has the look radio, and each stimulus gets a slider. Allowed: look: slider.",
    ]


@pytest.mark.parametrize("name", ["mushra", "parallel"])
def test_a_board_holds_twelve(name: str) -> None:
    many: list[Any] = [SOURCE, *(f"c{number}" for number in range(12))]
    (problem,) = problems(make_study(name, many))
    assert problem.startswith(
        "design.per_trial is left out, which means all 13 conditions, and there are 12 colours to tell slots apart."
    )
    assert problems(make_study(name, many[:-1])) == []


@pytest.mark.parametrize("name", ["mushra", "parallel"])
def test_an_anchor_that_is_nothing_is_refused(name: str) -> None:
    study = make_study(name, [SOURCE, "test"], options={"anchors": ["tset", "source"]})
    assert problems(study, catalogue_of(study, medium="audio")) == [
        "options.anchors.0 is tset, which is neither a condition nor a recipe. "
        "Allowed: source, test, or lowpass-3500 and the like. Did you mean test?",
        "options.anchors.1 is source, which is the reference. Allowed: another condition.",
    ]


def test_anchors_and_the_hidden_reference_are_on_every_page_whatever_is_dealt() -> None:
    study = make_study(
        "mushra",
        [SOURCE, "a", "b", "c", "low"],
        options={"anchors": ["low"]},
        design={"participants": 6, "trials": 2, "per_trial": 3},
    )
    _, trials = planned(study)
    for trial in trials:
        roles = Counter(slot.role for slot in trial.slots)
        assert roles == {"reference": 1, "hidden_reference": 1, "anchor": 1, "test": 1}
