"""How fast people come and what their time earns."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from statistics import median

from beholder.study.money import Sum

LATELY = timedelta(hours=6)
"""What happened longer ago says little about what comes."""
_AT_LEAST = timedelta(minutes=10)


def median_minutes(minutes: Sequence[float]) -> float | None:
    """Return the median, or None of nobody."""
    return round(median(minutes), 2) if minutes else None


def hourly(reward: Sum, minutes: float | None) -> Sum | None:
    """Return what an hour earns at a reward for so many minutes, rounded down; None where no time has passed."""
    return Sum(int(reward.minor * 60 / minutes), reward.currency) if minutes else None


def top_up(reward: Sum, minutes: float | None, floor: Sum | None) -> Sum | None:
    """Return what is missing to the floor for somebody who took the median time; None where nothing is."""
    if minutes is None or floor is None or floor.currency != reward.currency:
        return None
    needed = -int(-minutes * floor.minor // 60)
    return Sum(needed - reward.minor, reward.currency) if needed > reward.minor else None


def per_hour(came: Sequence[datetime], finished: Sequence[datetime], now: datetime) -> float | None:
    """Return how many have finished in an hour lately; None where nobody has."""
    recent = [at for at in finished if now - LATELY <= at <= now]
    if not recent or not came:
        return None
    since = max(min(came), now - LATELY)
    hours = max(now - since, _AT_LEAST).total_seconds() / 3600
    return round(len(recent) / hours, 2)


def finished_at(left: int, rate: float | None, now: datetime) -> datetime | None:
    """Return when so many more will have finished at this rate; None where nobody can say, or nothing is left."""
    if not rate or left <= 0:
        return None
    hours = left / rate
    return now + timedelta(hours=hours) if hours < 24 * 365 else None
