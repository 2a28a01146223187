"""How every debt stands: a fold over the entries of the ledger, which never looks anywhere else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal, cast

from beholder.recruit.ledger.noted import noted
from beholder.store.contract import Entry
from beholder.study.money import Sum

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
class Parcel:
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
class Books:
    """Every debt and every parcel, in the order in which they were planned."""

    debts: Mapping[Key, Debt]
    parcels: Mapping[str, Parcel]

    def of(self, parcel: str) -> tuple[Debt, ...]:
        """Return the debts of a parcel."""
        return tuple(debt for debt in self.debts.values() if debt.batch == parcel)

    def rows(self, parcel: str) -> Mapping[str, Sum]:
        """Return what a parcel pays for each submission: all of its debts in one amount."""
        rows: dict[str, Sum] = {}
        for debt in self.of(parcel):
            before = rows.get(debt.submission, Sum(0, debt.amount.currency))
            rows[debt.submission] = Sum(before.minor + debt.amount.minor, debt.amount.currency)
        return rows

    def settled(self) -> tuple[Debt, ...]:
        """Return what is done."""
        return tuple(debt for debt in self.debts.values() if debt.state == "settled")

    def pending(self) -> tuple[Debt, ...]:
        """Return what is neither done nor given up."""
        return tuple(debt for debt in self.debts.values() if debt.is_open)


def fold(entries: Iterable[Entry]) -> Books:
    """Return how everything stands after these entries. An event that makes no sense where it comes changes nothing."""
    debts: dict[Key, Debt] = {}
    parcels: dict[str, Parcel] = {}
    members: dict[str, list[Key]] = {}
    for entry in entries:
        if entry.kind not in KINDS:
            continue
        if entry.submission:
            _one(debts, members, entry)
            if entry.event == "confirmed" and entry.batch:
                parcels.setdefault(entry.batch, Parcel(entry.batch, entry.provider_ref))
        elif entry.batch in parcels:
            parcels[entry.batch] = _parcel(parcels[entry.batch], entry)
            for key in members.get(entry.batch, ()):
                if debts[key].batch == entry.batch:
                    debts[key] = _step(debts[key], entry)
    for id_, parcel in parcels.items():
        held = [debts[key] for key in members.get(id_, ()) if debts[key].batch == id_]
        if held and all(debt.state == "settled" for debt in held):
            parcels[id_] = replace(parcel, state="settled")
    return Books(debts, parcels)


def _one(debts: dict[Key, Debt], members: dict[str, list[Key]], entry: Entry) -> None:
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
        debts[key] = _step(before, entry)
        if entry.event == "confirmed" and entry.batch and before.is_owed:
            debts[key] = replace(debts[key], batch=entry.batch)
            members.setdefault(entry.batch, []).append(key)


def _step(debt: Debt, entry: Entry) -> Debt:
    if entry.event not in _STEPS[debt.state]:
        return debt
    return replace(debt, state=cast("State", entry.event), words=entry.reason_text)


def _parcel(parcel: Parcel, entry: Entry) -> Parcel:
    if entry.event not in _STEPS[parcel.state]:
        return parcel
    found = replace(parcel, state=cast("State", entry.event))
    evidence = noted(entry)
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
        found = replace(found, baseline=baseline, sends=parcel.sends + 1, sent_at=entry.at)
    return found
