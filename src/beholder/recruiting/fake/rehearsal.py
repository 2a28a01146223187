"""What people do who come through the fake to a study of ours: on the platform, and on the way through our pages."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from beholder.recruit.fake.people import NO_CODE, Visit
from beholder.recruit.fake.state import Person

if TYPE_CHECKING:
    from beholder.recruit.fake.platform import FakeProlific
    from beholder.simulate.visiting import Brought, Manner, Visitors

Behaviour = Literal[
    "finish", "drop_out", "return", "return_after", "late", "no_code", "wrong_code", "leaked_code", "twice",
    "elsewhere", "withdraw", "decline", "careless", "unfit", "gives_up",
]  # fmt: skip
"""drop_out: leaves and does nothing more. return: leaves and returns the place. return_after: hands in and returns it
then. late: times out, and finishes all the same. leaked_code: hands in the right code after half of the work. twice:
returns a place, takes another one and finishes. elsewhere: comes with the id of another study. careless: answers
without looking. unfit: says of themselves, before the study, what others do not. gives_up: hands in without a code
after half of the work."""
BEHAVIOURS: tuple[Behaviour, ...] = get_args(Behaviour)
_WRONG = "WRONG1"


class Visited(NamedTuple):
    """What came of somebody's visit."""

    visits: tuple[Visit, ...]
    brought: Brought


async def visit(
    fake: FakeProlific,
    visitors: Visitors,
    study: str,
    behaviour: Behaviour = "finish",
    *,
    person: Person | None = None,
    kind: str | None = None,
    trials: int = 1,
) -> Visited:
    """Return what came of somebody who takes a place in a study, walks through our server and behaves so.

    `trials` is how many trials those answer who leave before the end; `kind` the kind of rater. Raises Refusal where
    the platform has no place for them.
    """
    first = fake.people.take(study, person).start()
    return await _Story(
        fake, visitors, first, kind or ("careless" if behaviour == "careless" else "honest"), trials
    ).tell(behaviour)


class _Story:
    """One person's way."""

    def __init__(self, fake: FakeProlific, visitors: Visitors, first: Visit, kind: str, trials: int) -> None:
        self._fake, self._visitors, self._first, self._kind, self._trials = fake, visitors, first, kind, trials

    async def tell(self, behaviour: Behaviour) -> Visited:
        stories: dict[Behaviour, Callable[[], Awaitable[Visited]]] = {
            "finish": self._finish, "careless": self._finish, "drop_out": self._leave, "return": self._return,
            "return_after": self._return_after, "late": self._late, "no_code": lambda: self._finish(NO_CODE),
            "wrong_code": lambda: self._finish(_WRONG), "leaked_code": self._leaked, "twice": self._twice,
            "elsewhere": self._elsewhere, "withdraw": lambda: self._end_early("withdraws"),
            "decline": lambda: self._end_early("declines"),
            "unfit": lambda: self._end_early("misfits"), "gives_up": self._give_up,
        }  # fmt: skip
        return await stories[behaviour]()

    async def _finish(self, code: str | None = None, at: Visit | None = None) -> Visited:
        there = at or self._first
        brought = await self._visitors.walk(there.url, kind=self._kind)
        if brought.code:
            self._hand_in(there, code or brought.code)
        elif brought.refused:
            there.give_back()
        return Visited((self._first,) if at is None else (self._first, at), brought)

    async def _leave(self) -> Visited:
        return Visited((self._first,), await self._visitors.walk(self._first.url, kind=self._kind, trials=self._trials))

    async def _return(self) -> Visited:
        left = await self._leave()
        self._first.give_back()
        return left

    async def _return_after(self) -> Visited:
        done = await self._finish()
        if self._first.submission.status == "AWAITING REVIEW":
            self._first.give_back()
        return done

    async def _late(self) -> Visited:
        await self._leave()
        limit = self._fake.studies.find(self._first.submission.study).limit
        self._fake.advance(seconds=limit.total_seconds() + 60)
        return await self._finish()

    async def _leaked(self) -> Visited:
        left = await self._leave()
        self._first.finish()
        return left

    async def _give_up(self) -> Visited:
        left = await self._leave()
        self._hand_in(self._first, NO_CODE)
        return left

    async def _twice(self) -> Visited:
        await self._return()
        second = self._fake.people.take(self._first.submission.study, self._first.submission.person, again=True)
        return await self._finish(at=second.start())

    async def _elsewhere(self) -> Visited:
        url = self._first.url.replace(self._first.submission.study, self._fake.new_id())
        brought = await self._visitors.walk(url, kind=self._kind)
        self._first.give_back()
        return Visited((self._first,), brought)

    async def _end_early(self, manner: Manner) -> Visited:
        brought = await self._visitors.walk(self._first.url, manner=manner, trials=self._trials)
        self._hand_in(self._first, brought.code)
        return Visited((self._first,), brought)

    def _hand_in(self, there: Visit, code: str) -> None:
        """Hand in, and return it where the code asks for that."""
        there.finish(code or NO_CODE)
        if there.submission.return_requested is not None and there.submission.status == "AWAITING REVIEW":
            there.give_back()
