"""What was found again: each difference between conditions of a study, beside that of the study that repeats it.

A difference that was clear is found again where the repetition has it, clear and in the same direction. Whether both
are of the same size is another question, which the tables `stimuli` and `effects` of a comparison answer.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import pandas as pd

from beholder.analysis.result import Result, records
from beholder.analysis.sides import Side
from beholder.formats import plain_count, plural

COLUMNS = (
    "question", "condition", "other_condition", "side", "other_side", "difference", "other_difference", "p_holm",
    "other_p_holm", "replication",
)  # fmt: skip
AGAIN, UNCLEAR, OPPOSITE, NEW, NEITHER = (
    "found again", "not clear again", "clear the other way", "clear only again", "clear in neither",
)  # fmt: skip


def repetitions(sides: Sequence[Side]) -> list[tuple[str, str]]:
    """Return every original and its repetition among the sides, by their names."""
    named = {side.study: side.name for side in sides if side.study and not side.repeats}
    named |= {side.name: side.name for side in sides if not side.repeats}
    return [(named[side.repeats], side.name) for side in sides if side.repeats in named]


def replication(sides: Sequence[Side], contrasts: pd.DataFrame) -> Result | None:
    """Return what became of every difference; None where no side repeats another."""
    rows = [row for pair in repetitions(sides) for row in _rows(pair, contrasts)]
    if not rows:
        return None
    note = (
        f"Each difference of the original (difference, p_holm) beside that of its repetition (other_difference, "
        f"other_p_holm), tests and corrections as in contrasts. {AGAIN}: clear in both, in the same direction; "
        f"{UNCLEAR}: clear in the original alone; {OPPOSITE}: clear in both, in opposite directions; {NEW}: clear in "
        "the repetition alone. A difference that is not clear again is no proof that there is none."
    )
    return Result(pd.DataFrame(rows, columns=COLUMNS), note, "")


def _rows(pair: tuple[str, str], contrasts: pd.DataFrame) -> Iterator[tuple[object, ...]]:
    """Yield the contrasts of an original and its repetition, whichever of them was named first."""
    original, again = pair
    for row in records(contrasts):
        if {row["side"], row["other_side"]} != {original, again}:
            continue
        ends = ("", "other_") if row["side"] == original else ("other_", "")
        first, second = ([row[f"{end}{name}"] for name in ("difference", "p_holm", "clear")] for end in ends)
        verdict = _verdict(first[2], second[2], is_same=row["same_direction"] == 1)
        names = (row["question"], row["condition"], row["other_condition"], original, again)
        yield (*names, first[0], second[0], first[1], second[1], verdict)


def _verdict(first: float, second: float, *, is_same: bool) -> str:
    if math.isnan(first) or math.isnan(second):
        return ""
    if first and second:
        return AGAIN if is_same else OPPOSITE
    return UNCLEAR if first else NEW if second else NEITHER


def replication_words(result: Result | None) -> tuple[str, ...]:
    """Return a sentence for each repetition: how many of the differences that were clear were found again."""
    if result is None:
        return ()
    return tuple(
        _sentence(str(original), str(again), part)
        for (original, again), part in result.table.groupby(["side", "other_side"], sort=False)
    )


def _sentence(original: str, again: str, part: pd.DataFrame) -> str:
    counts = part["replication"].value_counts()
    found, unclear, opposite, new = (int(counts.get(name, 0)) for name in (AGAIN, UNCLEAR, OPPOSITE, NEW))
    clear = found + unclear + opposite
    if not clear:
        return f"{again} repeats {original}, in which no difference between conditions was clear."
    rest = []
    if unclear:
        rest.append(f"{unclear} {plural(unclear, 'is', 'are')} not clear again")
    if opposite:
        rest.append(f"{opposite} {plural(opposite, 'is', 'are')} clear the other way")
    if new:
        rest.append(f"{new} {plural(new, 'is', 'are')} clear only now")
    what = plain_count(clear, "clear difference", "clear differences")
    return (
        f"{again} repeats {original}: of {what}, {found or 'none'} found again"
        + "".join(f"; {one}" for one in rest)
        + "."
    )
