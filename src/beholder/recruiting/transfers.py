"""Sending bonuses: set up, checked, written down, and sent once; one parcel at a time."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from beholder.errors import Problem
from beholder.recruit.contract import MOST_ROWS, Batch, Bonus, PlatformAway, PlatformRefused, PlatformUnsure
from beholder.recruit.ledger.fold import Debt, Key
from beholder.recruit.paying.budget import too_dear
from beholder.recruit.paying.settling import read_back, read_bonuses, wait_for
from beholder.recruit.paying.till import Till
from beholder.study.money import Sum

_REPAIRS = ("screen_out", "reward")
"""Reasons of what should have been paid by other means, and goes first."""
_PACKED = ("confirmed", "setup_sent", "setup_done")
_UNSENT = (*_PACKED, "resend_authorised")


class Halt(Exception):
    """Nothing more can be sent now; what is left waits for the next time."""


async def unpack(till: Till, wanted: Collection[Key]) -> None:
    """Take apart what was packed and not sent, where something of it is owed no more; the rest is packed anew."""
    for parcel in list(till.books.parcels.values()):
        held = till.books.of(parcel.id)
        if parcel.state in _PACKED and any(debt.key not in wanted for debt in held):
            await till.write([till.parcel(parcel.id, "cancelled", "something of it is owed no more")])


async def continue_all(till: Till, only: Collection[str] | None = None) -> None:
    """Send what was packed and not sent when somebody stopped, and what a person lets be sent once more."""
    for parcel in list(till.books.parcels.values()):
        if parcel.state in _UNSENT and till.books.of(parcel.id) and (only is None or parcel.id in only):
            await _send(till, parcel.id)


async def send_all(till: Till, wanted: Collection[Key]) -> None:
    """Pack and send what is owed: first what repairs a missing approval or screen-out, then the other bonuses."""
    for repairs in (True, False):
        due = [
            debt
            for key in sorted(wanted)
            if (debt := till.books.debts[key]).kind == "bonus"
            and debt.is_owed
            and debt.amount.minor
            and (debt.reason_code in _REPAIRS) is repairs
        ]
        for some in _chunks([debt for debt in due if not _is_busy(till, debt)]):
            await _pack_and_send(till, some)
    waiting = [key for key in wanted if (debt := till.books.debts[key]).kind == "bonus" and _is_busy(till, debt)]
    if waiting:
        till.notes.append(
            f"{_payments(len(waiting))} to people whose earlier payment is not settled: they wait until it is."
        )


async def _pack_and_send(till: Till, debts: Sequence[Debt]) -> None:
    """Send debts together; where the platform refuses them all, in halves, so that one row holds up nobody else."""
    id_ = await till.pack(debts)
    await _send(till, id_)
    if till.books.parcels[id_].state != "cancelled":
        return
    people = list(dict.fromkeys(debt.submission for debt in debts))
    if len(people) == 1:
        words = till.books.debts[debts[0].key].words
        till.problems.append(Problem(people[0], f"cannot be paid a bonus: {words}"))
        return
    first = set(people[: len(people) // 2])
    await _pack_and_send(till, [debt for debt in debts if debt.submission in first])
    await _pack_and_send(till, [debt for debt in debts if debt.submission not in first])


async def _send(till: Till, id: str) -> None:
    """Take a parcel from wherever it is as far as it goes; raise Halt where the next one must not be sent now."""
    recruiter = till.desk.recruiter
    try:
        if till.books.parcels[id].state in ("confirmed", "setup_sent") and not await _set_up(till, id):
            return
        parcel = till.books.parcels[id]
        if parcel.state == "setup_done":
            problem = _wrong_amount(till, id) or await too_dear(till, parcel)
            if problem is not None:
                till.problems.append(problem)
                await till.write([till.parcel(id, "cancelled", str(problem))])
                raise Halt
        else:
            found = await read_back(till, id)
            if set(found.values()) != {"none"}:
                await till.write([till.parcel(id, "unknown", "some of it has arrived meanwhile")])
                return
        now = await read_bonuses(till, till.books.rows(id))
    except (PlatformAway, PlatformUnsure, PlatformRefused) as error:
        till.problems.append(_away(till, error))
        raise Halt from error
    baseline = {one: list(paid) for one, paid in now.items()}
    attempt = str(parcel.sends + 1)
    sent = till.parcel(id, "pay_sent")
    await till.write([replace(sent, reason_code=attempt, evidence={"baseline": baseline})])
    try:
        await recruiter.pay_bonus(parcel.ref)
    except PlatformAway as error:
        await till.write([till.parcel(id, "refused", str(error))])
        till.problems.append(_away(till, error))
        raise Halt from error
    except PlatformRefused as error:
        await _refused(till, id, error)
        return
    except PlatformUnsure as error:
        await till.write([till.parcel(id, "unknown", str(error))])
        return
    await till.write([till.parcel(id, "accepted")])
    await _wait(till, id)


async def _set_up(till: Till, id: str) -> bool:
    """Return whether the platform knows now what is to be paid. No money moves, so that a repeat is harmless."""
    rows, posting = till.books.rows(id), till.books.parcels[id].posting
    await till.write([till.parcel(id, "setup_sent")])
    try:
        batch: Batch = await till.desk.recruiter.setup_bonus(
            posting, [Bonus(one, amount) for one, amount in rows.items()]
        )
    except PlatformRefused as error:
        await till.write([till.parcel(id, "cancelled", str(error))])
        return False
    done = replace(
        till.parcel(id, "setup_done"), amount_minor=batch.amount.minor, currency=batch.amount.currency,
        provider_ref=batch.ref, evidence={"total": batch.total.minor},
    )  # fmt: skip
    await till.write([done])
    return True


def _wrong_amount(till: Till, id: str) -> Problem | None:
    parcel, rows = till.books.parcels[id], till.books.rows(id)
    planned = Sum(sum(one.minor for one in rows.values()), next(iter(rows.values())).currency)
    if parcel.amount == planned:
        return None
    what = f"understood {parcel.amount} where {planned} were meant"
    return Problem(till.platform, what, "", "Nothing of it was sent.")


async def _refused(till: Till, id: str, error: PlatformRefused) -> None:
    """Write that a payment was refused, where reading shows that nobody has got anything; else nobody knows."""
    try:
        found = await read_back(till, id)
    except (PlatformAway, PlatformUnsure, PlatformRefused):
        found = {}
    if set(found.values()) == {"none"}:
        await till.write([till.parcel(id, "refused", str(error))])
        fix = "Run `beholder pay --send` again later."
        till.problems.append(Problem(till.platform, f"refused payment {id}: {error}", "", fix))
        return
    await till.write([till.parcel(id, "unknown", str(error))])


async def _wait(till: Till, id: str) -> None:
    try:
        if await wait_for(till, id):
            return
    except (PlatformAway, PlatformUnsure, PlatformRefused) as error:
        till.problems.append(_away(till, error))
    # One payment in flight: the next starts when this one is settled.
    raise Halt


def _is_busy(till: Till, debt: Debt) -> bool:
    """Return whether money for the same submission is under way: two payments at once could not be told apart."""
    return debt.is_owed and any(
        other.submission == debt.submission and other.kind == "bonus" and not other.is_owed and other.state != "settled"
        for other in till.books.debts.values()
    )


def _chunks(debts: Sequence[Debt]) -> Iterator[Sequence[Debt]]:
    people = list(dict.fromkeys(debt.submission for debt in debts))
    for first in range(0, len(people), MOST_ROWS):
        some = set(people[first : first + MOST_ROWS])
        yield [debt for debt in debts if debt.submission in some]


def _payments(number: int) -> str:
    return "1 payment is owed" if number == 1 else f"{number} payments are owed"


def _away(till: Till, error: Exception) -> Problem:
    fix = "Run `beholder pay --send` again: it goes on from here."
    return Problem(till.platform, f"cannot be asked now: {error}", "", fix)
