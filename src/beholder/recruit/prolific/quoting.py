"""What so many places cost on Prolific at worst, from its own calculator, in one currency."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import NamedTuple

from beholder.errors import RecruitError
from beholder.recruit.contract import Job, PlatformRefused, Quote
from beholder.recruit.prolific.account import Account, balance_of
from beholder.recruit.prolific.client import Client
from beholder.recruit.prolific.codes import slots_for
from beholder.recruit.worst import worst_bonuses
from beholder.study.model import Study
from beholder.study.money import Sum, hourly

_FALLBACK: Mapping[str, tuple[int, int]] = {"GBP": (600, 900), "USD": (800, 1200)}
"""The least and the advised pay for an hour, for when Prolific does not tell: its help pages of 2026."""


class Rates(NamedTuple):
    """The least and the advised pay for an hour; None in a currency that Prolific has no rates for."""

    floor: Sum | None
    advice: Sum | None


async def quote_of(study: Study, job: Job, lists: int, account: Account, client: Client, *, slots: int = 0) -> Quote:
    """Return what the places of a job cost, with fees, tax, and everything that may come on top.

    `lists` is how many sessions the plan has room for, `slots` how many who do not fit may be paid already.
    """
    if job.reward.minor < 1:
        raise RecruitError(
            study.problem("recruit.reward", "is left out, and on Prolific everybody is paid", "such as 2.00 GBP")
        )
    asked = {"reward": job.reward.minor, "total_available_places": job.places}
    calculated = await client.repeat("POST", "/api/v1/study-cost-calculator/", asked)
    cost, rewards = math.ceil(round(calculated["total_cost"], 4)), job.reward.minor * job.places
    factor = Fraction(cost, rewards)
    screen_outs = job.screen_out.minor * max(slots, slots_for(job.places)) if job.screen_out else 0
    # Where further sessions are submissions of their own, they take places and are among the rewards.
    bonuses = worst_bonuses(study, job, lists if study.recruit.further == "bonus" else job.places)
    with_fees = [math.ceil(amount * factor) for amount in (screen_outs, bonuses.minor)]
    rates = await rates_of(account, client)

    def amount(minor: int) -> Sum:
        return Sum(minor, account.currency)

    return Quote(
        places=job.places,
        minutes=job.minutes,
        reward=job.reward,
        rewards=amount(rewards),
        fees=amount(cost - rewards),
        screen_outs=amount(with_fees[0]),
        bonuses=amount(with_fees[1]),
        total=amount(cost + sum(with_fees)),
        balance=await balance_of(account, client),
        hourly=hourly(job.reward, job.minutes),
        floor=rates.floor,
        advice=rates.advice,
    )


async def rates_of(account: Account, client: Client) -> Rates:
    """Return the rates that Prolific recommends now, or those that its help pages name."""
    floor, advice = _FALLBACK.get(account.currency, (0, 0))
    if floor:
        try:
            asked = {"workspace_id": account.workspace, "currency": account.currency}
            rates = await client.get("/api/v1/reward-recommendations/", **asked)
        except PlatformRefused:
            rates = []
        if rates:
            floor = int(rates[0].get("min_reward_per_hour") or floor)
            advice = int(rates[0].get("recommended_reward_per_hour") or advice)
    return Rates(*(Sum(rate, account.currency) if rate else None for rate in (floor, advice)))
