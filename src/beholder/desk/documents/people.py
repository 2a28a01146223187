"""The page People: everybody who came, searched and filtered, page by page; and everything about one of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from beholder.checks.contract import Verdict
from beholder.checks.page_registry import check_title, known_title
from beholder.checks.registry import rule_title
from beholder.cleaning.decisions import reason_words
from beholder.cleaning.devices import device_rows
from beholder.cleaning.recurring_questions import recurring_answers
from beholder.cleaning.sessions import JudgedSession
from beholder.desk.desk_study import DeskStudy
from beholder.desk.documents.study_facts import CodeNames, StudyMoment
from beholder.desk.viewer import Viewer
from beholder.errors import Refused
from beholder.formats import printable
from beholder.recruiting.monitor_snapshot import to_json
from beholder.recruiting.monitoring import time_limit
from beholder.recruiting.participant_records import ParticipantRecord, ParticipantSession
from beholder.recruiting.progress import step_title
from beholder.server.script import base_key
from beholder.study.markdown import plain_text
from beholder.study.recruitment import Sum
from beholder.types import Json

MOST = 500
"""Rows of one reply."""
UNDER_WAY, LEFT = "under_way", "left"
_STATE_WORDS: Mapping[str, str] = {
    UNDER_WAY: "Under way", LEFT: "Left", "completed": "Finished", "screened_out": "Screened out",
    "wrong_device": "Wrong device", "no_consent": "Did not agree", "failed_checks": "Ended by a check",
    "technical": "Ended by a fault", "withdrawn": "Withdrawn", "shut_out": "Shut out",
}  # fmt: skip
_LEDGER_WORDS: Mapping[str, str] = {
    "approve": "Reward", "bonus": "Bonus", "reject": "Rejection", "return": "Asked to return it",
    "message": "Message", "decisions": "Signed",
}  # fmt: skip


async def document(
    study: DeskStudy,
    viewer: Viewer,
    *,
    person: str = "",
    search: str = "",
    state: str = "",
    offset: str = "0",
    limit: str = "100",
) -> dict[str, Json]:
    """Return a page of the list, newest first, with how many there are in each state; or one person."""
    moment = await study.facts.moment()
    if person:
        return _person(study, moment, viewer, person)
    names = moment.code_names(is_blinded=viewer.blinded)
    words = search.casefold().split()
    rows: list[dict[str, Json]] | None = moment.made.get(("people", viewer.blinded))
    if rows is None:
        rows = moment.made[("people", viewer.blinded)] = [_row(one, moment, names) for one in reversed(moment.records)]
    found = [row for row in rows if all(word in _searched(row) for word in words)]
    states = Counter(str(row["state"]) for row in found)
    chosen = [row for row in found if not state or row["state"] == state]
    first, most = page_of(offset, limit)
    return {
        "key": study.key,
        "at": moment.at.isoformat(),
        "blinded": viewer.blinded,
        "population": moment.population,
        "all": len(rows),
        "total": len(chosen),
        "offset": first,
        "states": [
            {"state": name, "words": words_, "n": states[name]} for name, words_ in _STATE_WORDS.items() if states[name]
        ],
        "people": [*chosen[first : first + most]],
    }


def page_of(offset: str, limit: str) -> tuple[int, int]:
    """Return the first row of a page and how many it has, or raise Refused."""
    numbers = {"offset": offset, "limit": limit}
    for name, text in numbers.items():
        if not (text.isdecimal() and text.isascii() and len(text) < 10):
            raise Refused("is no number", where=name, allowed="0, 1, 2, and so on")
    return int(offset), max(1, min(int(limit), MOST))


def _row(one: ParticipantRecord, moment: StudyMoment, names: CodeNames) -> dict[str, Json]:
    last = one.sessions[-1]
    state = state_of(one, moment)
    reasons = dict.fromkeys(reason for session in one.sessions for reason in session.reasons)
    return {
        "participant": one.participant,
        "mode": one.mode,
        "state": state,
        "state_words": _STATE_WORDS.get(state, state),
        "step": _STATE_WORDS.get(last.at) or names.text(last.at),
        "began": last.began.isoformat(),
        "last": _last_at(last).isoformat(),
        "minutes": last.minutes,
        "sessions": len(one.sessions),
        "failed": sum(rule.verdict == "fail" for session in one.sessions for rule in session.rules),
        "unknown": sum(rule.verdict == "unknown" for session in one.sessions for rule in session.rules),
        "accept": last.accept,
        "use": any(session.use for session in one.sessions),
        "reasons": [names.text(reason_words(reason)) for reason in reasons],
        "paid": None if one.paid is None else str(one.paid),
        "verified": one.is_verified,
        "session_ids": [session.session for session in one.sessions],
    }


def _searched(row: Mapping[str, Any]) -> str:
    """Return the words of a row in which is searched."""
    parts = [row["participant"], row["mode"], row["state_words"], row["step"], *row["reasons"], *row["session_ids"]]
    return " ".join(map(str, parts)).casefold()


def state_of(one: ParticipantRecord, moment: StudyMoment) -> str:
    """Return how somebody stands, by their last session: under way, left, or how it ended."""
    last = one.sessions[-1]
    if last.is_erased and last.outcome != "no_consent":
        return "withdrawn"
    if last.outcome is not None:
        return last.outcome
    if one.is_shut_out:
        return "shut_out"
    return UNDER_WAY if moment.at - _last_at(last) <= time_limit(moment.study) else LEFT


def _last_at(one: ParticipantSession) -> datetime:
    return one.ended or max((step.at for step in one.steps), default=one.began)


# One person


def _person(study: DeskStudy, moment: StudyMoment, viewer: Viewer, participant: str) -> dict[str, Json]:
    record = moment.by_participant.get(participant)
    if record is None:
        raise Refused("is not in this study", where="person", code="unknown_person", status=404)
    names = moment.code_names(is_blinded=viewer.blinded)
    everybody = list(moment.by_participant)
    place = everybody.index(participant)
    ledger = [
        {
            "what": _LEDGER_WORDS[one.kind], "event": one.event.replace("_", " "), "at": one.at.isoformat(),
            "amount": _amount(one.amount_minor, one.currency), "words": names.text(one.reason_text),
        }
        for one in moment.entries
        if one.kind in _LEDGER_WORDS and (one.participant == participant or one.session in _ids(record))
    ]  # fmt: skip
    return {
        "key": study.key,
        "blinded": viewer.blinded,
        **_row(record, moment, names),
        "newer": everybody[place + 1] if place + 1 < len(everybody) else None,
        "older": everybody[place - 1] if place else None,
        "acts": [
            {"kind": act.kind.replace("_", " "), "at": act.at.isoformat(), "session": act.session,
             "reason": names.text(act.reason), "by": act.by}
            for act in record.acts
        ],
        "ledger": [*ledger],
        "visits": [_session(one, moment, names) for one in reversed(record.sessions)],
    }  # fmt: skip


def _ids(record: ParticipantRecord) -> frozenset[str]:
    return frozenset(one.session for one in record.sessions)


def _amount(minor: int, currency: str) -> str | None:
    return str(Sum(minor, currency)) if minor and currency else None


def _session(one: ParticipantSession, moment: StudyMoment, names: CodeNames) -> dict[str, Json]:
    judged = moment.judged.get(one.session)
    return {
        "session": one.session,
        "run": one.run,
        "began": one.began.isoformat(),
        "ended": None if one.ended is None else one.ended.isoformat(),
        "outcome": one.outcome,
        "outcome_words": _STATE_WORDS.get(one.outcome or "", "Not ended"),
        "at": names.text(one.at),
        "list": one.list,
        "minutes": one.minutes,
        "accept": one.accept,
        "use": one.use,
        "reasons": [names.text(reason_words(reason)) for reason in one.reasons],
        "erased": one.is_erased,
        "steps": [
            {"key": step.key, "title": title_of(step.key), "at": step.at.isoformat(), "seconds": step.seconds}
            for step in one.steps
        ],
        "device": _device(judged),
        "verdicts": [_verdict(verdict, names) for verdict in judged.verdicts] if judged is not None else [],
        "answers": [*_questionnaire(judged, moment)] if judged is not None else [],
        "ratings": [*_ratings(judged, names)] if judged is not None else [],
    }


def title_of(key: str) -> str:
    """Return the title of an answered step; of a later attempt with its number."""
    base = base_key(key)
    attempt = int(key.rpartition(":")[2]) if key != base else 1
    title = step_title(base)
    if base.startswith("questions:during:"):
        title = f"Questions after trial {base.rpartition(':')[2]}"
    elif base.startswith("break:"):
        title = "Break"
    return f"{title}, attempt {attempt}" if attempt > 1 else title


_DEVICE_WORDS: Mapping[str, str] = {
    "kind": "Device", "input": "Answered with", "screen_width": "Screen width (px)",
    "screen_height": "Screen height (px)", "dpr": "Pixel ratio",
}  # fmt: skip
_NO_DEVICE = ("session", "participant", "use")


def _device(judged: JudgedSession | None) -> list[Json]:
    """Return what is known of the device, and what checks have measured of it."""
    if judged is None:
        return []
    row = next(iter(device_rows([judged])), {})
    return [
        {"name": _DEVICE_WORDS.get(name) or name.replace("_", " ").capitalize(), "value": to_json(value)}
        for name, value in row.items()
        if name not in _NO_DEVICE and value not in (None, "")
    ]


def verdict_title(check: str) -> str:
    """Return what a check or a rule is called."""
    if check == "person":
        return "A person decided"
    return known_title(check) or rule_title(check) or check_title(check)


def _verdict(one: Verdict, names: CodeNames) -> dict[str, Json]:
    """Return a verdict with its evidence; the reason in words where it failed, else as it is stored."""
    words = reason_words(f"{one.check}:{one.reason}") if one.verdict == "fail" else one.reason.replace("_", " ")
    return {
        "check": one.check,
        "title": verdict_title(one.check),
        "verdict": one.verdict,
        "words": names.text(words),
        "measured": names.value(to_json(one.measured)),
        "needed": names.value(to_json(one.needed)),
        "evidence": names.value(to_json(dict(one.evidence))),
    }


def _questionnaire(judged: JudgedSession, moment: StudyMoment) -> Iterator[dict[str, Json]]:
    """Yield what was answered before, between and after the trials, as it was asked."""
    assert moment.judging is not None
    text, visit = moment.judging.texts[judged.visit.digest], judged.visit
    for place, asks in (("before", text.before), ("after", text.after)):
        stored = visit.answers.get(f"questions:{place}")
        answers: Mapping[str, Any] = stored.answer["answers"] if stored else {}
        for ask in asks:
            if ask.id in answers:
                yield _answered(place.capitalize(), ask.text, answers[ask.id])
    for one in recurring_answers(visit, text.during):
        yield _answered(f"After trial {one.position}", one.ask.text, one.answer)


def _answered(place: str, question: str, answer: Any) -> dict[str, Json]:
    parts = answer if isinstance(answer, list) else [answer]
    words = ", ".join(printable(str(part)) for part in parts) if answer not in (None, "", []) else ""
    return {"place": place, "question": plain_text(question), "answer": words}


def _ratings(judged: JudgedSession, names: CodeNames) -> Iterator[dict[str, Json]]:
    """Yield every rating of a session, with what was rated as the viewer may see it."""
    for row in judged.ratings:
        yield {
            "key": f"trial:{row.position}",
            "position": row.position,
            "question": row.question,
            "kind": row.kind,
            "content": row.content,
            "condition": names.condition(row.condition),
            "other": None if row.other_condition is None else names.condition(row.other_condition),
            "value": to_json(row.value),
            "raw": to_json(row.raw_value),
            "low": to_json(row.scale_min),
            "high": to_json(row.scale_max),
            "missing": row.missing,
            "seconds": round(row.response_ms / 1000, 1),
            "use": row.use,
            "reasons": [names.text(reason_words(reason)) for reason in row.reasons.split("; ") if reason],
        }
