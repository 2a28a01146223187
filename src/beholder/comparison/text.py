"""A comparison in words: the finding in sentences, and the tables of its page."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd

from beholder.analysis.result import records
from beholder.comparison.merged_scale import merged_words
from beholder.comparison.replication import replication_words
from beholder.comparison.result import ComparisonTables
from beholder.comparison.sides import MatchedScores
from beholder.formats import NONE, count, interval, number, p_value, plain_count, plural, signed
from beholder.reporting.sheets import TextTable
from beholder.stats.correlation import mean_correlation

_FEW_SIDES = 3
"""Of more, one sentence for every two would be too many to read."""
_FEW_QUESTIONS = 3
"""Of more, one sentence for each would be."""


def sentences(tables: ComparisonTables) -> tuple[str, ...]:
    """Return the finding: a sentence or two for every two sides and question.

    Of many sides it is one for each question, and of many questions one for every two sides.
    """
    questions = tables.sides.questions
    shown = headlines(tables.matched)
    if len(tables.names) > _FEW_SIDES:
        by_question = {name: [one for one in shown if one.question == name] for name in questions}
        who = f"{len(tables.names)} sides"
        sentences = [(who, name, _of_many(tables, mine, _two)) for name, mine in by_question.items()]
    elif len(questions) > _FEW_QUESTIONS:
        by_sides = {_two(one): [other for other in shown if _two(other) == _two(one)] for one in shown}
        sentences = [
            (who, count(len(mine), "question"), _of_many(tables, mine, lambda one: one.question))
            for who, mine in by_sides.items()
        ]
    else:
        sentences = [(_two(one), one.question, _sentence(tables, one)) for one in shown]
    found_again = replication_words(tables.results.get("replication"))
    return (
        *found_again,
        *(f"{who}, {about}: {text}" if len(questions) > 1 else f"{who}: {text}" for who, about, text in sentences),
        *merged_words(tables.results.get("mappings")),
    )


def _two(one: MatchedScores) -> str:
    return f"{one.side} and {one.other_side}"


def headlines(matched: Sequence[MatchedScores]) -> list[MatchedScores]:
    """Return the level that is reported for every two sides: stimuli where they share three, else conditions."""
    best: dict[tuple[str, str, str], MatchedScores] = {}
    for one in matched:
        key = (one.question, one.side, one.other_side)
        if key not in best or (len(best[key].table) < 3 <= len(one.table)):
            best[key] = one
    return list(best.values())


def _of_many(tables: ComparisonTables, mine: Sequence[MatchedScores], called: Callable[[MatchedScores], str]) -> str:
    """Return how well sides agree in many comparisons: the least and the most, and counts over all of them."""
    rows = [(float(tables.rows("agreement", one).iloc[0]["pearson"]), called(one)) for one in mine]
    known = sorted(row for row in rows if not math.isnan(row[0]))
    parts = [f"no correlation in {count(len(mine), 'comparison')}"]
    if known:
        least, most = (f"{format_r(r)} ({name})" for r, name in (known[0], known[-1]))
        mean = mean_correlation([r for r, _ in known])
        parts = [f"r from {least} to {most}, on average {format_r(mean)}"] if len(known) > 1 else [f"r = {most}"]
    tested = [table[table["clear"].notna()] for table in map(tables.differing, mine)]
    n, clear = sum(map(len, tested)), sum(int((table["clear"] == 1).sum()) for table in tested)
    if n:
        differ = f"{clear or 'none'} {plural(clear or 1, 'differs', 'differ')}"
        parts.append(f"In {n:,} comparisons of {_thing(mine)} between two sides {differ} clearly")
    counts = [row for one in mine for row in records(tables.rows("contrast_counts", one))]
    if any(row["tested"] for row in counts):
        agree, all_tested = (sum(row[name] for row in counts) for name in ("agree", "tested"))
        parts.append(f"They agree on {agree:,} of {all_tested:,} differences between conditions")
    judged = [row["equivalent"] for one in mine for row in records(tables.rows("effects", one)) if row["equivalent"]]
    if judged:
        counts_of = {word: judged.count(word) for word in ("yes", "no", "undecided")}
        whole = f"As a whole they are equivalent in {counts_of['yes']} of {count(len(judged), 'comparison')}"
        whole += f", not equivalent in {counts_of['no']}" if counts_of["no"] else ""
        parts.append(whole + (f", undecided in {counts_of['undecided']}" if counts_of["undecided"] else ""))
    return " ".join(f"{part}." for part in parts)


def _thing(matched: Sequence[MatchedScores]) -> str:
    levels = {one.level for one in matched}
    return "one stimulus" if levels == {"stimulus"} else "one condition" if levels == {"condition"} else "one thing"


def format_r(r: float, low: float = math.nan, high: float = math.nan) -> str:
    """Return `0.97 (0.94 to 0.98)`, with a third decimal where two would call it 1."""
    decimals = 3 if max(abs(r), abs(low) if low == low else 0, abs(high) if high == high else 0) >= 0.99 else 2
    return number(r, decimals) + (f" ({interval(low, high, decimals)})" if low == low else "")


def _sentence(tables: ComparisonTables, one: MatchedScores) -> str:
    row = tables.rows("agreement", one).iloc[0]
    things = "stimuli" if one.level == "stimulus" else "conditions"
    n = count(len(one.table), one.level, things)
    r = [row[f"pearson{end}"] for end in ("", "_low", "_high")]
    parts = [f"no correlation over {n}" if math.isnan(r[0]) else f"r = {format_r(*r)} over {n}"]
    if differ := _differ(tables.differing(one)):
        parts[0] += f", and {differ}"
    parts += [_contrasts(tables.rows("contrast_counts", one)), _equivalent(tables.rows("effects", one))]
    return " ".join(f"{part}." for part in parts if part)


def _differ(table: pd.DataFrame) -> str:
    tested = table[table["clear"].notna()] if len(table) else table
    if not len(tested):
        return ""
    clear = int((tested["clear"] == 1).sum())
    of = f" of {len(tested)}" if clear or len(tested) < len(table) else " of them"
    return f"{clear or 'none'}{of} {plural(clear or 1, 'differs', 'differ')} clearly"


def _contrasts(table: pd.DataFrame) -> str:
    if not len(table):
        return ""
    row = table.iloc[0]
    turned, tested = int(row["contrasts"] - row["same_direction"]), int(row["tested"])
    other = f"{turned or 'none'} {plural(turned or 1, 'points', 'point')} the other way"
    if not tested:
        return f"Of {count(int(row['contrasts']), 'difference')} between conditions {other}"
    if row["opposite_clear"]:
        other += f", {row['opposite_clear']} of them clearly on both sides"
    one_only = int(row["only_side"] + row["only_other"])
    if one_only:
        other = f"{plain_count(one_only, 'is', 'are')} clear on one side only, and {other}"
    return (
        f"Of {count(tested, 'difference')} between conditions they agree on {row['agree']} "
        f"({row['both_clear']} clear in both, {row['neither']} in neither); {other}"
    )


def _equivalent(table: pd.DataFrame) -> str:
    known = table[table["difference"].notna()] if len(table) else table
    if not len(known):
        return ""
    row = known.iloc[0]
    margin = f"±{number(row['margin'], 2)}"
    judged = {
        "yes": f": equivalent within {margin}",
        "no": f": not equivalent within {margin}",
        "undecided": f": too uncertain to call them equivalent within {margin}",
    }.get(row["equivalent"], "")
    between = interval(row["ci_low"], row["ci_high"], 2)
    difference = f"{row['side']} minus {row['other_side']} is {signed(row['difference'], 2)}"
    return f"As a whole {difference} ({between}){judged}"


# Tables of the page


_MOST_ROWS = 30
_MEAN = "mean over questions"


def agreement_sheet(table: pd.DataFrame) -> TextTable:
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
    return TextTable(heads, rows, names=4)


def _correlation(row: Mapping[str, Any], name: str) -> str:
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    return number(row[name], 3) + (f" ({interval(low, high, 2)})" if low == low else "")


def count_sheet(table: pd.DataFrame) -> TextTable:
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
    return TextTable(heads, rows, names=3)


def correlation_sheet(table: pd.DataFrame) -> TextTable:
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
    return TextTable(heads, rows, names=5)


def effect_sheet(table: pd.DataFrame) -> TextTable:
    """Return differences between sides as a whole, and whether they are equivalent.

    The joint test of all sides is shown for three sides or more; for two it repeats the test of the pair.
    """
    has_many = len(table[["side", "other_side"]].drop_duplicates()) > 1
    rows = [
        (
            row["question"], row["side"], row["other_side"], signed(row["difference"], 3),
            interval(row["ci_low"], row["ci_high"], 3), p_value(row["p"]), row["equivalent"] or row["note"] or NONE,
            f"±{number(row['margin'], 2)}", *((p_value(row["f_p"]),) if has_many else ()),
        )
        for row in records(table)
    ]  # fmt: skip
    heads = ("Question", "Side", "minus", "Difference", "95 % interval", "p", "Equivalent", "Margin")
    return TextTable((*heads, *(("p of all sides",) if has_many else ())), rows, names=3)


def difference_sheet(table: pd.DataFrame, labels: Mapping[str, str]) -> TextTable:
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
    return TextTable(heads, rows, names=4)


def contrast_sheet(table: pd.DataFrame, labels: Mapping[str, str]) -> TextTable:
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
    return TextTable(heads, rows, names=4)


def replication_sheet(table: pd.DataFrame, labels: Mapping[str, str]) -> TextTable:
    """Return what became of each difference of a study that was repeated."""
    rows = [
        (
            labels.get(row["condition"], row["condition"]), labels.get(row["other_condition"], row["other_condition"]),
            row["question"], row["replication"] or NONE, signed(row["difference"], 2),
            signed(row["other_difference"], 2), p_value(row["p_holm"]), p_value(row["other_p_holm"]),
        )
        for row in records(table.head(_MOST_ROWS))
    ]  # fmt: skip
    heads = ("Condition", "minus", "Question", "Verdict", "Original", "Repetition", "p, original", "p, repetition")
    return TextTable(heads, rows, names=4)


def merged_sheet(table: pd.DataFrame, labels: Mapping[str, str]) -> TextTable:
    """Return the conditions of several sides on one scale, best first."""
    rows = [
        (
            labels.get(row["condition"], row["condition"]), row["question"],
            "beyond the common ones" if row["is_beyond"] else "common" if row["is_common"] else "",
            number(row["mean"], 2), interval(row["ci_low"], row["ci_high"], 2), f"{row['sides']:.0f}",
        )
        for row in records(table)
    ]  # fmt: skip
    return TextTable(("Condition", "Question", "", "Merged", "95 % interval", "Sides"), rows, names=3)


def mapping_sheet(table: pd.DataFrame) -> TextTable:
    """Return the line by which each side is brought to the merged scale."""
    rows = [
        (
            row["side"], row["question"], f"{row['conditions']:.0f}", f"{row['common']:.0f}",
            f"{number(row['slope'], 2)} ({interval(row['slope_low'], row['slope_high'], 2)})",
            f"{number(row['offset'], 2)} ({interval(row['offset_low'], row['offset_high'], 2)})",
            interval(row["lowest"], row["highest"], 2), p_value(row["misfit_p"]),
        )
        for row in records(table)
    ]  # fmt: skip
    heads = ("Side", "Question", "Conditions", "Common", "Slope", "Offset", "Qualities shown", "p of misfit")
    return TextTable(heads, rows, names=2)
