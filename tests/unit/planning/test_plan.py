"""The plan keeps its promises for any design: balance, blindness to names, and the rules of a list."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise
from typing import cast

from hypothesis import given, settings
from hypothesis import strategies as st

from beholder.methods.contract import Break, Generator, Method, Slot, Trial, Unit
from beholder.methods.parallel import Parallel
from beholder.planning.balance import balance, balance_table, ratings_per_stimulus
from beholder.planning.builder import make_plan
from beholder.planning.model import Plan
from beholder.planning.slots import PALETTE
from beholder.stimuli.catalogue import Catalogue
from beholder.study.model import Study
from support.plans import acr, assert_promises, make_catalogue, make_study, parallel


def stimuli_of(trial: Trial) -> tuple[str, ...]:
    return tuple(slot.stimulus for slot in trial.slots)


def assert_list_rules(plan: Plan, contents: str) -> None:
    for planned in plan.lists:
        shown = [stimulus for trial in planned.trials for stimulus in stimuli_of(trial)]
        assert len(shown) == len(set(shown)), "a stimulus comes twice in a list"
        order = [trial.content for trial in planned.trials]
        if contents == "once":
            assert len(order) == len(set(order))
        if contents == "apart":
            assert all(one != two for one, two in pairwise(order))


@st.composite
def pages(draw: st.DrawFn) -> tuple[Study, Catalogue]:
    conditions = draw(st.integers(2, 9))
    per_trial = draw(st.integers(2, conditions))
    always = draw(st.integers(0, per_trial - 1))
    contents = draw(st.integers(1, 9))
    rule = draw(st.sampled_from(["once", "apart", "free"]))
    most = contents if rule == "once" or always else contents * (conditions // per_trial)
    if rule == "apart" and contents == 1:
        most = 1
    study = make_study(
        "parallel",
        participants=draw(st.integers(1, 40)),
        trials=draw(st.integers(1, most)),
        per_trial=per_trial,
        always=[f"condition{n}" for n in range(always)],
        contents=rule,
        seed=draw(st.integers(0, 5)),
    )
    return study, make_catalogue(contents, conditions)


@settings(max_examples=60, deadline=None)
@given(pages())
def test_every_promise_holds_where_a_trial_is_a_content(case: tuple[Study, Catalogue]) -> None:
    study, catalogue = case
    plan = make_plan(study, catalogue, parallel)
    assert len(plan.lists) == study.design.participants
    assert_promises(plan, catalogue)
    assert_list_rules(plan, study.design.contents)
    for planned in plan.lists:
        assert len(planned.trials) == study.design.trials
        for trial in planned.trials:
            conditions = {catalogue.by_id[stimulus].condition for stimulus in stimuli_of(trial)}
            assert len(conditions) == study.design.per_trial
            assert conditions >= set(study.design.always)
            assert {catalogue.by_id[stimulus].content for stimulus in stimuli_of(trial)} == {trial.content}


@st.composite
def votes(draw: st.DrawFn, complete: bool) -> tuple[Study, Catalogue]:
    conditions, contents = draw(st.integers(1, 6)), draw(st.integers(2, 7))
    cells = [(i, j) for i in range(contents) for j in range(conditions)]
    missing = frozenset() if complete else draw(st.frozensets(st.sampled_from(cells), max_size=len(cells) // 2))
    catalogue = make_catalogue(contents, conditions, missing)
    counts = Counter(stimulus.content for stimulus in catalogue.stimuli)
    rule = draw(st.sampled_from(["once", "apart", "free"]))
    if rule == "once":
        most = len(counts)
    elif rule == "free":
        most = sum(counts.values())
    else:
        whole = sum(counts.values())
        most = max(n for n in range(1, whole + 1) if sum(min(c, -(-n // 2)) for c in counts.values()) >= n)
    trials = draw(st.integers(1, most))
    participants, seed = draw(st.integers(1, 40)), draw(st.integers(0, 5))
    return make_study("acr", participants=participants, trials=trials, contents=rule, seed=seed), catalogue


@settings(max_examples=60, deadline=None)
@given(votes(complete=True))
def test_every_promise_holds_where_a_trial_is_a_stimulus(case: tuple[Study, Catalogue]) -> None:
    study, catalogue = case
    plan = make_plan(study, catalogue, acr)
    assert_promises(plan, catalogue)
    assert_list_rules(plan, study.design.contents)
    rows = {row.count: row for row in balance(plan, catalogue)}
    assert rows["ratings per stimulus"].difference <= 1
    assert rows["stimulus x position"].difference <= 1
    assert rows["conditions within a list"].difference <= 1


@settings(max_examples=60, deadline=None)
@given(votes(complete=False))
def test_missing_stimuli_leave_the_others_even(case: tuple[Study, Catalogue]) -> None:
    study, catalogue = case
    plan = make_plan(study, catalogue, acr)
    assert_promises(plan, catalogue)
    assert_list_rules(plan, study.design.contents)
    if study.design.contents == "free":
        counts = ratings_per_stimulus(plan)
        shown = [counts.get(stimulus.id, 0) for stimulus in catalogue.stimuli]
        assert max(shown) - min(shown) <= 1


@settings(max_examples=30, deadline=None)
@given(st.frozensets(st.tuples(st.integers(0, 5), st.integers(1, 5)), max_size=6), st.integers(1, 30))
def test_a_content_without_some_condition_shows_what_it_has(
    missing: frozenset[tuple[int, int]], participants: int
) -> None:
    lacking = Counter(content for content, _ in missing)
    catalogue = make_catalogue(6, 6, frozenset(cell for cell in missing if lacking[cell[0]] <= 3))
    study = make_study("parallel", participants=participants, per_trial=3, always=["condition0"], contents="once")
    plan = make_plan(study, catalogue, parallel)
    assert_promises(plan, catalogue)
    assert_list_rules(plan, "once")


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


def test_the_same_seed_gives_the_same_plan_and_another_seed_another() -> None:
    catalogue = make_catalogue(6, 5)
    study = make_study("parallel", participants=12, trials=4, per_trial=3, contents="once", seed=3)
    again = make_study("parallel", participants=12, trials=4, per_trial=3, contents="once", seed=3)
    other = make_study("parallel", participants=12, trials=4, per_trial=3, contents="once", seed=4)
    plan = make_plan(study, catalogue, parallel)
    assert plan == make_plan(again, catalogue, parallel)
    assert plan.lists != make_plan(other, catalogue, parallel).lists


def test_breaks_come_after_every_so_many_trials_but_not_after_the_last() -> None:
    plan = make_plan(
        make_study("parallel", participants=1, trials=6, breaks=2, contents="once"), make_catalogue(6, 2), parallel
    )
    kinds = [entry.id for entry in plan.lists[0].entries]
    assert kinds == ["trial:1", "trial:2", "break:1", "trial:3", "trial:4", "break:2", "trial:5", "trial:6"]
    assert [entry for entry in plan.lists[0].entries if isinstance(entry, Break)] == [
        Break("break:1"),
        Break("break:2"),
    ]


def test_trials_left_out_are_as_many_as_possible_up_to_twelve() -> None:
    few = make_plan(make_study("parallel", participants=2, contents="once"), make_catalogue(7, 2), parallel)
    many = make_plan(make_study("parallel", participants=2, contents="once"), make_catalogue(30, 2), parallel)
    assert len(few.lists[0].trials) == 7
    assert len(many.lists[0].trials) == 12


def test_contents_do_not_keep_the_same_company() -> None:
    plan = make_plan(
        make_study("parallel", participants=40, trials=5, contents="once"), make_catalogue(20, 2), parallel
    )
    together = Counter(
        frozenset((one.content, two.content))
        for planned in plan.lists
        for one in planned.trials
        for two in planned.trials
        if one.content < two.content
    )
    # Each content has 10 lists with 4 others each: in fixed packages it would meet 4 of 19, always the same.
    assert len(together) > 120


def test_the_first_lists_alone_are_nearly_even() -> None:
    catalogue = make_catalogue(20, 8)
    study = make_study("parallel", participants=46, trials=10, per_trial=4, contents="once")
    plan = make_plan(study, catalogue, parallel)
    first = replace(plan, lists=plan.lists[:10])
    rows = {row.count: row for row in balance(first, catalogue)}
    assert rows["condition totals"].difference <= 2
    assert rows["content totals"].difference <= 4
    assert rows["condition x slot"].difference <= 4


def test_the_balance_reports_what_was_promised_and_what_was_not() -> None:
    catalogue = make_catalogue(4, 3)
    plan = make_plan(
        make_study("parallel", participants=6, trials=4, per_trial=2, contents="once"), catalogue, parallel
    )
    table = balance_table(balance(plan, catalogue))
    assert table[0] == ["count", "cells", "least", "most", "difference", "promised"]
    assert table[1] == ["condition totals", "3", "16", "16", "0", "at most 1"]
    assert table[2] == ["content totals", "4", "6", "6", "0", "at most 1"]
    assert [row[0] for row in table[3:]] == [
        "condition x slot",
        "content x position",
        "conditions within a content",
        "content x condition",
        "ratings per stimulus",
        "stimulus x position",
        "stimulus x slot",
        "condition x slot x position",
        "conditions within a list",
        "conditions together in a trial",
        "content after content",
        "condition totals of lists 1 to 3",
        "content totals of lists 1 to 3",
    ]


def test_ratings_per_stimulus_count_every_finished_list_once() -> None:
    plan = make_plan(make_study("parallel", participants=6, trials=4, contents="once"), make_catalogue(4, 3), parallel)
    assert set(ratings_per_stimulus(plan).values()) == {6}
    assert len(ratings_per_stimulus(plan)) == 12


class WithReference(Parallel):
    """A method that leaves one slot unrated."""

    def compose(self, study: Study, unit: Unit, catalogue: Catalogue, rng: Generator) -> Trial:
        trial = super().compose(study, unit, catalogue, rng)
        slots = tuple(
            Slot(s.id, s.stimulus, s.role, s.label, not s.stimulus.endswith("condition0"), s.colour)
            for s in trial.slots
        )
        return Trial(trial.id, trial.content, trial.purpose, slots, trial.asked, {"drawn": int(rng.integers(1000))})


def test_what_a_method_composes_stays_with_its_stimulus() -> None:
    plan = make_plan(
        make_study("parallel", participants=6, contents="once"), make_catalogue(4, 3), cast("Method", WithReference())
    )
    trials = [trial for planned in plan.lists for trial in planned.trials]
    for trial in trials:
        assert [slot.rated for slot in trial.slots] == [not s.endswith("condition0") for s in stimuli_of(trial)]
    assert len({trial.draws["drawn"] for trial in trials}) > 5
    assert len(ratings_per_stimulus(plan)) == 8
