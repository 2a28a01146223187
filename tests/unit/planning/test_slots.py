"""Slots: letters, colours, and both orders of a pair."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings

from beholder.planning.balance import balance
from beholder.planning.builder import make_plan
from beholder.planning.slots import PALETTE
from beholder.stimuli.catalogue import Catalogue
from beholder.study.model import Study
from support.pair_methods import compare, match, shown
from support.pair_plans import comparisons
from support.plans import acr, assert_promises, make_catalogue, make_study, parallel


def test_slots_are_named_by_place_and_coloured_without_repetition() -> None:
    plan = make_plan(make_study("parallel", participants=30, contents="once"), make_catalogue(5, 4), parallel)
    first = Counter[str | None]()
    for planned in plan.lists:
        for trial in planned.trials:
            assert [slot.id for slot in trial.slots] == ["s1", "s2", "s3", "s4"]
            assert [slot.label for slot in trial.slots] == ["A", "B", "C", "D"]
            colours = [slot.colour for slot in trial.slots]
            assert len(set(colours)) == 4
            assert set(colours) <= set(PALETTE[:8])
            first[colours[0]] += 1
    assert set(first) == set(PALETTE[:8])


def test_more_than_eight_slots_use_the_eight_best_colours_and_some_others() -> None:
    plan = make_plan(make_study("parallel", participants=5, contents="once"), make_catalogue(2, 10), parallel)
    for planned in plan.lists:
        for trial in planned.trials:
            colours = {slot.colour for slot in trial.slots}
            assert len(colours) == 10
            assert colours > set(PALETTE[:8])


def test_a_single_slot_has_no_letter_and_no_colour() -> None:
    plan = make_plan(make_study("acr", participants=2, trials=4), make_catalogue(3, 2), acr)
    for trial in plan.lists[0].trials:
        (slot,) = trial.slots
        assert (slot.id, slot.label, slot.colour) == ("s1", None, None)


@settings(max_examples=30, deadline=None)
@given(comparisons())
def test_both_orders_are_equally_frequent_for_each_pair_and_in_each_list(case: tuple[Study, Catalogue]) -> None:
    study, catalogue = case
    plan = make_plan(study, catalogue, compare)
    place = {stimulus.id: catalogue.conditions.index(stimulus.condition) for stimulus in catalogue.stimuli}
    excess: Counter[object] = Counter()
    for planned in plan.lists:
        for trial in planned.trials:
            one, two = shown(trial)
            sign = 1 if place[one] < place[two] else -1
            pair = frozenset((catalogue.by_id[one].condition, catalogue.by_id[two].condition))
            for group in (planned.number, frozenset((one, two)), pair):
                excess[group] += sign
    assert all(abs(value) <= 1 for value in excess.values())


def test_an_order_that_is_fixed_has_the_earlier_condition_first() -> None:
    catalogue = make_catalogue(4, 3)
    plan = make_plan(make_study(participants=7, trials=6, both_orders=False), catalogue, compare)
    for planned in plan.lists:
        for trial in planned.trials:
            one, two = (catalogue.conditions.index(catalogue.by_id[s].condition) for s in shown(trial))
            assert one < two
    assert not [row for row in balance(plan, catalogue) if row.count.startswith("order")]
    assert_promises(plan, catalogue)


def test_the_two_get_letters_and_what_has_a_name_stays_last() -> None:
    plan = make_plan(make_study(participants=20, trials=6), make_catalogue(3, 3), match)
    first = Counter[bool]()
    for planned in plan.lists:
        for trial in planned.trials:
            assert [slot.id for slot in trial.slots] == ["s1", "s2", "s3"]
            assert [slot.label for slot in trial.slots] == ["A", "B", "x"]
            assert trial.slots[2].stimulus == trial.draws["same_as"]
            assert trial.slots[2].colour is None
            assert trial.slots[0].colour != trial.slots[1].colour
            first[shown(trial)[0] < shown(trial)[1]] += 1
    assert first[True] == first[False] == 60
