"""Sessions, participants and questionnaires; recorded steps: answers, events, checks as posed, immediate verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from beholder.cleaning import columns as c
from beholder.cleaning import tables
from beholder.cleaning.facts import SessionRecord, position_of
from beholder.cleaning.recurring_questions import recurring_answers
from beholder.cleaning.texts import StudyText
from beholder.columns import Column, pick
from beholder.exporting.columns import (
    KEY,
    OF_PARTICIPANT,
    OF_SESSION,
    OF_TEXT,
    POSITION,
    ExportTable,
    TableRows,
    factor_columns,
)
from beholder.exporting.source import DEVICE, EARLIER, ExportSource
from beholder.store.contract import DRAFT
from beholder.study.questionnaire import QUESTION_TYPES, Ask

_LINKS = (OF_SESSION, OF_PARTICIPANT)


SESSIONS = ExportTable(
    "sessions",
    "session: who came, how it went, whether it is paid and used, and on what device",
    (
        c.SESSION, c.PARTICIPANT, c.DIGEST,
        c.RUN, c.MODE,
        Column("visit", "integer", "Which visit of this person it is."),
        Column("list", "integer", "The planned list that it had; empty where it did not come that far."),
        Column("began_at", "time", "When the person arrived."),
        Column("claimed_at", "time", "When the person agreed and got a list."),
        Column("ended_at", "time", "When it ended; empty where it was left."),
        *pick(tables.SESSIONS, "outcome", "end_reason", "minutes", "accept", "use", "reasons"),
        Column("erased_at", "time", "When its answers were erased; nothing else of it is kept then."),
        Column("erased_rows", "integer", "How many rows were erased."),
        *pick(
            DEVICE, "device", "width_px", "height_px", "pixel_ratio", "refresh_hz", "ppi", "width_mm", "height_mm",
            "diagonal_inches", "mbps", "headphones", "system", "browser", "version", "input",
        ),
    ),
    ("session",),
    (OF_PARTICIPANT, OF_TEXT),
)  # fmt: skip


PARTICIPANTS = ExportTable(
    "participants", "participant: all their sessions together", tables.PARTICIPANTS, ("participant",)
)


QUESTIONNAIRES = ExportTable(
    "questionnaires",
    "session, item of a questionnaire, and answer; several for an item with several choices",
    (
        c.SESSION, c.PARTICIPANT,
        Column("place", "text", "Before, between or after the trials.", ("before", "during", "after")),
        Column("position", "integer", "Between trials: which trial it follows, from 1; before and after them 0."),
        Column("question", "text", "Id of the item; its words are in the table questions."),
        Column("type", "text", "What kind of item it is.", tuple(QUESTION_TYPES)),
        Column("number", "integer", "Which of several choices it is, from 1."),
        Column("answer", "text", "The choice, the label, the number, or what was written."),
        Column("value", "number", "The number; of choices and labels, the place among those offered, from 1."),
        Column("withheld", "boolean", "Whether an answer is there and left out, because it is free text."),
    ),
    ("session", "place", "position", "question", "number"),
    _LINKS,
)  # fmt: skip


def sessions(source: ExportSource) -> TableRows:
    """Return every session, also of earlier plans and of participants who withdrew."""
    return TableRows(SESSIONS, _session_rows(source))


def _session_rows(source: ExportSource) -> Iterator[dict[str, Any]]:
    claims, ends, erasures = (
        {row["session"]: row for row in source.tables[name]} for name in ("claims", "ends", "erasures")
    )
    for session, row in source.sessions.items():
        claim, end, erasure = (rows.get(session, {}) for rows in (claims, ends, erasures))
        one = source.judged.get(session)
        judged = tables.session_row(one) if one else {"use": False, "reasons": EARLIER}
        yield {
            **{name: row[name] for name in ("session", "participant", "digest", "run", "mode", "visit")},
            "outcome": end.get("outcome"),
            "end_reason": end.get("reason"),
            **source.devices.get(session, {}),
            **judged,
            "list": claim.get("list"),
            "began_at": row["at"],
            "claimed_at": claim.get("at"),
            "ended_at": end.get("at"),
            "erased_at": erasure.get("at"),
            "erased_rows": erasure.get("rows"),
        }


def participants(source: ExportSource) -> TableRows:
    """Return every participant."""
    rows = {row["participant"]: row for row in tables.participant_rows(source.judging.judged, {})}
    for session, row in source.sessions.items():
        if session in source.judged:
            continue
        head = {"participant": row["participant"], "mode": row["mode"], "ratings": 0, "used_ratings": 0, "use": False}
        row_of_participant = rows.setdefault(row["participant"], {**head, "sessions": 0, "reasons": EARLIER})
        row_of_participant["sessions"] += 1
    factors = factor_columns(source.judging.study.design.between)
    return TableRows(replace(PARTICIPANTS, columns=(*PARTICIPANTS.columns, *factors)), rows.values())


def questionnaires(source: ExportSource) -> TableRows:
    """Return the answers to every item, in the order in which they are asked."""
    return TableRows(QUESTIONNAIRES, _questionnaire_rows(source))


def _questionnaire_rows(source: ExportSource) -> Iterator[dict[str, Any]]:
    for one in source.judging.judged:
        head = {"session": one.visit.session, "participant": one.visit.participant}
        for place, position, ask, given in _item_answers(one.visit, source.judging.texts[one.visit.digest]):
            answer, is_free = given, source.withheld.is_free(one.visit.digest, ask.id)
            is_exported = source.withheld.with_texts or not is_free
            if is_free and is_exported:
                answer = source.withheld.words(QUESTIONNAIRES.name, answer)
            for number, row in enumerate(_answer_rows(ask, answer, is_exported), 1):
                yield {
                    **head, "place": place, "position": position, "question": ask.id, "type": ask.type,
                    "number": number, **row,
                }  # fmt: skip


def _item_answers(visit: SessionRecord, text: StudyText) -> Iterator[tuple[str, int, Ask, Any]]:
    """Yield the answers of a session to all items: where, after which trial, to which item."""
    for place, asks in (("before", text.before), ("during", ()), ("after", text.after)):
        stored = visit.answers.get(f"questions:{place}")
        answers: Mapping[str, Any] = stored.answer["answers"] if stored else {}
        for ask in asks:
            yield place, 0, ask, answers.get(ask.id)
        if place == "during":
            for one in recurring_answers(visit, text.during):
                yield place, one.position, one.ask, one.answer


def _answer_rows(ask: Ask, answer: Any, is_exported: bool) -> list[dict[str, Any]]:
    """Return an answer as rows, one for each choice; none if there is no answer."""
    if answer is None or answer in ("", []):
        return []
    if not is_exported:
        return [{"withheld": True}]
    return [{**row._asdict(), "withheld": False} for row in ask.kind.tabulate(ask, answer)]


# Recorded steps

_KEYED = (c.SESSION, c.PARTICIPANT, KEY)
_TAB = Column("tab", "text", "Which tab of the browser it came from.")

ANSWERS = ExportTable(
    "answers",
    "step that was answered: consent, checks, questionnaires, trials, breaks",
    (
        *_KEYED,
        POSITION,
        Column("answer", "text", "What the browser sent, as JSON: by question (q1) and slot (s1), without free text."),
        Column("shown_ms", "number", "When the page was shown, by the browser's clock: ms since 1970."),
        Column("sent_ms", "number", "When the answer was sent, by the same clock."),
        c.INPUT,
        _TAB,
        Column("answered_at", "time", "When the answer was stored."),
    ),
    ("session", "key"),
    _LINKS,
)


EVENTS = ExportTable(
    "events",
    "thing that happened on a page, as the browser saw it",
    (
        *_KEYED,
        _TAB,
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


POSED = ExportTable(
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


IMMEDIATE_VERDICTS = ExportTable(
    "told",
    "verdict that was given while the session was under way",
    (
        *_KEYED,
        *pick(tables.VERDICT, "check"),
        Column("verdict", "text", "What it said then; `checks` has what it says now.", c.VERDICT_VALUES),
        *pick(tables.VERDICT, "reason", "evidence"),
        Column("told_at", "time", "When it was told."),
    ),
    ("session", "key", "check"),
    _LINKS,
)


def answers(source: ExportSource) -> TableRows:
    """Return every answer as it was sent, without free text."""
    return TableRows(ANSWERS, _step_rows(source))


def _step_rows(source: ExportSource) -> Iterator[dict[str, Any]]:
    for row, session in source.facts("answers"):
        key = str(row["key"])
        yield {
            **row,
            "participant": session["participant"],
            "position": position_of(key) or None,
            "answer": source.withheld.answer(ANSWERS.name, str(session["digest"]), key, row["answer"]),
            "tab": row["tab"],
            "answered_at": row["at"],
        }


def posed(source: ExportSource) -> TableRows:
    """Return what was drawn for each attempt at a check."""
    rows = source.facts("posed")
    return TableRows(POSED, ({**row, "participant": one["participant"], "posed_at": row["at"]} for row, one in rows))


def immediate_verdicts(source: ExportSource) -> TableRows:
    """Return the verdicts of checks and rules that participants were shown during the session."""
    rows = source.facts("told")
    return TableRows(
        IMMEDIATE_VERDICTS, ({**row, "participant": one["participant"], "told_at": row["at"]} for row, one in rows)
    )


def event_rows(source: ExportSource, batch: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the events of one batch, if they may be exported."""
    if batch["session"] not in source.readable:
        return
    session, key = source.sessions[batch["session"]], str(batch["key"])
    head = {"session": batch["session"], "participant": session["participant"], "key": key}
    digest, tab = str(session["digest"]), batch["tab"]
    for number, (ms, kind, slot, data) in enumerate(batch["events"], batch["from"]):
        if kind == DRAFT:  # half done, and changed again: what was answered is in `answers`
            continue
        text = source.withheld.event(EVENTS.name, digest, key, kind, data)
        yield {
            **head, "tab": tab, "number": number, "ms": ms, "kind": kind, "slot": slot, "data": text,
            "stored_at": batch["at"],
        }  # fmt: skip
