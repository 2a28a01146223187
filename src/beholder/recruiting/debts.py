"""What is owed: made of what was signed, how submissions stand, and what cleaning found out; nothing is sent here."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from beholder.errors import Problem
from beholder.recruiting.contract import PAID, SHORTEST_MESSAGE
from beholder.recruiting.ledger import Debt, LedgerState
from beholder.recruiting.pay_facts import PayableVisit, PayFacts
from beholder.recruiting.preflight import higher_floor
from beholder.recruiting.progress import median_minutes, top_up
from beholder.recruiting.signatures import RUN_SIGNATURE, SignedRow
from beholder.study.model import Study
from beholder.study.recruitment import Sum
from beholder.words import read_words

RETURN_MESSAGE = (
    "We have no complete answers that belong to this submission. Please return it; thank you for your time."
)
_NOT_HERE = ("NO_DATA", "NO_CODE")
"""Grounds of a rejection that are gone once everything has come."""
_PAYABLE = (None, "awaiting_review", "timed_out")
"""How a submission stands that can be approved; None where no platform tells."""


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
        """What it is known by."""
        return (self.kind, self.submission, self.reason_code)


def expected_debts(
    study: Study, facts: PayFacts, signed: Mapping[str, SignedRow], state: LedgerState, *, with_top_up: bool
) -> tuple[tuple[ExpectedDebt, ...], tuple[Problem, ...]]:
    """Return everything that is owed, whether it is in the ledger or not, and what keeps us from knowing it."""
    maker = _DebtMaker(study, facts, signed, state, with_top_up)
    found = tuple(maker.all())
    return found, tuple(dict.fromkeys(maker.problems))


class _DebtMaker:
    def __init__(
        self, study: Study, facts: PayFacts, signed: Mapping[str, SignedRow], state: LedgerState, top: bool
    ) -> None:
        self._study, self._facts, self._signed, self._state = study, facts, signed, state
        self._reward, self._screen_out = facts.reward, facts.screen_out
        self.problems: list[Problem] = []
        self._top_up = self._fair() if top else None
        self._due, self._prior = facts.bonuses.by_rule, self._bonuses()
        if signed:
            self.problems += facts.bonuses.problems

    def all(self) -> Iterator[ExpectedDebt]:
        """Yield what is owed, submission by submission."""
        for submission, visit in self._facts.visits.items():
            row = self._signed.get(submission)
            yield from self._base(submission, visit, row)
            if row is not None and self._has_earned(visit, row):
                yield from self._extras(submission, visit, row)

    def _base(self, submission: str, visit: PayableVisit, row: SignedRow | None) -> Iterator[ExpectedDebt]:
        whole = [one.session for one in visit.sessions if one.outcome == "completed"]
        session = next(iter([*whole, *(one.session for one in reversed(visit.sessions))]), "")

        def owe(kind: str, reason: str, amount: Sum | None, text: str, *, done: bool = False) -> ExpectedDebt:
            return ExpectedDebt(kind, submission, reason, visit.participant, session, amount or Sum(0, ""), text, done)

        if visit.status in PAID:
            amount = self._reward if visit.status == "approved" else None
            yield owe("approve", "reward", amount, "approved on the platform", done=True)
        elif visit.status == "screened_out":
            yield owe("bonus", "screen_out", self._screen_out, "paid by the platform", done=True)
            if row is not None and row.pay == "bonus" and (rest := self._rest()) is not None:
                yield owe("bonus", "reward", rest, "the reward, less what the platform has paid as a screen-out")
        elif visit.status == "rejected" and (sent := self._rejection(submission)) is not None:
            yield owe("reject", sent.reason_code, None, sent.reason_text, done=True)
        elif row is not None and row.pay in ("approve", "bonus") and not self._is_paid_elsewhere(submission, session):
            for kind in self._rewards(submission, visit, row):
                text = "the reward" if kind == "approve" else "the reward: the platform no longer approves it"
                yield owe(kind, "reward", self._reward, text)
        elif row is not None and row.pay == "screen_out" and self._screen_out is not None:
            yield owe("bonus", "screen_out", self._screen_out, "did not fit, and is paid for that")
            if visit.status == "awaiting_review":
                words = read_words(self._study.language)["paid_screened_out"].format(amount=self._screen_out)
                yield owe("return", "screen_out", None, row.message or words)
        elif row is not None and row.pay == "return" and visit.status in (None, "awaiting_review"):
            yield owe("return", "return", None, row.message or RETURN_MESSAGE)
        elif self._may_reject(submission, visit, row):
            assert row is not None
            yield owe("reject", row.category, None, row.message.strip())

    def _may_reject(self, submission: str, visit: PayableVisit, row: SignedRow | None) -> bool:
        """Return whether a rejection can be sent: a person has signed it, and says enough about why."""
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
        """Yield by what the reward is paid: an approval, while it can be approved; else a bonus.

        Never by both: what was sent in one way stands.
        """
        if self._reward is None:
            return
        approval, bonus = (self._state.debts.get((kind, submission, "reward")) for kind in ("approve", "bonus"))
        is_late = visit.status == "timed_out" and approval is not None and approval.state == "refused"
        # A platform approves by itself what it is not told about: paid by a bonus, it would be paid twice.
        is_waiting = visit.status == "awaiting_review"
        is_payable = row.pay == "approve" and visit.status in _PAYABLE and not is_late
        if (is_waiting or is_payable) and (bonus is None or bonus.is_due):
            yield "approve"
        elif is_late or (row.pay == "bonus" and (approval is None or approval.is_due)):
            yield "bonus"

    def _rest(self) -> Sum | None:
        """Return what a reward is more than the amount for those who did not fit."""
        if self._reward is None or self._screen_out is None or self._reward.minor <= self._screen_out.minor:
            return None
        return Sum(self._reward.minor - self._screen_out.minor, self._reward.currency)

    def _rejection(self, submission: str) -> Debt | None:
        """Return the rejection that was to be sent to a submission."""
        debts = self._state.debts.values()
        return next((one for one in debts if one.kind == "reject" and one.submission == submission), None)

    def _is_paid_elsewhere(self, submission: str, session: str) -> bool:
        """Return whether the same session was paid under another submission, as of somebody who came by two."""
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
        """Return whether bonuses are due; who has returned it gets them only where the signature says bonus."""
        return visit.status in PAID or (row.pay == "bonus" or (row.pay == "approve" and visit.status in _PAYABLE))

    def _extras(self, submission: str, visit: PayableVisit, row: SignedRow) -> Iterator[ExpectedDebt]:
        for session in row.further:
            if self._reward is not None:
                text = "a further session of the same visit"
                code = f"session:{session}"
                yield ExpectedDebt("bonus", submission, code, visit.participant, session, self._reward, text)
        own = {one.session for one in visit.sessions}
        for rule, rows in self._due.items():
            due = next((one for one in rows if one.session in own), None)
            reason = due.reason if due is not None else f"no {rule} bonus by the rules of the study"
            total = due.amount if due is not None else None
            prior = [one for one in self._prior.get(rule, ()) if one.participant == visit.participant]
            yield from self._more(submission, visit, rule, total, prior, reason)
        prior = [one for one in self._prior.get("fair_pay", ()) if one.submission == submission]
        if self._top_up is not None or any(one.is_open for one in prior):  # once it is planned it is owed
            yield from self._more(submission, visit, "fair_pay", self._top_up, prior, "up to the least pay for an hour")

    def _more(
        self, submission: str, visit: PayableVisit, rule: str, total: Sum | None, prior: list[Debt], text: str
    ) -> Iterator[ExpectedDebt]:
        """Yield a bonus; where it was planned before and has grown since, what is missing under a reason of its own.

        Nothing at all is owed too: what is owed nothing differs from what was forgotten.
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

    def _bonuses(self) -> Mapping[str, Sequence[Debt]]:
        """Return what was planned by each rule in this run: the same people may come to the next one."""
        found: defaultdict[str, list[Debt]] = defaultdict(list)
        for one in self._state.debts.values():
            if one.kind == "bonus" and one.submission in self._facts.visits:
                found[one.reason_code.partition(":")[0]].append(one)
        return found

    def _fair(self) -> Sum | None:
        """Return what is missing to the least pay for an hour at the median time; None where nothing is."""
        reward, launched = self._reward, self._facts.launched
        theirs = launched.floor if launched is not None else None
        floor = higher_floor(self._study.recruit, theirs, reward.currency) if reward is not None else None
        if floor is None or reward is None:
            key = "recruit.reward" if reward is None else "recruit.hourly_minimum"
            what, fix = "is left out, so nobody knows what is missing to it", "Write it, such as `9.00 GBP`."
            self.problems.append(self._study.problem(key, what, "", fix))
            return None
        clocks = (self._facts.minutes, self._facts.platform_minutes)
        needed = [top_up(reward, median_minutes(minutes), floor) for minutes in clocks]
        return max((one for one in needed if one is not None), default=None)


