"""Approvals, rejections and requests to return: what a platform takes twice as once, looked at before and after."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import cast

from beholder.errors import Problem
from beholder.recruit.contract import PAID, Category, PlatformAway, PlatformRefused, PlatformUnsure, Submission
from beholder.recruit.ledger.fold import Debt, Key
from beholder.recruit.paying.budget import too_late
from beholder.recruit.paying.till import Till

Send = Callable[[Debt, Submission], Awaitable[None]]
_LOOKS = (0.0, 5.0, 10.0, 20.0)
"""Seconds before each look at approvals, which a platform carries out a little later."""
_GONE = ("returned", "rejected", "screened_out")


async def approve_all(till: Till, wanted: Collection[Key]) -> None:
    """Approve what is owed, and settle what the platform shows as approved."""
    due = _due(till, "approve", wanted)
    late = [debt for debt in due if till.known.status(debt.submission) == "timed_out"]
    try:
        await _approve(till, [debt for debt in due if debt not in late])
        for debt in late:  # whether a platform takes these is written nowhere: it is tried once
            problem = await too_late(till)
            if problem is not None:
                till.problems.append(problem)
                break
            await _approve(till, [debt])
            await till.look()
    except (PlatformAway, PlatformUnsure) as error:
        till.problems.append(_away(till, "approvals", error))
    for pause in _LOOKS:
        waiting = [debt for debt in till.books.debts.values() if debt.kind == "approve" and debt.state == "accepted"]
        if not waiting:
            break
        if pause == _LOOKS[1]:
            many = "1 approval" if len(waiting) == 1 else f"{len(waiting)} approvals"
            till.wait(many, _LOOKS)
        if pause:
            await till.sleep(pause)
        await till.look()
        shown = [debt for debt in waiting if till.known.status(debt.submission) in PAID]
        await till.write([till.about(debt, "settled") for debt in shown])
        # Who returned it between two looks, or was rejected by somebody else, will never be approved.
        gone = [debt for debt in waiting if till.known.status(debt.submission) in _GONE]
        await till.write([till.about(debt, "refused", "it was given back or rejected meanwhile") for debt in gone])


async def _approve(till: Till, debts: Sequence[Debt]) -> None:
    if not debts:
        return
    try:
        await till.desk.recruiter.approve([debt.submission for debt in debts])
    except PlatformRefused as error:
        if len(debts) == 1:
            await till.write([till.about(debts[0], "refused", str(error))])
            return
        for debt in debts:
            await _approve(till, [debt])
    else:
        await till.write([till.about(debt, "accepted") for debt in debts if debt.state != "accepted"])


async def reject_all(till: Till, wanted: Collection[Key]) -> None:
    """Send rejections one by one; only what a person has signed is among them."""

    async def reject(debt: Debt, there: Submission) -> None:
        if there.status != "rejected":
            await till.desk.recruiter.reject(debt.submission, cast("Category", debt.reason_code), debt.reason_text)

    await _each(till, _due(till, "reject", wanted), "rejections", reject)


async def request_returns(till: Till, wanted: Collection[Key]) -> None:
    """Ask people to return what is not to be approved; whoever was asked already is not asked again."""

    async def request(debt: Debt, there: Submission) -> None:
        if not there.is_return_requested and there.status != "returned":
            await till.desk.recruiter.request_return(debt.submission, debt.reason_text)

    await _each(till, _due(till, "return", wanted), "requests to return", request)


async def _each(till: Till, debts: Sequence[Debt], what: str, send: Send) -> None:
    """Send one by one, after a look at how the submission stands; stop where the platform does not answer."""
    for debt in debts:
        try:
            await send(debt, await till.desk.recruiter.submission(debt.submission))
        except PlatformRefused as error:
            await till.write([till.about(debt, "refused", str(error))])
        except (PlatformAway, PlatformUnsure) as error:
            till.problems.append(_away(till, what, error))
            return
        else:
            await till.write([till.about(debt, "settled")])


def _due(till: Till, kind: str, wanted: Collection[Key]) -> list[Debt]:
    """Return what has to be sent: what is owed, and what was taken and is not shown yet.

    Of what was refused only approvals are repeated, for there may have been no money for them.
    """
    states = ("planned", "accepted", "cancelled", *(("refused",) if kind == "approve" else ()))
    debts = till.books.debts.values()  # in the order in which they were planned
    return [debt for debt in debts if debt.key in wanted and debt.kind == kind and debt.state in states]


def _away(till: Till, what: str, error: Exception) -> Problem:
    fix = "Run `beholder pay --send` again: it looks first."
    return Problem(till.platform, f"did not take all {what}: {error}", fix=fix)
