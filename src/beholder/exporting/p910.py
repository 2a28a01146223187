"""The tables of the P.910 toolkit's parser, under its names, so that existing scripts keep working.

Its interval is 1.96 standard errors of the votes. Ours is added as `ci_low` and `ci_high`.
"""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from beholder.analysis.result import metric
from beholder.cleaning import columns as c
from beholder.cleaning.ratings import Rating
from beholder.columns import Column
from beholder.errors import Problem, UserError
from beholder.exporting.columns import ExportTable, TableRows
from beholder.exporting.source import ExportSource

_KINDS = ("score", "diff")
_NORMAL = 1.96
_MEANS = ("MOS", "DMOS", "CMOS")
_OURS = (
    c.QUESTION,
    Column("ci_low", "number", "Lower end of our 95 % interval, as in analyse/."),
    Column("ci_high", "number", "Upper end of our 95 % interval, as in analyse/."),
)
_FILE_NAME = Column("short_file_name", "text", "The stimulus.")
WORKERS = ExportTable(
    "votes_per_worker",
    "used vote, under the names of the P.910 toolkit",
    (
        Column("HITId", "integer", "The planned list."),
        Column("workerid", "text", "The person, by the same pseudonym as everywhere."),
        Column("file", "text", "The stimulus."),
        _FILE_NAME,
        Column("vote", "number", "The vote."),
        c.CONTENT, c.CONDITION, c.QUESTION,
    ),
)  # fmt: skip
_DIFFERENTIAL = (
    Column("dmos", "number", "DMOS against the reference, as in analyse/dmos.csv; empty for the reference itself."),
    Column("dmos_low", "number", "Lower end of its 95 % interval."),
    Column("dmos_high", "number", "Upper end of its 95 % interval."),
)
"""Only where there is a reference: the hidden one, or the original that the study names."""
Cell = tuple[str, str]
"""Stimulus or condition, and question."""
Ends = tuple[float | None, float | None]


def p910_tables(source: ExportSource) -> list[TableRows]:
    """Return votes by clip, by condition and by person; choices, ticks and correct answers have no such table."""
    ratings = [rating for some in source.ratings.values() for rating in some if not rating.is_own]
    kinds = {rating.kind for rating in ratings}
    if not kinds <= set(_KINDS):
        raise UserError(
            Problem(
                "--p910",
                f"has no table for ratings of kind {min(kinds - set(_KINDS))}",
                "scores and grades",
                "Leave it out; ratings and pair_counts have everything.",
            )
        )
    used = [rating for rating in ratings if rating.use and rating.value is not None]
    name = _mean_name(ratings)
    return [_clips(used, name, source), _conditions(used, name, source), TableRows(WORKERS, _workers(used, source))]


def _mean_name(ratings: Sequence[Rating]) -> str:
    """Return the toolkit's name of the mean for this method."""
    first = metric(ratings[0].method, ratings[0].kind).name.partition("(")[0] if ratings else ""
    return first if first in _MEANS else _MEANS[0]


def _clips(used: Sequence[Rating], name: str, source: ExportSource) -> TableRows:
    clips = _group(used, lambda rating: rating.stimulus)
    most = max(map(len, clips.values()), default=0)
    votes = [f"vote_{number}" for number in range(1, most + 1)]
    ours, differential = _intervals("scores", "stimulus", used), _differential("stimulus", used, source)
    table = ExportTable(
        "votes_per_clip",
        "stimulus and question, under the names of the P.910 toolkit: its used votes",
        (
            Column("file_url", "text", "The stimulus."),
            *_statistics(name),
            _FILE_NAME,
            c.CONTENT, c.CONDITION, *_OURS, *(_DIFFERENTIAL if differential else ()),
            *(Column(vote, "number", "A vote; whose it is, is not told.") for vote in votes),
        ),
        ("file_url", "question"),
    )  # fmt: skip

    def rows() -> Iterator[dict[str, Any]]:
        for cell, some in clips.items():
            values = [rating.value for rating in some]
            head = {"file_url": cell[0], "short_file_name": cell[0], "question": cell[1]}
            labels = {"content": some[0].content, "condition": some[0].condition}
            own = {**_summary(values, name, ours.get(cell)), **differential.get(cell, {})}
            yield {**head, **labels, **own, **dict(zip(votes, values, strict=False))}

    return TableRows(table, rows())


