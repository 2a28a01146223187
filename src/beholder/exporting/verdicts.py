"""Verdicts of checks and rules: of single attempts and trials, of sessions, and the exclusions that follow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from beholder.checks.contract import Verdict
from beholder.cleaning import columns as c
from beholder.cleaning.decisions import reason_words
from beholder.cleaning.facts import position_of
from beholder.cleaning.tables import ATTEMPTS, VERDICT, attempt_rows
from beholder.columns import Column, pick
from beholder.exporting.columns import OF_PARTICIPANT, OF_SESSION, POSITION, ExportTable, TableRows
from beholder.exporting.source import EARLIER, ExportSource, rating_id

_LINKS = (OF_SESSION, OF_PARTICIPANT)
CHECKS = ExportTable(
    "checks",
    "thing that a check says of one attempt before the trials, one training example, or one trial",
    (
        c.SESSION, c.PARTICIPANT,
        Column("stage", "text", "Where in the session.", ("before", "training", "trial")),
        *VERDICT,
        *pick(ATTEMPTS, "action", "attempt", "example"),
        POSITION,
        Column("trial", "text", "Of a trial: its name in the plan."),
        *pick(ATTEMPTS, "seconds", "input", "answered_at"),
        Column("answer", "text", "What an attempt was answered with, as JSON, without free text."),
    ),
    (),
    _LINKS,
)  # fmt: skip
VERDICTS = ExportTable(
    "verdicts",
    "session and check: what it says of the whole session",
    (c.SESSION, c.PARTICIPANT, *VERDICT),
    ("session", "check"),
    _LINKS,
)
EXCLUSIONS = ExportTable(
    "exclusions",
    "reason why a session or a single rating is left out; several for what has several",
    (
        Column("level", "text", "What is left out.", ("session", "rating")),
        c.SESSION, c.PARTICIPANT,
        Column("rating_id", "text", "Of a rating: its name in the table ratings."),
        *pick(VERDICT, "check", "reason"),
        Column("words", "text", "The same in words."),
    ),
    (),
    _LINKS,
)  # fmt: skip


def checks(source: ExportSource) -> TableRows:
    """Return the verdicts on attempts, training examples and trials, by the current rules."""
    return TableRows(CHECKS, _check_rows(source))


def _check_rows(source: ExportSource) -> Iterator[dict[str, Any]]:
    for row in attempt_rows(source.judging.judged):
        is_training = row.get("example") is not None
        visit = source.judged[row["session"]].visit
        key = "training:" if is_training else "check:"
        answer = source.withheld.answer(CHECKS.name, visit.digest, key, row["answer"])
        yield {**row, "stage": "training" if is_training else "before", "answer": answer}
    for one in source.judging.judged:
        head = {"session": one.visit.session, "participant": one.visit.participant, "stage": "trial"}
        for rule in one.looked:
            for answered, verdict in rule.trials:
                place = {"position": position_of(answered.key), "trial": answered.trial.id}
                yield {**head, **place, **_cells(verdict)}


def verdicts(source: ExportSource) -> TableRows:
    """Return the verdict of each check on each session."""
    return TableRows(
        VERDICTS,
        (
            {"session": one.visit.session, "participant": one.visit.participant, **_cells(verdict)}
            for one in source.judging.judged
            for verdict in one.verdicts
        ),
    )


def _cells(verdict: Verdict) -> dict[str, Any]:
    return {
        "check": verdict.check,
        "version": verdict.version,
        "verdict": verdict.verdict,
        "reason": verdict.reason,
        "measured": verdict.measured,
        "needed": verdict.needed,
        "evidence": dict(verdict.evidence),
    }


def exclusions(source: ExportSource) -> TableRows:
    """Return what was excluded, and why: sessions, then single ratings of any session."""
    return TableRows(EXCLUSIONS, _exclusion_rows(source))


def _exclusion_rows(source: ExportSource) -> Iterator[dict[str, Any]]:
    for session, row in source.sessions.items():
        one = source.judged.get(session)
        head = {"level": "session", "session": session, "participant": row["participant"]}
        for reason in one.decision.costly if one else (EARLIER,):
            yield {**head, **_reason(reason)}
    for session, ratings in source.ratings.items():
        costly = set(source.judged[session].decision.costly)
        for rating in ratings:
            head = {"level": "rating", "session": session, "participant": rating.participant}
            for reason in rating.reasons.split("; ") if rating.reasons else ():
                if reason not in costly:
                    yield {**head, "rating_id": rating_id(rating), **_reason(reason)}


def _reason(reason: str) -> dict[str, str]:
    check, _, why = reason.partition(":")
    words = "Came under an earlier plan" if reason == EARLIER else reason_words(reason)
    return {"check": check, "reason": why, "words": words}
