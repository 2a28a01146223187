"""What was sent on top of the places, with what the platform takes for itself."""

from __future__ import annotations

import math
from collections.abc import Collection
from fractions import Fraction

from beholder.recruit.ledger.fold import MONEY, Books
from beholder.study.money import Sum
from beholder.study.recruiting import is_own_posting, own_run

_BEYOND = ("reward", "fair_pay")
"""Reasons of bonuses that no quote foresees: rewards of those whose place went to somebody else, and top-ups."""


def sent_for(books: Books, posting: str, reasons: Collection[str] | None = None) -> int:
    """Return what bonuses of a posting cost that were sent, also where nobody knows whether they arrived.

    All, or those of some reasons; with fees and tax, in hundredths.
    """
    found = Fraction()
    for debt in books.debts.values():
        parcel = books.parcels.get(debt.batch)
        is_sent = debt.is_unsure or debt.state in ("accepted", "settled")
        if parcel is None or parcel.posting != posting or not is_sent or not parcel.amount or not parcel.total:
            continue
        if reasons is None or debt.reason_code.partition(":")[0] in reasons:
            found += debt.amount.minor * Fraction(parcel.total.minor, parcel.amount.minor)
    return math.ceil(found)


def paid_by_hand(books: Books, besides: Collection[int | None]) -> list[Sum]:
    """Return what a person has on a list, or has paid, without a platform; nothing of some runs."""
    found = []
    for debt in books.debts.values():
        parcel = books.parcels.get(debt.batch)
        if parcel is None or not is_own_posting(parcel.posting) or own_run(parcel.posting) in besides:
            continue
        if debt.kind in MONEY and debt.state in ("accepted", "settled") and debt.amount.minor:
            found.append(debt.amount)
    return found


def beyond(books: Books, posting: str, *, screen_outs: int = 0) -> int:
    """Return what was sent beyond what the places were quoted, where so much of it was foreseen for screen-outs."""
    return sent_for(books, posting, _BEYOND) + max(0, sent_for(books, posting, ("screen_out",)) - screen_outs)
