"""Wide tables for a first look: participants by stimuli, and how often each of two was preferred."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

from beholder.clean.ratings import Rating
from beholder.export import columns as c
from beholder.export.columns import Column, Filled, Table
from beholder.export.source import Source

MOST_CELLS = 5_000_000
"""A matrix with more cells is not written: the table ratings has the same in less space."""
_COMPARISONS = ("diff", "choice")
PAIR_COUNTS = Table(
    "pair_counts",
    "question, content and two conditions that were compared: how often which was preferred, of used ratings",
    (
        c.QUESTION, c.CONTENT, c.CONDITION,
        Column("other_condition", "text", "The condition that it was compared with."),
        Column("n", "integer", "How often they were compared."),
        Column("preferred", "integer", "How often `condition` was preferred."),
        Column("ties", "integer", "How often neither was."),
        Column("other_preferred", "integer", "How often `other_condition` was preferred."),
    ),
    ("question", "content", "condition", "other_condition"),
)  # fmt: skip


def _used(source: Source, *kinds: str) -> Iterator[Rating]:
    for ratings in source.ratings.values():
        for rating in ratings:
            if rating.use and rating.value is not None and rating.kind in kinds:
                yield rating


def matrix(source: Source) -> Filled | None:
    """Return used scores with a column for each stimulus; None where there are none, or too many cells."""
    rows: dict[tuple[str, str, int], dict[str, Any]] = defaultdict(dict)
    for rating in _used(source, "score"):
        rows[rating.question, rating.participant, rating.repetition][rating.stimulus] = rating.value
    names = sorted({name for row in rows.values() for name in row})
    if not rows or len(rows) * len(names) > MOST_CELLS:
        return None
    table = Table(
        "matrix",
        "question, participant and repetition, with a column for each stimulus: used scores",
        (
            c.QUESTION,
            c.PARTICIPANT,
            Column("repetition", "integer", "How often this person has now rated the stimulus."),
            *(Column(name, "number", f"The score of the stimulus {name}.") for name in names),
        ),
        ("question", "participant", "repetition"),
        (c.OF_PARTICIPANT,),
    )
    keys = ("question", "participant", "repetition")
    return Filled(table, ({**row, **dict(zip(keys, key, strict=True))} for key, row in rows.items()))


def pair_counts(source: Source) -> Filled | None:
    """Return how comparisons came out; None where nothing was compared."""
    counts: dict[tuple[str, str, str, str], Counter[str]] = defaultdict(Counter)
    for rating in _used(source, *_COMPARISONS):
        key = (rating.question, rating.content, rating.condition, rating.other_condition or "")
        value = rating.value or 0
        counts[key].update(["n", "preferred" if value > 0 else "other_preferred" if value < 0 else "ties"])
    if not counts:
        return None
    keys = ("question", "content", "condition", "other_condition")
    outcomes = ("n", "preferred", "ties", "other_preferred")
    return Filled(
        PAIR_COUNTS,
        (
            {**dict(zip(keys, key, strict=True)), **{name: counts[key][name] for name in outcomes}}
            for key in sorted(counts)
        ),
    )
