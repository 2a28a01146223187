"""What happened, as the store has it: answers, events, what checks posed and told."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from beholder.clean.facts import position_of
from beholder.clean.tables import as_text
from beholder.export import columns as c
from beholder.export.columns import Column, Filled, Table
from beholder.export.source import Source

_KEYED = (c.SESSION, c.PARTICIPANT, c.KEY)
_LINKS = (c.OF_SESSION, c.OF_PARTICIPANT)
ANSWERS = Table(
    "answers",
    "step that was answered: consent, checks, questionnaires, trials, breaks",
    (
        *_KEYED,
        Column("position", "integer", "Of a trial: its place in the list, from 1."),
        Column("answer", "text", "What the browser sent, as JSON: by question (q1) and slot (s1), without free text."),
        Column("shown_ms", "number", "When the page was shown, by the browser's clock: ms since 1970."),
        Column("sent_ms", "number", "When the answer was sent, by the same clock."),
        c.INPUT,
        Column("tab", "text", "Which tab of the browser it came from."),
        Column("answered_at", "time", "When the answer was stored."),
    ),
    ("session", "key"),
    _LINKS,
)
EVENTS = Table(
    "events",
    "thing that happened on a page, as the browser saw it",
    (
        *_KEYED,
        Column("tab", "text", "Which tab of the browser it came from."),
        Column("number", "integer", "Place in the log of that step and tab, from 0."),
        Column("ms", "number", "When, in ms since the page was shown."),
        Column("kind", "text", "What happened: play, pause, ended, stall, change, focus, and the like."),
        Column("slot", "text", "In which slot; empty where it is of the whole page."),
        Column("data", "text", "More of it, as JSON, without free text."),
        Column("stored_at", "time", "When the batch that it came with was stored."),
    ),
    ("session", "key", "tab", "number"),
    _LINKS,
)
POSED = Table(
    "posed",
    "attempt at a check before the trials: what was drawn for it",
    (
        *_KEYED,
        Column("public", "text", "What the page got, as JSON."),
        Column("private", "text", "What it did not get, right answers among it, as JSON."),
        Column("posed_at", "time", "When it was drawn."),
    ),
    ("session", "key"),
    _LINKS,
)
TOLD = Table(
    "told",
    "verdict that was given while the session was under way",
    (
        *_KEYED,
        Column("check", "text", "The check or rule."),
        Column("verdict", "text", "What it said then; `checks` has what it says now.", c.SAID),
        Column("reason", "text", "Why."),
        Column("evidence", "text", "What it rests on, as JSON."),
        Column("told_at", "time", "When it was told."),
    ),
    ("session", "key", "check"),
    _LINKS,
)


def answers(source: Source) -> Filled:
    """Return every answer as it was sent, without what was written freely."""
    return Filled(ANSWERS, _answer_rows(source))


def _answer_rows(source: Source) -> Iterator[dict[str, Any]]:
    for row, session in source.facts("answers"):
        key = str(row["key"])
        yield {
            **row,
            "participant": session["participant"],
            "position": position_of(key) or None,
            "answer": source.withheld.answer(ANSWERS.name, str(session["digest"]), key, row["answer"]),
            "tab": as_text(row["tab"]),
            "answered_at": row["at"],
        }


def posed(source: Source) -> Filled:
    """Return what was drawn for each attempt at a check."""
    rows = source.facts("posed")
    return Filled(POSED, ({**row, "participant": one["participant"], "posed_at": row["at"]} for row, one in rows))


def told(source: Source) -> Filled:
    """Return what people were told by checks and rules."""
    rows = source.facts("told")
    return Filled(TOLD, ({**row, "participant": one["participant"], "told_at": row["at"]} for row, one in rows))


def event_rows(source: Source, batch: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the events of one batch that may be told."""
    if batch["session"] not in source.open:
        return
    session, key = source.sessions[batch["session"]], str(batch["key"])
    known = {"session": batch["session"], "participant": session["participant"], "key": key}
    digest, tab = str(session["digest"]), as_text(batch["tab"])
    for number, (ms, kind, slot, data) in enumerate(batch["events"], batch["from"]):
        # What a browser may say freely is no formula either: the name of its tab, a slot, what belongs to an event.
        told = as_text(source.withheld.event(EVENTS.name, digest, key, kind, data))
        yield {
            **known, "tab": tab, "number": number, "ms": ms, "kind": kind, "slot": as_text(slot), "data": told,
            "stored_at": batch["at"],
        }  # fmt: skip
