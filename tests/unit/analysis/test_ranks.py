"""Ranks: how probable each is."""

from __future__ import annotations

import numpy as np
import pandas as pd

from beholder.analysis.ranks import ranks
from support.choice_ratings import present, simulated


def test_rank_probabilities_sum_to_one_and_follow_the_strengths() -> None:
    table = simulated({"a": 2.0, "b": 0.0, "c": 0.0})
    result = present(ranks(table))
    actual = result.table.pivot_table(index="condition", columns="rank", values="probability")
    np.testing.assert_allclose(actual.sum(axis=0), 1)
    np.testing.assert_allclose(actual.sum(axis=1), 1)
    assert actual.loc["a", 1] > 0.99
    assert actual.loc["b", 2] > 0.01
    assert set(result.table["source"]) == {"bradley-terry"}
    pd.testing.assert_frame_equal(result.table, present(ranks(table)).table)


def test_scores_are_ranked_by_their_means() -> None:
    rng = np.random.default_rng(3)
    rows = [
        {"participant": f"p{p}", "content": f"c{k}", "condition": name, "value": mean + rng.normal()}
        for p in range(12)
        for k in range(6)
        for name, mean in {"low": 1.0, "mid": 3.0, "twin": 3.0}.items()
    ]
    result = present(ranks(pd.DataFrame(rows)))
    table = result.table.pivot_table(index="condition", columns="rank", values="probability")
    assert table.loc["low", 3] == 1
    assert 0 < table.loc["mid", 1] < 1
    assert set(result.table["source"]) == {"means"}


def test_equal_scores_share_their_ranks() -> None:
    table = pd.DataFrame(
        [{"participant": p, "content": "t", "condition": name, "value": 3.0} for p in ("p", "q") for name in ("a", "b")]
    )
    actual = present(ranks(table)).table
    np.testing.assert_allclose(actual["probability"], 0.5, atol=0.03)
    assert ranks(table[table["participant"] == "p"]) is None
    assert ranks(table[table["condition"] == "a"]) is None
