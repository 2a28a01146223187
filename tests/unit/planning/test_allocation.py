"""Allocation in runs, and units that come once for each question."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from beholder.methods import find
from beholder.methods.contract import Break, Slot, Trial
from beholder.planning.allocation import Allocation, allocate_in_runs, run_length
from beholder.planning.balance import balance, ratings_range
from beholder.planning.builder import make_plan
from beholder.planning.feasibility import PlanFrame, build_frame
from support.companion_plans import one_by_one
from support.plans import assert_promises, make_catalogue, make_study


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


@st.composite
def frames(draw: st.DrawFn) -> tuple[PlanFrame, int]:
    method = draw(st.sampled_from(["parallel", "acr", "pair"]))
    contents, conditions = draw(st.integers(1, 5)), draw(st.integers(2, 5))
    chain = draw(st.integers(1, 2))
    design = {
        "participants": draw(st.integers(1, 120)),
        "contents": draw(st.sampled_from(["once", "apart", "free"])),
        "sessions_per_participant": chain,
        "trials": draw(st.integers(1, max(1, contents // chain))),
        **({"per_trial": draw(st.integers(2, conditions))} if method == "parallel" else {}),
    }
    if contents == 1:
        design["contents"], design["sessions_per_participant"] = "once", 1
    if contents < chain:
        design["sessions_per_participant"] = 1
    study = make_study(method, **design)
    ground = build_frame(study, make_catalogue(contents, conditions), find(method))
    return ground._replace(shape=ground.shape._replace(lists=draw(st.integers(1, 120)))), draw(st.integers(1, 40))


def spread(counts: np.ndarray) -> int:
    return int(counts.max() - counts.min())


def counts_of(allocated: Allocation, contents: int, columns: int) -> np.ndarray:
    """Return how often each column of each content comes at each position."""
    lists, trials = allocated.contents.shape
    counts = np.zeros((contents, columns, trials), dtype=np.int64)
    content = np.repeat(allocated.contents.ravel(), allocated.columns.shape[1])
    position = np.repeat(np.tile(np.arange(trials), lists), allocated.columns.shape[1])
    np.add.at(counts, (content, allocated.columns.ravel(), position), 1)
    return counts


@settings(max_examples=40, deadline=None)
@given(frames(), st.integers(0, 3))
def test_runs_keep_every_count_within_one(case: tuple[PlanFrame, int], seed: int) -> None:
    (_, grid, shape, _), at_once = case
    design = make_study(contents="free").design
    allocated = allocate_in_runs(grid, shape, design, np.random.default_rng(seed), at_once)
    assert allocated.contents.shape == (shape.lists, shape.trials)
    counts = counts_of(allocated, len(grid.contents), len(grid.columns))
    by_position = counts.sum(axis=1) // grid.per_trial
    assert spread(by_position.sum(axis=1)) <= 1, "content totals"
    assert all(spread(row) <= 1 for row in by_position), "content x position"
    assert spread(counts.sum(axis=(0, 2))) <= 1, "column totals"
    assert all(spread(row) <= 1 for row in counts.sum(axis=2)), "columns within a content"
    cells = allocated.contents.ravel()[:, None] * len(grid.columns) + allocated.columns
    for first in range(0, shape.lists, shape.chain):
        shown = cells[first * shape.trials : (first + shape.chain) * shape.trials].ravel()
        assert len(set(shown.tolist())) == len(shown), "a stimulus comes twice in a chain"


def test_a_run_is_even_in_itself_and_not_longer_than_it_has_to_be() -> None:
    study = make_study("parallel", participants=100, trials=4, per_trial=4, contents="once")
    _, grid, shape, _ = build_frame(study, make_catalogue(5, 6), find("parallel"))
    # Each of 5 contents three times, as 4 of 6 conditions come equally often in three trials.
    assert run_length(grid, shape, study.design, 1) == 15
    assert run_length(grid, shape, study.design, 100) == 30
    assert run_length(grid, shape._replace(chain=2), study.design, 1) == 30


def test_what_is_even_only_as_a_whole_is_dealt_at_once() -> None:
    catalogue = make_catalogue(3, 4, frozenset({(0, 1), (1, 2), (1, 3)}))
    study = make_study(participants=50, trials=3, contents="free")
    _, grid, shape, _ = build_frame(study, catalogue, find("acr"))
    assert run_length(grid, shape, study.design, 1) == 50
    square = study.design.model_copy(update={"order": "latin"})
    _, grid, shape, _ = build_frame(study, make_catalogue(3, 4), find("acr"))
    assert run_length(grid, shape, square, 1) == 50
