"""The ledger read: what is owed, what was sent, what is settled, and what nobody knows."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from fractions import Fraction
from typing import Any, Literal, cast

from beholder.store.contract import LedgerEntry
from beholder.study.recruitment import Sum, is_own_posting, own_run

# --- What an entry of the ledger keeps beside its columns ---


def evidence_of(entry: LedgerEntry) -> Mapping[str, Any]:
    """Return what an entry keeps by name; nothing where it keeps nothing of the kind."""
    return entry.evidence if isinstance(entry.evidence, Mapping) else {}


# --- How every debt stands: a fold over the entries of the ledger, which never looks anywhere else ---


State = Literal[
    "planned", "confirmed", "setup_sent", "setup_done", "pay_sent", "accepted", "settled", "refused", "unknown",
    "cancelled", "resend_authorised",
]  # fmt: skip
"""How a debt or a batch stands: after the last event that counted."""
Key = tuple[str, str, str]
"""Kind, submission, reason: the same debt is owed once."""

KINDS = ("approve", "bonus", "reject", "return")
"""What is done about one submission. The first two move money."""
MONEY = ("approve", "bonus")

_STEPS: Mapping[str, frozenset[str]] = {
    "planned": frozenset({"confirmed", "accepted", "settled", "refused", "cancelled"}),
    "confirmed": frozenset({"setup_sent", "accepted", "cancelled"}),
    "setup_sent": frozenset({"setup_sent", "setup_done", "cancelled"}),
    "setup_done": frozenset({"pay_sent", "cancelled"}),
    "pay_sent": frozenset({"accepted", "settled", "unknown", "refused"}),
    "accepted": frozenset({"settled", "unknown", "refused"}),
    "unknown": frozenset({"settled", "resend_authorised"}),
    "resend_authorised": frozenset({"pay_sent", "settled", "unknown"}),
    "refused": frozenset({"confirmed", "accepted", "settled", "refused", "cancelled"}),
    "cancelled": frozenset({"confirmed", "accepted", "settled", "refused"}),
    "settled": frozenset(),
}
"""Which events count in which state. What is settled stays so, whatever comes."""
_OWED = frozenset({"planned", "refused", "cancelled"})
_UNSURE = frozenset({"pay_sent", "unknown", "resend_authorised"})


@dataclass(frozen=True)
class Debt:
    """Something that is to be done about one submission, once, and how it stands."""

    kind: str
    submission: str
    reason_code: str
    participant: str
    session: str
    amount: Sum
    reason_text: str
    at: datetime
    """When it was planned."""
    evidence: Any = None
    state: State = "planned"
    batch: str = ""
    """In which it was last."""
    words: str = ""
    """What was said about the last event."""

    @property
    def key(self) -> Key:
        """What it is known by."""
        return (self.kind, self.submission, self.reason_code)

    @property
    def is_owed(self) -> bool:
        """Whether nothing of it is under way."""
        return self.state in _OWED

    @property
    def is_unsent(self) -> bool:
        """Whether it can be taken back; that an approval was refused stays known, as a bonus may follow from it."""
        return self.state == "planned" or (self.state == "refused" and self.kind == "bonus")

    @property
    def is_unsure(self) -> bool:
        """Whether money was sent and nobody knows whether it arrived. It is never sent again by itself."""
        return self.state in _UNSURE

    @property
    def is_open(self) -> bool:
        """Whether it is neither done nor given up."""
        return self.state not in ("settled", "cancelled")


@dataclass(frozen=True)
class BatchState:
    """Debts that are sent together: a bonus payment on a platform, or a list that a person pays by hand."""

    id: str
    posting: str = ""
    """Of the study on the platform; empty where there is none."""
    state: State = "confirmed"
    ref: str = ""
    """The platform's id of it."""
    amount: Sum | None = None
    total: Sum | None = None
    """With fees and tax."""
    baseline: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """What each submission had been paid on top before it was sent."""
    sends: int = 0
    sent_at: datetime | None = None

    @property
    def is_unsure(self) -> bool:
        """Whether it was sent and nobody knows whether it arrived."""
        return self.state in _UNSURE


@dataclass(frozen=True)
class LedgerState:
    """Every debt and every parcel, in the order in which they were planned."""

    debts: Mapping[Key, Debt]
    batches: Mapping[str, BatchState]

    def debts_in(self, batch: str) -> tuple[Debt, ...]:
        """Return the debts of a parcel."""
        return tuple(debt for debt in self.debts.values() if debt.batch == batch)

    def rows(self, batch: str) -> Mapping[str, Sum]:
        """Return what a parcel pays for each submission: all of its debts in one amount."""
        rows: dict[str, Sum] = {}
        for debt in self.debts_in(batch):
            before = rows.get(debt.submission, Sum(0, debt.amount.currency))
            rows[debt.submission] = Sum(before.minor + debt.amount.minor, debt.amount.currency)
        return rows

    def settled(self) -> tuple[Debt, ...]:
        """Return what is done."""
        return tuple(debt for debt in self.debts.values() if debt.state == "settled")

    def pending(self) -> tuple[Debt, ...]:
        """Return what is neither done nor given up."""
        return tuple(debt for debt in self.debts.values() if debt.is_open)