def _conditions(used: Sequence[Rating], name: str, source: ExportSource) -> TableRows:
    ours, differential = _intervals("conditions", "condition", used), _differential("condition", used, source)
    table = ExportTable(
        "votes_per_cond",
        "condition and question, under the names of the P.910 toolkit: all used votes pooled",
        (
            Column("condition_name", "text", "The condition."), *_statistics(name), *_OURS,
            *(_DIFFERENTIAL if differential else ()),
        ),
        ("condition_name", "question"),
    )  # fmt: skip
    groups = _group(used, lambda rating: rating.condition)

    def rows() -> Iterator[dict[str, Any]]:
        for cell, some in groups.items():
            summary = _summary([rating.value for rating in some], name, ours.get(cell))
            yield {"condition_name": cell[0], "question": cell[1], **summary, **differential.get(cell, {})}

    return TableRows(table, rows())


def _workers(used: Iterable[Rating], source: ExportSource) -> Iterator[dict[str, Any]]:
    for rating in used:
        yield {
            "HITId": source.judged[rating.session].visit.list,
            "workerid": rating.participant,
            "file": rating.stimulus,
            "short_file_name": rating.stimulus,
            "vote": rating.value,
            "content": rating.content,
            "condition": rating.condition,
            "question": rating.question,
        }


def _statistics(name: str) -> tuple[Column, ...]:
    return (
        Column("n", "integer", "How many votes it has."),
        Column(name, "number", "Their mean."),
        Column("std", "number", "Their standard deviation (n - 1)."),
        Column("95%CI", "number", "1.96 standard errors: half of the toolkit's interval, which is too narrow."),
    )


def _group(used: Iterable[Rating], by: Any) -> dict[Cell, list[Rating]]:
    groups: dict[Cell, list[Rating]] = defaultdict(list)
    for rating in used:
        groups[by(rating), rating.question].append(rating)
    return {cell: groups[cell] for cell in sorted(groups)}


def _summary(values: Sequence[Any], name: str, ends: Ends | None) -> dict[str, Any]:
    sd = statistics.stdev(values) if len(values) > 1 else None
    return {
        "n": len(values),
        name: statistics.fmean(values),
        "std": sd,
        "95%CI": None if sd is None else _NORMAL * sd / math.sqrt(len(values)),
        "ci_low": ends[0] if ends else None,
        "ci_high": ends[1] if ends else None,
    }


def _intervals(analysis: str, group: str, used: Sequence[Rating]) -> Mapping[Cell, Ends]:
    """Return our intervals by stimulus or condition, and question."""
    from beholder.analysis.means import conditions
    from beholder.analysis.scores import scores

    if not used:
        return {}
    table = (scores if analysis == "scores" else conditions)(_frame(used)).table
    lines = zip(table[group], table["question"], table["ci_low"], table["ci_high"], strict=True)
    return {(name, question): (low, high) for name, question, low, high in lines}


def _differential(level: str, used: Sequence[Rating], source: ExportSource) -> Mapping[Cell, dict[str, Any]]:
    """Return DMOS with its interval by stimulus or condition, and question; nothing where there is no reference."""
    from beholder.analysis.dmos import dmos

    settings = source.judging.study.analyse
    result = dmos(_frame(used), original=settings.dmos, crush=settings.crush) if used else None
    if result is None:
        return {}
    own = result.table[result.table["level"] == level]
    lines = zip(*(own[name] for name in (level, "question", "mean", "ci_low", "ci_high")), strict=True)
    heads = [column.name for column in _DIFFERENTIAL]
    return {
        (name, question): {
            head: None if number != number else number for head, number in zip(heads, numbers, strict=True)
        }
        for name, question, *numbers in lines
    }


def _frame(used: Sequence[Rating]) -> Any:
    """Return ratings as analyses take them."""
    import pandas as pd

    frame = pd.DataFrame([rating._asdict() for rating in used]).drop(columns="factors")
    texts = frame.columns[[not pd.api.types.is_numeric_dtype(frame[name]) for name in frame]]
    frame[texts] = frame[texts].astype(object).where(frame[texts].notna(), "")
    return frame
