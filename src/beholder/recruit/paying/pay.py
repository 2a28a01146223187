"""Pay: everybody once. What is unsure is read first; what is sent is written down before."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from beholder.errors import Problem, RecruitError
from beholder.recruit.deciding.signing import signed_rows
from beholder.recruit.desk import Desk
from beholder.recruit.ledger.fold import Key
from beholder.recruit.paying import by_hand
from beholder.recruit.paying.approving import approve_all, reject_all, request_returns
from beholder.recruit.paying.found import Payment
from beholder.recruit.paying.sending import Halt, continue_all, send_all, unpack
from beholder.recruit.paying.settling import authorise, declare, settle_all
from beholder.recruit.paying.telling import changed_amounts, lines_of, manual_steps, refused_problems, unknown_problems
from beholder.recruit.paying.till import Sleep, Tell, Till
from beholder.recruit.trouble import asking


async def pay_desk(
    desk: Desk,
    *,
    send: bool = False,
    resend: Sequence[str] = (),
    paid: bool = False,
    settle: Sequence[str] = (),
    top_up: bool = False,
    sleep: Sleep = asyncio.sleep,
    tell: Tell = lambda _: None,
) -> Payment:
    """Return what is owed to whom; with `send` it is sent, once. Only one process at a time sends.

    `resend` names payments that a person lets be sent once more, `settle` those that a person has made up by hand,
    `paid` says that the list in pay/payments.csv is paid, and `top_up` adds what is missing to the least pay. `tell`
    hears what is waited for.
    """
    _fits(desk, paid=paid, resend=resend, settle=settle)
    if not (send or resend or paid or settle):
        return _told(await Till.open(desk, sleep, top_up=top_up), is_sent=False, file=None)
    async with desk.store.ledger.hold():
        till = await Till.open(desk, sleep, top_up=top_up, tell=tell)
        with asking(desk.study):
            if "bonus" not in desk.recruiter.can:
                file = await _by_hand(till, send=send, paid=paid)
            else:
                file = None
                await _by_platform(till, send=send, resend=resend, settle=settle)
    return _told(till, is_sent=True, file=file)


def _fits(desk: Desk, *, paid: bool, resend: Sequence[str], settle: Sequence[str]) -> None:
    """Raise RecruitError where something is said about payments that nobody makes in this way."""
    mode, is_by_hand = desk.study.recruit.mode, "bonus" not in desk.recruiter.can
    wrong = {"--paid": paid and not is_by_hand, "--resend": resend and is_by_hand, "--settle": settle and is_by_hand}
    way = "Pay what is in pay/payments.csv, then say so with --paid." if is_by_hand else "Nobody is paid by hand here."
    what, fix = f"does not go with recruit.mode {mode}", f"{way} Nothing was sent."
    if found := [Problem(option, what, "", fix) for option, is_wrong in wrong.items() if is_wrong]:
        raise RecruitError(found)


async def _by_platform(till: Till, *, send: bool, resend: Sequence[str], settle: Sequence[str]) -> None:
    await settle_all(till)
    for id_ in settle:
        await declare(till, id_)
    allowed = [id_ for id_ in resend if await authorise(till, id_)]
    wanted: frozenset[Key] = frozenset()
    if send:
        await approve_all(till, await till.plan())
        wanted = await till.plan()  # an approval that was refused may have become a bonus
        await unpack(till, wanted)
    try:
        await continue_all(till, None if send else allowed)
        await send_all(till, wanted)
    except Halt:
        till.notes.append("What is left waits: run `beholder pay --send` again in a few minutes.")
    await reject_all(till, wanted)
    await request_returns(till, wanted)


async def _by_hand(till: Till, *, send: bool, paid: bool) -> Path | None:
    if paid:
        await by_hand.confirm(till)
    return await by_hand.list_all(till, await till.plan()) if send else None


def _told(till: Till, *, is_sent: bool, file: Path | None) -> Payment:
    lines = lines_of(till)
    problems = (*dict.fromkeys(till.problems), *refused_problems(till, lines), *unknown_problems(till))
    notes = (*till.notes, *changed_amounts(till), *manual_steps(till))
    return Payment(lines, is_sent, problems, notes, file, is_unsigned=_is_unsigned(till))


def _is_unsigned(till: Till) -> bool:
    """Return whether somebody may have earned something, and nobody has signed anything."""
    known, bonus = till.known, till.desk.study.clean.bonus
    may_earn = any(one is not None for one in (known.reward, known.screen_out, bonus))
    return known.has_come and may_earn and not signed_rows(till.entries)
