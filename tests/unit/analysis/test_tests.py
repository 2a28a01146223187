"""Tests of every contrast, their correction and their agreement."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from beholder.analysis import analyse
from beholder.analysis.pairs import pairs
from beholder.analysis.ratings import RowOrder, tidy
from beholder.analysis.ratings_table import fill_columns
from beholder.analysis.result import records
from beholder.analysis.tests import TESTS, UNNAMED, agreement, beside_earlier, conclusions_of, family_note
from beholder.errors import UserError
from beholder.stats.tests import holm
from beholder.study.cleaning import Analyse
from support.crossed_ratings import crossed, write_csv
from support.pair_ratings import ODD, by_pair, four, ratings


def test_questions_are_families_of_their_own(tmp_path: Path) -> None:
    means: dict[str, float] = {"a": 1, "b": 2, "c": 3}
    table = pd.concat([crossed(means, 10).assign(question=question) for question in ("fit", "quality")])
    pairs = analyse(write_csv(tmp_path, table)).pairs
    for _, family in pairs.groupby("question"):
        np.testing.assert_allclose(family["p_holm"], holm(family["p"]))


def test_each_test_is_a_family_of_its_own_within_each_question() -> None:
    data = pd.concat([ratings({"a": 50, "b": 52, "c": 53}, seed=n).assign(question=f"q{n}") for n in (1, 2)])
    table = four(data)
    for _, family in table.groupby(["question", "test"]):
        np.testing.assert_allclose(family["p_holm"], holm(family["p"]))
    whole = four(data, family="study")
    for _, family in whole.groupby("test"):
        np.testing.assert_allclose(family["p_holm"], holm(family["p"]))
    assert (whole["p_holm"] >= table["p_holm"] - 1e-12).all()


@pytest.mark.parametrize(("family", "scope"), [("question", "within each question"), ("study", "over the whole study")])
def test_the_family_is_told_as_it_is_computed_wherever_it_comes_from(
    family: Literal["question", "study"], scope: str
) -> None:
    data = pd.concat([ratings({"a": 50, "b": 52, "c": 53}, seed=n).assign(question=f"q{n}") for n in (1, 2)])
    by_study = tidy(fill_columns(data), RowOrder(settings=Analyse(family=family)))
    for told in (pairs(by_study), pairs(data, family=family)):
        np.testing.assert_allclose(told.table["p_holm"], four(data, family=family)["p_holm"][:: len(TESTS)])
        assert f"Holm's correction {scope} over all pairs" in told.note
    assert scope in family_note(by_study)


@pytest.mark.parametrize(
    "settings",
    [Analyse(), Analyse(family="study"), Analyse(contrasts=(("c", "a"), ("a", "b")))],
    ids=["questions", "the study", "named contrasts"],
)
@pytest.mark.parametrize("kind", ["score", "choice"])
def test_conclusions_are_those_of_pairs_whichever_is_computed_first(settings: Analyse, kind: str) -> None:
    data = pd.concat([ratings({"a": 50, "b": 52, "c": 53}, seed=n).assign(question=f"q{n}") for n in (1, 2)])
    if kind == "choice":
        data = data.assign(kind=kind, other_condition="b", value=np.sign(data["value"] - 52))
    ours, other = (tidy(fill_columns(data), RowOrder(settings=settings)) for _ in range(2))
    concluded, table = conclusions_of(ours), pairs(other).table
    assert str(conclusions_of(other)) == str(concluded)  # a difference that nobody measured is NaN
    assert [
        (row["question"], row["condition"], row["other_condition"], row["mean_difference"], row["verdict"],
         not math.isnan(row["p"]) and UNNAMED not in row["note"])
        for row in records(table)
    ] == [pytest.approx(tuple(one), nan_ok=True) for one in concluded]  # fmt: skip
    assert len({one.verdict for one in concluded}) > 1


def test_named_contrasts_come_first_as_written_and_are_the_family() -> None:
    data = ratings({"a": 50, "b": 52, "c": 53})
    table = pairs(data, contrasts=[("c", "a"), ("a", "b")]).table
    names = list(zip(table["condition"], table["other_condition"], strict=True))
    assert names == [("c", "a"), ("a", "b"), ("b", "c")]
    np.testing.assert_allclose(table["p_holm"][:2], holm(table["p"][:2]))
    assert math.isnan(table["p_holm"][2])
    assert table["note"][2] == "not a named contrast: not corrected for"
    assert table["clear_by"][2] == ""
    assert table["mean_difference"][0] == pytest.approx(-by_pair(data)["mean_difference"][("a", "c")])


def test_anchors_and_the_hidden_reference_of_mushra_are_told_but_not_corrected_for() -> None:
    data = ratings({"a": 60, "b": 62, "ref": 95, "low": 10}, method="mushra")
    roles = {"ref": "hidden_reference", "low": "anchor"}
    data["role"] = data["condition"].map(roles).fillna("test")
    table = by_pair(data)
    assert table["p_holm"].notna().to_dict() == {pair: pair == ("a", "b") for pair in table.index}
    assert table["p_holm"][("a", "b")] == table["p"][("a", "b")]
    assert table["note"][("a", "low")] == "anchor: not corrected for"
    assert table["note"][("a", "ref")] == "hidden reference: not corrected for"
    assert table["clear_by"][("a", "ref")] == "; ".join(TESTS)
    others = pairs(data.assign(method="parallel")).table.set_index(["condition", "other_condition"])
    assert others["p_holm"].notna().sum() == 3  # there a reference is one condition among others, an anchor is not


def test_the_page_level_tests_are_those_of_their_names() -> None:
    data = ratings({"a": 50, "b": 51}).round({"value": 0})
    table = four(data).set_index("test")
    wide = data.pivot_table(index=["participant", "content"], columns="condition", values="value")
    d = (wide["a"] - wide["b"]).to_numpy()
    t = stats.ttest_1samp(d, 0)
    assert tuple(table.loc["paired t", ["statistic", "p", "df"]]) == pytest.approx((t.statistic, t.pvalue, 95))
    assert tuple(table.loc["paired t", ["ci_low", "ci_high"]]) == pytest.approx(tuple(t.confidence_interval()))
    rank = stats.wilcoxon(d, zero_method="pratt", correction=False, method="asymptotic")
    assert tuple(table.loc["Wilcoxon", ["statistic", "p"]]) == pytest.approx((rank.statistic, rank.pvalue))
    assert table.loc["Wilcoxon", "note"] == "Wilcoxon (Pratt), asymptotic"
    sign = stats.binomtest(int((d > 0).sum()), int((d != 0).sum()))
    exact = sign.proportion_ci(method="exact")
    assert tuple(table.loc["sign", ["estimate", "p", "ci_low", "ci_high"]]) == pytest.approx(
        (sign.statistic, sign.pvalue, exact.low, exact.high)
    )
    assert set(table["ties"]) == {int((d == 0).sum())}
    assert table["unit"].tolist() == [*["participant and content"] * 2, *["page"] * 3]
    assert four(data, zeros="wilcox").set_index("test").loc["Wilcoxon", "p"] == pytest.approx(
        stats.wilcoxon(d, zero_method="wilcox", correction=False, method="asymptotic").pvalue
    )


def test_agreement_counts_contrasts_that_two_tests_call_the_same() -> None:
    data = pd.concat(
        [ratings({"a": 50, "b": 51, "c": 70}, seed=n).assign(question=f"q{n}") for n in (1, 2)], ignore_index=True
    )
    table = agreement(data)
    assert table is not None
    actual = table.table
    assert list(actual["question"].unique()) == ["q1", "q2", ""]
    assert (actual["agree"] == actual["both_clear"] + actual["neither"]).all()
    assert (actual["contrasts"] == actual["agree"] + actual["only_test"] + actual["only_other"]).all()
    sums = actual[actual["question"] != ""].groupby(["test", "other_test"], sort=False)["agree"].sum()
    assert sums.tolist() == actual[actual["question"] == ""]["agree"].tolist()


@pytest.mark.parametrize(
    ("name", "note"),
    [
        ("one rater", "one participant: no test"),
        ("one content", "one content: over participants only"),
        ("equal differences", "all pages agree: the error is that of one page without a difference"),
        ("one choice", "one participant: no test"),
    ],
)
def test_what_a_test_lacks_is_noted(name: str, note: str) -> None:
    assert pairs(ODD[name]).table["note"].tolist() == [note]


def test_every_test_stands_beside_an_earlier_one() -> None:
    rows = [("q", "b", "a", "now", 1.0), ("q", "b", "a", "then", 0.0), ("q", "c", "a", "now", 0.0),
            ("q", "c", "a", "then", 1.0), ("q", "d", "a", "now", 1.0), ("q", "d", "a", "then", 1.0)]  # fmt: skip
    table = pd.DataFrame(rows, columns=["question", "condition", "other_condition", "test", "clear"])
    printed = beside_earlier(table, "then")
    assert list(printed["now"]) == ["+", "-", ""]
    assert list(printed["earlier"]) == [False, True, True]
    with pytest.raises(UserError, match=r"earlier  is than, which is no test of the table\. Allowed: now, then\. Did"):
        beside_earlier(table, "than")
    own = beside_earlier(four(ratings({"a": 50, "b": 52, "c": 53})), "sign")
    assert {*own.columns[3:]} == {"earlier", *TESTS[:4]}
