"""The wallet of the fake: what there is, what is tied to open studies, and everything that has moved."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from beholder.recruit.fake.state import Moved

FEE, VAT = Fraction(33, 100), Fraction(20, 100)
"""Prolific's share of what people get, and the tax on that share. The live numbers come from the API alone."""


class Price(NamedTuple):
    """What paying people costs, in hundredths."""

    pay: int
    fees: int
    vat: int

    @property
    def total(self) -> int:
        return self.pay + self.fees + self.vat


def price(pay: int) -> Price:
    """Return what it costs that people get so much, rounded as money is."""
    fees = _rounded(pay * FEE)
    return Price(pay, fees, _rounded(fees * VAT))


def _rounded(amount: Fraction) -> int:
    return int(amount + Fraction(1, 2))


class Wallet:
    """Play money of one workspace, in one currency. What moved is the judge of everything that pays."""

    def __init__(self, balance: int, currency: str) -> None:
        self.balance, self.currency = balance, currency
        self.moved: list[Moved] = []

    def move(self, moved: Moved) -> None:
        """Pay somebody, with what the platform takes for it."""
        self.balance -= price(moved.amount).total
        self.moved.append(moved)
