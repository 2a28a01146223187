"""Mixed models: run effects and crossed random effects, against published numbers, closed forms and planted truth."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from beholder.analysis.mixed import mixed, runs, variances
from beholder.analysis.result import Result
from beholder.stats.crossed import fit_crossed
from beholder.stats.intervals import t_bounds
from support.run_ratings import Table, balanced, five_runs


def as_table(table: Table) -> pd.DataFrame:
    names = {"one": "participant", "other": "content", "group": "condition"}
    return pd.DataFrame(table).rename(columns=names).assign(value=table["value"])


def made(result: Result | None) -> pd.DataFrame:
    assert result is not None
    return result.table


@pytest.mark.long
def test_intervals_of_the_mixed_model_hold_the_truth(whole: bool) -> None:
    times = 600 if whole else 40
    rng = np.random.default_rng(9)
    held = 0.0
    for seed in rng.integers(0, 10**6, times):
        fitted = fit_crossed(**balanced(12, 5, 3, int(seed)))
        assert fitted is not None
        low, high = t_bounds(fitted.mean, np.sqrt(np.diag(fitted.covariance)), fitted.df)
        truth = 0.3 * np.arange(3)
        held += float(((low < truth) & (truth < high)).mean())
    # Three means of one study go together.
    assert stats.binom.ppf(0.0001, times, 0.95) <= held


def test_shares_sum_to_one_and_conditions_are_tested() -> None:
    rows = made(variances(as_table(balanced(20, 8, 4)))).set_index("source")
    assert list(rows.index) == ["condition", "participant", "content", "residual"]
    assert rows["share"].sum() == pytest.approx(1)
    assert list(rows["levels"]) == [4, 20, 8, 640]
    assert rows.loc["condition", "df"] == 3
    assert rows["p"]["condition"] < 1e-6
    assert rows["p"].notna().sum() == 1


def test_what_cannot_be_told_is_left_out_with_a_reason() -> None:
    def notes(table: pd.DataFrame) -> dict[str, str]:
        rows = made(variances(table)).set_index("source")
        assert rows.loc[rows["note"] != "", "variance"].isna().all()
        assert made(mixed(table))["ci_low"].notna().all()
        return {str(source): str(note) for source, note in rows["note"].items() if note}

    whole = as_table(balanced(6, 4, 2))
    assert notes(whole) == {}
    assert notes(whole[whole["content"] == 0]) == {"content": "one content"}
    assert notes(whole[whole["participant"] == 0]) == {"participant": "one participant"}
    assert notes(whole[whole["condition"] == 0]) == {"condition": "one condition"}
    alone = whole.assign(participant=np.arange(len(whole)))
    assert notes(alone) == {"participant": "one rating of each participant"}
    own = whole[whole["content"] == whole["condition"]]
    assert notes(own) == {"content": "every condition has a content of its own"}
    assert made(mixed(own))["note"][0] == "without contents: every condition has a content of its own"


@pytest.mark.parametrize(
    "table",
    [
        as_table(balanced(6, 4, 2)).assign(value=3.0),
        as_table(balanced(6, 4, 2)).head(1),
        as_table(balanced(6, 4, 2)).head(0),
        as_table(balanced(6, 4, 2)).assign(value=np.nan),
        as_table(balanced(6, 4, 2)).assign(value=1.0, kind="choice", other_condition="x"),
    ],
)
def test_nothing_to_say(table: pd.DataFrame) -> None:
    assert mixed(table) is None
    assert variances(table) is None
    assert runs(table) is None


def test_names_and_order_stay() -> None:
    table = as_table(balanced(6, 4, 3)).assign(condition=lambda t: t["condition"].map({0: "no", 1: "01", 2: "Größe 2"}))
    assert list(made(mixed(table))["condition"]) == ["01", "Größe 2", "no"]
    result = variances(table)
    assert result is not None
    drawn = result.plot().to_dict()
    assert {row["part"] for row in drawn["layer"][0]["data"]["values"]} <= {
        "conditions", "participants", "contents", "the rest",
    }  # fmt: skip


def test_runs_of_a_table() -> None:
    rows = made(runs(five_runs()))
    whole, pairs = rows.iloc[0], rows[rows["run"] != ""]
    assert (whole["statistic"], whole["df"], whole["p"]) == pytest.approx((2.639852454, 4, 0.6197799146), abs=1e-6)
    assert list(zip(pairs["run"], pairs["other_run"], strict=True))[:2] == [("r1", "r2"), ("r1", "r3")]
    assert (pairs["margin"] == 0.2).all()
    assert set(made(runs(five_runs(), margin=0.05))["equivalent"]) == {"", "undecided"}


def test_one_run_and_runs_apart() -> None:
    table = as_table(balanced(8, 4, 2))
    assert runs(table) is None
    assert runs(table.assign(run=1)) is None
    assert runs(table.assign(run=np.where(table["participant"] < 4, 1.0, np.nan))) is None
    named = made(runs(table.assign(run=np.where(table["participant"] < 4, 10.0, 2.0))))
    assert list(named["run"]) == ["", "2"]
    assert list(named["other_run"]) == ["", "10"]
    apart = made(runs(table.assign(run=table["content"] // 2)))
    assert list(apart["note"]) == ["runs share no stimulus, not even through others: cannot be compared"]
