"""The page Decide and pay: the table of `decide` with its evidence, and what `pay` would send."""

from __future__ import annotations

from collections import Counter
from typing import Any

from beholder.cleaning.decisions import reason_words
from beholder.desk.desk_study import DeskStudy
from beholder.desk.documents.people import MOST, page_of, verdict_title
from beholder.desk.documents.study_facts import CodeNames, StudyMoment
from beholder.desk.viewer import Viewer
from beholder.errors import UserError
from beholder.recruiting.closure import open_runs
from beholder.recruiting.contract import SHORTEST_MESSAGE, DecisionRow
from beholder.recruiting.debts import Payment
from beholder.recruiting.decisions import Decisions, digest_of
from beholder.recruiting.launch_record import launch_record, promised_pay
from beholder.recruiting.ledger import evidence_of, replay
from beholder.recruiting.signatures import signed_rows
from beholder.types import Json

_FOR_A_PERSON = ("look", "reject", "return")


async def document(
    study: DeskStudy, viewer: Viewer, *, search: str = "", state: str = "", offset: str = "0", limit: str = "100"
) -> dict[str, Json]:
    """Return a page of decisions: those for a person first, with what is signed and what is owed."""
    moment = await study.facts.moment()
    names = moment.code_names(is_blinded=viewer.blinded)
    problems: list[Json] = []
    decided: Decisions | None = None
    payment: Payment | None = None
    try:
        decided, payment = await study.facts.decided()
    except UserError as error:
        problems = [names.text(str(problem)) for problem in error.problems]
    promised = promised_pay(launch_record(moment.entries, study.study.run), study.study.recruit)
    words = search.casefold().split()
    rows = _rows(decided, moment, viewer) if decided is not None else []
    found = [row for row in rows if all(word in _searched(row) for word in words)]
    counts = Counter(str(row["pay"]) for row in found)
    chosen = [row for row in found if not state or row["pay"] == state]
    chosen.sort(key=lambda row: row["pay"] not in _FOR_A_PERSON)
    first, most = page_of(offset, limit)
    return {
        "key": study.key,
        "blinded": viewer.blinded,
        "mode": study.study.recruit.mode,
        "by_hand": study.context.is_by_hand,
        "problems": problems,
        "words": [names.text(line) for line in decided.words] if decided is not None else [],
        "all": len(rows),
        "total": len(chosen),
        "offset": first,
        "counts": dict(counts),
        "reward": None if promised.reward is None else str(promised.reward),
        "shortest_message": SHORTEST_MESSAGE,
        "screen_out": None if promised.screen_out is None else str(promised.screen_out),
        "seen": digest_of(decided.rows) if decided is not None else "",
        "unsigned": sum(bool(row["unsigned"]) for row in rows),
        "rows": [*chosen[first : first + most]],
        "payment": _payment(payment, names) if payment is not None else None,
        "list_waits": study.context.is_by_hand
        and any(batch.state == "accepted" for batch in replay(moment.entries).batches.values()),
        "closed": _closed(moment),
    }


def _rows(decided: Decisions, moment: StudyMoment, viewer: Viewer) -> list[dict[str, Any]]:
    """Return every decision as it is shown, made once for all pages of the list."""
    key = ("decisions", viewer.blinded)
    if key not in moment.made or moment.made[key][0] is not decided:
        names, signed = moment.code_names(is_blinded=viewer.blinded), signed_rows(moment.entries)
        moment.made[key] = decided, [_row(one, moment, names, signed) for one in decided.rows]
    rows: list[dict[str, Any]] = moment.made[key][1]
    return rows


def _row(one: DecisionRow, moment: StudyMoment, names: CodeNames, signed: Any) -> dict[str, Any]:
    before = signed.get(one.submission)
    needs = one.pay not in ("wait", "nothing")
    is_same = before is not None and (before.pay, before.use) == (one.pay, one.use)
    return {
        "submission": one.submission,
        "participant": one.participant,
        "sessions": [*one.sessions],
        "outcome": one.outcome,
        "status": one.status,
        "code": one.code,
        "proposed": one.proposed,
        "pay": one.pay,
        "use": one.use,
        "proposed_use": one.use != one.is_use_changed,
        "changed": one.pay != one.proposed or one.is_use_changed,
        "words": names.text(one.words),
        "reasons": [names.text(reason_words(reason)) for reason in one.reasons],
        "category": one.category,
        "message": one.message,
        "grounds": [*one.grounds],
        "evidence": _evidence(one, moment, names),
        "signed": None if before is None else {"by": before.by, "at": before.at.isoformat(), "pay": before.pay},
        "unsigned": needs and not is_same,
    }


def _closed(moment: StudyMoment) -> str | None:
    """Return when this run was closed; None while it is open, or open again."""
    run = moment.study.run
    closed = [one.at for one in moment.entries if one.kind == "close" and evidence_of(one).get("run", 1) == run]
    return None if not closed or run in open_runs(moment.entries, moment.tables) else closed[-1].isoformat()


def _evidence(one: DecisionRow, moment: StudyMoment, names: CodeNames) -> list[Json]:
    """Return every verdict that was not passed, of each session."""
    return [
        {
            "session": session, "title": verdict_title(verdict.check), "verdict": verdict.verdict,
            "words": names.text(
                reason_words(f"{verdict.check}:{verdict.reason}") if verdict.verdict == "fail" else verdict.reason
            ),
        }
        for session in one.sessions
        if session in moment.judged
        for verdict in moment.judged[session].verdicts
        if verdict.verdict != "pass"
    ]  # fmt: skip


def _searched(row: dict[str, Any]) -> str:
    parts = [row["submission"], row["participant"], row["pay"], row["words"], *row["reasons"], *row["sessions"]]
    return " ".join(map(str, parts)).casefold()


def _payment(payment: Payment, names: CodeNames) -> dict[str, Json]:
    """Return what is owed, by what it is for and how far it is, as `pay` tells it."""
    owed, paid = payment.total("owed"), payment.total("paid")
    return {
        "lines": [
            {
                "kind": line.kind, "submission": line.submission, "participant": line.participant,
                "reason": line.reason, "what": line.what, "amount": str(line.amount) if line.amount.minor else "",
                "status": line.status, "words": names.text(line.words),
            }
            for line in payment.lines[:MOST]
        ],
        "words": [names.text(words) for words in payment.words],
        "owed": None if owed is None else str(owed),
        "paid": None if paid is None else str(paid),
        "is_unsigned": payment.is_unsigned,
        "problems": [names.text(str(problem)) for problem in payment.problems],
    }  # fmt: skip
