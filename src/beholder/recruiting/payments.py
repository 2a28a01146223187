"""Paying: what is due to whom, sent once, and settled only when the platform shows that it arrived.

Where no platform pays, a person pays the list in pay/payments.csv and confirms it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from beholder.errors import Problem, RecruitError
from beholder.files import table_bytes, write_private
from beholder.formats import plain_count
from beholder.recruiting.context import RecruitContext
from beholder.recruiting.contract import Verb, platform_errors
from beholder.recruiting.debts import Payment, PaymentLine, PaymentStatus
from beholder.recruiting.ledger import MONEY, Debt, Key, State
from beholder.recruiting.pay_facts import PayableVisit
from beholder.recruiting.pay_ledger import Notify, PayLedger, Sleep, budget_problem
from beholder.recruiting.signatures import signed_rows
from beholder.recruiting.transfers import (
    WINDOW,
    SendingStopped,
    authorise_resend,
    cancel_outdated_batches,
    declare_settled,
    resume_batches,
    send_approvals,
    send_bonuses,
    send_rejections,
    send_return_requests,
    settle_sent,
)
from beholder.study.recruitment import Sum, money


async def pay_study(
    context: RecruitContext,
    *,
    send: bool = False,
    resend: Sequence[str] = (),
    paid: bool = False,
    settle: Sequence[str] = (),
    top_up: bool = False,
    sleep: Sleep = asyncio.sleep,
    notify: Notify = lambda _: None,
) -> Payment:
    """Return what is due to whom; with `send` it is sent, once. Only one process at a time sends.

    `resend` names payments that may be sent once more, `settle` those that a person has completed by hand, `paid`
    confirms that the list in pay/payments.csv is paid, and `top_up` adds what is missing to the minimum pay. `notify`
    receives what the call waits for.
    """
    _check_options(context, paid=paid, resend=resend, settle=settle)
    if not (send or resend or paid or settle):
        return _result(await PayLedger.open(context, sleep, top_up=top_up), is_sent=False, file=None)
    async with context.store.ledger.hold():
        ledger = await PayLedger.open(context, sleep, top_up=top_up, notify=notify)
        with platform_errors(context.study):
            if "bonus" not in context.recruiter.can:
                file = await _pay_by_hand(ledger, send=send, paid=paid)
            else:
                file = None
                await _pay_on_platform(ledger, send=send, resend=resend, settle=settle)
    return _result(ledger, is_sent=True, file=file)


def _check_options(context: RecruitContext, *, paid: bool, resend: Sequence[str], settle: Sequence[str]) -> None:
    """Raise RecruitError for options that do not apply to this mode."""
    mode, is_by_hand = context.study.recruit.mode, "bonus" not in context.recruiter.can
    wrong = {"--paid": paid and not is_by_hand, "--resend": resend and is_by_hand, "--settle": settle and is_by_hand}
    advice = (
        "Pay what is in pay/payments.csv, then say so with --paid." if is_by_hand else "Nobody is paid by hand here."
    )
    what, fix = f"does not go with recruit.mode {mode}", f"{advice} Nothing was sent."
    if problems := [Problem(option, what, "", fix) for option, is_wrong in wrong.items() if is_wrong]:
        raise RecruitError(problems)


async def _pay_on_platform(ledger: PayLedger, *, send: bool, resend: Sequence[str], settle: Sequence[str]) -> None:
    await settle_sent(ledger)
    for id_ in settle:
        await declare_settled(ledger, id_)
    allowed = [id_ for id_ in resend if await authorise_resend(ledger, id_)]
    due: frozenset[Key] = frozenset()
    if send:
        await send_approvals(ledger, await ledger.plan())
        due = await ledger.plan()  # a refused approval may have become a bonus
        await cancel_outdated_batches(ledger, due)
    try:
        await resume_batches(ledger, None if send else allowed)
        await send_bonuses(ledger, due)
    except SendingStopped:
        ledger.notes.append("What is left waits: run `beholder pay --send` again in a few minutes.")
    await send_rejections(ledger, due)
    await send_return_requests(ledger, due)


async def _pay_by_hand(ledger: PayLedger, *, send: bool, paid: bool) -> Path | None:
    if paid:
        await _confirm_paid(ledger)
    return await _write_payment_list(ledger, await ledger.plan()) if send else None


def _result(ledger: PayLedger, *, is_sent: bool, file: Path | None) -> Payment:
    lines = _payment_lines(ledger)
    problems = (*dict.fromkeys(ledger.problems), *_refused_problems(ledger, lines), *_unknown_problems(ledger))
    notes = (*ledger.notes, *_changed_amounts(ledger), *_manual_steps(ledger))
    return Payment(lines, is_sent, problems, notes, file, is_unsigned=_is_unsigned(ledger))


def _is_unsigned(ledger: PayLedger) -> bool:
    """Return whether participants may have earned something, and nobody has signed anything."""
    facts, bonus = ledger.facts, ledger.context.study.clean.bonus
    may_earn = any(one is not None for one in (facts.reward, facts.screen_out, bonus))
    return facts.has_come and may_earn and not signed_rows(ledger.entries)


# The state of debts in the words of the researcher


_STATUSES: Mapping[State, PaymentStatus] = {
    "planned": "owed", "confirmed": "owed", "setup_sent": "owed", "setup_done": "owed", "cancelled": "owed",
    "pay_sent": "unknown", "unknown": "unknown", "resend_authorised": "unknown", "accepted": "sent",
    "refused": "refused", "settled": "paid",
}  # fmt: skip


def _payment_lines(ledger: PayLedger) -> tuple[PaymentLine, ...]:
    """Return a line for everything in the ledger or due by the current facts, in the order of arrival."""
    expected = {debt.key: debt for debt in ledger.expected()}
    lines = [
        PaymentLine(
            debt.kind, debt.submission, debt.participant, debt.reason_code, debt.amount, _status(debt),
            debt.words or debt.reason_text, debt.batch,
        )
        for debt in ledger.state.debts.values()
        if _is_listed(ledger, debt, debt.key in expected)
    ]  # fmt: skip
    new = [debt for key, debt in expected.items() if key not in ledger.state.debts]
    lines += [
        PaymentLine(
            debt.kind, debt.submission, debt.participant, debt.reason_code, debt.amount,
            "owed" if not debt.is_done else "paid" if debt.amount.minor else "nothing", debt.reason_text,
        )
        for debt in new
    ]  # fmt: skip
    return tuple(lines)


def _is_listed(ledger: PayLedger, debt: Debt, is_expected: bool) -> bool:
    """Return whether a debt is listed: not if it is no longer due, nor an approval that a bonus has replaced."""
    if (
        debt.kind == "approve"
        and debt.state == "refused"
        and ("bonus", debt.submission, "reward") in ledger.state.debts
    ):
        return False
    return is_expected or debt.state not in ("planned", "cancelled", "refused")


def _status(debt: Debt) -> PaymentStatus:
    """Return the status of a debt. Refused money is due as before: the next call sends it."""
    if debt.state == "refused" and debt.kind in MONEY:
        return "owed"
    if debt.state == "settled" and debt.kind not in MONEY:
        return "done"
    if debt.state == "settled" and not debt.amount.minor:
        return "nothing"
    return _STATUSES[debt.state]


def _refused_problems(ledger: PayLedger, lines: Sequence[PaymentLine]) -> Iterator[Problem]:
    """Yield what the platform refused; refused bonuses are reported when they are sent."""
    done = {"approve": "approved", "reject": "rejected", "return": "asked to be returned"}
    for line in lines:
        debt = ledger.state.debts.get((line.kind, line.submission, line.reason))
        if debt is None or debt.state != "refused" or debt.kind not in done:
            continue
        fix = "Look at it on the platform, and sign what is to be done instead."
        if debt.kind == "approve":
            fix = "See to it on the platform, as by a top-up where money is missing; `beholder pay --send` tries again."
        yield Problem(debt.submission, f"was not {done[debt.kind]}: {debt.words}", "", fix)


def _unknown_problems(ledger: PayLedger) -> Iterator[Problem]:
    """Yield the payments of unknown outcome, and what a person can do about them."""
    for batch in ledger.state.batches.values():
        debts = [debt for debt in ledger.state.debts_in(batch.id) if debt.is_unsure]
        if not debts or not batch.is_unsure or batch.sent_at is None:
            continue
        total = Sum(sum(debt.amount.minor for debt in debts), debts[0].amount.currency)
        who = ", ".join(dict.fromkeys(debt.submission for debt in debts))
        what = f"nobody knows whether {total} arrived: {who} ({debts[0].words or 'no answer came'})"
        since, until = f"{batch.sent_at:%Y-%m-%d %H:%M} UTC", f"{batch.sent_at + WINDOW:%Y-%m-%d %H:%M} UTC"
        fix = (
            f"It was sent on {since} and is never sent again by itself; each `beholder pay` looks. From {until} on, "
            f"where nobody has got it, `beholder pay --resend {batch.id}` sends it once more."
        )
        yield Problem(batch.id, what, "", fix)


def _changed_amounts(ledger: PayLedger) -> Iterator[str]:
    """Yield which amounts of the study differ from the promised ones."""
    recruit, facts = ledger.context.study.recruit, ledger.facts
    amounts = {"reward": (recruit.reward, facts.reward), "screen_out": (recruit.screen_out, facts.screen_out)}
    for key, (written, promised) in amounts.items():
        if promised is not None and (written is None or money(written) != promised):
            says = "is left out" if written is None else f"is {written}"
            words = f"recruit.{key} {says}, and {promised} was launched: people get what was launched."
            # A published amount cannot be changed on a platform.
            yield words if "bonus" in ledger.context.recruiter.can else f"{words} `beholder launch` changes it."


def _manual_steps(ledger: PayLedger) -> Iterator[str]:
    """Yield what a person does by hand, because the recruiter cannot."""
    manual = ledger.context.recruiter.manual
    verbs: tuple[Verb, ...] = ("reject", "return")
    for verb in verbs:
        open_ = [
            debt for debt in ledger.state.debts.values() if debt.kind == verb and debt.state in ("planned", "accepted")
        ]
        if open_ and verb not in ledger.context.recruiter.can and verb in manual:
            who = ", ".join(debt.submission for debt in open_)
            yield f"{manual[verb]} ({who})"


# Paying by hand


_PAYMENTS_FILE = "payments.csv"
_COLUMNS = ("id", "visit", "outcome", "amount", "currency", "code", "reason")


async def _write_payment_list(ledger: PayLedger, keys: Collection[Key]) -> Path | None:
    """Write pay/payments.csv and return its path; None where nothing is due.

    A list that is not confirmed is written again unchanged, and nothing is added to it: so no debt is ever in two
    lists.
    """
    batch = _open_batch(ledger)
    if batch is None:
        debts = [debt for key in sorted(keys) if (debt := ledger.state.debts[key]).is_due]
        if not debts:
            return None
        problem = _budget_problem(ledger, debts)
        if problem is not None:
            ledger.problems.append(problem)
            return None
        batch = await ledger.create_batch(debts)
    else:
        more = sum(ledger.state.debts[key].is_due for key in keys)
        if more:
            pending = plain_count(more, "more is owed, and comes", "more are owed, and come")
            ledger.notes.append(f"{pending} into the next list, once this one is paid.")
    path = _write(ledger, batch)
    await ledger.write([ledger.batch_entry(batch, "accepted")])
    return path


async def _confirm_paid(ledger: PayLedger) -> None:
    """Record that a person has paid the list."""
    batch = _open_batch(ledger)
    if batch is None or ledger.state.batches[batch].state != "accepted":
        what = "there is no list that waits to be paid" if batch is None else "the list was not written to its end"
        ledger.problems.append(Problem("--paid", what, "", "`beholder pay --send` writes pay/payments.csv."))
        return
    unsettled = [debt for debt in ledger.state.debts_in(batch) if debt.state != "settled"]
    await ledger.write([ledger.entry_for(debt, "settled", "a person says that it is paid") for debt in unsettled])


def _open_batch(ledger: PayLedger) -> str | None:
    """Return the list that is not paid yet."""
    return next((one.id for one in ledger.state.batches.values() if one.state in ("confirmed", "accepted")), None)


def _budget_problem(ledger: PayLedger, due: Collection[Debt]) -> Problem | None:
    amounts = [debt.amount for debt in due if debt.amount.minor]
    if not amounts:
        return None
    debts = ledger.state.debts.values()
    spent = sum(debt.amount.minor for debt in debts if debt.state in ("accepted", "settled") and debt.kind in MONEY)
    return budget_problem(ledger, Sum(sum(one.minor for one in amounts), amounts[0].currency), spent)


def _write(ledger: PayLedger, id: str) -> Path:
    """Write the list and return its path, or raise RecruitError."""
    due = (debt for debt in ledger.state.debts_in(id) if debt.kind in MONEY and debt.amount.minor)
    table = table_bytes(_COLUMNS, (_row(ledger, debt) for debt in due))
    folder = ledger.context.study.folder / "pay"
    try:
        write_private(folder / _PAYMENTS_FILE, table)
    except OSError as error:
        what = f"cannot be written ({error.strerror})"
        fix = "Nothing was paid. Make it writable, then run `beholder pay --send` again."
        raise RecruitError(Problem(str(folder / _PAYMENTS_FILE), what, "", fix)) from error
    return folder / _PAYMENTS_FILE


def _row(ledger: PayLedger, debt: Debt) -> Mapping[str, str]:
    visit = ledger.facts.visits.get(debt.submission)
    session = next((one for one in visit.sessions if one.session == debt.session), None) if visit is not None else None
    return {
        "id": (visit.platform_id if visit is not None else "") or debt.participant,
        # The key of a visit without a platform would link the id to the answers.
        "visit": "" if _is_own(debt, visit) else debt.submission,
        "outcome": (session.outcome or "") if session is not None else "",
        "amount": debt.amount.amount,
        "currency": debt.amount.currency,
        "code": session.code if session is not None else "",
        "reason": debt.reason_code,
    }


def _is_own(debt: Debt, visit: PayableVisit | None) -> bool:
    """Return whether a debt is identified by a session or a pseudonym, and not by a visit on a platform."""
    sessions = [one.session for one in visit.sessions] if visit is not None else []
    is_person = bool(debt.participant) and debt.submission.startswith(debt.participant)
    return is_person or debt.submission in (debt.session, *sessions)
