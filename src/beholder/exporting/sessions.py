"""Sessions, participants, and what they answered in the questionnaires."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from beholder.clean.folder import participant_rows, session_row
from beholder.clean.tables import as_text
from beholder.export import columns as c
from beholder.export.columns import Column, Filled, Table
from beholder.export.source import EARLIER, Source
from beholder.study.model import Ask
from beholder.study.scale import SCALES

_DEVICE = (
    Column("device", "text", "What it was, by the check of the device or by what points at the screen.",
           ("desktop", "tablet", "phone")),
    Column("width_px", "integer", "Long side of the screen, in device pixels."),
    Column("height_px", "integer", "Short side of the screen, in device pixels."),
    Column("pixel_ratio", "number", "Device pixels per CSS pixel when the session began."),
    Column("refresh_hz", "number", "Refresh rate of the screen, as measured."),
    Column("ppi", "number", "Device pixels per inch, by a card held to the screen."),
    Column("width_mm", "number", "Width of the screen, by the card."),
    Column("height_mm", "number", "Height of the screen, by the card."),
    Column("diagonal_inches", "number", "Diagonal of the screen, by the card."),
    Column("mbps", "number", "Speed of the network, as measured."),
    Column("headphones", "text", "What the check of the headphones says; empty where there is none.", c.SAID),
    Column("system", "text", "Operating system, in one word."),
    Column("browser", "text", "Name of the browser."),
    Column("version", "integer", "Its major version."),
    Column("input", "text", "What most trials were answered with."),
)  # fmt: skip
SESSIONS = Table(
    "sessions",
    "session: who came, how it went, whether it is paid and used, and on what device",
    (
        c.SESSION, c.PARTICIPANT, c.DIGEST,
        Column("run", "integer", "Run of the study."),
        c.MODE,
        Column("visit", "integer", "Which visit of this person it is."),
        Column("list", "integer", "The planned list that it had; empty where it did not come that far."),
        Column("began_at", "time", "When the person arrived."),
        Column("claimed_at", "time", "When the person agreed and got a list."),
        Column("ended_at", "time", "When it ended; empty where it was left."),
        Column("outcome", "text", "How it ended; empty where it was left.", c.OUTCOMES),
        Column("end_reason", "text", "At what it ended, such as colour:plates."),
        Column("minutes", "number", "How long it took, to its end or else to its last answer."),
        c.ACCEPT, c.USE,
        Column("reasons", "text", "Everything that it failed, as check:reason, with `; ` between."),
        Column("erased_at", "time", "When its answers were erased; nothing else of it is kept then."),
        Column("erased_rows", "integer", "How many rows were erased."),
        *_DEVICE,
    ),
    ("session",),
    (c.OF_PARTICIPANT, c.OF_TEXT),
)  # fmt: skip
PARTICIPANTS = Table(
    "participants",
    "participant: all their sessions together",
    (
        c.PARTICIPANT, c.MODE,
        Column("sessions", "integer", "How many sessions they had."),
        Column("minutes", "number", "How long these took together."),
        Column("ratings", "integer", "How many ratings they gave."),
        Column("used_ratings", "integer", "How many of them are analysed."),
        Column("accept", "boolean", "Whether any session is to be paid; empty where a person has to look."),
        Column("use", "boolean", "Whether any session is analysed."),
        Column("reasons", "text", "Everything that their sessions failed, as check:reason, with `; ` between."),
    ),
    ("participant",),
)  # fmt: skip
QUESTIONNAIRES = Table(
    "questionnaires",
    "session, item of a questionnaire, and answer; several for an item with several choices",
    (
        c.SESSION, c.PARTICIPANT,
        Column("place", "text", "Before or after the trials.", ("before", "after")),
        Column("question", "text", "Id of the item; its words are in the table questions."),
        Column("type", "text", "What kind of item it is.", ("single", "multiple", "likert", "number", "text")),
        Column("number", "integer", "Which of several choices it is, from 1."),
        Column("answer", "text", "The choice, the label, the number, or what was written."),
        Column("value", "number", "The number; of choices and labels, the place among those offered, from 1."),
        Column("withheld", "boolean", "Whether an answer is there and left out, because it is free text."),
    ),
    ("session", "place", "question", "number"),
    (c.OF_SESSION, c.OF_PARTICIPANT),
)  # fmt: skip


def sessions(source: Source) -> Filled:
    """Return every session, also those under an earlier plan, and of who withdrew that they were there."""
    return Filled(SESSIONS, _session_rows(source))


def _session_rows(source: Source) -> Iterator[dict[str, Any]]:
    claims, ends, erasures = (
        {row["session"]: row for row in source.tables[name]} for name in ("claims", "ends", "erasures")
    )
    for session, row in source.sessions.items():
        claim, end, erased = (rows.get(session, {}) for rows in (claims, ends, erasures))
        one = source.judged.get(session)
        judged = session_row(one) if one else {"use": False, "reasons": EARLIER}
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
            "erased_at": erased.get("at"),
            "erased_rows": erased.get("rows"),
        }


def participants(source: Source) -> Filled:
    """Return everybody who came."""
    rows = {row["participant"]: row for row in participant_rows(source.judging.judged, {})}
    for session, row in source.sessions.items():
        if session in source.judged:
            continue
        known = {"participant": row["participant"], "mode": row["mode"], "ratings": 0, "used_ratings": 0, "use": False}
        mine = rows.setdefault(row["participant"], {**known, "sessions": 0, "reasons": EARLIER})
        mine["sessions"] += 1
    return Filled(PARTICIPANTS, rows.values())


def questionnaires(source: Source) -> Filled:
    """Return the answers to every item, in the order in which they are asked."""
    return Filled(QUESTIONNAIRES, _answer_rows(source))


def _answer_rows(source: Source) -> Iterator[dict[str, Any]]:
    for one in source.judging.judged:
        text = source.judging.texts[one.visit.digest]
        for place, asks in (("before", text.before), ("after", text.after)):
            given = one.visit.answers.get(f"questions:{place}")
            answers: Mapping[str, Any] = given.answer["answers"] if given else {}
            for ask in asks:
                answer, is_free = answers.get(ask.id), source.withheld.is_free(one.visit.digest, ask.id)
                may_tell = source.withheld.with_texts or not is_free
                if is_free and may_tell:
                    answer = source.withheld.words(QUESTIONNAIRES.name, answer)
                known = {"session": one.visit.session, "participant": one.visit.participant, "place": place}
                for number, told in enumerate(_told(ask, answer, may_tell), 1):
                    yield {**known, "question": ask.id, "type": ask.type, "number": number, **told}


def _told(ask: Ask, answer: Any, may_tell: bool) -> list[dict[str, Any]]:
    """Return an answer as it is told, once for each choice; nothing where there is none."""
    if answer is None or answer in ("", []):
        return []
    if not may_tell:
        return [{"withheld": True}]
    if ask.type == "number":
        return [{"answer": answer, "value": answer, "withheld": False}]
    if ask.type == "likert":
        words = ask.options or [word for _, word in SCALES["agree5"].labels]
        return [{"answer": words[int(answer) - 1], "value": answer, "withheld": False}]
    chosen = answer if isinstance(answer, list | tuple) else [answer]
    return [{"answer": _word(one, ask.options), "value": _place(one, ask.options), "withheld": False} for one in chosen]


def _word(answer: Any, options: Sequence[str]) -> Any:
    return answer if answer in options else as_text(answer)


def _place(answer: Any, options: Sequence[str]) -> int | None:
    return options.index(answer) + 1 if answer in options else None
