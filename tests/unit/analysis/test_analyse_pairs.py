"""Pairs of conditions: who is compared with whom, by which test, corrected for what, and how large it is."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike
from scipy import stats

from beholder.analysis.pairs import pairs
from beholder.analysis.ratings import RowOrder, tidy
from beholder.analysis.ratings_table import fill_columns
from beholder.analysis.result import Result, read_result, records
from beholder.analysis.tests import TESTS, agreement
from beholder.analysis.tests import tests as four_tests
from beholder.files import write_table
from beholder.stats.clustered import Cells, difference_of, mean_of
from beholder.stats.intervals import dz
from beholder.stats.tests import holm, sign_test, signed_rank

COLUMNS = [
    "question", "condition", "other_condition", "comparison", "n", "participants", "contents", "mean_difference", "se",
    "df", "ci_low", "ci_high", "statistic", "p", "p_holm", "test", "effect", "effect_low", "effect_high", "clear_by",
    "note",
]  # fmt: skip


def ratings(
    means: dict[str, float], *, people: int = 12, contents: int = 8, noise: float = 5.0, seed: int = 2, **columns: Any
) -> pd.DataFrame:
    """Return ratings in which everybody rates every condition on every content."""
    rng = np.random.default_rng(seed)
    rows = [
        {"participant": f"p{p}", "content": f"c{k}", "condition": name, "value": mean + rng.normal(0, noise)}
        for p in range(people)
        for k in range(contents)
        for name, mean in means.items()
    ]
    return pd.DataFrame(rows, columns=["participant", "content", "condition", "value"]).assign(**columns)


def four(data: pd.DataFrame, **options: Any) -> pd.DataFrame:
    found = four_tests(data, **options)
    assert isinstance(found, Result)
    return found.table


def by_pair(data: pd.DataFrame, **options: Any) -> pd.DataFrame:
    return pairs(data, **options).table.set_index(["condition", "other_condition"], drop=False)


def cells(values: ArrayLike, people: ArrayLike, contents: ArrayLike) -> Cells:
    return Cells(np.asarray(values, float), np.asarray(people, np.intp), np.asarray(contents, np.intp))


# The clustered error


def test_one_content_gives_the_t_test_over_participants() -> None:
    d = np.random.default_rng(1).normal(1, 2, 15)
    found, known = mean_of(cells(d, range(15), [0] * 15)), stats.ttest_1samp(d, 0)
    assert found.over == "participants"
    assert (found.statistic, found.p, found.df) == pytest.approx((known.statistic, known.pvalue, 14))


def test_the_error_of_both_is_that_of_either_minus_that_of_cells() -> None:
    rng = np.random.default_rng(3)
    people, contents = np.repeat(np.arange(6), 5), np.tile(np.arange(5), 6)
    d = rng.normal(0, 1, 30) + rng.normal(0, 2, 6)[people]
    off = (d - d.mean()).reshape(6, 5) / 30
    wanted = 6 / 5 * (off.sum(axis=1) ** 2).sum() + 5 / 4 * (off.sum(axis=0) ** 2).sum() - 30 / 29 * (off**2).sum()
    found = mean_of(cells(d, people, contents))
    assert (found.df, found.over) == (4, "both")
    assert found.se**2 == pytest.approx(wanted)


def test_two_groups_of_people_give_welchs_error_and_the_smaller_degrees_of_freedom() -> None:
    rng = np.random.default_rng(4)
    a, b = rng.normal(0, 1, 20), rng.normal(0, 3, 9)
    found = difference_of(cells(a, range(20), [0] * 20), cells(b, range(20, 29), [0] * 9))
    assert found.statistic == pytest.approx(stats.ttest_ind(a, b, equal_var=False).statistic)
    assert (found.df, found.participants) == (8, 29)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(-9, 9), min_size=6, max_size=24), st.integers(2, 5))
def test_a_difference_of_the_same_cells_is_the_paired_one(values: list[float], contents: int) -> None:
    n = len(values)
    people, shown = [place // contents for place in range(n)], [place % contents for place in range(n)]
    other = np.random.default_rng(n).normal(0, 1, n)
    paired = mean_of(cells(np.asarray(values) - other, people, shown))
    apart = difference_of(cells(values, people, shown), cells(other, people, shown))
    assert apart.mean == pytest.approx(paired.mean, abs=1e-9)
    assert (apart.se, apart.df) == pytest.approx((paired.se, paired.df), abs=1e-9, nan_ok=True)


def test_where_nothing_varies_p_is_that_of_a_sign_test() -> None:
    same = mean_of(cells([2.0] * 8, range(8), [0] * 8))
    assert (same.se, same.p, same.low, same.high) == (0, 2**-7, 2, 2)
    assert mean_of(cells([0.0] * 8, range(8), [0] * 8)).p == 1


# Who is compared with whom


def test_columns_and_counts_of_a_paired_comparison() -> None:
    found = pairs(ratings({"a": 40, "b": 60})).table
    assert list(found.columns) == COLUMNS
    (row,) = found.to_dict("records")
    assert (row["comparison"], row["n"], row["participants"], row["contents"]) == ("paired", 96, 12, 8)
    assert (row["test"], row["df"], row["note"]) == ("clustered t", 7, "")
    assert row["clear_by"] == "; ".join(TESTS)
    assert row["ci_low"] < row["mean_difference"] < row["ci_high"] < 0


def test_pages_that_lack_one_of_the_two_are_left_out_of_this_pair_only() -> None:
    data = ratings({"a": 40, "b": 50, "c": 60})
    data = data[~((data["condition"] == "b") & (data["content"] == "c0"))]
    found = by_pair(data)
    assert found["n"].to_dict() == {("a", "b"): 84, ("a", "c"): 96, ("b", "c"): 84}


def test_few_common_pages_are_compared_by_the_two_means_and_say_so() -> None:
    data = ratings({"a": 40, "b": 60}, people=20, contents=10)
    odd = data["content"].isin(["c1", "c3", "c5", "c7"])
    (row,) = pairs(data[odd == (data["condition"] == "a")]).table.to_dict("records")
    assert (row["comparison"], row["n"], row["df"]) == ("unpaired", 20 * 4 + 20 * 6, 3)
    assert row["note"] == (
        "unpaired, as few rated both on the same content: 0 of 80 pages; few participants or contents of one (4): a "
        "wide interval"
    )
    assert row["effect"] < 0  # the same people rated both
    page_level = four(data[odd == (data["condition"] == "a")]).set_index("test")
    assert page_level["note"]["sign"] == "fewer than two pages with both: no test"
    assert page_level["p"].notna().to_dict() == {test: test == "clustered t" for test in TESTS}


def test_a_person_on_one_side_makes_no_test() -> None:
    data = ratings({"a": 40, "b": 60}, people=5)
    one = data[(data["participant"] == "p0") == (data["condition"] == "a")]
    (row,) = pairs(one).table.to_dict("records")
    assert math.isnan(row["p"])
    assert row["note"].endswith("one participant of one: no test")


def test_grades_against_different_references_are_not_held_together() -> None:
    rng = np.random.default_rng(6)
    rows = [
        {"participant": f"p{p}", "content": f"c{k}", "condition": one, "other_condition": other, "kind": "diff",
         "value": float(rng.integers(-3, 2)), "role": "test"}
        for p in range(6)
        for k in range(6)
        for one, other in (("a", "film"), ("b", "film"), ("c", "scan"))
    ]  # fmt: skip
    shown = [{**rows[0], "condition": name, "other_condition": "", "kind": "score", "question": "x",
              "role": "reference"} for name in ("film", "scan")]  # fmt: skip
    data = pd.DataFrame(rows).assign(question="q")
    both = tidy(fill_columns(pd.concat([data, pd.DataFrame(shown)])), RowOrder(references=frozenset(("film", "scan"))))
    found = pairs(both).table
    mine = found[found["question"] == "q"].set_index(["condition", "other_condition"])
    assert mine["comparison"].to_dict() == {
        ("a", "b"): "paired", ("a", "film"): "direct", ("b", "film"): "direct", ("c", "scan"): "direct",
    }  # fmt: skip
    assert mine.loc[("a", "b"), "note"] == "both compared with film"


# Correction


def test_each_test_is_a_family_of_its_own_within_each_question() -> None:
    data = pd.concat([ratings({"a": 50, "b": 52, "c": 53}, seed=n).assign(question=f"q{n}") for n in (1, 2)])
    found = four(data)
    for _, family in found.groupby(["question", "test"]):
        np.testing.assert_allclose(family["p_holm"], holm(family["p"]))
    whole = four(data, family="study")
    for _, family in whole.groupby("test"):
        np.testing.assert_allclose(family["p_holm"], holm(family["p"]))
    assert (whole["p_holm"] >= found["p_holm"] - 1e-12).all()


def test_named_contrasts_come_first_as_written_and_are_the_family() -> None:
    data = ratings({"a": 50, "b": 52, "c": 53})
    found = pairs(data, contrasts=[("c", "a"), ("a", "b")]).table
    names = list(zip(found["condition"], found["other_condition"], strict=True))
    assert names == [("c", "a"), ("a", "b"), ("b", "c")]
    np.testing.assert_allclose(found["p_holm"][:2], holm(found["p"][:2]))
    assert math.isnan(found["p_holm"][2])
    assert found["note"][2] == "not a named contrast: not corrected for"
    assert found["clear_by"][2] == ""
    assert found["mean_difference"][0] == pytest.approx(-by_pair(data)["mean_difference"][("a", "c")])


def test_a_contrast_that_nobody_rated_is_told_as_such() -> None:
    found = by_pair(ratings({"a": 50, "b": 52}), contrasts=[("a", "Größe 2"), ("a", "b")])
    assert found.loc[("a", "Größe 2"), "note"] == "no rating of Größe 2"
    assert found["n"].tolist() == [0, 96]


def test_anchors_and_the_hidden_reference_of_mushra_are_told_but_not_corrected_for() -> None:
    data = ratings({"a": 60, "b": 62, "ref": 95, "low": 10}, method="mushra")
    roles = {"ref": "hidden_reference", "low": "anchor"}
    data["role"] = data["condition"].map(roles).fillna("test")
    found = by_pair(data)
    assert found["p_holm"].notna().to_dict() == {pair: pair == ("a", "b") for pair in found.index}
    assert found["p_holm"][("a", "b")] == found["p"][("a", "b")]
    assert found["note"][("a", "low")] == "anchor: not corrected for"
    assert found["note"][("a", "ref")] == "hidden reference: not corrected for"
    assert found["clear_by"][("a", "ref")] == "; ".join(TESTS)
    others = pairs(data.assign(method="parallel")).table.set_index(["condition", "other_condition"])
    assert others["p_holm"].notna().sum() == 3  # there a reference is one condition among others, an anchor is not


# The tests over pages, and sizes


def test_the_page_level_tests_are_those_of_their_names() -> None:
    data = ratings({"a": 50, "b": 51}).round({"value": 0})
    found = four(data).set_index("test")
    wide = data.pivot_table(index=["participant", "content"], columns="condition", values="value")
    d = (wide["a"] - wide["b"]).to_numpy()
    t = stats.ttest_1samp(d, 0)
    assert tuple(found.loc["paired t", ["statistic", "p", "df"]]) == pytest.approx((t.statistic, t.pvalue, 95))
    assert tuple(found.loc["paired t", ["ci_low", "ci_high"]]) == pytest.approx(tuple(t.confidence_interval()))
    rank = stats.wilcoxon(d, zero_method="pratt", correction=False, method="asymptotic")
    assert tuple(found.loc["Wilcoxon", ["statistic", "p"]]) == pytest.approx((rank.statistic, rank.pvalue))
    assert found.loc["Wilcoxon", "note"] == "Wilcoxon (Pratt), asymptotic"
    sign = stats.binomtest(int((d > 0).sum()), int((d != 0).sum()))
    exact = sign.proportion_ci(method="exact")
    assert tuple(found.loc["sign", ["estimate", "p", "ci_low", "ci_high"]]) == pytest.approx(
        (sign.statistic, sign.pvalue, exact.low, exact.high)
    )
    assert set(found["ties"]) == {int((d == 0).sum())}
    assert found["unit"].tolist() == ["participant and content", "page", "page", "page"]
    assert four(data, zeros="wilcox").set_index("test").loc["Wilcoxon", "p"] == pytest.approx(
        stats.wilcoxon(d, zero_method="wilcox", correction=False, method="asymptotic").pvalue
    )


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(-6, 6), min_size=2, max_size=40))
def test_the_rank_biserial_correlation_is_the_share_of_ranks_up_minus_down(d: list[int]) -> None:
    kept = np.asarray([one for one in d if one])
    found = signed_rank(d).biserial
    if not len(kept):
        assert math.isnan(found)
        return
    ranks = stats.rankdata(np.abs(kept))
    assert found == pytest.approx((ranks[kept > 0].sum() - ranks[kept < 0].sum()) / ranks.sum())
    assert -1 <= found <= 1


@pytest.mark.parametrize(("n", "size"), [(5, 0.3), (46, -1.2), (200, 0.05), (46, 40.0)])
def test_the_interval_of_dz_holds_the_noncentralities_that_could_give_it(n: int, size: float) -> None:
    plain = np.random.default_rng(n).normal(0, 1, n)
    d = (plain - plain.mean()) / plain.std(ddof=1) + size
    found = dz(d)
    assert found.size == pytest.approx(size)
    assert found.low < size < found.high
    if abs(size) < 5:
        tails = [stats.nct.cdf(size * math.sqrt(n), n - 1, end * math.sqrt(n)) for end in (found.low, found.high)]
        assert tails == pytest.approx([0.975, 0.025], abs=1e-5)
    else:
        assert found.low == pytest.approx(size * math.sqrt(stats.chi2.ppf(0.025, n - 1) / (n - 1)), rel=1e-3)


def test_effects_count_people_and_not_pages() -> None:
    data = ratings({"a": 50, "b": 51}, people=9)
    own = data.groupby(["participant", "condition"])["value"].mean().unstack()
    d = (own["a"] - own["b"]).to_numpy()
    (row,) = pairs(data).table.to_dict("records")
    assert row["effect"] == pytest.approx(d.mean() / d.std(ddof=1))


def test_signs_ignore_ties_and_float_noise() -> None:
    found = sign_test([0.1 + 0.2 - 0.3, 1.0, 2.0, -1.0])
    assert (found.above, found.below, found.ties) == (2, 1, 1)
    assert found.proportion.share == pytest.approx(2 / 3)
    assert math.isnan(sign_test([0.0]).proportion.p)


# Which tests agree


def test_agreement_counts_contrasts_that_two_tests_call_the_same() -> None:
    data = pd.concat(
        [ratings({"a": 50, "b": 51, "c": 70}, seed=n).assign(question=f"q{n}") for n in (1, 2)], ignore_index=True
    )
    table = agreement(data)
    assert table is not None
    found = table.table
    assert list(found["question"].unique()) == ["q1", "q2", ""]
    assert (found["agree"] == found["both_clear"] + found["neither"]).all()
    assert (found["contrasts"] == found["agree"] + found["only_test"] + found["only_other"]).all()
    sums = found[found["question"] != ""].groupby(["test", "other_test"], sort=False)["agree"].sum()
    assert sums.tolist() == found[found["question"] == ""]["agree"].tolist()


# Degenerate input


EMPTY = ratings({"a": 1}, people=0)
ODD: dict[str, pd.DataFrame] = {
    "nothing": EMPTY,
    "one rating": ratings({"a": 1}, people=1, contents=1),
    "one condition": ratings({"a": 1}),
    "one rater": ratings({"a": 1, "b": 2}, people=1),
    "one content": ratings({"a": 1, "b": 2}, contents=1),
    "all equal": ratings({"a": 1, "b": 1}, noise=0),
    "equal differences": ratings({"a": 1, "b": 2}, noise=0),
    "all missing": ratings({"a": 1, "b": 2}).assign(value=math.nan),
    "names": ratings({"no": 1, "01": 2, "NA": 3, "Größe 2": 4}),
    "a rater with one rating": pd.concat([ratings({"a": 1, "b": 2}), EMPTY, ratings({"a": 9}, people=1, contents=1)]),
    "one choice": pd.DataFrame(
        [{"participant": "p", "content": "c", "condition": "a", "other_condition": "b", "kind": "choice", "value": 1.0}]
    ),
    "ticks that all made": ratings({"a": 1, "b": 0}, noise=0, kind="pick"),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_ratings_give_tables_that_come_back_from_disk(name: str, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    for result in (pairs(ODD[name]), four_tests(ODD[name]), agreement(ODD[name])):
        if result is None:
            continue
        write_table(path, list(result.table.columns), records(result.table))
        assert "nan" not in path.read_text("utf-8")
        pd.testing.assert_frame_equal(read_result(path), result.table, check_dtype=False, rtol=1e-9)


@pytest.mark.parametrize(
    ("name", "note"),
    [
        ("one rater", "one participant: no test"),
        ("one content", "one content: over participants only"),
        ("equal differences", "all differences are equal: p of a sign test"),
        ("one choice", "one participant: no test"),
    ],
)
def test_what_a_test_lacks_is_noted(name: str, note: str) -> None:
    assert pairs(ODD[name]).table["note"].tolist() == [note]
