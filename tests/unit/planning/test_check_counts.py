"""Checks that cannot be placed in the lists of a study, and the messages about them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from beholder.errors import PlanError
from beholder.stimuli.catalogue import Catalogue
from beholder.stimuli.known_answers import KnownAnswer
from beholder.study.model import Study
from beholder.types import CHECK_ROLES, Role
from support.check_plans import (
    REFERENCE,
    SURVEY,
    gold,
    plan_of,
    slots_of,
    with_lessons,
)
from support.method_studies import catalogue_of, make_study


def problems(study: Study, catalogue: Catalogue | None = None) -> list[str]:
    try:
        plan_of(study, catalogue)
    except PlanError as error:
        return [str(problem).partition("  ")[2] for problem in error.problems]
    return []


@pytest.mark.parametrize(
    ("method", "keys", "told"),
    [
        (
            "parallel",
            {"checks": {"trap": True}},
            "checks.trap does not fit parallel, whose pages hold several stimuli. Use checks.attention.",
        ),
        (
            "abx",
            {"options": {"mode": "identify"}, "checks": {"attention": True, "trap": True}},
            [
                "checks.attention does not fit abx: none of its answers can be asked for.",
                "checks.trap does not fit abx: none of its answers can be asked for.",
            ],
        ),
        (
            "parallel",
            {"checks": {"attention": {"per_session": 3}}},
            "checks.attention.per_session is 3, and a list has 2 pages, with one on each at most. Allowed: 1 to 2.",
        ),
        (
            "parallel",
            {"checks": {"attention": {"per_session": 1, "protect": ["aa"]}}},
            "checks.attention.protect.0 is aa, which is no condition. Allowed: a, b. Did you mean a?",
        ),
        (
            "parallel",
            {"checks": {"attention": {"per_session": 1, "protect": ["a", "b"]}}},
            "checks.attention has no stimulus that could ask: every condition is protected. "
            "Leave one out of checks.attention.protect or design.always.",
        ),
        (
            "acr",
            {"checks": {"trap": {"words": "Please look here."}}},
            "checks.trap.words do not say which answer to give, so that nobody could know it. "
            "Allowed: words with {value} or {label} in them.",
        ),
        (
            "acr",
            {"checks": {"trap": {"tolerance": 1}}},
            "checks.trap.tolerance is 1, on a scale of 4: half of all answers would do. Allowed: below 1.",
        ),
        (
            "acr",
            {"checks": {"trap": {"per_session": 2}}},
            "checks.trap.per_session is 2, and a list of 2 trials has 1 place between them. Allowed: 1.",
        ),
        (
            "acr",
            {"checks": {"attention": {"per_session": 1}, "trap": {"per_session": 1}}},
            "checks.trap.per_session is 1, and a list of 2 trials has 1 place between them, 1 for attention, so that "
            "none fits. Make design.trials larger, or take it out.",
        ),
        (
            "acr",
            {"checks": {"repeat": True}, "design": {"participants": 6, "trials": 6}},
            "checks.repeat.per_session is 3, and a list of 6 trials has 5 places between them, "
            "and each comes again 4 or more trials later. Allowed: 1 to 2.",
        ),
        (
            "acr",
            {"checks": {"gold": True}},
            "checks.gold is written, and no stimuli have the role gold. Give stimuli the role gold and an expected "
            "answer in a manifest, list files in checks.gold.items, or write checks: {gold: false}.",
        ),
        (
            "acr",
            {"checks": {"trap_item": True}},
            "checks.trap_item does not fit pages with 1 statement on a scale of categories. Allowed: 3 or more.",
        ),
        (
            "parallel",
            {"checks": {"trap_item": True}},
            "checks.trap_item does not fit pages with 0 statements on a scale of categories. Allowed: 3 or more.",
        ),
        (
            "likert",
            {
                "questions": SURVEY[:3],
                "checks": {"trap_item": {"per_trial": 2, "items": [{"text": "I am a fish.", "agree": False}]}},
            },
            "checks.trap_item.per_trial is 2, and the bank has 1 statement. Allowed: 1.",
        ),
        (
            "likert",
            {"questions": SURVEY[:4], "checks": {"repeat": {"items_per_trial": 1}}},
            "checks.repeat.items_per_trial is 1, and a page has 4 statements on a scale of categories. "
            "Allowed: pages with 5 or more.",
        ),
        (
            "likert",
            {"questions": SURVEY[:2], "options": {"layout": "random"}, "checks": {"trap_item": True}},
            "checks.trap_item does not fit a survey with 2 statements on a scale of categories. Allowed: 3 or more.",
        ),
        (
            "likert",
            {"questions": SURVEY[:4], "options": {"layout": "random"}, "checks": {"repeat": {"items_per_trial": 1}}},
            "checks.repeat.items_per_trial is 1, and the survey has 4 statements on a scale of categories. "
            "Allowed: surveys with 5 or more.",
        ),
        (
            "likert",
            {"questions": SURVEY[:3], "options": {"layout": "random"}, "checks": {"trap_item": {"per_trial": 3}}},
            "checks.trap_item.per_trial is 3, which makes 6 trials, and a list of 6 trials has 5 places between them. "
            "Allowed: 1 to 2.",
        ),
        (
            "likert",
            {"questions": SURVEY[:5], "options": {"layout": "random"},
             "checks": {"repeat": {"items_per_trial": 4, "per_session": 1}}},
            "checks.repeat.items_per_trial is 4, which makes 9 trials, and a list of 10 trials has 9 places between "
            "them, and each comes again 4 or more trials later. Allowed: 1 to 2.",
        ),
    ],
)  # fmt: skip
def test_what_is_written_and_cannot_be_kept_is_told(method: str, keys: dict[str, Any], told: str | list[str]) -> None:
    assert problems(make_study(method, **keys)) == ([told] if isinstance(told, str) else told)


@pytest.mark.parametrize(
    ("method", "role", "found", "told"),
    [
        (
            "acr", "gold", [gold("best/x", 9, 7)],
            "expected is 7, which is not on the scale of quality. Allowed: 1 to 5 in steps of 1.",
        ),
        (
            "acr", "gold", [gold("best/x", 9, {"qualty": 5})],
            "expected_qualty is about qualty, which is not asked. Allowed: quality. Did you mean quality?",
        ),
        (
            "pair", "gold", [gold("best/x", 9, 1)],
            "has nothing to be shown with: pair needs another stimulus of content x. "
            "Add one with role gold and the same content, or the reference of that content.",
        ),
        (
            "abx", "gold", [gold("best/one", 9, 1), gold("worst/one", 10, 1)],
            "expected is 1, and abx gives no score to a single stimulus. Leave it out: any answer is right.",
        ),
        (
            "acr", "trap", [gold("trap/x", 9, 0)],
            "expected is 0, which is not on the scale of quality. Allowed: 1 to 5 in steps of 1.",
        ),
        (
            "pair", "trap", [gold("trap/x", 9, 1)],
            "has nothing to be shown with: pair needs another stimulus of content x. "
            "Add one with role trap and the same content, or the reference of that content.",
        ),
        (
            "parallel", "attention", [gold("attention/ones", 9, 30)],
            "is of content ones, and no page has that content. Allowed: one, three, two. Did you mean one?",
        ),
        (
            "parallel", "attention", [gold("attention/one", 9, 130)],
            "expected is 130, which is not on the scale of quality. Allowed: 0 to 100 in steps of 1.",
        ),
    ],
)  # fmt: skip
def test_a_stimulus_whose_answer_cannot_be_given_is_told(
    method: str, role: Role, found: Sequence[tuple[str, KnownAnswer]], told: str
) -> None:
    options = {"options": {"mode": "identify"}} if method == "abx" else {}
    study = make_study(method, checks={role: {"per_session": 1}}, **options)
    assert problems(study, with_lessons(catalogue_of(study), role, *found))[0] == told


def test_what_a_preset_wants_is_left_out_where_it_does_not_fit() -> None:
    full = make_study("acr", list("abcd"), preset="p910", training=False)
    plan, _ = plan_of(full)
    # Two trials have one place between them, and there is no gold.
    assert [len(planned.trials) for planned in plan.lists] == [3] * 6
    assert len(slots_of(plan, "trap")) == 6
    for study in (
        make_study("parallel", list("abcd"), preset="p910", training=False),
        make_study("abx", list("ab"), preset="p910", training=False, options={"mode": "identify"}),
        make_study("abx", REFERENCE[:3], preset="hemvip", options={"mode": "closest"}),
    ):
        plan, catalogue = plan_of(study)
        assert not catalogue.of_role("trap")
        assert not any(
            slot.role in CHECK_ROLES for planned in plan.lists for trial in planned.trials for slot in trial.slots
        )
