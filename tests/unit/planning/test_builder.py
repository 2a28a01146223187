"""The plan keeps its promises for any design: balance, blindness to names, and the rules of a list."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from itertools import pairwise
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beholder.methods import find
from beholder.methods.acr import Acr
from beholder.methods.contract import Break, Generator, Method, Slot, Trial, Unit
from beholder.methods.pairs import pair_units
from beholder.methods.parallel import Parallel
from beholder.methods.views import view_level
from beholder.planning.balance import balance, ratings_per_stimulus
from beholder.planning.builder import make_plan
from beholder.planning.model import Plan
from beholder.stimuli.catalogue import Catalogue
from beholder.study.model import Study
from support.method_studies import catalogue_of as of_study
from support.method_studies import make_study as pair_study
from support.pair_methods import compare, match, shown
from support.pair_plans import comparisons
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


def test_the_same_seed_gives_the_same_plan_and_another_seed_another() -> None:
    catalogue = make_catalogue(6, 5)
    study = make_study("parallel", participants=12, trials=4, per_trial=3, contents="once", seed=3)
    again = make_study("parallel", participants=12, trials=4, per_trial=3, contents="once", seed=3)
    other = make_study("parallel", participants=12, trials=4, per_trial=3, contents="once", seed=4)
    plan = make_plan(study, catalogue, parallel)
    assert plan == make_plan(again, catalogue, parallel)
    assert plan.lists != make_plan(other, catalogue, parallel).lists


@pytest.mark.parametrize(
    ("trials", "every", "after"), [(6, 2, [2, 4]), (5, 2, [2]), (6, 3, [3]), (4, 3, []), (3, 1, [1, 2]), (4, 4, [])]
)
def test_breaks_come_after_every_so_many_trials_but_not_for_a_single_one(
    trials: int, every: int, after: list[int]
) -> None:
    study = make_study("parallel", participants=1, trials=trials, breaks=every, contents="once")
    entries = make_plan(study, make_catalogue(6, 2), parallel).lists[0].entries
    places = [place for place, entry in enumerate(entries) if isinstance(entry, Break)]
    assert [place - earlier for earlier, place in enumerate(places)] == after
    assert [entries[place].id for place in places] == [f"break:{number}" for number in range(1, len(after) + 1)]


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


class TooManySlots(Acr):
    def compose(self, study: Study, unit: Unit, catalogue: Catalogue, rng: Generator) -> Trial:
        trial = super().compose(study, unit, catalogue, rng)
        return Trial(trial.id, trial.content, trial.purpose, trial.slots * 2, trial.asked)


def test_a_method_that_composes_other_slots_than_it_was_dealt_is_a_bug_of_the_method() -> None:
    with pytest.raises(ValueError, match=r"^acr composed 2 slots without a label from a unit of 1 stimuli$"):
        make_plan(make_study("acr"), make_catalogue(2, 2), cast("Method", TooManySlots()))


@settings(max_examples=50, deadline=None)
@given(comparisons())
def test_every_promise_holds_where_a_trial_is_a_pair(case: tuple[Study, Catalogue]) -> None:
    study, catalogue = case
    plan = make_plan(study, catalogue, compare)
    assert_promises(plan, catalogue)
    promised = [row.count for row in balance(plan, catalogue) if row.promised is not None]
    assert promised == [
        "order x pair", "order x pair of stimuli", "order x list", "pair totals", "content totals",
        "content x position", "pairs within a content", "content x pair",
    ]  # fmt: skip
    assert_rules_of_a_list(plan, study, catalogue)


@settings(max_examples=50, deadline=None)
@given(comparisons(complete=False))
def test_missing_stimuli_leave_the_other_pairs_even(case: tuple[Study, Catalogue]) -> None:
    study, catalogue = case
    plan = make_plan(study, catalogue, compare)
    assert_promises(plan, catalogue)
    assert_rules_of_a_list(plan, study, catalogue)


def assert_rules_of_a_list(plan: Plan, study: Study, catalogue: Catalogue) -> None:
    units = {frozenset(unit.stimuli) for unit in pair_units(study, catalogue)}
    for planned in plan.lists:
        pairs = [frozenset(shown(trial)) for trial in planned.trials]
        assert len(pairs) == study.design.trials
        assert len(pairs) == len(set(pairs)), "a pair comes twice in a list"
        assert set(pairs) <= units
        order = [trial.content for trial in planned.trials]
        if study.design.contents == "once":
            assert len(order) == len(set(order))
        if study.design.contents == "apart":
            assert all(one != two for one, two in pairwise(order))
        assert all(trial.together for trial in planned.trials)


def test_the_same_seed_gives_the_same_plan_of_pairs() -> None:
    catalogue = make_catalogue(5, 4)
    one, two, other = (make_plan(make_study(participants=9, trials=7, seed=s), catalogue, match) for s in (3, 3, 4))
    assert one == two
    assert one.lists != other.lists


BALANCED = {"acr": "a52c1170763164d2", "parallel": "64969be2c968dfe3", "pair": "50f460742f983d1a"}


@pytest.mark.parametrize("name", BALANCED)
def test_a_balanced_order_is_what_it_always_was(name: str) -> None:
    method = {"acr": acr, "parallel": parallel, "pair": compare}[name]
    pages = {"trials": 5, "per_trial": 3, "contents": "once"} if name == "parallel" else {"trials": 7}
    plan = make_plan(make_study(participants=25, seed=3, order="balanced", **pages), make_catalogue(6, 5), method)
    shown = [
        [[trial.content, [[slot.stimulus, slot.colour] for slot in trial.slots]] for trial in planned.trials]
        for planned in plan.lists
    ]
    assert hashlib.sha256(json.dumps(shown).encode()).hexdigest()[:16] == BALANCED[name]


# Views as a factor within persons

VIEWED = {"participants": 12, "trials": 6, "pairs": "all", "seed": 5}


def plan_with_views(view: object) -> Plan:
    study = pair_study("pair", ("a", "b", "c"), design=VIEWED, options={} if view is None else {"view": view})
    return make_plan(study, of_study(study), find("pair"))


def trials_of(plan: Plan) -> list[list[Trial]]:
    return [[entry for entry in one.entries if isinstance(entry, Trial)] for one in plan.lists]


def test_each_person_has_each_view_equally_often_and_each_pair_is_seen_in_each() -> None:
    lists = trials_of(plan_with_views({"within": ["flip", "wipe"]}))
    by_pair: Counter[tuple[frozenset[str], str | None]] = Counter()
    for one in lists:
        assert Counter(view_level(trial) for trial in one) == {"flip": 3, "wipe": 3}
        by_pair.update((frozenset(slot.stimulus for slot in trial.slots), view_level(trial)) for trial in one)
    for pair in {pair for pair, _ in by_pair}:
        assert abs(by_pair[pair, "flip"] - by_pair[pair, "wipe"]) <= 1


def test_an_odd_number_of_trials_favours_no_view_over_all_lists() -> None:
    study = pair_study("pair", ("a", "b", "c"), design={**VIEWED, "trials": 5},
                       options={"view": {"within": ["flip", "wipe"]}})  # fmt: skip
    lists = trials_of(make_plan(study, of_study(study), find("pair")))
    total = Counter(view_level(trial) for one in lists for trial in one)
    assert total["flip"] == total["wipe"] == 30


def test_what_is_shown_and_in_which_order_does_not_depend_on_the_view() -> None:
    def shown(plan: Plan) -> list[list[tuple[str, ...]]]:
        return [[tuple(slot.stimulus for slot in trial.slots) for trial in one] for one in trials_of(plan)]

    assert (
        shown(plan_with_views({"within": ["flip", "wipe"]}))
        == shown(plan_with_views("flip"))
        == shown(plan_with_views(None))
    )


def test_the_plan_depends_on_the_views_and_not_on_their_absence() -> None:
    digests = {
        plan_with_views(view).plan_digest for view in (None, "flip", ["flip", "wipe"], {"within": ["flip", "wipe"]})
    }
    assert len(digests) == 4
