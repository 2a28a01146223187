"""What a study on the fake came to: what our ledger says beside what has left the wallet."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from beholder.recruit.fake.platform import FakeProlific
from beholder.recruit.fake.state import Payment
from beholder.recruit.ledger.fold import MONEY, Books
from beholder.study.money import Sum


class Paid(NamedTuple):
    """Payments of one kind."""

    people: int
    amount: Sum


class Reckoning(NamedTuple):
    """All the money of a study, and whether ledger and wallet tell the same."""

    places: int
    came: int
    approved: Paid
    screened_out: Paid
    bonuses: Paid
    fees: Sum
    """With tax."""
    before: Sum
    after: Sum
    differences: tuple[str, ...]
    """Payments that are in one of the two only, or more often in one of them."""


def reckon(fake: FakeProlific, before: int, books: Books) -> Reckoning:
    """Return what was paid since the wallet held so much, in hundredths."""
    currency = fake.wallet.currency

    def paid(*kinds: Payment) -> Paid:
        found = [one for one in fake.moved if one.kind in kinds]
        return Paid(len({one.submission for one in found}), Sum(sum(one.amount for one in found), currency))

    moved = sum(one.amount for one in fake.moved)
    return Reckoning(
        places=sum(one.places for one in fake.studies.all.values()),
        came=len(fake.submissions.all),
        approved=paid("reward", "partial"),
        screened_out=paid("screen_out"),
        bonuses=paid("bonus"),
        fees=Sum(before - fake.balance - moved, currency),
        before=Sum(before, currency),
        after=Sum(fake.balance, currency),
        differences=tuple(_differences(fake, books)),
    )


def _differences(fake: FakeProlific, books: Books) -> list[str]:
    """Return what one of the two says and the other does not."""
    ours: Counter[tuple[Payment, str, int]] = Counter()
    for debt in books.settled():
        if debt.kind in MONEY and not debt.batch and debt.amount.minor:  # by approval, or by the code of an end
            ours["reward" if debt.kind == "approve" else "screen_out", debt.submission, debt.amount.minor] += 1
    for parcel in books.parcels.values():
        if parcel.state == "settled":
            ours.update(("bonus", one, amount.minor) for one, amount in books.rows(parcel.id).items())
    theirs = Counter((one.kind, one.submission, one.amount) for one in fake.moved)
    return [
        f"{kind} of {Sum(amount, fake.wallet.currency)} for {submission}, only in the {where}"
        for where, some in (("ledger", ours - theirs), ("wallet", theirs - ours))
        for kind, submission, amount in some.elements()
    ]
