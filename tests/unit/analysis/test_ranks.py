"""Ranks: how probable each is."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from beholder.analysis.ranks import ranks
from beholder.stats.additive import AdditiveContrasts
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


def rated(seed: int, contents: int, truth: dict[str, float], spread: float) -> pd.DataFrame:
    """Return ratings of 24 people, with contents that favour conditions."""
    rng = np.random.default_rng(seed)
    cells = {(k, name): rng.normal(0, spread) for k in range(contents) for name in truth}
    return pd.DataFrame(
        [
            (f"p{p}", f"c{k}", name, mean + cells[k, name] + rng.normal())
            for p in range(24)
            for k in range(contents)
            for name, mean in truth.items()
        ],
        columns=["participant", "content", "condition", "value"],
    )


def test_few_contents_make_the_order_unsure_beyond_them_only() -> None:
    """Means three errors apart are in the right order with 97 % by t with 3 degrees of freedom, and not with 99.9."""
    actual = present(ranks(rated(2, 4, {"a": 0.0, "b": 0.8}, 0.4))).table
    first = actual[actual["rank"] == 1].set_index("condition")
    assert 0.5 < first.loc["b", "probability"] < 0.99
    assert first.loc["b", "these_probability"] > first.loc["b", "probability"]
    np.testing.assert_allclose(first[["probability", "these_probability"]].sum(), 1)


def test_two_conditions_are_ranked_as_the_test_of_their_difference_has_it() -> None:
    table = rated(3, 5, {"a": 0.0, "b": 0.3}, 0.3)
    pages = table.groupby(["participant", "content", "condition"])["value"].mean().unstack()
    participant, content, condition = (
        np.asarray(pd.factorize(table[name])[0], np.intp) for name in ("participant", "content", "condition")
    )
    found = AdditiveContrasts(participant, content, condition, [(0, 1)]).estimate(table["value"].to_numpy()[None])
    assert found.difference[0, 0] == pytest.approx(float((pages["a"] - pages["b"]).mean()))
    actual = present(ranks(table)).table.query("condition == 'a' and rank == 1").iloc[0]
    for column, claim in (("probability", found.beyond), ("these_probability", found.these)):
        # The draws in which a is above b are the one-sided p-value of b above a.
        assert actual[column] == pytest.approx(stats.t.cdf(claim.statistic[0, 0], claim.df[0, 0]), abs=0.02)


def test_conditions_without_a_common_content_are_ranked_apart_or_through_others() -> None:
    table = rated(4, 6, {"a": 0.0, "b": 1.0, "c": 2.0}, 0.1)
    number = table["content"].str[1:].astype(int)
    seen = {"a": number < 4, "b": number > 1, "c": number >= 4}
    linked = table[np.select([table["condition"] == name for name in seen], list(seen.values())).astype(bool)]
    actual = present(ranks(linked)).table
    assert set(actual["component"]) == {"1"}
    assert actual.query("condition == 'c' and rank == 1")["probability"].iloc[0] > 0.9
    apart = present(ranks(linked[(linked["condition"] != "b") | (number[linked.index] >= 4)])).table
    assert {name: part for part, name in zip(apart["component"], apart["condition"], strict=True)} == {
        "b": "1",
        "c": "1",
    }


def test_one_content_has_no_order_beyond_it_but_that_of_people() -> None:
    table = rated(5, 1, {"a": 0.0, "b": 0.5}, 0.0)
    actual = present(ranks(table)).table
    np.testing.assert_allclose(actual["probability"], actual["these_probability"], atol=0.03)


def test_graded_comparisons_are_ranked_by_their_differences() -> None:
    rng = np.random.default_rng(6)
    rows = [
        {"participant": f"p{p}", "content": f"c{k}", "condition": one, "other_condition": other, "kind": "diff",
         "value": float(np.clip(np.round(mean + rng.normal(0, 1)), -3, 3))}
        for p in range(15) for k in range(5)
        for one, other, mean in (("a", "b", -1.0), ("b", "c", -1.0))
    ]  # fmt: skip
    table = present(ranks(pd.DataFrame(rows))).table
    first = table[table["rank"] == 1].set_index("condition")["probability"]
    assert first["c"] > 0.95


@pytest.mark.long
def test_what_is_called_the_first_is_the_first_as_often_as_it_is_said(whole: bool) -> None:
    """With four contents normal draws said 98 % where 87 % were right."""
    rng = np.random.default_rng(8)
    said: list[float] = []
    right = 0
    for seed in range(600 if whole else 12):
        truth = dict(zip("abc", rng.normal(0, 0.3, 3), strict=True))
        table = present(ranks(rated(seed, 4, truth, 0.3), draws=1000)).table
        first = table[table["rank"] == 1].set_index("condition")["probability"]
        if first.max() > 0.8:
            said.append(float(first.max()))
            right += first.idxmax() == max(truth, key=truth.__getitem__)
    assert right >= stats.binom.ppf(0.001, len(said), np.mean(said) - 0.02)
