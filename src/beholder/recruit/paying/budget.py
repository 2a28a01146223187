"""Whether there is money for it: the budget of the study is a hard cap, and the balance what there is."""

from __future__ import annotations

import math
from fractions import Fraction

from beholder.errors import Problem
from beholder.recruit.contract import Job
from beholder.recruit.launching.cost import cost_of_runs
from beholder.recruit.ledger.fold import Parcel
from beholder.recruit.ledger.spent import sent_for
from beholder.recruit.paying.till import Till
from beholder.study.money import Sum, money

_OVER = ("completed", "draft")
"""States of a posting in which nobody new comes."""
_COUNTS = ("approved", "partially_approved", "awaiting_review", "active", "reserved")


async def too_dear(till: Till, parcel: Parcel) -> Problem | None:
    """Return what keeps a parcel that is set up from being paid; None where nothing does."""
    assert parcel.total is not None
    return await _over_budget(till, parcel.total) or await _over_balance(till, parcel.total)


async def too_late(till: Till) -> Problem | None:
    """Return what keeps somebody who ran out of time from being approved: their place may be somebody else's by now."""
    if till.desk.study.budget is None:
        return None
    quote = await till.desk.recruiter.quote(_job(till, 1))
    return await _over_budget(till, Sum(quote.rewards.minor + quote.fees.minor, quote.rewards.currency))


def over_budget(till: Till, amount: Sum, spent: int) -> Problem | None:
    """Return that an amount on top of what is spent is more than the budget; None where it is not."""
    study = till.desk.study
    cap = money(study.budget) if study.budget else None
    if cap is None or amount.minor == 0:
        return None
    if cap.currency != amount.currency:
        return study.problem(
            "budget", f"is in {cap.currency}, and people are paid in {amount.currency}", "one currency"
        )
    over = spent + amount.minor - cap.minor
    if over <= 0:
        return None
    return study.problem(
        "budget",
        f"is {cap}, and with the {amount} that are due now the study comes to {Sum(cap.minor + over, cap.currency)}: "
        f"{Sum(over, cap.currency)} more",
        "",
        f"Nothing of it was sent. Raise the budget to {Sum(cap.minor + over, cap.currency)}, or sign fewer payments.",
    )


async def _over_budget(till: Till, total: Sum) -> Problem | None:
    """Return that rewards, screen-outs, bonuses and fees exceed the budget, with what the platform may still pay."""
    if till.desk.study.budget is None or till.known.launched is None:
        return None
    posting = await till.desk.recruiter.posting(till.known.launched.posting)
    statuses = [visit.status for visit in till.known.visits.values()]
    people, screened_out = sum(status in _COUNTS for status in statuses), statuses.count("screened_out")
    if posting.state not in _OVER:
        people, screened_out = max(people, posting.places), max(screened_out, posting.slots or 0)
    job = _job(till, max(1, people), posting.reward)
    quote = await till.desk.recruiter.quote(job)
    spent = people * job.reward.minor
    if till.known.screen_out is not None:
        spent += screened_out * till.known.screen_out.minor
    # What the platform takes for itself is the same share of everything that people get.
    share = Fraction(quote.rewards.minor + quote.fees.minor, quote.rewards.minor)
    others = cost_of_runs(till.desk.study, till.entries, total.currency, besides=till.desk.study.run)
    return over_budget(till, total, math.ceil(spent * share) + sent_for(till.books, posting.id) + others.minor)


async def _over_balance(till: Till, total: Sum) -> Problem | None:
    quote = await till.desk.recruiter.quote(_job(till, 1))
    if quote.balance is None or quote.balance.minor >= total.minor:
        return None
    left = Sum(total.minor - quote.balance.minor, total.currency)
    what = f"asks for {total} with its fees, and the balance is {quote.balance}"
    return Problem(till.platform, what, "", f"Nothing of it was sent. Top it up by {left}.")


def _job(till: Till, places: int, reward: Sum | None = None) -> Job:
    """Return a job that is only asked the price of; its reward is what was published, whatever the study says now."""
    return Job("", "", "", "", places=places, minutes=1, reward=reward or till.known.reward or Sum(0, ""))
