"""What a comparison says in words."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import pandas as pd

from beholder.analyse.plots.numbers import interval
from beholder.analyse.result import records
from beholder.compare.found import Found
from beholder.compare.matching import Matched
from beholder.report.words import count, number, signed
from beholder.stats.correlation import mean_correlation

_FEW_SIDES = 3
"""Of more, one sentence for every two would be too many to read."""
_FEW_QUESTIONS = 3
"""Of more, one sentence for each would be."""


def told(found: Found) -> tuple[str, ...]:
    """Return the finding: a sentence or two for every two sides and question.

    Of many sides it is one for each question, and of many questions one for every two sides.
    """
    questions = found.sides.questions
    shown = headlines(found.matched)
    if len(found.names) > _FEW_SIDES:
        by_question = {name: [one for one in shown if one.question == name] for name in questions}
        who = f"{len(found.names)} sides"
        told = [(who, name, _of_many(found, mine, _two)) for name, mine in by_question.items()]
    elif len(questions) > _FEW_QUESTIONS:
        by_sides = {_two(one): [other for other in shown if _two(other) == _two(one)] for one in shown}
        told = [
            (who, count(len(mine), "question"), _of_many(found, mine, lambda one: one.question))
            for who, mine in by_sides.items()
        ]
    else:
        told = [(_two(one), one.question, _sentence(found, one)) for one in shown]
    return tuple(f"{who}, {about}: {said}" if len(questions) > 1 else f"{who}: {said}" for who, about, said in told)


def _two(one: Matched) -> str:
    return f"{one.side} and {one.other_side}"


def headlines(matched: Sequence[Matched]) -> list[Matched]:
    """Return what is told of every two sides: the stimuli where they share three, else the conditions."""
    best: dict[tuple[str, str, str], Matched] = {}
    for one in matched:
        key = (one.question, one.side, one.other_side)
        if key not in best or (len(best[key].table) < 3 <= len(one.table)):
            best[key] = one
    return list(best.values())


def _of_many(found: Found, mine: Sequence[Matched], called: Callable[[Matched], str]) -> str:
    """Return how well sides agree in many comparisons: the least and the most, and counts over all of them."""
    rows = [(float(found.rows("agreement", one).iloc[0]["pearson"]), called(one)) for one in mine]
    known = sorted(row for row in rows if not math.isnan(row[0]))
    said = [f"no correlation in {count(len(mine), 'comparison')}"]
    if known:
        least, most = (f"{r_told(r)} ({name})" for r, name in (known[0], known[-1]))
        mean = mean_correlation([r for r, _ in known])
        said = [f"r from {least} to {most}, on average {r_told(mean)}"] if len(known) > 1 else [f"r = {most}"]
    tested = [table[table["clear"].notna()] for table in map(found.differing, mine)]
    n, clear = sum(map(len, tested)), sum(int((table["clear"] == 1).sum()) for table in tested)
    if n:
        differ = f"{clear:,} differ" if clear > 1 else f"{clear or 'none'} differs"
        said.append(f"In {n:,} comparisons of {_thing(mine)} between two sides {differ} clearly")
    counts = [row for one in mine for row in records(found.rows("contrast_counts", one))]
    if any(row["tested"] for row in counts):
        agree, all_tested = (sum(row[name] for row in counts) for name in ("agree", "tested"))
        said.append(f"They agree on {agree:,} of {all_tested:,} differences between conditions")
    judged = [row["equivalent"] for one in mine for row in records(found.rows("effects", one)) if row["equivalent"]]
    if judged:
        counts_of = {word: judged.count(word) for word in ("yes", "no", "undecided")}
        whole = f"As a whole they are equivalent in {counts_of['yes']} of {count(len(judged), 'comparison')}"
        whole += f", not equivalent in {counts_of['no']}" if counts_of["no"] else ""
        said.append(whole + (f", undecided in {counts_of['undecided']}" if counts_of["undecided"] else ""))
    return " ".join(f"{part}." for part in said)


def _thing(matched: Sequence[Matched]) -> str:
    levels = {one.level for one in matched}
    return "one stimulus" if levels == {"stimulus"} else "one condition" if levels == {"condition"} else "one thing"


def r_told(r: float, low: float = math.nan, high: float = math.nan) -> str:
    """Return `0.97 (0.94 to 0.98)`, with a third decimal where two would call it 1."""
    decimals = 3 if max(abs(r), abs(low) if low == low else 0, abs(high) if high == high else 0) >= 0.99 else 2
    return number(r, decimals) + (f" ({interval(low, high, decimals)})" if low == low else "")


def _sentence(found: Found, one: Matched) -> str:
    row = found.rows("agreement", one).iloc[0]
    things = "stimuli" if one.level == "stimulus" else "conditions"
    n = count(len(one.table), one.level, things)
    r = [row[f"pearson{end}"] for end in ("", "_low", "_high")]
    said = [f"no correlation over {n}" if math.isnan(r[0]) else f"r = {r_told(*r)} over {n}"]
    if differ := _differ(found.differing(one)):
        said[0] += f", and {differ}"
    said += [_contrasts(found.rows("contrast_counts", one)), _equivalent(found.rows("effects", one))]
    return " ".join(f"{part}." for part in said if part)


def _differ(table: pd.DataFrame) -> str:
    tested = table[table["clear"].notna()] if len(table) else table
    if not len(tested):
        return ""
    clear = int((tested["clear"] == 1).sum())
    of = f" of {len(tested)}" if clear or len(tested) < len(table) else " of them"
    return f"{clear or 'none'}{of} {'differs' if clear < 2 else 'differ'} clearly"


def _contrasts(table: pd.DataFrame) -> str:
    if not len(table):
        return ""
    row = table.iloc[0]
    turned, tested = int(row["contrasts"] - row["same_direction"]), int(row["tested"])
    other = f"{turned or 'none'} {'points' if turned < 2 else 'point'} the other way"
    if not tested:
        return f"Of {count(int(row['contrasts']), 'difference')} between conditions {other}"
    if row["opposite_clear"]:
        other += f", {row['opposite_clear']} of them clearly on both sides"
    one_only = int(row["only_side"] + row["only_other"])
    if one_only:
        other = f"{one_only} {'is' if one_only == 1 else 'are'} clear on one side only, and {other}"
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
