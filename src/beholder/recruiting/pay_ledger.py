"""The ledger while paying: planned debts, entries written before anything is sent, and checks of budget and balance."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from fractions import Fraction

from beholder.errors import Problem
from beholder.recruiting.context import RecruitContext
from beholder.recruiting.contract import Job
from beholder.recruiting.debts import ExpectedDebt, expected_debts
from beholder.recruiting.ledger import BatchState, Debt, Key, LedgerState, bonus_cost, replay
from beholder.recruiting.pay_facts import PayFacts, pay_facts, refresh_facts
from beholder.recruiting.preflight import cost_of_runs
from beholder.recruiting.signatures import signed_rows
from beholder.store.contract import LedgerEntry
from beholder.study.recruitment import Sum, money, own_posting

Sleep = Callable[[float], Awaitable[None]]
Notify = Callable[[str], None]


class PayLedger:
    """All debts in their current state, and the only writer of the ledger while paying."""

    def __init__(
        self,
        context: RecruitContext,
        entries: Sequence[LedgerEntry],
        facts: PayFacts,
        sleep: Sleep,
        *,
        top_up: bool,
        notify: Notify,
    ) -> None:
        self.context, self.facts, self.sleep, self._notify = context, facts, sleep, notify
        self.entries = list(entries)
        self.state: LedgerState = replay(self.entries)
        self._top_up = top_up
        self.problems: list[Problem] = []
        """What a person has to see to."""
        self.notes: list[str] = []
        """What is worth telling."""

    @classmethod
    async def open(
        cls,
        context: RecruitContext,
        sleep: Sleep = asyncio.sleep,
        *,
        top_up: bool = False,
        notify: Notify = lambda _: None,
    ) -> PayLedger:
        """Return the ledger of a context with the current facts; `notify` receives what it waits for."""
        entries = await context.store.ledger.entries()
        return cls(context, entries, await pay_facts(context, entries), sleep, top_up=top_up, notify=notify)

    @property
    def platform(self) -> str:
        """The name of the platform that pays."""
        return self.context.study.recruit.source.title

    def report_wait(self, what: str, pauses: Sequence[float]) -> None:
        """Report what the platform has yet to show, and for how long it is polled."""
        self._notify(f"Waiting for {self.platform} to show {what}, for {sum(pauses):g} seconds at most.")

    async def refresh(self) -> None:
        """Read the status of submissions again."""
        self.facts = await refresh_facts(self.context, self.facts)

    def expected(self) -> tuple[ExpectedDebt, ...]:
        """Return what is due by the current facts."""
        debts, problems = expected_debts(
            self.context.study, self.facts, signed_rows(self.entries), self.state, with_top_up=self._top_up
        )
        self.problems += [problem for problem in problems if problem not in self.problems]
        return debts

    async def write(self, entries: Sequence[LedgerEntry]) -> None:
        """Append entries durably, before anything else happens."""
        if entries:
            self.entries += await self.context.store.ledger.append(entries)
            self.state = replay(self.entries)

    async def plan(self) -> frozenset[Key]:
        """Record new debts, settle those already done, and cancel those no longer due.

        Return the keys of what is due and can be sent.
        """
        debts = {debt.key: debt for debt in self.expected()}
        new = [
            LedgerEntry(
                debt.kind, "planned", self.context.now(), debt.submission, debt.participant, debt.session,
                debt.amount.minor, debt.amount.currency, debt.reason_code, debt.reason_text,
            )
            for debt in debts.values() if debt.key not in self.state.debts
        ]  # fmt: skip
        await self.write(new)
        done = [self.state.debts[key] for key, debt in debts.items() if debt.is_done]
        settled = [self.entry_for(debt, "settled") for debt in done if debt.is_due or debt.kind == "approve"]
        outdated = [debt for debt in self.state.debts.values() if debt.is_unsent and debt.key not in debts]
        cancelled = [self.entry_for(debt, "cancelled", "no longer signed") for debt in outdated]
        await self.write([one for one in settled if self._is_open(one)] + cancelled)
        return frozenset(key for key, debt in debts.items() if not debt.is_done)

    def entry_for(self, debt: Debt, event: str, words: str = "", batch: str = "") -> LedgerEntry:
        """Return an entry about one debt."""
        return LedgerEntry(
            debt.kind, event, self.context.now(), debt.submission, debt.participant, debt.session, debt.amount.minor,
            debt.amount.currency, debt.reason_code, words, batch or debt.batch,
        )  # fmt: skip

    def _is_open(self, entry: LedgerEntry) -> bool:
        return self.state.debts[entry.kind, entry.submission, entry.reason_code].state != "settled"

    def batch_entry(self, id: str, event: str, words: str = "") -> LedgerEntry:
        """Return an entry about a batch, which applies to all its debts."""
        return LedgerEntry("bonus", event, self.context.now(), reason_text=words, batch=id)

    async def create_batch(self, debts: Sequence[Debt]) -> str:
        """Return the name of a new batch of these debts."""
        id_ = f"B{len(self.state.batches) + 1}"
        study, launched = self.context.study, self.facts.launched
        posting = launched.posting if launched is not None else own_posting(study.name, study.run)
        confirmed = [self.entry_for(debt, "confirmed", batch=id_) for debt in debts]
        await self.write([replace(entry, provider_ref=posting) for entry in confirmed])
        return id_


# Budget and balance


_OVER = ("completed", "draft")
"""States of a posting in which no new participants come."""
_COUNTS = ("approved", "partially_approved", "awaiting_review", "active", "reserved")


async def batch_problem(ledger: PayLedger, batch: BatchState) -> Problem | None:
    """Return what keeps a batch from being paid after its set-up; None where nothing does."""
    assert batch.total is not None
    return await _over_budget(ledger, batch.total) or await _over_balance(ledger, batch.total)


async def late_approval_problem(ledger: PayLedger) -> Problem | None:
    """Return why a timed-out submission cannot be approved: its place may have been given away, and cost money."""
    if ledger.context.study.budget is None:
        return None
    quote = await ledger.context.recruiter.quote(_job(ledger, 1))
    return await _over_budget(ledger, Sum(quote.rewards.minor + quote.fees.minor, quote.rewards.currency))


def budget_problem(ledger: PayLedger, amount: Sum, spent: int) -> Problem | None:
    """Return that an amount and what is spent exceed the budget; None where they do not."""
    study = ledger.context.study
    cap = money(study.budget) if study.budget else None
    if cap is None or amount.minor == 0:
        return None
    if cap.currency != amount.currency:
        return study.problem(
            "budget", f"is in {cap.currency}, and people are paid in {amount.currency}", "one currency"
        )
    excess = spent + amount.minor - cap.minor
    if excess <= 0:
        return None
    return study.problem(
        "budget",
        f"is {cap}, and with the {amount} that are due now the study comes to {Sum(cap.minor + excess, cap.currency)}: "
        f"{Sum(excess, cap.currency)} more",
        "",
        f"Nothing of it was sent. Raise the budget to {Sum(cap.minor + excess, cap.currency)}, or sign fewer payments.",
    )


async def _over_budget(ledger: PayLedger, total: Sum) -> Problem | None:
    """Return that rewards, screen-outs, bonuses and fees exceed the budget, with what the platform may still pay."""
    if ledger.context.study.budget is None or ledger.facts.launched is None:
        return None
    posting = await ledger.context.recruiter.posting(ledger.facts.launched.posting)
    statuses = [visit.status for visit in ledger.facts.visits.values()]
    people, screened_out = sum(status in _COUNTS for status in statuses), statuses.count("screened_out")
    if posting.state not in _OVER:
        people, screened_out = max(people, posting.places), max(screened_out, posting.slots or 0)
    job = _job(ledger, max(1, people), posting.reward)
    quote = await ledger.context.recruiter.quote(job)
    spent = people * job.reward.minor
    if ledger.facts.screen_out is not None:
        spent += screened_out * ledger.facts.screen_out.minor
    # The platform's fee is the same share of everything it pays.
    share = Fraction(quote.rewards.minor + quote.fees.minor, quote.rewards.minor)
    others = cost_of_runs(ledger.context.study, ledger.entries, total.currency, besides=ledger.context.study.run)
    return budget_problem(ledger, total, math.ceil(spent * share) + bonus_cost(ledger.state, posting.id) + others.minor)


async def _over_balance(ledger: PayLedger, total: Sum) -> Problem | None:
    quote = await ledger.context.recruiter.quote(_job(ledger, 1))
    if quote.balance is None or quote.balance.minor >= total.minor:
        return None
    left = Sum(total.minor - quote.balance.minor, total.currency)
    what = f"asks for {total} with its fees, and the balance is {quote.balance}"
    return Problem(ledger.platform, what, "", f"Nothing of it was sent. Top it up by {left}.")


def _job(ledger: PayLedger, places: int, reward: Sum | None = None) -> Job:
    """Return a job for a quote only; its reward is the published one, whatever the study says now."""
    return Job("", "", "", "", places=places, minutes=1, reward=reward or ledger.facts.reward or Sum(0, ""))
