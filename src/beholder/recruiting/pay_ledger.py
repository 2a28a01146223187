"""The till: the ledger while somebody pays, written before anything is sent, and folded anew after each entry."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from beholder.errors import Problem
from beholder.recruit.deciding.signing import signed_rows
from beholder.recruit.desk import Desk
from beholder.recruit.ledger.fold import Books, Debt, Key, fold
from beholder.recruit.paying.debts import Wanted, wanted
from beholder.recruit.paying.known import Known, gather, look_again
from beholder.store.contract import Entry
from beholder.study.recruiting import own_posting

Sleep = Callable[[float], Awaitable[None]]
Tell = Callable[[str], None]


class Till:
    """What is known of all debts now, and the only place that adds to the ledger while paying."""

    def __init__(
        self, desk: Desk, entries: Sequence[Entry], known: Known, sleep: Sleep, *, top_up: bool, tell: Tell
    ) -> None:
        self.desk, self.known, self.sleep, self._tell = desk, known, sleep, tell
        self.entries = list(entries)
        self.books: Books = fold(self.entries)
        self._top_up = top_up
        self.problems: list[Problem] = []
        """What a person has to see to."""
        self.notes: list[str] = []
        """What is worth telling."""

    @classmethod
    async def open(
        cls, desk: Desk, sleep: Sleep = asyncio.sleep, *, top_up: bool = False, tell: Tell = lambda _: None
    ) -> Till:
        """Return the till of a desk with everything that is known now; `tell` hears what it waits for."""
        entries = await desk.store.ledger.entries()
        return cls(desk, entries, await gather(desk, entries), sleep, top_up=top_up, tell=tell)

    @property
    def platform(self) -> str:
        """The name of the platform that pays."""
        return self.desk.study.recruit.mode.capitalize()

    def wait(self, what: str, looks: Sequence[float]) -> None:
        """Tell what the platform has yet to show, and for how long it is looked at."""
        self._tell(f"Waiting for {self.platform} to show {what}, for {sum(looks):g} seconds at most.")

    async def look(self) -> None:
        """Read again how submissions stand."""
        self.known = await look_again(self.desk, self.known)

    def wanted(self) -> tuple[Wanted, ...]:
        """Return what is owed by what is known now."""
        found, problems = wanted(
            self.desk.study, self.known, signed_rows(self.entries), self.books, with_top_up=self._top_up
        )
        self.problems += [problem for problem in problems if problem not in self.problems]
        return found

    async def write(self, entries: Sequence[Entry]) -> None:
        """Add entries, durably and together, before anything else happens."""
        if entries:
            self.entries += await self.desk.store.ledger.append(entries)
            self.books = fold(self.entries)

    async def plan(self) -> frozenset[Key]:
        """Write down what is owed and not there yet, settle what is done already, and take back what nobody wants.

        Return what is owed and can be sent.
        """
        debts = {debt.key: debt for debt in self.wanted()}
        new = [
            Entry(
                debt.kind, "planned", self.desk.now(), debt.submission, debt.participant, debt.session,
                debt.amount.minor, debt.amount.currency, debt.reason_code, debt.reason_text,
            )
            for debt in debts.values() if debt.key not in self.books.debts
        ]  # fmt: skip
        await self.write(new)
        done = [self.books.debts[key] for key, debt in debts.items() if debt.is_done]
        settled = [self.about(debt, "settled") for debt in done if debt.is_owed or debt.kind == "approve"]
        unwanted = [debt for debt in self.books.debts.values() if debt.is_unsent and debt.key not in debts]
        changed = [self.about(debt, "cancelled", "no longer signed") for debt in unwanted]
        await self.write([one for one in settled if self._is_open(one)] + changed)
        return frozenset(key for key, debt in debts.items() if not debt.is_done)

    def about(self, debt: Debt, event: str, words: str = "", batch: str = "") -> Entry:
        """Return an entry about one debt."""
        return Entry(
            debt.kind, event, self.desk.now(), debt.submission, debt.participant, debt.session, debt.amount.minor,
            debt.amount.currency, debt.reason_code, words, batch or debt.batch,
        )  # fmt: skip

    def _is_open(self, entry: Entry) -> bool:
        return self.books.debts[entry.kind, entry.submission, entry.reason_code].state != "settled"

    def parcel(self, id: str, event: str, words: str = "") -> Entry:
        """Return an entry about a parcel, which holds for every debt in it."""
        return Entry("bonus", event, self.desk.now(), reason_text=words, batch=id)

    async def pack(self, debts: Sequence[Debt]) -> str:
        """Return the name of a new parcel of these debts."""
        id_ = f"B{len(self.books.parcels) + 1}"
        study, launched = self.desk.study, self.known.launched
        posting = launched.posting if launched is not None else own_posting(study.name, study.run)
        confirmed = [self.about(debt, "confirmed", batch=id_) for debt in debts]
        await self.write([replace(entry, provider_ref=posting) for entry in confirmed])
        return id_
