"""HEMVIP's published Table 3 reproduces its Table 1: agreement of tests with the earlier pairwise study."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from beholder.analysis.tests import agreement, beside_earlier
from beholder.stats.correlation import agreement as correlations
from beholder.stats.correlation import compare_correlations, linear_mapping
from beholder.stats.tests import Zeros, clopper_pearson, signed_rank
from support.data import DATA

EARLIER = "sign, pairwise study"


def data_file(name: str) -> Path:
    path = DATA / name
    if not path.is_file():
        pytest.skip(f"{name} is not in {DATA}; set BEHOLDER_TEST_DATA")
    return path


@pytest.fixture(scope="module")
def table3() -> pd.DataFrame:
    published = pd.read_csv(data_file("tables/hemvip_table3.csv"))
    names = published["contrast"].str.split("→", expand=True)
    # The published differences are second minus first.
    keys = published[["question"]].assign(condition=names[1], other_condition=names[0])
    tests = {
        "paired t": (published["mean_diff"], published["t_sig"]),
        "sign": (published["cp_pct"] / 100, published["cp_sig"]),
        EARLIER: (published["ref13_pct"] / 100, published["ref13_sig"]),
    }
    return pd.concat(
        [
            keys.assign(test=test, estimate=estimate, clear=clear.astype(float))
            for test, (estimate, clear) in tests.items()
        ]
    )


@pytest.fixture(scope="module")
def table1(table3: pd.DataFrame) -> pd.DataFrame:
    result = agreement(table3)
    assert result is not None
    return result.table


def against_earlier(table: pd.DataFrame, question: str, test: str) -> Any:
    is_mine = (table["question"] == question) & (table["test"] == test) & (table["other_test"] == EARLIER)
    return table[is_mine].iloc[0]


@pytest.mark.parametrize(("test", "agree"), [("sign", 23), ("paired t", 27)])
def test_as_many_contrasts_agree_as_the_paper_says(table1: pd.DataFrame, test: str, agree: int) -> None:
    row = against_earlier(table1, "", test)
    assert (row["contrasts"], row["agree"], row["same_direction"]) == (28, agree, 28)
    assert row["agree"] == row["both_clear"] + row["neither"]


def test_the_one_contrast_in_which_the_t_test_differs_is_in_the_last_question(table1: pd.DataFrame) -> None:
    outcomes = {question: against_earlier(table1, question, "paired t") for question in ("Q1", "Q2", "Q3", "Q4")}
    assert {question: row["agree"] for question, row in outcomes.items()} == {"Q1": 7, "Q2": 7, "Q3": 7, "Q4": 6}
    assert (outcomes["Q4"]["only_test"], outcomes["Q4"]["only_other"]) == (1, 0)


def test_the_paper_s_first_table_is_printed_from_its_third(table3: pd.DataFrame) -> None:
    printed = beside_earlier(table3, EARLIER)
    assert len(printed) == 28
    found = printed.set_index(["question", "condition"])["earlier"]
    assert [key for key in found.index if not found[key]] == [
        ("Q2", "NoAR"), ("Q2", "NoVel"), ("Q3", "NoAR"), ("Q4", "NoAR"),
    ]  # fmt: skip
    signs = {
        test: {(row["question"], row["condition"]): row[test] for _, row in printed.iterrows() if row[test]}
        for test in ("paired t", "sign")
    }
    assert signs["paired t"] == {("Q4", "NoAR"): "+"}
    assert signs["sign"] == {
        ("Q2", "NoAudio"): "-", ("Q3", "NoVel"): "-", ("Q4", "NoAR"): "+", ("Q4", "NoFiLM"): "-", ("Q4", "NoVel"): "-",
    }  # fmt: skip


# Independently computed values


@pytest.fixture(scope="module")
def known() -> dict[str, Any]:
    values: dict[str, Any] = json.loads(data_file("tables/unit_values.json").read_text())
    return values


@pytest.mark.parametrize("correction", [False, True])
@pytest.mark.parametrize("zeros", ["pratt", "wilcox", "zsplit"])
def test_the_signed_rank_test_by_every_rule_for_zeros(known: dict[str, Any], zeros: Zeros, correction: bool) -> None:
    result = signed_rank(known["wilcoxon"]["d"], zeros=zeros, correction=correction)
    assert (result.statistic, result.p) == pytest.approx(
        tuple(known["wilcoxon"][f"{zeros}_corr{correction}"]), abs=1e-9
    )


def test_exact_intervals_of_shares(known: dict[str, Any]) -> None:
    for one in known["clopper_pearson"]:
        interval = clopper_pearson(one["k"], one["n"])
        assert (interval.low, interval.high, interval.p) == pytest.approx((one["lo"], one["hi"], one["p"]), abs=1e-9)


def test_correlations_with_ties(known: dict[str, Any]) -> None:
    one = known["rank_corr_ties"]
    result = correlations(one["x"], one["y"])
    expected = (one["pearson"], one["spearman"], one["tau_b"])
    assert (result.pearson, result.spearman, result.tau_b) == pytest.approx(expected, abs=1e-9)


def test_first_order_mapping_by_both_denominators(known: dict[str, Any]) -> None:
    one = known["fom"]
    mapping = linear_mapping(one["crowd"], one["lab"])
    assert (mapping.slope, mapping.intercept) == pytest.approx((one["slope"], one["intercept"]), abs=1e-9)
    assert (mapping.rmse, mapping.rmse_unbiased) == pytest.approx(
        (one["rmse_fom_N"], one["rmse_fom_Nminus2"]), abs=1e-9
    )
    raw = float(np.sqrt(np.mean((np.asarray(one["crowd"]) - np.asarray(one["lab"])) ** 2)))
    assert correlations(one["crowd"], one["lab"]).rmse == pytest.approx(raw, abs=1e-12)
    assert raw == pytest.approx(one["rmse_raw_N"], abs=1e-9)


def test_two_correlations_compared(known: dict[str, Any]) -> None:
    one = known["fisher_z"]
    comparison = compare_correlations(one["r1"], one["r2"], one["n"], one["n"])
    assert (comparison.z, comparison.p_one_sided) == pytest.approx((one["z"], one["p_one_sided"]), abs=1e-9)
    assert comparison.p == pytest.approx(2 * one["p_one_sided"], abs=1e-9)
