"""acr-hr: every participant rates the hidden reference of each content."""

from __future__ import annotations

from collections import Counter

from beholder.methods import find
from beholder.planning.builder import make_plan
from support.method_studies import catalogue_of, make_study, problems
from support.method_trials import SOURCE


def test_acr_hr_shows_a_content_more_than_once() -> None:
    design = {"participants": 2, "trials": 4, "contents": "once"}
    assert problems(make_study("acr-hr", [SOURCE, "a"], design=design))[0] == (
        "design.contents is once, and acr-hr shows a content and its reference in one session. "
        "Allowed: apart or free. Leave it out."
    )


def test_acr_hr_rates_the_reference_of_every_content_in_the_same_session() -> None:
    study = make_study("acr-hr", [SOURCE, "a", "b"], design={"participants": 6, "trials": 6})
    for planned_list in make_plan(study, catalogue_of(study), find("acr-hr")).lists:
        shown = [(trial.content, trial.slots[0].role) for trial in planned_list.trials]
        for place, (content, role) in enumerate(shown):
            if role == "test":
                there = shown.index((content, "hidden_reference"))
                assert abs(there - place) >= 2
        assert max(Counter(shown)[content, "hidden_reference"] for content, _ in shown) == 1
        assert all(slot.rated and slot.label is None for trial in planned_list.trials for slot in trial.slots)
