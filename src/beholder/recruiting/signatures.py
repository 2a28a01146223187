"""Signatures: decisions that a person, or an unattended run, has signed. Only signed decisions are ever sent."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from beholder.cleaning.facts import LEFT_OUT, TAKEN_IN, UNDONE, UseDecision
from beholder.recruiting.contract import Pay
from beholder.recruiting.panel import NO_SUBMISSION
from beholder.recruiting.proposals import ProposalRow
from beholder.store.contract import LedgerEntry
from beholder.types import Json

RUN_SIGNATURE = "run"
"""The name under which an unattended run signs."""
_OF_RUN: frozenset[Pay] = frozenset({"approve", "screen_out", "bonus", "return", "nothing"})
"""What a run may sign: nothing against a participant. A request to return takes nothing from them."""


class SignedRow(NamedTuple):
    """The signed decision about one submission."""

    by: str
    at: datetime
    pay: Pay
    use: bool
    category: str
    message: str
    participant: str
    """The pseudonym; empty where the person never reached our server."""
    sessions: tuple[str, ...]
    further: tuple[str, ...]
    """Accepted sessions beyond the one paid by the reward."""


def signed_rows(entries: Iterable[LedgerEntry]) -> dict[str, SignedRow]:
    """Return the signed decision of each submission: the last one of a person, else that of a run.

    Of a run only approvals, screen-out amounts, bonuses and requests to return count.
    """
    rows: dict[str, SignedRow] = {}
    for entry in entries:
        if entry.kind != "decisions" or not isinstance(entry.evidence, Mapping):
            continue
        evidence: Mapping[str, Any] = entry.evidence
        by = evidence["by"]
        for submission, row in evidence["rows"].items():
            before = rows.get(submission)
            # "wait" is no decision.
            is_open = before is None or before.by == RUN_SIGNATURE or before.pay == "wait"
            is_kept = by != RUN_SIGNATURE or (is_open and row["pay"] in _OF_RUN)
            if is_kept:
                rows[submission] = _signed(str(by), entry.at, row)
    return rows


def signature(rows: Sequence[ProposalRow], by: str, content: bytes, now: datetime) -> LedgerEntry:
    """Return the ledger entry of a signature."""
    kept = [row for row in rows if by != RUN_SIGNATURE or row.decided.pay in _OF_RUN]
    evidence: dict[str, Json] = {
        "by": by,
        "digest": _digest_of(content),
        "rows": {row.decided.submission: _json(row) for row in kept},
    }
    return LedgerEntry("decisions", "done", now, reason_text=f"signed by {by}", evidence=evidence)


def _digest_of(content: bytes) -> str:
    """Return the digest of the file of decisions."""
    return hashlib.sha256(content).hexdigest()


def use_acts(
    rows: Sequence[ProposalRow], acts: Mapping[str, UseDecision], used: Mapping[str, bool], by: str, now: datetime
) -> list[LedgerEntry]:
    """Return the acts that bring the use of sessions to what was signed, where it differs.

    `used` is what the rules alone say of each session.
    """
    entries = []
    for row in rows:
        for session in row.decided.sessions:
            kind, reason = _act(row, acts.get(session), used.get(session, False))
            if kind:
                entries.append(
                    LedgerEntry(
                        kind, "done", now, participant=row.decided.participant, session=session, reason_code=reason,
                        reason_text=f"decisions signed by {by}",
                    )
                )  # fmt: skip
    return entries


def _act(row: ProposalRow, act: UseDecision | None, is_used: bool) -> tuple[str, str]:
    """Return the act that brings a session to what was signed, and its reason; empty where nothing is to be done."""
    decided, now = row.decided, is_used if act is None else not act.is_left_out
    if decided.is_use_changed:
        if decided.use == now:
            return "", ""
        return ("take_in", TAKEN_IN) if decided.use else ("leave_out", LEFT_OUT)
    if act is not None and act.reason in (LEFT_OUT, TAKEN_IN):
        return "", ""
    if not row.proposal.is_kept:
        reason = "no_submission" if NO_SUBMISSION in row.proposal.reasons else "returned"
        return ("leave_out", reason) if now else ("", "")
    return ("take_in", UNDONE) if act is not None else ("", "")


def _json(row: ProposalRow) -> dict[str, Json]:
    decided = row.decided
    return {
        "pay": decided.pay,
        "use": decided.use,
        "category": decided.category or "",
        "message": decided.message,
        "participant": decided.participant,
        "sessions": list(decided.sessions),
        "further": list(decided.further),
    }


def _signed(by: str, at: datetime, row: Mapping[str, Any]) -> SignedRow:
    return SignedRow(
        by, at, row["pay"], bool(row["use"]), str(row.get("category") or ""), str(row.get("message") or ""),
        str(row.get("participant") or ""), tuple(row.get("sessions") or ()), tuple(row.get("further") or ()),
    )  # fmt: skip
