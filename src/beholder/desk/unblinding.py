"""Unblinding: whether the names of conditions may be shown on a desk, and the record that somebody asked for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import NamedTuple

from beholder.cleaning.collection import UNBLIND
from beholder.errors import Problem, RecruitError
from beholder.recruiting.context import RecruitContext
from beholder.recruiting.moderation import require_reason
from beholder.store.contract import LedgerEntry


class RecordedUnblinding(NamedTuple):
    """Who was the first to unblind a run, when and why."""

    by: str
    at: datetime
    reason: str


def unblinding_in(entries: Iterable[LedgerEntry], run: int) -> RecordedUnblinding | None:
    """Return how a run was unblinded; None while its conditions have code names."""
    for entry in entries:
        evidence = entry.evidence
        if entry.kind == UNBLIND and isinstance(evidence, Mapping) and evidence.get("run") == run:
            return RecordedUnblinding(str(evidence.get("by", "")), entry.at, entry.reason_text)
    return None


class StudyBlinding:
    """Whether a study is unblinded, read from what is new in its ledger."""

    def __init__(self, context: RecruitContext) -> None:
        self._context = context
        self._after = 0
        self._known: RecordedUnblinding | None = None

    async def unblinding(self) -> RecordedUnblinding | None:
        """Return how the run was unblinded; None while its conditions have code names."""
        if self._known is None:
            entries = await self._context.store.ledger.entries(self._after)
            self._after = max((entry.entry for entry in entries), default=self._after)
            self._known = unblinding_in(entries, self._context.study.run)
        return self._known


async def record_unblinding(context: RecruitContext, by: str, reason: str) -> tuple[str, ...]:
    """Record that conditions are shown under their own names from now on; return it in words.

    The first time counts: what has been seen cannot be hidden again.
    """
    if not by.strip():
        raise RecruitError(Problem("--by", "is empty", "the name of whoever wants to see them"))
    await require_reason(context, reason)
    run = context.study.run
    before = unblinding_in(await context.store.ledger.entries(), run)
    if before is not None:
        return (f"Unblinded already, by {before.by} on {before.at:%Y-%m-%d at %H:%M} UTC. Nothing is recorded.",)
    entry = LedgerEntry(
        UNBLIND, "done", context.now(), reason_text=reason.strip(), evidence={"by": by.strip(), "run": run}
    )
    await context.store.ledger.append([entry])
    return (
        f"Unblinded by {by.strip()}: the desk shows conditions under their own names from now on.",
        "It is recorded with name, time and reason; a report made by `beholder analyse` and `beholder report` says so.",
    )
