"""Whether people are paid enough for their time."""

from __future__ import annotations

from collections.abc import Iterator

from beholder.errors import Problem
from beholder.recruit.contract import Quote
from beholder.study.model import Study
from beholder.study.money import Sum, money
from beholder.study.recruiting import Recruit


def floor_of(study: Study, quote: Quote) -> Sum | None:
    """Return the least that an hour may pay: the study's own minimum or the platform's, whichever is more."""
    return higher_floor(study.recruit, quote.floor, quote.reward.currency)


def higher_floor(recruit: Recruit, theirs: Sum | None, currency: str) -> Sum | None:
    """Return the study's own minimum for an hour or that of a platform, whichever is more; None in other currencies."""
    own = money(recruit.hourly_minimum) if recruit.hourly_minimum else None
    return max((one for one in (own, theirs) if one is not None and one.currency == currency), default=None)


def unfair(study: Study, quote: Quote) -> Iterator[Problem]:
    """Yield that an hour pays less than it may, with the reward and the length that would do."""
    floor = floor_of(study, quote)
    if floor is not None and quote.hourly.minor < floor.minor:
        minutes = int(quote.reward.minor * 60 / floor.minor)
        shorter = f", or make a session of {minutes} minute{'s' * (minutes != 1)}" if minutes else ""
        yield study.problem(
            "recruit.reward",
            _is(quote),
            f"{floor} an hour or more",
            f"Pay {_needed(quote, floor)} or more{shorter}.",
        )


def low(study: Study, quote: Quote) -> Iterator[Problem]:
    """Yield that an hour pays less than the platform advises."""
    floor, advice = floor_of(study, quote), quote.advice
    if advice is None or advice.currency != quote.reward.currency or quote.hourly.minor >= advice.minor:
        return
    if floor is None or quote.hourly.minor >= floor.minor:
        yield study.problem(
            "recruit.reward", _is(quote), f"{advice} an hour is advised", f"Pay {_needed(quote, advice)} to keep to it."
        )


def _is(quote: Quote) -> str:
    return f"is {quote.reward} for about {quote.minutes:g} minutes, which is {quote.hourly} an hour"


def _needed(quote: Quote, hourly: Sum) -> Sum:
    return Sum(-(-hourly.minor * round(quote.minutes * 100) // 6000), quote.reward.currency)