def replay(entries: Iterable[LedgerEntry]) -> LedgerState:
    """Return how everything stands after these entries. An event that makes no sense where it comes changes nothing."""
    debts: dict[Key, Debt] = {}
    batches: dict[str, BatchState] = {}
    members: dict[str, list[Key]] = {}
    for entry in entries:
        if entry.kind not in KINDS:
            continue
        if entry.submission:
            _apply(debts, members, entry)
            if entry.event == "confirmed" and entry.batch:
                batches.setdefault(entry.batch, BatchState(entry.batch, entry.provider_ref))
        elif entry.batch in batches:
            batches[entry.batch] = _step_batch(batches[entry.batch], entry)
            for key in members.get(entry.batch, ()):
                if debts[key].batch == entry.batch:
                    debts[key] = _step_debt(debts[key], entry)
    for id_, batch in batches.items():
        held = [debts[key] for key in members.get(id_, ()) if debts[key].batch == id_]
        if held and all(debt.state == "settled" for debt in held):
            batches[id_] = replace(batch, state="settled")
    return LedgerState(debts, batches)


def _apply(debts: dict[Key, Debt], members: dict[str, list[Key]], entry: LedgerEntry) -> None:
    key = (entry.kind, entry.submission, entry.reason_code)
    if entry.event == "planned":
        debts.setdefault(
            key,
            Debt(
                *key, entry.participant, entry.session, Sum(entry.amount_minor, entry.currency), entry.reason_text,
                entry.at, entry.evidence,
            ),
        )  # fmt: skip
    elif key in debts:
        before = debts[key]
        debts[key] = _step_debt(before, entry)
        if entry.event == "confirmed" and entry.batch and before.is_owed:
            debts[key] = replace(debts[key], batch=entry.batch)
            members.setdefault(entry.batch, []).append(key)


def _step_debt(debt: Debt, entry: LedgerEntry) -> Debt:
    if entry.event not in _STEPS[debt.state]:
        return debt
    return replace(debt, state=cast("State", entry.event), words=entry.reason_text)


def _step_batch(batch: BatchState, entry: LedgerEntry) -> BatchState:
    if entry.event not in _STEPS[batch.state]:
        return batch
    found = replace(batch, state=cast("State", entry.event))
    evidence = evidence_of(entry)
    if entry.event == "setup_done":
        total = int(evidence.get("total", entry.amount_minor))
        found = replace(
            found,
            ref=entry.provider_ref,
            amount=Sum(entry.amount_minor, entry.currency),
            total=Sum(total, entry.currency),
        )
    if entry.event == "pay_sent":
        baseline = {str(one): tuple(paid) for one, paid in dict(evidence.get("baseline") or {}).items()}
        found = replace(found, baseline=baseline, sends=batch.sends + 1, sent_at=entry.at)
    return found


# --- That who is who was erased, as the ledger has it ---


IDENTITY = "identity"
"""The reason of a purge of who is who."""


def last_purge(entries: Sequence[LedgerEntry]) -> LedgerEntry | None:
    """Return the last thing that is known of a purge of who is who; one that has only begun may have erased all."""
    return next((one for one in reversed(entries) if one.kind == "purge" and one.reason_code == IDENTITY), None)


# --- Whether money has arrived: what a platform shows now beside what it showed before ---


Arrival = Literal["paid", "none", "odd"]
"""Exactly one new payment of the right amount; none at all; or anything else, which only a person understands."""


def bonus_arrival(before: Sequence[int], now: Sequence[int], amount: int) -> Arrival:
    """Return whether one payment of an amount has come since then."""
    new, gone = Counter(now) - Counter(before), Counter(before) - Counter(now)
    if gone:
        return "odd"
    if not new:
        return "none"
    return "paid" if new == Counter([amount]) else "odd"


def bonus_arrivals(
    rows: Mapping[str, Sum], baseline: Mapping[str, Sequence[int]], now: Mapping[str, Sequence[int]]
) -> Mapping[str, Arrival]:
    """Return for each submission of a parcel whether its money has come."""
    return {one: bonus_arrival(baseline.get(one, ()), now[one], amount.minor) for one, amount in rows.items()}


# --- What was sent on top of the places, with what the platform takes for itself ---


_BEYOND = ("reward", "fair_pay")
"""Reasons of bonuses that no quote foresees: rewards of those whose place went to somebody else, and top-ups."""


def bonus_cost(state: LedgerState, posting: str, reasons: Collection[str] | None = None) -> int:
    """Return what bonuses of a posting cost that were sent, also where nobody knows whether they arrived.

    All, or those of some reasons; with fees and tax, in hundredths.
    """
    found = Fraction()
    for debt in state.debts.values():
        batch = state.batches.get(debt.batch)
        is_sent = debt.is_unsure or debt.state in ("accepted", "settled")
        if batch is None or batch.posting != posting or not is_sent or not batch.amount or not batch.total:
            continue
        if reasons is None or debt.reason_code.partition(":")[0] in reasons:
            found += debt.amount.minor * Fraction(batch.total.minor, batch.amount.minor)
    return math.ceil(found)


def manual_payments(state: LedgerState, besides: Collection[int | None]) -> list[Sum]:
    """Return what a person has on a list, or has paid, without a platform; nothing of some runs."""
    found = []
    for debt in state.debts.values():
        batch = state.batches.get(debt.batch)
        if batch is None or not is_own_posting(batch.posting) or own_run(batch.posting) in besides:
            continue
        if debt.kind in MONEY and debt.state in ("accepted", "settled") and debt.amount.minor:
            found.append(debt.amount)
    return found


def cost_beyond_quote(state: LedgerState, posting: str, *, screen_outs: int = 0) -> int:
    """Return what was sent beyond what the places were quoted, where so much of it was foreseen for screen-outs."""
    return bonus_cost(state, posting, _BEYOND) + max(0, bonus_cost(state, posting, ("screen_out",)) - screen_outs)
