"""What a study may cost at worst beside the first session of everybody: whoever does not fit, and bonuses."""

from __future__ import annotations

import math

from beholder.recruit.contract import Job
from beholder.study.model import Study
from beholder.study.money import Sum, money


def worst_screen_outs(job: Job) -> Sum:
    """Return what those who do not fit cost, if there are as many of them as there are places."""
    return Sum(job.screen_out.minor * job.places if job.screen_out else 0, job.reward.currency)


def worst_bonuses(study: Study, job: Job, lists: int) -> Sum:
    """Return what further sessions and bonuses cost, if everybody takes as many sessions as `lists` leaves them.

    A further session earns the reward again. The best by agreement are a share of all, so ties may add to it.
    """
    most = study.design.sessions_per_participant
    sessions = min(job.places * most, max(job.places, lists)) if most > 1 else job.places
    due = (sessions - job.places) * job.reward.minor
    bonus = study.clean.bonus
    if bonus is not None and bonus.quantity is not None and bonus.quantity.sessions <= most:
        due += sessions * money(bonus.quantity.each).minor
    if bonus is not None and bonus.quality is not None:
        due += math.ceil(sessions * bonus.quality.best / 100) * money(bonus.quality.each).minor
    return Sum(due, job.reward.currency)
