"""What somebody should look at while a study runs, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from beholder.recruit.monitoring.found import At, Cost, Earned, Failing, Platform

AUTO_APPROVAL_DAYS, WARN_DAYS = 21, 14
"""After so many days Prolific approves what nobody has looked at; from so many on it is told."""
_SENDING = ("scheduled", "publishing", "active")
_ENOUGH, _MANY = 10, 0.25
"""A share of fewer than ten says little; above a quarter something is the matter with the study."""


def alarms(
    steps: Sequence[At],
    checks: Sequence[Failing],
    earned: Earned | None,
    cost: Cost | None,
    platform: Platform | None,
    *,
    is_over: bool = False,
) -> Iterator[str]:
    """Yield them, money first; `is_over` is whether nobody can begin here any more."""
    if earned is not None:
        yield from _pay(earned)
    if cost is not None:
        yield from _budget(cost)
    if is_over and platform is not None and platform.state in _SENDING:
        yield "recruit.closes is past, and the platform goes on sending people in vain. Run `beholder close`."
    if platform is not None and platform.oldest_days is not None and platform.oldest_days >= WARN_DAYS:
        yield _waiting(platform.oldest_days)
    for step in steps:
        if step.reached >= _ENOUGH and step.left > _MANY * step.reached:
            yield f"{step.left} of the {step.reached} who came to “{step.title}” left there."
    for check in checks:
        if check.met >= _ENOUGH and check.ended > _MANY * check.met:
            yield f"{check.ended} of the {check.met} who met “{check.title}” were turned away by it."


def _pay(earned: Earned) -> Iterator[str]:
    told = {"by our clock": earned.hourly, "by the platform's clock": earned.platform_hourly}
    for clock, hourly in told.items():
        floor = earned.floor
        if hourly is not None and floor is not None and hourly.currency == floor.currency and hourly < floor:
            top_up = f" `beholder pay --top-up` adds {earned.top_up} for each." if earned.top_up else ""
            yield f"An hour pays {hourly} {clock}, below the minimum of {floor}.{top_up}"
            return


def _waiting(days: int) -> str:
    left = AUTO_APPROVAL_DAYS - days
    told = f"in {left} day{'s' * (left != 1)}" if left > 0 else "now"
    return (
        f"Somebody has waited for {days} days for a decision; the platform approves it by itself {told}. "
        "Run `beholder decide`."
    )


def _budget(cost: Cost) -> Iterator[str]:
    at_most, budget = cost.committed, cost.budget
    if at_most and budget and at_most.currency == budget.currency and at_most.minor > budget.minor:
        yield f"What is published may cost {at_most}, above the budget of {budget}."
