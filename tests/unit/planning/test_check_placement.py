"""Trials of their own that check: where they stand, which answer they want, and what the browser sees of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from beholder.methods import find
from beholder.methods.contract import Break
from beholder.planning.balance import balance
from beholder.planning.digest import plan_digest
from beholder.planning.model import is_check
from beholder.planning.serialization import list_from_json, list_to_json
from beholder.server.public_steps import public_step
from beholder.server.script import make_script
from beholder.types import CHECK_ROLES, Role
from support.check_plans import (
    CONTENTS,
    gaps_of,
    gold,
    places_of,
    plan_of,
    spread,
    with_lessons,
    without_checks,
)
from support.inserted_checks import METHODS, checked_study
from support.method_studies import catalogue_of, make_study
from support.plans import assert_promises, with_clips
from support.variants import cases

ASKING: tuple[Role, ...] = ("attention", "trap")


@pytest.mark.parametrize("method", cases(METHODS, ("acr-hr", "likert")))
def test_trials_that_check_are_strewn_between_the_others(method: str) -> None:
    study = checked_study(method)
    plan, catalogue = plan_of(study)
    before = without_checks(study, catalogue)
    gaps: dict[Role, Counter[int]] = {"attention": Counter(), "trap": Counter(), "repeat": Counter()}
    used: Counter[str] = Counter()
    again = 0
    for planned, plain in zip(plan.lists, before.lists, strict=True):
        trials = planned.trials
        assert [trial.id for trial in trials] == [f"trial:{n}" for n in range(1, 13)]
        assert [entry.id for entry in planned.entries if isinstance(entry, Break)] == ["break:1", "break:2"]
        rated = [replace(trial, id="") for trial in planned.rated]
        assert rated == [replace(trial, id="") for trial in plain.trials]
        checks = [is_check(trial) for trial in trials]
        assert not checks[0]
        assert not checks[-1]
        assert not any(one and two for one, two in pairwise(checks))
        shown = [slot.stimulus for trial in planned.rated for slot in trial.slots]
        assert [len(places_of(planned, role)) for role in gaps] == [1, 2, 1]
        for role, counts in gaps.items():
            counts.update(gaps_of(planned, role))
        for role in ASKING:
            for place in places_of(planned, role):
                trial = trials[place]
                (clip,) = (slot for slot in trial.slots if slot.stimulus.startswith(role))
                used[clip.stimulus] += 1
                assert catalogue.by_id[clip.stimulus].content == trial.content
                assert trial.content not in (trials[place - 1].content, trials[place + 1].content)
                assert {slot.role for slot in trial.slots if slot.rated} == {role}
                assert {where.partition(".")[0] for where in trial.targets} == {asked.id for asked in trial.asked}
                assert all(target.is_trap for target in trial.targets.values())
                again += catalogue.by_id[clip.stimulus].derived_from in shown
    for role, counts in gaps.items():
        places = range(4, 8) if role == "repeat" else range(1, 8)
        assert set(counts) <= set(places)
        assert spread(counts, len(places)) <= 2
    assert again <= 0.1 * 3 * len(plan.lists)
    for role in ASKING:
        assert spread({name: n for name, n in used.items() if name.startswith(role)}, 1) <= 2
    assert_promises(plan, catalogue)
    assert balance(plan, catalogue) == balance(before, catalogue)
    assert plan == plan_of(study)[0]
    assert [list_from_json(list_to_json(planned)) for planned in plan.lists] == list(plan.lists)


def test_a_plan_changes_with_what_is_placed_and_not_with_what_follows_from_it() -> None:
    def digest(**trap: Any) -> str:
        study = make_study("acr", checks={"trap": trap})
        return plan_digest(study, with_clips(study, catalogue_of(study), find("acr")))

    assert digest() == digest(max_failed=1, action="record", end_after=2, reject_after=1, retries=3)
    assert len({digest(), digest(per_session=2), digest(tolerance=1), digest(words="Choose {label}.")}) == 4
    plain = make_study("acr")
    silent = make_study("acr", checks={"variance": {"min": 0.3}, "speed": True})
    assert plan_digest(plain, catalogue_of(plain)) == plan_digest(silent, catalogue_of(plain))


@pytest.mark.parametrize("method", cases(["parallel", *METHODS], ("parallel", "pair", "likert")))
def test_the_page_of_a_check_is_like_any_other_to_the_browser(method: str) -> None:
    checks = {"attention": {"per_session": 2}, "gold": True, **({} if method == "parallel" else {"trap": True})}
    keys = METHODS.get(method, {"conditions": list("abcd")})
    if method == "likert":
        checks |= {"trap_item": True, "repeat": {"items_per_trial": 1}}
    study = make_study(method, **{**keys, "design": {"participants": 8, "trials": 8}, "checks": checks})
    value = {"parallel": 100, "ccr": -1, "pair": -1, "ab": -1}.get(method, 1)
    found = [gold("k1/content00", 9, value), gold("k2/content00", 10, -value if value < 0 else value)]
    whole = with_lessons(catalogue_of(study, contents=CONTENTS), "gold", *found)
    plan, catalogue = plan_of(study, whole)
    shapes: dict[Any, set[bool]] = {}
    for planned in plan.lists:
        script = make_script(study, planned.entries)
        for step in script.steps:
            if step.trial is not None and step.key.startswith("trial:"):
                shown = public_step(
                    step, script, {}, find(method), study.playback, lambda key, slot: {"url": "u"}, language="en"
                )
                assert "target" not in str(shown)
                assert not any(f"{role}:" in str(shown) for role in CHECK_ROLES)
                page: Any = shown["trial"]
                # A page of gold sliders holds what is known, which may be fewer.
                slots = {str(sorted(slot)) for slot in page["slots"]}
                asked = [sorted(one) for one in page["asked"]]
                shape = (*sorted(shown), *sorted(page), *slots, str(asked), str(sorted(page["extra"])))
                shapes.setdefault(shape, set()).add(any(slot.role in CHECK_ROLES for slot in step.trial.slots))
    assert list(shapes.values()) == [{True, False}]
    assert catalogue.of_role("attention")
