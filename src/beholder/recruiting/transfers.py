"""Transfers: send bonuses in batches, settle them when they arrive, and send approvals, rejections and return requests.

A bonus is set up, checked, recorded and sent once, one batch at a time. A batch of unknown outcome is read, and never
sent again by itself.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import cast

from beholder.errors import Problem
from beholder.formats import plain_count
from beholder.recruiting.contract import (
    MOST_ROWS,
    PAID,
    Batch,
    BonusRow,
    Category,
    PlatformAway,
    PlatformRefused,
    PlatformUnsure,
    Submission,
)
from beholder.recruiting.ledger import Arrival, BatchState, Debt, Key, bonus_arrivals
from beholder.recruiting.pay_ledger import PayLedger, batch_problem, late_approval_problem
from beholder.study.recruitment import Sum

_REPAIRS = ("screen_out", "reward")
"""Reasons of bonuses that replace another payment, and are sent first."""
_PREPARED = ("confirmed", "setup_sent", "setup_done")
_UNSENT = (*_PREPARED, "resend_authorised")


class SendingStopped(Exception):
    """Nothing more can be sent now; the rest waits for the next call."""


async def cancel_outdated_batches(ledger: PayLedger, keys: Collection[Key]) -> None:
    """Cancel unsent batches of which something is no longer due; the rest gets a new batch."""
    for batch in list(ledger.state.batches.values()):
        debts = ledger.state.debts_in(batch.id)
        if batch.state in _PREPARED and any(debt.key not in keys for debt in debts):
            await ledger.write([ledger.batch_entry(batch.id, "cancelled", "something of it is owed no more")])


async def resume_batches(ledger: PayLedger, only: Collection[str] | None = None) -> None:
    """Send batches that were prepared and not sent, and those that a person authorised once more."""
    for batch in list(ledger.state.batches.values()):
        if batch.state in _UNSENT and ledger.state.debts_in(batch.id) and (only is None or batch.id in only):
            await _send(ledger, batch.id)


async def send_bonuses(ledger: PayLedger, keys: Collection[Key]) -> None:
    """Send the bonuses that are due: first those that replace an approval or screen-out payment, then the others."""
    for repairs in (True, False):
        due = [
            debt
            for key in sorted(keys)
            if (debt := ledger.state.debts[key]).kind == "bonus"
            and debt.is_due
            and debt.amount.minor
            and (debt.reason_code in _REPAIRS) is repairs
        ]
        for some in _chunks([debt for debt in due if not _has_payment_under_way(ledger, debt)]):
            await _send_batch(ledger, some)
    bonuses = [debt for key in keys if (debt := ledger.state.debts[key]).kind == "bonus"]
    waiting = [debt for debt in bonuses if _has_payment_under_way(ledger, debt)]
    if waiting:
        ledger.notes.append(
            f"{_payments(len(waiting))} to people whose earlier payment is not settled: they wait until it is."
        )


async def _send_batch(ledger: PayLedger, debts: Sequence[Debt]) -> None:
    """Send debts as one batch; if the platform refuses, in halves, so that one row holds up no other."""
    id_ = await ledger.create_batch(debts)
    await _send(ledger, id_)
    if ledger.state.batches[id_].state != "cancelled":
        return
    people = list(dict.fromkeys(debt.submission for debt in debts))
    if len(people) == 1:
        words = ledger.state.debts[debts[0].key].words
        ledger.problems.append(Problem(people[0], f"cannot be paid a bonus: {words}"))
        return
    first = set(people[: len(people) // 2])
    await _send_batch(ledger, [debt for debt in debts if debt.submission in first])
    await _send_batch(ledger, [debt for debt in debts if debt.submission not in first])


async def _send(ledger: PayLedger, id: str) -> None:
    """Take a batch from its state as far as possible; raise SendingStopped where the next one must not be sent now."""
    recruiter = ledger.context.recruiter
    try:
        if ledger.state.batches[id].state in ("confirmed", "setup_sent") and not await _set_up(ledger, id):
            return
        batch = ledger.state.batches[id]
        if batch.state == "setup_done":
            problem = _amount_problem(ledger, id) or await batch_problem(ledger, batch)
            if problem is not None:
                ledger.problems.append(problem)
                await ledger.write([ledger.batch_entry(id, "cancelled", str(problem))])
                raise SendingStopped
        else:
            arrivals = await _read_arrivals(ledger, id)
            if set(arrivals.values()) != {"none"}:
                await ledger.write([ledger.batch_entry(id, "unknown", "some of it has arrived meanwhile")])
                return
        now = await _read_bonuses(ledger, ledger.state.rows(id))
    except (PlatformAway, PlatformUnsure, PlatformRefused) as error:
        ledger.problems.append(_platform_problem(ledger, error))
        raise SendingStopped from error
    baseline = {one: list(paid) for one, paid in now.items()}
    attempt = str(batch.sends + 1)
    sent = ledger.batch_entry(id, "pay_sent")
    await ledger.write([replace(sent, reason_code=attempt, evidence={"baseline": baseline})])
    try:
        await recruiter.pay_bonus(batch.ref)
    except PlatformAway as error:
        await ledger.write([ledger.batch_entry(id, "refused", str(error))])
        ledger.problems.append(_platform_problem(ledger, error))
        raise SendingStopped from error
    except PlatformRefused as error:
        await _record_refusal(ledger, id, error)
        return
    except PlatformUnsure as error:
        await ledger.write([ledger.batch_entry(id, "unknown", str(error))])
        return
    await ledger.write([ledger.batch_entry(id, "accepted")])
    await _await_settlement(ledger, id)


async def _set_up(ledger: PayLedger, id: str) -> bool:
    """Return whether the platform has set up the batch. No money moves, so a repeat is harmless."""
    rows, posting = ledger.state.rows(id), ledger.state.batches[id].posting
    await ledger.write([ledger.batch_entry(id, "setup_sent")])
    try:
        quoted: Batch = await ledger.context.recruiter.setup_bonus(
            posting, [BonusRow(one, amount) for one, amount in rows.items()]
        )
    except PlatformRefused as error:
        await ledger.write([ledger.batch_entry(id, "cancelled", str(error))])
        return False
    done = replace(
        ledger.batch_entry(id, "setup_done"), amount_minor=quoted.amount.minor, currency=quoted.amount.currency,
        provider_ref=quoted.ref, evidence={"total": quoted.total.minor},
    )  # fmt: skip
    await ledger.write([done])
    return True


def _amount_problem(ledger: PayLedger, id: str) -> Problem | None:
    batch, rows = ledger.state.batches[id], ledger.state.rows(id)
    planned = Sum(sum(one.minor for one in rows.values()), next(iter(rows.values())).currency)
    if batch.amount == planned:
        return None
    what = f"understood {batch.amount} where {planned} were meant"
    return Problem(ledger.platform, what, "", "Nothing of it was sent.")


async def _record_refusal(ledger: PayLedger, id: str, error: PlatformRefused) -> None:
    """Record a refused payment, if nobody has received anything; otherwise its outcome is unknown."""
    try:
        arrivals = await _read_arrivals(ledger, id)
    except (PlatformAway, PlatformUnsure, PlatformRefused):
        arrivals = {}
    if set(arrivals.values()) == {"none"}:
        await ledger.write([ledger.batch_entry(id, "refused", str(error))])
        fix = "Run `beholder pay --send` again later."
        ledger.problems.append(Problem(ledger.platform, f"refused payment {id}: {error}", "", fix))
        return
    await ledger.write([ledger.batch_entry(id, "unknown", str(error))])


async def _await_settlement(ledger: PayLedger, id: str) -> None:
    try:
        if await _wait_for_settlement(ledger, id):
            return
    except (PlatformAway, PlatformUnsure, PlatformRefused) as error:
        ledger.problems.append(_platform_problem(ledger, error))
    # One payment at a time: the next starts when this one is settled.
    raise SendingStopped


def _has_payment_under_way(ledger: PayLedger, debt: Debt) -> bool:
    """Return whether a bonus of the submission is under way: two at once could not be distinguished."""
    return debt.is_due and any(
        other.submission == debt.submission and other.kind == "bonus" and not other.is_due and other.state != "settled"
        for other in ledger.state.debts.values()
    )


def _chunks(debts: Sequence[Debt]) -> Iterator[Sequence[Debt]]:
    people = list(dict.fromkeys(debt.submission for debt in debts))
    for first in range(0, len(people), MOST_ROWS):
        some = set(people[first : first + MOST_ROWS])
        yield [debt for debt in debts if debt.submission in some]


def _payments(number: int) -> str:
    return plain_count(number, "payment is owed", "payments are owed")


def _platform_problem(ledger: PayLedger, error: Exception) -> Problem:
    fix = "Run `beholder pay --send` again: it goes on from here."
    return Problem(ledger.platform, f"cannot be asked now: {error}", "", fix)


# Settling


WINDOW = timedelta(hours=24)
"""How long money may take to arrive before a person may declare it lost."""
_SETTLE_PAUSES = (0.0, 5.0, 10.0, 20.0, 30.0, 60.0)
"""Seconds before each poll of an accepted batch: it settles within minutes."""


async def _read_bonuses(ledger: PayLedger, submissions: Iterable[str]) -> Mapping[str, tuple[int, ...]]:
    """Return the bonuses paid to each submission so far."""
    return {one: (await ledger.context.recruiter.submission(one)).bonuses or () for one in submissions}


async def _read_arrivals(ledger: PayLedger, id: str) -> Mapping[str, Arrival]:
    """Return for each submission of a batch whether its money has arrived, and settle what has."""
    batch = ledger.state.batches[id]
    rows = ledger.state.rows(id)
    open_ = {debt.submission for debt in ledger.state.debts_in(id) if debt.state != "settled"}
    now = await _read_bonuses(ledger, [one for one in rows if one in open_])
    arrivals = bonus_arrivals({one: rows[one] for one in now}, batch.baseline, now)
    paid = [debt for debt in ledger.state.debts_in(id) if arrivals.get(debt.submission) == "paid"]
    await ledger.write([ledger.entry_for(debt, "settled") for debt in paid])
    return {**{one: "paid" for one in rows if one not in now}, **arrivals}


async def settle_sent(ledger: PayLedger) -> None:
    """Read everything that was sent and has not arrived. Nothing is sent."""
    lost = [batch for batch in ledger.state.batches.values() if batch.state == "pay_sent"]
    words = "it was sent, and whoever sent it stopped before the answer came"
    await ledger.write([ledger.batch_entry(batch.id, "unknown", words) for batch in lost])
    for batch in list(ledger.state.batches.values()):
        # Refused batches too: if the money arrives all the same, it is not sent again.
        if batch.sends and batch.state in ("accepted", "unknown", "refused", "resend_authorised"):
            await _settle_batch(ledger, batch)


async def _settle_batch(ledger: PayLedger, batch: BatchState) -> None:
    if not ledger.state.debts_in(batch.id):
        return
    try:
        arrivals = await _read_arrivals(ledger, batch.id)
    except (PlatformAway, PlatformRefused, PlatformUnsure) as error:
        ledger.problems.append(Problem(batch.id, f"could not be looked at: {error}", fix="Run `beholder pay` again."))
        return
    is_late = batch.sent_at is not None and ledger.context.now() - batch.sent_at >= WINDOW
    if ledger.state.batches[batch.id].state == "accepted" and is_late:
        missing = sum(one != "paid" for one in arrivals.values())
        hours = WINDOW.total_seconds() / 3600
        words = f"it was taken, and after {hours:g} h {missing} of {len(arrivals)} are not shown"
        await ledger.write([ledger.batch_entry(batch.id, "unknown", words)])


async def _wait_for_settlement(ledger: PayLedger, id: str) -> bool:
    """Return whether all of an accepted batch has arrived, after some minutes at most."""
    for pause in _SETTLE_PAUSES:
        if pause == _SETTLE_PAUSES[1]:
            ledger.report_wait(f"payment {id}", _SETTLE_PAUSES)
        if pause:
            await ledger.sleep(pause)
        await _read_arrivals(ledger, id)
        if ledger.state.batches[id].state == "settled":
            return True
    return False


async def authorise_resend(ledger: PayLedger, id: str) -> bool:
    """Record that a batch may be sent once more, if nobody has received it; return whether it may."""
    batch = ledger.state.batches.get(id)
    if batch is None or batch.state not in ("unknown", "resend_authorised") or batch.sent_at is None:
        ledger.problems.append(_not_unknown(ledger, f"--resend {id}", batch, "Nothing was sent again."))
        return False
    arrivals = await _read_arrivals(ledger, id)
    if ledger.state.batches[id].state == "settled":
        ledger.notes.append(f"{id} has arrived by now: it was not sent again.")
        return False
    if set(arrivals.values()) != {"none"}:
        paid = sum(one == "paid" for one in arrivals.values())
        odd = sum(one == "odd" for one in arrivals.values())
        what = f"{paid} of {len(arrivals)} people have got it" + (f", and {odd} got something else" if odd else "")
        fix = (
            f"Sent again it would pay them twice. Pay the others on the platform, then say so with "
            f"`beholder pay --settle {id}`."
        )
        ledger.problems.append(Problem(f"--resend {id}", what, "a payment that nobody has got", fix))
        return False
    if ledger.context.now() - batch.sent_at < WINDOW:
        hours, until = WINDOW.total_seconds() / 3600, batch.sent_at + WINDOW
        what = f"it was sent on {batch.sent_at:%Y-%m-%d %H:%M} UTC, and money may take {hours:g} h to show"
        fix = f"Nothing was sent again. From {until:%Y-%m-%d %H:%M} UTC on it may be."
        ledger.problems.append(Problem(f"--resend {id}", what, "", fix))
        return False
    if batch.state == "unknown":
        words = "a person has looked, and nobody has got it"
        await ledger.write([ledger.batch_entry(id, "resend_authorised", words)])
    return True


async def declare_settled(ledger: PayLedger, id: str) -> None:
    """Record that a person has completed a batch by hand: all of it counts as paid."""
    batch = ledger.state.batches.get(id)
    if batch is None or not batch.sends or batch.state not in ("unknown", "accepted"):
        ledger.problems.append(_not_unknown(ledger, f"--settle {id}", batch))
        return
    unsettled = [debt for debt in ledger.state.debts_in(id) if debt.state != "settled"]
    await ledger.write([ledger.entry_for(debt, "settled", "a person has looked, and says so") for debt in unsettled])


def _not_unknown(ledger: PayLedger, where: str, batch: BatchState | None, fix: str = "") -> Problem:
    unknown = ", ".join(one.id for one in ledger.state.batches.values() if one.state == "unknown") or "none now"
    what = "there is no such payment" if batch is None else f"it is {batch.state}, and not unknown"
    return Problem(where, what, unknown, fix)


# Approvals, rejections and return requests: safe to repeat, and read before and after


_Send = Callable[[Debt, Submission], Awaitable[None]]
_APPROVE_PAUSES = (0.0, 5.0, 10.0, 20.0)
"""Seconds before each poll of approvals, which a platform carries out a little later."""
_GONE = ("returned", "rejected", "screened_out")


async def send_approvals(ledger: PayLedger, keys: Collection[Key]) -> None:
    """Approve what is due, and settle what the platform shows as approved."""
    due = _due_debts(ledger, "approve", keys)
    late = [debt for debt in due if ledger.facts.status(debt.submission) == "timed_out"]
    try:
        await _approve(ledger, [debt for debt in due if debt not in late])
        for debt in late:  # undocumented whether a platform accepts these: tried once
            problem = await late_approval_problem(ledger)
            if problem is not None:
                ledger.problems.append(problem)
                break
            await _approve(ledger, [debt])
            await ledger.refresh()
    except (PlatformAway, PlatformUnsure) as error:
        ledger.problems.append(_incomplete_problem(ledger, "approvals", error))
    for pause in _APPROVE_PAUSES:
        waiting = [debt for debt in ledger.state.debts.values() if debt.kind == "approve" and debt.state == "accepted"]
        if not waiting:
            break
        if pause == _APPROVE_PAUSES[1]:
            many = plain_count(len(waiting), "approval")
            ledger.report_wait(many, _APPROVE_PAUSES)
        if pause:
            await ledger.sleep(pause)
        await ledger.refresh()
        shown = [debt for debt in waiting if ledger.facts.status(debt.submission) in PAID]
        await ledger.write([ledger.entry_for(debt, "settled") for debt in shown])
        # What was returned between two polls, or rejected by somebody else, will never be approved.
        lost = [debt for debt in waiting if ledger.facts.status(debt.submission) in _GONE]
        await ledger.write(
            [ledger.entry_for(debt, "refused", "it was given back or rejected meanwhile") for debt in lost]
        )


async def _approve(ledger: PayLedger, debts: Sequence[Debt]) -> None:
    if not debts:
        return
    try:
        await ledger.context.recruiter.approve([debt.submission for debt in debts])
    except PlatformRefused as error:
        if len(debts) == 1:
            await ledger.write([ledger.entry_for(debts[0], "refused", str(error))])
            return
        for debt in debts:
            await _approve(ledger, [debt])
    else:
        await ledger.write([ledger.entry_for(debt, "accepted") for debt in debts if debt.state != "accepted"])


async def send_rejections(ledger: PayLedger, keys: Collection[Key]) -> None:
    """Send rejections one by one; all of them are signed by a person."""

    async def reject(debt: Debt, submission: Submission) -> None:
        if submission.status != "rejected":
            await ledger.context.recruiter.reject(debt.submission, cast("Category", debt.reason_code), debt.reason_text)

    await _send_each(ledger, _due_debts(ledger, "reject", keys), "rejections", reject)


async def send_return_requests(ledger: PayLedger, keys: Collection[Key]) -> None:
    """Ask participants to return what is not to be approved, each once."""

    async def request(debt: Debt, submission: Submission) -> None:
        if not submission.is_return_requested and submission.status != "returned":
            await ledger.context.recruiter.request_return(debt.submission, debt.reason_text)

    await _send_each(ledger, _due_debts(ledger, "return", keys), "requests to return", request)


async def _send_each(ledger: PayLedger, debts: Sequence[Debt], what: str, send: _Send) -> None:
    """Send one by one, after reading the submission; stop where the platform does not answer."""
    for debt in debts:
        try:
            await send(debt, await ledger.context.recruiter.submission(debt.submission))
        except PlatformRefused as error:
            await ledger.write([ledger.entry_for(debt, "refused", str(error))])
        except (PlatformAway, PlatformUnsure) as error:
            ledger.problems.append(_incomplete_problem(ledger, what, error))
            return
        else:
            await ledger.write([ledger.entry_for(debt, "settled")])


def _due_debts(ledger: PayLedger, kind: str, keys: Collection[Key]) -> list[Debt]:
    """Return what has to be sent: what is due, and what was accepted and does not show yet.

    Of what was refused only approvals are repeated, as there may have been no money for them.
    """
    states = ("planned", "accepted", "cancelled", *(("refused",) if kind == "approve" else ()))
    debts = ledger.state.debts.values()  # in the order in which they were planned
    return [debt for debt in debts if debt.key in keys and debt.kind == kind and debt.state in states]


def _incomplete_problem(ledger: PayLedger, what: str, error: Exception) -> Problem:
    fix = "Run `beholder pay --send` again: it looks first."
    return Problem(ledger.platform, f"did not take all {what}: {error}", fix=fix)
