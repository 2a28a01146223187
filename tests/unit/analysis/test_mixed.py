"""Mixed models: run effects and crossed random effects, against published numbers, closed forms and planted truth."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from beholder.analysis.mixed import SOURCES, mixed, runs, variances
from beholder.analysis.result import Result
from beholder.stats.crossed import fit_crossed
from beholder.stats.intervals import t_bounds
from support.run_ratings import Table, balanced, five_runs, interacting


def as_table(table: Table) -> pd.DataFrame:
    names = {"one": "participant", "other": "content", "group": "condition"}
    return pd.DataFrame(table).rename(columns=names).assign(value=table["value"])


def made(result: Result | None) -> pd.DataFrame:
    assert result is not None
    return result.table


@pytest.mark.long
def test_intervals_hold_the_truth_and_f_keeps_its_level_where_people_and_contents_favour_conditions(
    whole: bool,
) -> None:
    times = 1_000 if whole else 40
    rng = np.random.default_rng(9)
    held, clear = 0.0, 0
    for seed in rng.integers(0, 10**6, times):
        table = balanced(12, 5, 3, int(seed))
        taste, suits = rng.normal(0, 0.25, (12, 3)), rng.normal(0, 0.35, (5, 3))
        table["value"] += (
            taste[table["one"], table["group"]] + suits[table["other"], table["group"]] - 0.3 * table["group"]
        )
        fitted = fit_crossed(**table, has_interactions=True)
        assert fitted is not None
        low, high = t_bounds(fitted.mean, np.sqrt(np.diag(fitted.covariance)), fitted.df)
        held += float(((low < 0) & (high > 0)).mean())
        clear += fitted.test.p < 0.05
    # Three means of one study go together.
    assert stats.binom.ppf(0.0001, times, 0.945) <= held
    assert clear <= stats.binom.ppf(0.9999, times, 0.06)


def test_shares_sum_to_one_and_conditions_are_tested() -> None:
    rows = made(variances(as_table(balanced(20, 8, 4)))).set_index("source")
    assert list(rows.index) == list(SOURCES)
    assert rows["share"].sum() == pytest.approx(1)
    assert list(rows["levels"]) == [4, 20, 8, 80, 32, 640]
    assert rows.loc["condition", "df"] == 3
    assert rows["p"]["condition"] < 1e-6
    assert rows["these_p"]["condition"] < 1e-6
    assert rows[["p", "these_p", "df_error"]].notna().sum().tolist() == [1, 1, 1]


def test_what_cannot_be_told_is_left_out_with_a_reason() -> None:
    def notes(table: pd.DataFrame) -> dict[str, str]:
        rows = made(variances(table)).set_index("source")
        assert rows.drop("condition").query("note != ''")["variance"].isna().all()
        assert rows["p"]["condition"] == rows["p"]["condition"] or rows["note"]["condition"]
        assert made(mixed(table))["ci_low"].notna().all()
        return {str(source): str(note) for source, note in rows["note"].items() if note}

    whole = as_table(balanced(6, 4, 2))
    assert notes(whole) == {}
    single = "one rating of each participant and condition"
    assert notes(whole[whole["content"] == 0]) == {
        "content": "one content", "content x condition": "one content", "participant x condition": single,
    }  # fmt: skip
    assert notes(whole[whole["participant"] == 0]) == {
        "participant": "one participant", "participant x condition": "one participant",
        "content x condition": "one rating of each content and condition",
    }  # fmt: skip
    assert notes(whole[whole["condition"] == 0]) == {
        "condition": "one condition", "participant x condition": "every participant has one condition",
        "content x condition": "every content has one condition",
    }  # fmt: skip
    alone = whole.assign(participant=np.arange(len(whole)))
    assert notes(alone) == {
        "participant": "one rating of each participant",
        "participant x condition": "every participant has one condition",
    }  # fmt: skip
    own = whole[whole["content"] == whole["condition"]]
    assert notes(own) == {
        "condition": "conditions share no content, not even through others: no test",
        "content": "every condition has a content of its own",
        "participant x condition": single, "content x condition": "every content has one condition",
    }  # fmt: skip
    assert made(mixed(own))["note"][0] == (
        "without contents: every condition has a content of its own; without participant x condition: one rating of "
        "each participant and condition; without content x condition: every content has one condition"
    )


def test_few_contents_are_told_where_the_test_goes_beyond_them() -> None:
    rows = made(variances(as_table(interacting(people=12, contents=3)))).set_index("source")
    assert rows["note"]["condition"] == (
        "fewer than 4 contents: F finds what is not there in 7 to 9 % of studies; with these contents in 5 %"
    )
    assert rows["p"]["condition"] > rows["these_p"]["condition"]


def test_a_study_too_large_for_interactions_has_means_and_no_errors() -> None:
    rng = np.random.default_rng(1)
    places = np.arange(2600)
    table = pd.DataFrame({"participant": places // 2, "content": places % 1300, "condition": (places // 3) % 2})
    table = table.assign(value=3 + rng.normal(0, 1, len(table)))
    rows = made(mixed(table))
    assert rows["mean"].notna().all()
    assert rows[["se", "df", "ci_low", "ci_high", "these_low", "these_high"]].isna().all(axis=None)
    assert rows["note"][0].startswith(
        "too many participants, contents and conditions for their interactions: no errors"
    )
    sources = made(variances(table)).set_index("source")
    assert sources["p"].isna().all()
    assert sources.loc["condition", "note"] == rows["note"][0]


def test_intervals_stay_on_the_scale_and_those_of_these_contents_are_narrower() -> None:
    table = as_table(balanced(8, 3, 2, 3, (0.2, 1.5)))
    table = table.assign(value=np.clip(np.round(table["value"] + 4), 1, 5), scale_min=1.0, scale_max=5.0)
    rows = made(mixed(table))
    assert (rows["ci_high"] == 5).any()
    assert (rows["these_high"] - rows["these_low"] < rows["ci_high"] - rows["ci_low"]).all()
    assert ((rows["ci_low"] >= 1) & (rows["ci_high"] <= 5)).all()


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
        "conditions", "participants", "contents", "participants × conditions", "contents × conditions", "the rest",
    }  # fmt: skip


def test_runs_of_a_table() -> None:
    rows = made(runs(five_runs()))
    whole, by_f, pairs = rows.iloc[0], rows.iloc[1], rows[rows["run"] != ""]
    assert (whole["statistic"], whole["df"], whole["p"]) == pytest.approx((2.639852454, 4, 0.6197799146), abs=1e-6)
    assert (whole["test"], by_f["test"], set(pairs["test"])) == ("likelihood ratio", "F", {"t"})
    assert (by_f["df"], by_f["df_error"]) == (4, 310)
    assert whole["p"] < by_f["p"] < whole["p"] + 0.02
    assert list(zip(pairs["run"], pairs["other_run"], strict=True))[:2] == [("r1", "r2"), ("r1", "r3")]
    assert (pairs["margin"] == 0.2).all()
    assert set(made(runs(five_runs(), margin=0.05))["equivalent"]) == {"", "undecided"}


def test_one_run_and_runs_apart() -> None:
    table = as_table(balanced(8, 4, 2))
    assert runs(table) is None
    assert runs(table.assign(run=1)) is None
    assert runs(table.assign(run=np.where(table["participant"] < 4, 1.0, np.nan))) is None
    named = made(runs(table.assign(run=np.where(table["participant"] < 4, 10.0, 2.0))))
    assert list(named["run"]) == ["", "", "2"]
    assert list(named["other_run"]) == ["", "", "10"]
    apart = made(runs(table.assign(run=table["content"] // 2)))
    assert list(apart["note"]) == ["runs share no stimulus, not even through others: cannot be compared"]
