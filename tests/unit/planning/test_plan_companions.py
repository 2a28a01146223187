"""Plans in which a content brings its reference, and plans in which a stimulus comes once for each question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beholder.methods.acr import Acr
from beholder.methods.contract import Break, Generator, Method, Slot, Trial, Unit, Units
from beholder.planning.balance import balance, balance_table, ratings_range
from beholder.planning.builder import make_plan
from beholder.planning.model import Plan
from beholder.stimuli.catalogue import Catalogue
from beholder.study.model import Study
from beholder.types import Role
from support.plans import assert_promises, make_catalogue, make_study, problems_of


class WithReference(Acr):
    """One stimulus at a time, the reference of each content among them."""

    apart = 2

    def units(self, study: Study, catalogue: Catalogue) -> Units:
        companions = {
            stimulus.id: (catalogue.references[stimulus.content].id,)
            for stimulus in catalogue.stimuli
            if stimulus.role != "reference"
        }
        return replace(super().units(study, catalogue), companions=companions, apart=self.apart)

    def compose(self, study: Study, unit: Unit, catalogue: Catalogue, rng: Generator) -> Trial:
        trial = super().compose(study, unit, catalogue, rng)
        is_reference = catalogue.by_id[unit.stimuli[0]].role == "reference"
        role: Role = "hidden_reference" if is_reference else "test"
        return replace(trial, slots=(trial.slots[0]._replace(role=role),))


class FarFromReference(WithReference):
    apart = 4


class OneByOne(Acr):
    """Each stimulus once for each question."""

    def units(self, study: Study, catalogue: Catalogue) -> Units:
        return replace(super().units(study, catalogue), asks=(("one",), ("two",), ("three", "four")))

    def compose(self, study: Study, unit: Unit, catalogue: Catalogue, rng: Generator) -> Trial:
        return replace(super().compose(study, unit, catalogue, rng), draws={"asks": list(unit.asks)})


with_reference, far, one_by_one = (cast("Method", made()) for made in (WithReference, FarFromReference, OneByOne))


def make_referenced(contents: int, tests: int, missing: frozenset[tuple[int, int]] = frozenset()) -> Catalogue:
    return make_catalogue(contents, tests + 1, missing, roles={0: "reference"})


def possible(contents: int, tests: int, least: int = 2) -> list[int]:
    """Return every number of trials for which some number of contents can be visited."""
    return [
        trials
        for trials in range(1, contents * (tests + 1) + 1)
        if any(m * 2 <= trials <= m * (tests + 1) for m in range(least, contents + 1))
    ]


@st.composite
def sessions(draw: st.DrawFn) -> tuple[Study, Catalogue]:
    contents, tests = draw(st.integers(2, 7)), draw(st.integers(1, 5))
    missing = draw(st.frozensets(st.tuples(st.integers(0, 6), st.integers(2, 5)), max_size=draw(st.integers(0, 3))))
    catalogue = make_referenced(contents, tests, missing)
    fewest = min(Counter(s.content for s in catalogue.stimuli).values()) - 1
    study = make_study(
        participants=draw(st.integers(1, 40)),
        trials=draw(st.sampled_from(possible(contents, fewest))),
        contents=draw(st.sampled_from(["apart", "free"])),
        seed=draw(st.integers(0, 5)),
    )
    return study, catalogue


@settings(max_examples=60, deadline=None)
@given(sessions())
def test_a_reference_is_in_the_list_of_its_tests_once_and_not_beside_them(case: tuple[Study, Catalogue]) -> None:
    study, catalogue = case
    plan = make_plan(study, catalogue, with_reference)
    assert_promises(plan, catalogue)
    assert_kept_apart(plan, study, 2)


def assert_kept_apart(plan: Plan, study: Study, apart: int) -> None:
    for planned in plan.lists:
        assert len(planned.trials) == study.design.trials
        slots = [trial.slots[0] for trial in planned.trials]
        assert len({slot.stimulus for slot in slots}) == len(slots)
        references = {
            trial.content: place
            for place, trial in enumerate(planned.trials)
            if trial.slots[0].role == "hidden_reference"
        }
        tests = [(place, trial) for place, trial in enumerate(planned.trials) if trial.slots[0].role == "test"]
        assert {trial.content for _, trial in tests} == set(references)
        assert all(abs(place - references[trial.content]) >= apart for place, trial in tests)
        assert all(one.content != two.content for one, two in pairwise(planned.trials))


@settings(max_examples=30, deadline=None)
@given(st.integers(4, 7), st.integers(1, 4), st.integers(1, 20), st.data())
def test_a_reference_can_be_kept_further_away(contents: int, tests: int, people: int, data: st.DataObject) -> None:
    trials = data.draw(st.sampled_from(possible(contents, tests, 4)))
    study, catalogue = make_study(participants=people, trials=trials), make_referenced(contents, tests)
    plan = make_plan(study, catalogue, far)
    assert_promises(plan, catalogue)
    assert_kept_apart(plan, study, 4)


def test_there_are_about_two_tests_to_each_reference() -> None:
    for trials, references in ((12, 4), (10, 3), (6, 2), (5, 2), (4, 2), (36, 12), (48, 12)):
        catalogue = make_referenced(12, 3)
        plan = make_plan(make_study(participants=5, trials=trials), catalogue, with_reference)
        for planned in plan.lists:
            roles = Counter(trial.slots[0].role for trial in planned.trials)
            assert roles["hidden_reference"] == references


def test_a_reference_comes_before_between_and_after_its_tests() -> None:
    plan = make_plan(make_study(participants=200, trials=9), make_referenced(6, 4), with_reference)
    before: Counter[int] = Counter()
    for planned in plan.lists:
        for content in {trial.content for trial in planned.trials}:
            roles = [trial.slots[0].role for trial in planned.trials if trial.content == content]
            before[roles.index("hidden_reference")] += 1
    assert all(before[place] > 150 for place in range(3))


def test_the_balance_tells_references_from_tests() -> None:
    catalogue = make_referenced(6, 3)
    plan = make_plan(make_study(participants=12, trials=9), catalogue, with_reference)
    table = balance_table(balance(plan, catalogue))
    assert table[1:5] == [
        ["condition totals", "3", "24", "24", "0", "at most 1"],
        ["reference totals", "6", "6", "6", "0", "at most 1"],
        ["content x position", "54", "2", "2", "0", "at most 1"],
        ["conditions within a content", "18", "4", "4", "0", "at most 1"],
    ]
    assert ratings_range(plan) == (4, 6)


def test_trials_left_out_are_as_many_as_can_be_up_to_twelve() -> None:
    for contents, tests, trials in ((20, 5, 12), (3, 2, 9), (5, 1, 10)):
        plan = make_plan(make_study(participants=2), make_referenced(contents, tests), with_reference)
        assert len(plan.lists[0].trials) == trials


@pytest.mark.parametrize(
    ("design", "catalogue", "message"),
    [
        ({"trials": 2}, make_referenced(4, 2),
         "study.yaml  design.trials is 2, but each content comes with its reference, at least 2 trials apart. "
         "Allowed: 4 to 12."),
        ({"trials": 13}, make_referenced(4, 2),
         "study.yaml  design.trials is 13, but there are 4 contents, each with its reference, content content0 has "
         "2 stimuli under test, and none may come twice in a list. Allowed: 4 to 12. Add contents, or conditions."),
        ({"trials": 5}, make_referenced(4, 1),
         "study.yaml  design.trials is 5, but content content0 has 1 stimulus under test, which comes with its "
         "reference. Allowed: even numbers, 4 to 8."),
        ({}, make_referenced(1, 5),
         "study.yaml  stimuli are of 1 content, too few to keep a reference from its tests. "
         "Allowed: 2 contents or more. Add contents."),
        ({"contents": "once"}, make_referenced(4, 2),
         "study.yaml  design.contents is once, but each content comes with its reference. Allowed: apart or free. "
         "Leave it out."),
    ],
)  # fmt: skip
def test_what_cannot_be_kept_apart_is_an_error(design: Mapping[str, Any], catalogue: Catalogue, message: str) -> None:
    assert problems_of(make_study(**design), catalogue, with_reference) == message


def test_a_content_of_which_only_the_reference_is_there_is_an_error() -> None:
    class Bare(WithReference):
        def units(self, study: Study, catalogue: Catalogue) -> Units:
            units = super().units(study, catalogue)
            return replace(units, companions={**units.companions, "content1-condition0": ("content1-condition0",)})

    catalogue = make_referenced(3, 1, frozenset({(1, 1)}))
    assert problems_of(make_study(), catalogue, cast("Method", Bare())) == (
        "study.yaml  stimuli of content content1 are its reference alone. "
        "Add a stimulus under test, or leave content1 out."
    )


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 12), st.integers(1, 6), st.integers(1, 5), st.integers(0, 3), st.data())
def test_a_stimulus_comes_once_for_each_set_of_questions(
    people: int, contents: int, conditions: int, seed: int, data: st.DataObject
) -> None:
    catalogue = make_catalogue(contents, conditions)
    trials = data.draw(st.integers(1, contents * conditions if contents > 1 else 1))
    study = make_study(participants=people, trials=trials, seed=seed)
    plan = make_plan(study, catalogue, one_by_one)
    assert_promises(plan, catalogue)
    for planned in plan.lists:
        assert [trial.id for trial in planned.trials] == [f"trial:{n}" for n in range(1, 3 * trials + 1)]
        visits = Counter((trial.slots[0].stimulus, str(trial.draws["asks"])) for trial in planned.trials)
        assert set(visits.values()) == {1}
        assert len({stimulus for stimulus, _ in visits}) == trials
        assert len(visits) == 3 * trials
        order = [trial.content for trial in planned.trials]
        most = max(Counter(order).values())
        if most <= -(-len(order) // 2):
            assert all(one != two for one, two in pairwise(order))
        if trials > 1:
            assert all(slots_shown(one) != slots_shown(two) for one, two in pairwise(planned.trials))


def slots_shown(trial: Trial) -> tuple[Slot, ...]:
    return trial.slots


def test_visits_are_scattered_over_the_whole_list() -> None:
    plan = make_plan(make_study(participants=100, trials=8), make_catalogue(8, 2), one_by_one)
    away = [
        places[2] - places[0]
        for planned in plan.lists
        for stimulus in {trial.slots[0].stimulus for trial in planned.trials}
        if (places := [n for n, trial in enumerate(planned.trials) if trial.slots[0].stimulus == stimulus])
    ]
    assert 10 < sum(away) / len(away) < 15  # three of 24 places at random lie 12.5 apart
    sets = Counter(str(planned.trials[0].draws["asks"]) for planned in plan.lists)
    assert min(sets.values()) > 15


def test_one_content_alone_still_has_other_stimuli_beside_each() -> None:
    study = make_study(participants=30, trials=5, contents="free")
    plan = make_plan(study, make_catalogue(1, 6), one_by_one)
    for planned in plan.lists:
        assert all(slots_shown(one) != slots_shown(two) for one, two in pairwise(planned.trials))


def test_breaks_and_ratings_count_what_is_on_the_pages() -> None:
    catalogue = make_catalogue(4, 2)
    plan = make_plan(make_study(participants=4, trials=4, breaks=5), catalogue, one_by_one)
    entries = plan.lists[0].entries
    assert [n for n, entry in enumerate(entries) if isinstance(entry, Break)] == [5, 11]
    assert ratings_range(plan) == (2, 2)
    assert "content x position" not in [row.count for row in balance(plan, catalogue)]
