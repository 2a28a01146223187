"""Ratings: one row for each judgement, used or not; and wide tables of scores and of pairwise preferences."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any

from beholder.cleaning import columns as c
from beholder.cleaning.playback import PLAYBACK
from beholder.cleaning.ratings import COLUMNS, RELATION, Rating, draw_columns, import_columns
from beholder.cleaning.sessions import JudgedSession
from beholder.columns import Column, pick
from beholder.exporting.columns import (
    OF_PARTICIPANT,
    OF_SESSION,
    OF_STIMULUS,
    OF_TEXT,
    ExportTable,
    TableRows,
    factor_columns,
)
from beholder.exporting.source import DEVICE, ExportSource, rating_id

_RATING_ID = Column(
    "rating_id", "text", "Name of the rating: session, position, question, slot and, of a tick, its text."
)
_CONTEXT = (
    Column("list", "integer", "The planned list that the session had."),
    Column("block", "integer", "Part of the list between breaks, from 1."),
    Column("reference", "text", "The reference that was shown beside it."),
    c.MEDIUM,
    Column("value_label", "text", "The word at `raw_value` on the scale, where there is one."),
    Column("shown_at", "time", "When the page was shown: `answered_at` less `response_ms`."),
    *pick(PLAYBACK, "stalls"),
    Column("dropped_frames", "integer", "Frames that were dropped."),
    Column("device", "text", "On what the session was.", c.DEVICES),
    *pick(DEVICE, "width_px", "height_px", "pixel_ratio", "headphones"),
    Column("checks_failed", "text", "Everything that the session failed, also what costs nothing."),
    Column("software_version", "text", "The software that served the session."),
)


def ratings(source: ExportSource) -> TableRows:
    """Return every rating, used or not."""
    names = sorted(
        {name for shown in source.judging.facts.stimuli.values() for name in shown.factors}
        # Factors between participants are the same in every row of a session.
        | {name for rows in source.ratings.values() for rating in rows[:1] for name in rating.factors}
    )
    drawn = draw_columns(rating for rows in source.ratings.values() for rating in rows)
    imported = import_columns(rating for rows in source.ratings.values() for rating in rows[:1])
    is_related = any(rating.relation for rows in source.ratings.values() for rating in rows[:1])
    related = (RELATION,) if is_related else ()
    table = ExportTable(
        "ratings",
        "rating, used or not: see `use` and `reasons`",
        (_RATING_ID, *COLUMNS, *drawn, *imported, *_CONTEXT, *related, *factor_columns(names)),
        ("rating_id",),
        (OF_SESSION, OF_PARTICIPANT, OF_TEXT, OF_STIMULUS),
    )
    return TableRows(table, _rating_rows(source))


def _rating_rows(source: ExportSource) -> Iterator[dict[str, Any]]:
    stimuli = source.judging.facts.stimuli
    software = {str(row["digest"]): row.get("software") for row in source.tables["studies"]}
    plans = {str(row["digest"]): str(row["plan_digest"]) for row in source.tables["studies"]}
    blocks = _blocks(source)
    devices = ("device", "width_px", "height_px", "pixel_ratio", "headphones")
    for session, rows in source.ratings.items():
        one, device = source.judged[session], source.devices[session]
        labels = _labels(one)
        of_session = {
            **{name: device.get(name) for name in devices},
            "list": one.visit.list,
            "checks_failed": "; ".join(one.decision.reasons),
            "software_version": software.get(one.visit.digest),
        }
        answers = dict(one.visit.by_position)
        for rating in rows:
            trial, answer = one.visit.trials[rating.position - 1], answers[rating.position]
            playback = answer.playback.get(rating.slot) or {}
            references = (slot.stimulus for slot in trial.slots if slot.role == "reference" and slot.id != rating.slot)
            yield {
                **rating.known,
                **_texts(source, rating),
                **of_session,
                "rating_id": rating_id(rating),
                "block": blocks.get((plans[rating.digest], one.visit.list, rating.position)),
                "reference": next(references, None),
                "medium": stimuli[rating.digest, rating.stimulus].medium,
                "value_label": labels.get((rating.question, rating.raw_value)) if rating.unit is None else None,
                "shown_at": None
                if rating.unknown & {"time", "date"}
                else rating.answered_at - timedelta(milliseconds=rating.response_ms),
                "stalls": playback.get("stalls"),
                "dropped_frames": playback.get("dropped"),
                **{f"factor_{name}": value for name, value in rating.factors.items()},
            }


def _texts(source: ExportSource, rating: Rating) -> dict[str, Any]:
    """Return what was said and typed; neither where free text is left out, as one says nothing without the other."""
    if rating.heard is None or source.withheld.with_texts:
        return {"heard": source.withheld.words("ratings", rating.heard)}
    return {"said": None, "heard": None}


def _labels(one: JudgedSession) -> Mapping[tuple[str, float | None], str]:
    """Return the label at each value of each question of a session."""
    asked = {asked.question: asked.scale for trial in one.visit.trials for asked in trial.asked}
    return {(question, value): word for question, scale in asked.items() for value, word in scale.plain.labels}


def _blocks(source: ExportSource) -> dict[tuple[str, int | None, int], int]:
    """Return the part of the list of each position, by plan."""
    plans = {row["plan_digest"] for row in source.tables["studies"] if row["digest"] in source.judging.facts.yaml}
    blocks: dict[tuple[str, int | None, int], int] = {}
    for row in source.tables["lists"]:
        if row["plan_digest"] not in plans:
            continue
        block, position = 1, 0
        for entry in row["trials"]["entries"]:
            if "break" in entry:
                block += 1
            elif entry.get("purpose", "rate") == "rate":
                position += 1
                blocks[row["plan_digest"], row["list"], position] = block
    return blocks


# Wide tables


MOST_CELLS = 5_000_000
"""A larger matrix is not written: the table ratings holds the same in less space."""
_COMPARISONS = ("diff", "choice")
PAIR_COUNTS = ExportTable(
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


def _used(source: ExportSource, *kinds: str) -> Iterator[Rating]:
    """Yield the used ratings of these kinds, of stimuli that are for everybody: others are in `ratings` alone."""
    for ratings in source.ratings.values():
        for rating in ratings:
            if rating.use and rating.value is not None and rating.kind in kinds and not rating.is_own:
                yield rating


def matrix(source: ExportSource) -> TableRows | None:
    """Return used scores with a column for each stimulus; None if there are none, or too many cells."""
    rows: dict[tuple[str, str, int], dict[str, Any]] = defaultdict(dict)
    for rating in _used(source, "score"):
        rows[rating.question, rating.participant, rating.repetition][rating.stimulus] = rating.value
    names = sorted({name for row in rows.values() for name in row})
    if not rows or len(rows) * len(names) > MOST_CELLS:
        return None
    table = ExportTable(
        "matrix",
        "question, participant and repetition, with a column for each stimulus: used scores",
        (
            c.QUESTION,
            c.PARTICIPANT,
            Column("repetition", "integer", "How often this person has now rated the stimulus."),
            *(Column(name, "number", f"The score of the stimulus {name}.") for name in names),
        ),
        ("question", "participant", "repetition"),
        (OF_PARTICIPANT,),
    )
    keys = ("question", "participant", "repetition")
    return TableRows(table, ({**row, **dict(zip(keys, key, strict=True))} for key, row in rows.items()))


def pair_counts(source: ExportSource) -> TableRows | None:
    """Return how often each condition was preferred; None if nothing was compared."""
    counts: dict[tuple[str, str, str, str], Counter[str]] = defaultdict(Counter)
    for rating in _used(source, *_COMPARISONS):
        key = (rating.question, rating.content, rating.condition, rating.other_condition or "")
        value = rating.value or 0
        counts[key].update(["n", "preferred" if value > 0 else "other_preferred" if value < 0 else "ties"])
    if not counts:
        return None
    keys = ("question", "content", "condition", "other_condition")
    outcomes = ("n", "preferred", "ties", "other_preferred")
    return TableRows(
        PAIR_COUNTS,
        (
            {**dict(zip(keys, key, strict=True)), **{name: counts[key][name] for name in outcomes}}
            for key in sorted(counts)
        ),
    )
