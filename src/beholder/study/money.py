"""Amounts of money as the researcher writes them: exact, in one currency, never a float."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Annotated, NamedTuple

from pydantic import StringConstraints

from beholder.study.kind import Says

_WRITTEN = r"^([1-9][0-9]{0,6}(\.[0-9]{1,2})?|0\.(0[1-9]|[1-9][0-9]?)) [A-Z]{3}$"
Money = Annotated[
    str,
    StringConstraints(pattern=_WRITTEN),
    Says("an amount above 0 and a currency of three capital letters, such as 0.10 GBP"),
]


class Sum(NamedTuple):
    """An amount in hundredths of a currency."""

    minor: int
    currency: str

    @property
    def amount(self) -> str:
        """The amount as platforms take it: `0.10`."""
        return f"{Decimal(self.minor) / 100:.2f}"

    def __str__(self) -> str:
        return f"{self.amount} {self.currency}"


def money(text: str) -> Sum:
    """Return the sum that an amount such as `0.10 GBP` means."""
    found = re.fullmatch(r"([0-9.]+) ([A-Z]{3})", text)
    assert found is not None, text
    return Sum(int(Decimal(found[1]) * 100), found[2])


def hourly(reward: Sum, minutes: int) -> Sum:
    """Return what an hour earns at a reward for so many minutes, rounded down."""
    return Sum(reward.minor * 60 // minutes, reward.currency)


def is_money(text: str) -> bool:
    """Return whether a text is an amount above 0 and a currency, as they are written in a study."""
    return re.fullmatch(_WRITTEN, text) is not None
