"""What a study takes of people's time, and what that costs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from beholder.errors import Problem
from beholder.power.session import Session
from beholder.study.model import Study
from beholder.study.money import Sum, is_money, money


class Pay(NamedTuple):
    """What people earn: for a session of a method, or for an hour."""

    amount: Sum
    minutes: float
    """Of work, for which it is paid."""
    per: str
    method: str

    def of(self, participants: float, session: Session) -> Sum:
        """Return what so many participants earn; where a session is paid, others in proportion to their length."""
        is_own = self.per == "session" and session.world.method.name == self.method
        each = session.visits if is_own else session.minutes / self.minutes
        return Sum(round(self.amount.minor * participants * each), self.amount.currency)


def pay_of(study: Study, rate: str | None, session: Session) -> Pay | None:
    """Return what people earn: by the hour where a rate is given, else `recruit.reward` for one session of this study.

    None where neither is known. Another session of the same study earns in proportion to its length.
    """
    if rate is not None:
        return Pay(money(rate), 60.0, "hour", study.method)
    if study.recruit.reward is None:
        return None
    return Pay(money(study.recruit.reward), session.minutes / session.visits, "session", study.method)


def rate_problems(rate: str | None) -> list[Problem]:
    """Return what is wrong with a rate as it was written."""
    if rate is None or is_money(rate):
        return []
    allowed = "an amount above 0 and a currency of three capital letters, such as 12.00 GBP"
    return [Problem("--rate", f"is {' '.join(rate.split()) or 'empty'}", allowed)]


def hours(participants: float, minutes: float) -> float:
    """Return the hours of all participants together."""
    return participants * minutes / 60


def starting(participants: int, leaving: float, trials: Sequence[int]) -> int:
    """Return how many have to begin for so many to finish, where some leave before a trial: they are replaced."""
    most = max(trials, default=0)
    return math.ceil(participants / (1 - leaving) ** most)
