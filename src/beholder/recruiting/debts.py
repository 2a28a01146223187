"""Debts: what is due to each participant by signatures, submissions and bonuses, and the result of `pay`.

Nothing is sent here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from beholder.errors import Problem
from beholder.formats import plain_count
from beholder.recruiting.contract import PAID, SHORTEST_MESSAGE
from beholder.recruiting.ledger import Debt, LedgerState
from beholder.recruiting.pay_facts import PayableVisit, PayFacts
from beholder.recruiting.preflight import higher_floor
from beholder.recruiting.progress import median_minutes, top_up
from beholder.recruiting.signatures import RUN_SIGNATURE, SignedRow
from beholder.result_view import ResultView, ShownResult
from beholder.study.model import Study
from beholder.study.recruitment import Sum
from beholder.words import read_words

_NOT_HERE = ("NO_DATA", "NO_CODE")
"""Grounds of a rejection that no longer hold once the data is complete."""
_PAYABLE = (None, "awaiting_review", "timed_out")
"""Statuses of a submission that can be approved; None where there is no platform."""


@dataclass(frozen=True)
class ExpectedDebt:
    """A debt as it should be in the ledger."""

    kind: str
    submission: str
    reason_code: str
    participant: str
    session: str
    amount: Sum
    reason_text: str
    is_done: bool = False
    """Whether there is nothing to send: the platform has done it by itself, or the amount is 0."""

    @property
    def key(self) -> tuple[str, str, str]:
        """What identifies the debt."""
        return (self.kind, self.submission, self.reason_code)


def expected_debts(
    study: Study, facts: PayFacts, signed: Mapping[str, SignedRow], state: LedgerState, *, with_top_up: bool
) -> tuple[tuple[ExpectedDebt, ...], tuple[Problem, ...]]:
    """Return everything that is due, recorded or not, and the problems in determining it."""
    maker = _DebtMaker(study, facts, signed, state, with_top_up)
    debts = tuple(maker.all())
    return debts, tuple(dict.fromkeys(maker.problems))


class _DebtMaker:
    def __init__(
        self, study: Study, facts: PayFacts, signed: Mapping[str, SignedRow], state: LedgerState, top: bool
    ) -> None:
        self._study, self._facts, self._signed, self._state = study, facts, signed, state
        self._reward, self._screen_out = facts.reward, facts.screen_out
        self.problems: list[Problem] = []
        self._top_up = self._fair_pay() if top else None
        self._by_rule, self._planned_bonuses = facts.bonuses.by_rule, self._read_planned_bonuses()
        if signed:
            self.problems += facts.bonuses.problems

    def all(self) -> Iterator[ExpectedDebt]:
        """Yield what is due, submission by submission."""
        for submission, visit in self._facts.visits.items():
            row = self._signed.get(submission)
            yield from self._main_debts(submission, visit, row)
            if row is not None and self._has_earned(visit, row):
                yield from self._further_debts(submission, visit, row)

    def _main_debts(self, submission: str, visit: PayableVisit, row: SignedRow | None) -> Iterator[ExpectedDebt]:
        whole = [one.session for one in visit.sessions if one.outcome == "completed"]
        session = next(iter([*whole, *(one.session for one in reversed(visit.sessions))]), "")

        def debt(kind: str, reason: str, amount: Sum | None, text: str, *, done: bool = False) -> ExpectedDebt:
            return ExpectedDebt(kind, submission, reason, visit.participant, session, amount or Sum(0, ""), text, done)

        if visit.status in PAID:
            amount = self._reward if visit.status == "approved" else None
            yield debt("approve", "reward", amount, "approved on the platform", done=True)
        elif visit.status == "screened_out":
            yield debt("bonus", "screen_out", self._screen_out, "paid by the platform", done=True)
            if row is not None and row.pay == "bonus" and (rest := self._reward_beyond_screen_out()) is not None:
                yield debt("bonus", "reward", rest, "the reward, less what the platform has paid as a screen-out")
        elif visit.status == "rejected" and (sent := self._rejection(submission)) is not None:
            yield debt("reject", sent.reason_code, None, sent.reason_text, done=True)
        elif row is not None and row.pay in ("approve", "bonus") and not self._is_paid_elsewhere(submission, session):
            for kind in self._rewards(submission, visit, row):
                text = "the reward" if kind == "approve" else "the reward: the platform no longer approves it"
                yield debt(kind, "reward", self._reward, text)
        elif row is not None and row.pay == "screen_out" and self._screen_out is not None:
            yield debt("bonus", "screen_out", self._screen_out, "did not fit, and is paid for that")
            if visit.status == "awaiting_review":
                words = read_words(self._study.language).say("paid_screened_out", amount=self._screen_out)
                yield debt("return", "screen_out", None, row.message or words)
        elif row is not None and row.pay == "return" and visit.status in (None, "awaiting_review"):
            yield debt("return", "return", None, row.message or read_words(self._study.language)["please_return"])
        elif self._may_reject(submission, visit, row):
            assert row is not None
            yield debt("reject", row.category, None, row.message.strip())

    def _may_reject(self, submission: str, visit: PayableVisit, row: SignedRow | None) -> bool:
        """Return whether a rejection can be sent: signed by a person, with a sufficient message."""
        if (
            row is None
            or row.pay != "reject"
            or row.by == RUN_SIGNATURE
            or visit.status not in (None, "awaiting_review")
        ):
            return False
        if row.category in _NOT_HERE and any(one.outcome == "completed" for one in visit.sessions):
            what = f"{submission} is to be rejected ({row.category}), and everything of it has come since"
            fix = "Nothing was sent. Run `beholder decide`, look, and sign again."
            self.problems.append(Problem("decide", what, "", fix))
            return False
        length = len(row.message.strip())
        if length >= SHORTEST_MESSAGE and row.category:
            return True
        what = f"the rejection of {submission} has a message of {length} characters"
        what += "" if row.category else " and no category"
        fix = "Write in decide/decisions.csv what was asked for and what was done, and sign it again."
        self.problems.append(Problem("decide", what, f"a category, and {SHORTEST_MESSAGE} characters or more", fix))
        return False

    def _rewards(self, submission: str, visit: PayableVisit, row: SignedRow) -> Iterator[str]:
        """Yield how the reward is paid: by approval, while that is possible; else by a bonus. Never by both."""
        if self._reward is None:
            return
        approval, bonus = (self._state.debts.get((kind, submission, "reward")) for kind in ("approve", "bonus"))
        is_late = visit.status == "timed_out" and approval is not None and approval.state == "refused"
        # The platform approves an undecided submission by itself: with a bonus it would be paid twice.
        is_waiting = visit.status == "awaiting_review"
        is_payable = row.pay == "approve" and visit.status in _PAYABLE and not is_late
        if (is_waiting or is_payable) and (bonus is None or bonus.is_due):
            yield "approve"
        elif is_late or (row.pay == "bonus" and (approval is None or approval.is_due)):
            yield "bonus"

    def _reward_beyond_screen_out(self) -> Sum | None:
        """Return the reward less the screen-out amount."""
        if self._reward is None or self._screen_out is None or self._reward.minor <= self._screen_out.minor:
            return None
        return Sum(self._reward.minor - self._screen_out.minor, self._reward.currency)

    def _rejection(self, submission: str) -> Debt | None:
        """Return the rejection of a submission in the ledger."""
        debts = self._state.debts.values()
        return next((one for one in debts if one.kind == "reject" and one.submission == submission), None)

    def _is_paid_elsewhere(self, submission: str, session: str) -> bool:
        """Return whether the session was paid under another submission of the same participant."""
        for debt in self._state.debts.values():
            is_sent = debt.is_unsure or debt.state in ("accepted", "settled")
            if session and is_sent and (debt.session, debt.reason_code) == (session, "reward"):
                if debt.submission == submission:
                    return False
                what = f"{submission} is to be paid for a session that {debt.submission} was paid for already"
                fix = "Nothing was sent. Put `return` for it into decide/decisions.csv, and sign it."
                self.problems.append(Problem("decide", what, "", fix))
                return True
        return False

    def _has_earned(self, visit: PayableVisit, row: SignedRow) -> bool:
        """Return whether bonuses are due; for a returned submission only where the signature says bonus."""
        return visit.status in PAID or (row.pay == "bonus" or (row.pay == "approve" and visit.status in _PAYABLE))

    def _further_debts(self, submission: str, visit: PayableVisit, row: SignedRow) -> Iterator[ExpectedDebt]:
        for session in row.further:
            if self._reward is not None:
                text = "a further session of the same visit"
                code = f"session:{session}"
                yield ExpectedDebt("bonus", submission, code, visit.participant, session, self._reward, text)
        own = {one.session for one in visit.sessions}
        for rule, rows in self._by_rule.items():
            due = next((one for one in rows if one.session in own), None)
            reason = due.reason if due is not None else f"no {rule} bonus by the rules of the study"
            total = due.amount if due is not None else None
            prior = [one for one in self._planned_bonuses.get(rule, ()) if one.participant == visit.participant]
            yield from self._bonus(submission, visit, rule, total, prior, reason)
        prior = [one for one in self._planned_bonuses.get("fair_pay", ()) if one.submission == submission]
        if self._top_up is not None or any(one.is_open for one in prior):  # once planned it is due
            yield from self._bonus(
                submission, visit, "fair_pay", self._top_up, prior, "up to the least pay for an hour"
            )

    def _bonus(
        self, submission: str, visit: PayableVisit, rule: str, total: Sum | None, prior: list[Debt], text: str
    ) -> Iterator[ExpectedDebt]:
        """Yield a bonus; where it was planned before and has grown since, the difference under its own reason.

        A bonus of 0 is recorded too, so that it differs from one that was missed.
        """
        session = visit.sessions[-1].session if visit.sessions else ""
        for debt in prior:
            if debt.submission == submission:
                yield ExpectedDebt(
                    debt.kind, submission, debt.reason_code, debt.participant, debt.session, debt.amount,
                    debt.reason_text, is_done=not debt.amount.minor,
                )  # fmt: skip
        due = total or Sum(0, self._reward.currency if self._reward is not None else "")
        had = sum(debt.amount.minor for debt in prior)
        if not prior:
            yield ExpectedDebt("bonus", submission, rule, visit.participant, session, due, text, is_done=not due.minor)
        elif due.minor > had:
            rest = Sum(due.minor - had, due.currency)
            yield ExpectedDebt("bonus", submission, f"{rule}:{due.minor}", visit.participant, session, rest, text)

    def _read_planned_bonuses(self) -> Mapping[str, Sequence[Debt]]:
        """Return the bonuses planned by each rule in this run: the same participants may come to the next one."""
        planned: defaultdict[str, list[Debt]] = defaultdict(list)
        for one in self._state.debts.values():
            if one.kind == "bonus" and one.submission in self._facts.visits:
                planned[one.reason_code.partition(":")[0]].append(one)
        return planned

    def _fair_pay(self) -> Sum | None:
        """Return what is missing to the minimum pay per hour at the median time; None where nothing is."""
        reward, launched = self._reward, self._facts.launched
        platform = launched.floor if launched is not None else None
        floor = higher_floor(self._study.recruit, platform, reward.currency) if reward is not None else None
        if floor is None or reward is None:
            key = "recruit.reward" if reward is None else "recruit.hourly_minimum"
            what, fix = "is left out, so nobody knows what is missing to it", "Write it, such as `9.00 GBP`."
            self.problems.append(self._study.problem(key, what, "", fix))
            return None
        clocks = (self._facts.minutes, self._facts.platform_minutes)
        needed = [top_up(reward, median_minutes(minutes), floor) for minutes in clocks]
        return max((one for one in needed if one is not None), default=None)


PaymentStatus = Literal["owed", "sent", "paid", "done", "nothing", "refused", "unknown"]
"""owed: not sent. sent: accepted, arrival not seen yet. paid: arrived, or confirmed by a person. done: the same for
what is no payment. nothing: 0 by the rules. refused: refused by the platform, for good. unknown: sent, arrival unknown.
"""

_REASONS = {
    "reward": "the reward",
    "screen_out": "did not fit",
    "session": "a further session",
    "fair_pay": "up to the least pay",
}


@dataclass(frozen=True)
class PaymentLine:
    """One payment to a participant, or one action about a submission."""

    kind: str
    """approve, bonus, reject, return"""
    submission: str
    participant: str
    """The pseudonym."""
    reason: str
    """reward, screen_out, quantity, quality, fair_pay, session:ID; of a rejection its category"""
    amount: Sum
    status: PaymentStatus
    words: str
    payment: str = ""
    """The batch it was sent in, such as B2."""

    @property
    def what(self) -> str:
        """What it is, in words."""
        if self.kind == "reject":
            return f"reject ({self.reason})"
        if self.kind == "return":
            return "ask to return it"
        if self.kind == "bonus" and self.reason == "reward":
            return "the reward, as a bonus"
        rule = self.reason.partition(":")[0]
        return _REASONS.get(rule, f"bonus ({rule})")


@dataclass(frozen=True, repr=False)
class Payment(ShownResult):
    """All debts and their status."""

    lines: tuple[PaymentLine, ...]
    is_sent: bool
    """Whether anything could be sent; False in a dry run."""
    problems: tuple[Problem, ...]
    """What needs a person. They do not hold up the other lines."""
    notes: tuple[str, ...]
    file: Path | None
    """The list that a person pays by hand; None where a platform pays."""
    is_unsigned: bool = False
    """Whether participants may have earned something, and nobody has signed anything."""

    def of(self, *statuses: PaymentStatus) -> tuple[PaymentLine, ...]:
        """Return the lines with one of these statuses."""
        return tuple(line for line in self.lines if line.status in statuses)

    def total(self, *statuses: PaymentStatus) -> Sum | None:
        """Return the sum of the lines with one of these statuses; None where no money is in them."""
        amounts = [line.amount for line in self.of(*statuses) if line.amount.minor]
        return Sum(sum(one.minor for one in amounts), amounts[0].currency) if amounts else None

    @property
    def words(self) -> tuple[str, ...]:
        """All of this in sentences, but for the problems."""
        if not self.lines and not self.is_unsigned:
            return (*(() if self.problems else ("Nothing is owed to anybody.",)), *self.notes)
        if not self.lines:
            return ("Nothing is owed: nobody has signed a decision yet. `beholder decide --sign NAME` does.",)
        lines = [f"{name}: {_total_text(self.of(*some))}" for name, some in _HEADS if self.of(*some)]
        if self.file is not None:
            lines.append(f"Pay what is in {self.file}, then run `beholder pay --paid`.")
        elif not self.is_sent and self.of("owed"):
            lines.append("Nothing was sent. `beholder pay --send` does it.")
        return (*lines, *self.notes)

    @property
    def unknown(self) -> tuple[PaymentLine, ...]:
        """The lines of unknown outcome."""
        return self.of("unknown")

    @property
    def is_settled(self) -> bool:
        """Whether nothing is due, under way, or unknown."""
        return not self.of("owed", "sent", "unknown")

    def _view(self) -> ResultView:
        import pandas as pd

        rows = [
            {"participant": line.participant, "what": line.what, "status": line.status,
             "amount": str(line.amount) if line.amount.minor else "", "submission": line.submission,
             "payment": line.payment}
            for line in self.lines
        ]  # fmt: skip
        return ResultView([*self.words, *(str(problem) for problem in self.problems)], pd.DataFrame(rows))


_HEADS: tuple[tuple[str, tuple[PaymentStatus, ...]], ...] = (
    ("Owed", ("owed",)),
    ("On its way", ("sent",)),
    ("Paid or done", ("paid", "done")),
    ("Owed nothing", ("nothing",)),
    ("Refused by the platform", ("refused",)),
    ("Unknown", ("unknown",)),
)


def _total_text(lines: Sequence[PaymentLine]) -> str:
    money = [line.amount for line in lines if line.amount.minor]
    other = len(lines) - len(money)
    parts = []
    if money:
        total = Sum(sum(one.minor for one in money), money[0].currency)
        parts.append(f"{plain_count(len(money), 'payment')} of {total} in all")
    if other:
        is_money = lines[0].kind in ("approve", "bonus") and lines[0].status == "nothing"
        parts.append(plain_count(other, *(("bonus", "bonuses") if is_money else ("message", "messages"))))
    return ", ".join(parts)
