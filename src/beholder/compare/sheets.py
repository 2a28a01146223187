"""The tables of the page of a comparison."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from beholder.analyse.plots.numbers import interval
from beholder.analyse.result import records
from beholder.report.sheets import Sheet
from beholder.report.words import NONE, number, p_value, signed

_MOST_ROWS = 30
_MEAN = "mean over questions"


def agreement_sheet(table: pd.DataFrame) -> Sheet:
    """Return correlations with intervals, and errors."""
    rows = [
        (
            row["question"] or _MEAN, "stimuli" if row["level"] == "stimulus" else "conditions", row["side"],
            row["other_side"], NONE if row["n"] != row["n"] else f"{row['n']:,.0f}",
            *(_correlation(row, name) for name in ("pearson", "spearman", "tau_b")), number(row["rmse"], 3),
            number(row["rmse_mapped"], 3),
        )
        for row in records(table)
    ]  # fmt: skip
    heads = ("Question", "Over", "Side", "and", "n", "Pearson", "Spearman", "Kendall τ-b", "RMSE", "RMSE mapped")
    return Sheet(heads, rows, names=4)


def _correlation(row: Mapping[str, Any], name: str) -> str:
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    return number(row[name], 3) + (f" ({interval(low, high, 2)})" if low == low else "")


def count_sheet(table: pd.DataFrame) -> Sheet:
    """Return on how many contrasts two sides agree."""
    columns = ("contrasts", "same_direction", "tested", "agree", "both_clear", "only_side", "only_other", "neither")
    rows = [
        (row["question"] or "all", row["side"], row["other_side"], *(f"{row[name]:,.0f}" for name in columns))
        for row in records(table)
    ]
    heads = (
        "Question", "Side", "and", "Differences", "Same direction", "Tested on both", "Agree", "Clear in both",
        "Only in the first", "Only in the second", "In neither",
    )  # fmt: skip
    return Sheet(heads, rows, names=3)


def correlation_sheet(table: pd.DataFrame) -> Sheet:
    """Return the tests between two correlations."""
    rows = [
        (
            row["question"], "stimuli" if row["level"] == "stimulus" else "conditions", row["side"], row["other_side"],
            row["third_side"], f"{row['n']:,.0f}", number(row["r"], 3), number(row["third_r"], 3),
            f"{signed(row['difference'], 3)} ({interval(row['ci_low'], row['ci_high'], 3)})", p_value(row["p"]),
            p_value(row["p_holm"]),
        )
        for row in records(table)
    ]  # fmt: skip
    heads = ("Question", "Over", "Side", "with", "or with", "n", "r", "r of the other", "Difference", "p", "p, Holm")
    return Sheet(heads, rows, names=5)


def effect_sheet(table: pd.DataFrame) -> Sheet:
    """Return differences between sides as a whole, and whether they are equivalent.

    The test of all sides together is told where there are more than two; of two it says the same again.
    """
    has_many = len(table[["side", "other_side"]].drop_duplicates()) > 1
    rows = [
        (
            row["question"], row["side"], row["other_side"], signed(row["difference"], 3),
            interval(row["ci_low"], row["ci_high"], 3), p_value(row["p"]), row["equivalent"] or row["note"] or NONE,
            f"±{number(row['margin'], 2)}", *((p_value(row["chi2_p"]),) if has_many else ()),
        )
        for row in records(table)
    ]  # fmt: skip
    heads = ("Question", "Side", "minus", "Difference", "95 % interval", "p", "Equivalent", "Margin")
    return Sheet((*heads, *(("p of all sides",) if has_many else ())), rows, names=3)


def difference_sheet(table: pd.DataFrame, labels: Mapping[str, str]) -> Sheet:
    """Return where two sides are farthest apart."""
    largest = table.reindex(table["difference"].abs().sort_values(ascending=False, kind="stable").index).head(
        _MOST_ROWS
    )
    is_stimulus = "stimulus" in table
    rows = [
        (
            row["stimulus"] if is_stimulus else labels.get(row["condition"], row["condition"]), row["question"],
            row["side"], row["other_side"], number(row["mean"], 2), number(row["other_mean"], 2),
            signed(row["difference"], 2), interval(row["ci_low"], row["ci_high"], 2), p_value(row["p_holm"]),
        )
        for row in records(largest)
    ]  # fmt: skip
    heads = (
        "Stimulus" if is_stimulus else "Condition", "Question", "Side", "and", "Mean", "Mean of the other",
        "Difference", "95 % interval", "p, Holm",
    )  # fmt: skip
    return Sheet(heads, rows, names=4)


def contrast_sheet(table: pd.DataFrame, labels: Mapping[str, str]) -> Sheet:
    """Return the contrasts on which two sides do not agree."""
    rows = [
        (
            labels.get(row["condition"], row["condition"]), labels.get(row["other_condition"], row["other_condition"]),
            row["question"], f"{row['side']} and {row['other_side']}", signed(row["difference"], 2),
            signed(row["other_difference"], 2), p_value(row["p_holm"]), p_value(row["other_p_holm"]), row["verdict"],
        )
        for row in records(table.head(_MOST_ROWS))
    ]  # fmt: skip
    heads = (
        "Condition", "minus", "Question", "Sides", "Difference", "on the other", "p, Holm", "on the other", "Verdict",
    )  # fmt: skip
    return Sheet(heads, rows, names=4)
