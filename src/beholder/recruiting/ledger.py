"""The ledger replayed: its entries become debts and batches, each with its state.

A debt is due, sent, settled, or of unknown outcome. Everything here is a pure function of the entries.
"""

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


def evidence_of(entry: LedgerEntry) -> Mapping[str, Any]:
    """Return the evidence of an entry as a mapping; empty where it has none."""
    return entry.evidence if isinstance(entry.evidence, Mapping) else {}


# Debts and batches


State = Literal[
    "planned", "confirmed", "setup_sent", "setup_done", "pay_sent", "accepted", "settled", "refused", "unknown",
    "cancelled", "resend_authorised",
]  # fmt: skip
"""The state of a debt or a batch: after the last event that was valid."""
Key = tuple[str, str, str]
"""Kind, submission, reason: identifies a debt."""

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
"""The events that are valid in each state. What is settled stays settled."""
_DUE = frozenset({"planned", "refused", "cancelled"})
_UNSURE = frozenset({"pay_sent", "unknown", "resend_authorised"})


@dataclass(frozen=True)
class Debt:
    """Something to be done about one submission, once, and its state."""

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
    """The last batch that it was in."""
    words: str = ""
    """The text of the last event."""

    @property
    def key(self) -> Key:
        """What identifies the debt."""
        return (self.kind, self.submission, self.reason_code)

    @property
    def is_due(self) -> bool:
        """Whether it is due and not in any batch."""
        return self.state in _DUE

    @property
    def is_unsent(self) -> bool:
        """Whether it can be cancelled; a refused approval is kept, as a bonus may replace it."""
        return self.state == "planned" or (self.state == "refused" and self.kind == "bonus")

    @property
    def is_unsure(self) -> bool:
        """Whether money was sent and its arrival is unknown. It is never sent again by itself."""
        return self.state in _UNSURE

    @property
    def is_open(self) -> bool:
        """Whether it is neither settled nor cancelled."""
        return self.state not in ("settled", "cancelled")


@dataclass(frozen=True)
class BatchState:
    """Debts that are sent as one bonus payment on a platform, or as one list that a person pays by hand."""

    id: str
    posting: str = ""
    """Id of the posting on the platform; empty where there is none."""
    state: State = "confirmed"
    ref: str = ""
    """The platform's id of the batch."""
    amount: Sum | None = None
    total: Sum | None = None
    """With fees and tax."""
    baseline: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """The bonuses of each submission before the batch was sent."""
    sends: int = 0
    sent_at: datetime | None = None

    @property
    def is_unsure(self) -> bool:
        """Whether it was sent and its arrival is unknown."""
        return self.state in _UNSURE


@dataclass(frozen=True)
class LedgerState:
    """All debts and batches, in the order in which they were planned."""

    debts: Mapping[Key, Debt]
    batches: Mapping[str, BatchState]

    def debts_in(self, batch: str) -> tuple[Debt, ...]:
        """Return the debts of a batch."""
        return tuple(debt for debt in self.debts.values() if debt.batch == batch)

    def rows(self, batch: str) -> Mapping[str, Sum]:
        """Return the amount that a batch pays for each submission: the sum of its debts."""
        rows: dict[str, Sum] = {}
        for debt in self.debts_in(batch):
            before = rows.get(debt.submission, Sum(0, debt.amount.currency))
            rows[debt.submission] = Sum(before.minor + debt.amount.minor, debt.amount.currency)
        return rows

    def settled(self) -> tuple[Debt, ...]:
        """Return the settled debts."""
        return tuple(debt for debt in self.debts.values() if debt.state == "settled")

    def pending(self) -> tuple[Debt, ...]:
        """Return the debts that are neither settled nor cancelled."""
        return tuple(debt for debt in self.debts.values() if debt.is_open)


def replay(entries: Iterable[LedgerEntry]) -> LedgerState:
    """Return the state after these entries. An event that is not valid in the current state is ignored."""
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
        own = [debts[key] for key in members.get(id_, ()) if debts[key].batch == id_]
        if own and all(debt.state == "settled" for debt in own):
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
        if entry.event == "confirmed" and entry.batch and before.is_due:
            debts[key] = replace(debts[key], batch=entry.batch)
            members.setdefault(entry.batch, []).append(key)


