"""Contents in lists: varied neighbours, even first lists, and companions apart from their tests."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from beholder.planning.balance import balance
from beholder.planning.builder import make_plan
from beholder.planning.model import Plan
from beholder.stimuli.catalogue import Catalogue
from beholder.study.model import Study
from support.companion_plans import far, make_referenced, with_reference
from support.plans import assert_promises, make_catalogue, make_study, parallel
from support.vote_plans import vote_plan


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


def test_the_heads_of_chains_alone_show_every_content() -> None:
    catalogue = make_catalogue(12, 4)
    plan = vote_plan("acr", catalogue, participants=48, trials=3, sessions_per_participant=4)
    heads = [trial.content for one in plan.lists[::4] for trial in one.rated]
    assert {heads.count(content) > 5 for content in catalogue.contents} == {True}