# --- What `pay` found and did ---


PaymentStatus = Literal["owed", "sent", "paid", "done", "nothing", "refused", "unknown"]
"""owed: not sent. sent: taken, and not yet seen to arrive. paid: seen to arrive, or said so by a person. done: the same
of what is no payment. nothing: owed nothing, by the rules. refused: the platform said no, for good. unknown: sent, and
nobody knows whether it arrived."""

_REASONS = {
    "reward": "the reward",
    "screen_out": "did not fit",
    "session": "a further session",
    "fair_pay": "up to the least pay",
}


@dataclass(frozen=True)
class PaymentLine:
    """One thing that is owed to one person, or to be done about one submission."""

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
    """The payment that it went with, such as B2."""

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


@dataclass(frozen=True)
class Payment:
    """Everything that is owed, and how it stands."""

    lines: tuple[PaymentLine, ...]
    is_sent: bool
    """Whether anything could be sent; not in a dry run."""
    problems: tuple[Problem, ...]
    """What a person has to see to. Nothing of it holds up the other lines."""
    notes: tuple[str, ...]
    file: Path | None
    """The list that a person pays by hand; None where a platform pays."""
    is_unsigned: bool = False
    """Whether somebody has come who may have earned something, and nobody has signed anything."""

    def of(self, *statuses: PaymentStatus) -> tuple[PaymentLine, ...]:
        """Return the lines that stand so."""
        return tuple(line for line in self.lines if line.status in statuses)

    def total(self, *statuses: PaymentStatus) -> Sum | None:
        """Return what the lines that stand so come to; None where there is no money in them."""
        found = [line.amount for line in self.of(*statuses) if line.amount.minor]
        return Sum(sum(one.minor for one in found), found[0].currency) if found else None

    @property
    def words(self) -> tuple[str, ...]:
        """All of this in sentences, but for the problems."""
        if not self.lines and not self.is_unsigned:
            return (*(() if self.problems else ("Nothing is owed to anybody.",)), *self.notes)
        if not self.lines:
            return ("Nothing is owed: nobody has signed a decision yet. `beholder decide --sign NAME` does.",)
        found = [f"{name}: {_sum_up(self.of(*some))}" for name, some in _HEADS if self.of(*some)]
        if self.file is not None:
            found.append(f"Pay what is in {self.file}, then run `beholder pay --paid`.")
        elif not self.is_sent and self.of("owed"):
            found.append("Nothing was sent. `beholder pay --send` does it.")
        return (*found, *self.notes)

    @property
    def unknown(self) -> tuple[PaymentLine, ...]:
        """What nobody knows."""
        return self.of("unknown")

    @property
    def is_settled(self) -> bool:
        """Whether nothing is owed, on its way, or unknown."""
        return not self.of("owed", "sent", "unknown")


_HEADS: tuple[tuple[str, tuple[PaymentStatus, ...]], ...] = (
    ("Owed", ("owed",)),
    ("On its way", ("sent",)),
    ("Paid or done", ("paid", "done")),
    ("Owed nothing", ("nothing",)),
    ("Refused by the platform", ("refused",)),
    ("Unknown", ("unknown",)),
)


def _sum_up(lines: Sequence[PaymentLine]) -> str:
    money = [line.amount for line in lines if line.amount.minor]
    other = len(lines) - len(money)
    parts = []
    if money:
        total = Sum(sum(one.minor for one in money), money[0].currency)
        parts.append(f"{len(money)} payment{'s' * (len(money) != 1)} of {total} in all")
    if other:
        is_money = lines[0].kind in ("approve", "bonus") and lines[0].status == "nothing"
        name = "bonus" if is_money else "message"
        plural = "es" if is_money else "s"
        parts.append(f"{other} {name}{plural * (other != 1)}")
    return ", ".join(parts)
