"""How debts stand, in the words of the researcher."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from beholder.errors import Problem
from beholder.recruit.contract import Verb
from beholder.recruit.ledger.fold import MONEY, Debt, State
from beholder.recruit.paying.found import Line, Standing
from beholder.recruit.paying.settling import WINDOW
from beholder.recruit.paying.till import Till
from beholder.study.money import Sum, money

_STANDING: Mapping[State, Standing] = {
    "planned": "owed", "confirmed": "owed", "setup_sent": "owed", "setup_done": "owed", "cancelled": "owed",
    "pay_sent": "unknown", "unknown": "unknown", "resend_authorised": "unknown", "accepted": "sent",
    "refused": "refused", "settled": "paid",
}  # fmt: skip


def lines_of(till: Till) -> tuple[Line, ...]:
    """Return a line for everything that is in the ledger or is owed by what is known now, in the order of arrival."""
    wanted = {debt.key: debt for debt in till.wanted()}
    lines = [
        Line(
            debt.kind, debt.submission, debt.participant, debt.reason_code, debt.amount, _standing(debt),
            debt.words or debt.reason_text, debt.batch,
        )
        for debt in till.books.debts.values()
        if _counts(till, debt, debt.key in wanted)
    ]  # fmt: skip
    new = [debt for key, debt in wanted.items() if key not in till.books.debts]
    lines += [
        Line(
            debt.kind, debt.submission, debt.participant, debt.reason_code, debt.amount,
            "owed" if not debt.is_done else "paid" if debt.amount.minor else "nothing", debt.reason_text,
        )
        for debt in new
    ]  # fmt: skip
    return tuple(lines)


def _counts(till: Till, debt: Debt, is_wanted: bool) -> bool:
    """Return whether a debt is told: not what nobody owes any more, nor an approval in whose place a bonus was paid."""
    if debt.kind == "approve" and debt.state == "refused" and ("bonus", debt.submission, "reward") in till.books.debts:
        return False
    return is_wanted or debt.state not in ("planned", "cancelled", "refused")


def _standing(debt: Debt) -> Standing:
    """Return how a debt stands. Money that was refused is owed as before: the next call sends it."""
    if debt.state == "refused" and debt.kind in MONEY:
        return "owed"
    if debt.state == "settled" and debt.kind not in MONEY:
        return "done"
    if debt.state == "settled" and not debt.amount.minor:
        return "nothing"
    return _STANDING[debt.state]


def refused_problems(till: Till, lines: Sequence[Line]) -> Iterator[Problem]:
    """Yield what the platform has refused; of bonuses it is told when they are sent."""
    done = {"approve": "approved", "reject": "rejected", "return": "asked to be returned"}
    for line in lines:
        debt = till.books.debts.get((line.kind, line.submission, line.reason))
        if debt is None or debt.state != "refused" or debt.kind not in done:
            continue
        fix = "Look at it on the platform, and sign what is to be done instead."
        if debt.kind == "approve":
            fix = "See to it on the platform, as by a top-up where money is missing; `beholder pay --send` tries again."
        yield Problem(debt.submission, f"was not {done[debt.kind]}: {debt.words}", "", fix)


def unknown_problems(till: Till) -> Iterator[Problem]:
    """Yield who is unknown, payment by payment, and what a person can do about it."""
    for parcel in till.books.parcels.values():
        debts = [debt for debt in till.books.of(parcel.id) if debt.is_unsure]
        if not debts or not parcel.is_unsure or parcel.sent_at is None:
            continue
        total = Sum(sum(debt.amount.minor for debt in debts), debts[0].amount.currency)
        who = ", ".join(dict.fromkeys(debt.submission for debt in debts))
        what = f"nobody knows whether {total} arrived: {who} ({debts[0].words or 'no answer came'})"
        since, until = f"{parcel.sent_at:%Y-%m-%d %H:%M} UTC", f"{parcel.sent_at + WINDOW:%Y-%m-%d %H:%M} UTC"
        fix = (
            f"It was sent on {since} and is never sent again by itself; each `beholder pay` looks. From {until} on, "
            f"where nobody has got it, `beholder pay --resend {parcel.id}` sends it once more."
        )
        yield Problem(parcel.id, what, "", fix)


def changed_amounts(till: Till) -> Iterator[str]:
    """Yield which amounts of the study are others than those that people were promised."""
    recruit, known = till.desk.study.recruit, till.known
    amounts = {"reward": (recruit.reward, known.reward), "screen_out": (recruit.screen_out, known.screen_out)}
    for key, (written, promised) in amounts.items():
        if promised is not None and (written is None or money(written) != promised):
            says = "is left out" if written is None else f"is {written}"
            words = f"recruit.{key} {says}, and {promised} was launched: people get what was launched."
            # What is published on a platform cannot be changed any more.
            yield words if "bonus" in till.desk.recruiter.can else f"{words} `beholder launch` changes it."


def manual_steps(till: Till) -> Iterator[str]:
    """Yield what a person does by hand, because the recruiter cannot."""
    manual: Mapping[Verb, str] = getattr(till.desk.recruiter, "manual", {})
    verbs: tuple[Verb, ...] = ("reject", "return")
    for verb in verbs:
        open_ = [
            debt for debt in till.books.debts.values() if debt.kind == verb and debt.state in ("planned", "accepted")
        ]
        if open_ and verb not in till.desk.recruiter.can and verb in manual:
            who = ", ".join(debt.submission for debt in open_)
            yield f"{manual[verb]} ({who})"
