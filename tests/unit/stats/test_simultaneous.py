"""Many pairs at once: e-BH, sets of ranks, and shares of one error rate."""

from __future__ import annotations

import numpy as np

from beholder.stats.simultaneous import discoveries, pair_shares, rank_sets


def test_discoveries_are_those_of_the_definition_of_e_bh() -> None:
    rng = np.random.default_rng(7)
    for _ in range(50):
        e = np.exp(rng.normal(1, 2.5, 12))
        order = np.sort(e)[::-1]
        most = max((k for k in range(1, 13) if k * order[k - 1] >= 12 / 0.05), default=0)
        assert discoveries(np.log(e), 0.05).sum() == most
    assert not discoveries(np.array([np.nan, 0.0]), 0.05).any()


def test_sets_of_ranks_leave_out_what_is_surely_better_or_worse() -> None:
    is_better = np.zeros((4, 4), bool)
    is_better[0, 1:] = is_better[1, 3] = True
    ranks = rank_sets(is_better, np.array([True, True, True, True]))
    assert ranks.best.tolist() == [1, 2, 2, 3]
    assert ranks.worst.tolist() == [1, 3, 4, 4]
    without = rank_sets(is_better, np.array([False, True, True, True]))
    assert without.best.tolist() == [0, 1, 1, 2]


def test_shares_of_the_error_rate_never_add_up_to_more_than_one() -> None:
    for founders in (2, 5, 40):
        whole = pair_shares(np.arange(400), founders)
        assert 0.9 < whole.sum() / 2 < 1
        assert np.array_equal(whole[:50, :50], pair_shares(np.arange(50), founders))