def _step_debt(debt: Debt, entry: LedgerEntry) -> Debt:
    if entry.event not in _STEPS[debt.state]:
        return debt
    return replace(debt, state=cast("State", entry.event), words=entry.reason_text)


def _step_batch(batch: BatchState, entry: LedgerEntry) -> BatchState:
    if entry.event not in _STEPS[batch.state]:
        return batch
    stepped = replace(batch, state=cast("State", entry.event))
    evidence = evidence_of(entry)
    if entry.event == "setup_done":
        total = int(evidence.get("total", entry.amount_minor))
        stepped = replace(
            stepped,
            ref=entry.provider_ref,
            amount=Sum(entry.amount_minor, entry.currency),
            total=Sum(total, entry.currency),
        )
    if entry.event == "pay_sent":
        baseline = {str(one): tuple(paid) for one, paid in dict(evidence.get("baseline") or {}).items()}
        stepped = replace(stepped, baseline=baseline, sends=batch.sends + 1, sent_at=entry.at)
    return stepped


# Purges of identity


IDENTITY = "identity"
"""The reason code of a purge of identities."""


def last_purge(entries: Sequence[LedgerEntry]) -> LedgerEntry | None:
    """Return the last entry about a purge of identities; one that only began may have erased everything."""
    return next((one for one in reversed(entries) if one.kind == "purge" and one.reason_code == IDENTITY), None)


# Arrival of bonuses


Arrival = Literal["paid", "none", "odd"]
"""Exactly one new payment of the right amount; none at all; or anything else, which needs a person."""


def bonus_arrival(before: Sequence[int], now: Sequence[int], amount: int) -> Arrival:
    """Return whether one payment of an amount has arrived since the baseline."""
    new, missing = Counter(now) - Counter(before), Counter(before) - Counter(now)
    if missing:
        return "odd"
    if not new:
        return "none"
    return "paid" if new == Counter([amount]) else "odd"


def bonus_arrivals(
    rows: Mapping[str, Sum], baseline: Mapping[str, Sequence[int]], now: Mapping[str, Sequence[int]]
) -> Mapping[str, Arrival]:
    """Return for each submission of a batch whether its money has arrived."""
    return {one: bonus_arrival(baseline.get(one, ()), now[one], amount.minor) for one, amount in rows.items()}


# Cost beyond the places, with the platform's fees


_BEYOND = ("reward", "fair_pay")
"""Reasons of bonuses that no quote includes: rewards of participants whose place was given to another, and top-ups."""


def bonus_cost(state: LedgerState, posting: str, reasons: Collection[str] | None = None) -> int:
    """Return the cost of the bonuses of a posting that were sent, including those of unknown outcome.

    All bonuses, or those with some reasons; with fees and tax, in hundredths.
    """
    cost = Fraction()
    for debt in state.debts.values():
        batch = state.batches.get(debt.batch)
        is_sent = debt.is_unsure or debt.state in ("accepted", "settled")
        if batch is None or batch.posting != posting or not is_sent or not batch.amount or not batch.total:
            continue
        if reasons is None or debt.reason_code.partition(":")[0] in reasons:
            cost += debt.amount.minor * Fraction(batch.total.minor, batch.amount.minor)
    return math.ceil(cost)


def manual_payments(state: LedgerState, besides: Collection[int | None]) -> list[Sum]:
    """Return the amounts on a list that a person pays, or has paid, without a platform; without some runs."""
    amounts = []
    for debt in state.debts.values():
        batch = state.batches.get(debt.batch)
        if batch is None or not is_own_posting(batch.posting) or own_run(batch.posting) in besides:
            continue
        if debt.kind in MONEY and debt.state in ("accepted", "settled") and debt.amount.minor:
            amounts.append(debt.amount)
    return amounts


def cost_beyond_quote(state: LedgerState, posting: str, *, screen_outs: int = 0) -> int:
    """Return what was sent beyond the quote for the places; `screen_outs` is the part of it that was quoted."""
    return bonus_cost(state, posting, _BEYOND) + max(0, bonus_cost(state, posting, ("screen_out",)) - screen_outs)
