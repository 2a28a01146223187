"""A list of a plan: what is trained, what is rated, and which digests a plan serves."""

from __future__ import annotations

import gc
from dataclasses import replace

from beholder.methods.contract import Break
from beholder.planning.model import Addition, Plan, is_check, no_collection
from support.tiny_plans import tiny_plan


def test_a_list_separates_training_checks_and_rated_trials() -> None:
    planned = tiny_plan().lists[0]
    first, *others = planned.trials
    gold = replace(first, slots=tuple(slot._replace(role="gold") for slot in first.slots))
    practice = replace(first, purpose="train")
    mixed = replace(planned, entries=(practice, gold, Break("break:1"), *others))
    assert is_check(gold)
    assert not is_check(first)
    assert mixed.training == (practice,)
    assert mixed.trials == (gold, *others)
    assert mixed.rated == tuple(others)


def test_an_extended_plan_serves_the_digests_of_all_its_lists() -> None:
    plan = tiny_plan()
    assert not plan.is_extended
    added = replace(plan.lists[0], number=len(plan.lists) + 1, added=Addition("more participants", "now", "other"))
    extended = Plan(plan.plan_digest, plan.seed, (*plan.lists, added))
    assert extended.is_extended
    assert extended.covers == {plan.plan_digest, "other"}


def test_the_garbage_collector_is_on_again_afterwards() -> None:
    with no_collection():
        assert not gc.isenabled()
    assert gc.isenabled()
