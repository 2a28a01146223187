"""People at the door: which of their sessions they get, and whether they came with another device."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from datetime import datetime

from beholder.errors import Refused
from beholder.serve.acts import Acts
from beholder.serve.again import Again
from beholder.serve.attempts import acts
from beholder.serve.devices import device_of, is_same, move
from beholder.serve.doors import Doors
from beholder.serve.flow import Ending, answers_of, next_step
from beholder.serve.growing import take_in
from beholder.serve.guest import Guest
from beholder.serve.room import Room
from beholder.serve.script import Script
from beholder.serve.served import Served
from beholder.store.contract import Fact, Session, SessionFacts, Store
from beholder.types import Json

_OTHER_DEVICES = 5
"""How often somebody whose device did not fit may come with another one."""


class Arrivals:
    """Receives people, each for as many sessions as one person may take, one after the other."""

    def __init__(
        self,
        served: Served,
        store: Store,
        words: Mapping[str, str],
        again: Again,
        doors: Doors,
        acts: Acts,
        room: Room,
    ) -> None:
        self._served, self._store, self._words, self._again = served, store, words, again
        self._doors, self._acts, self._room = doors, acts, room
        self._visits = again.visits
        self._run = served.study.run

    async def come(self, guest: Guest, device: Mapping[str, Json], now: datetime) -> tuple[str, bool]:
        """Return the session of somebody who comes, and whether it is new, or raise Refused.

        It is the first one that has not ended. Who was turned away gets no other, but for a device that did not fit:
        with another one they may begin again, if nothing else was failed; or where the researcher let them. A new
        session has all attempts anew. Who has claimed a list in another run of the study gets none in this one.
        """
        taken = await self._store.runs_taken(guest.participant, guest.mode)
        if taken - {self._run}:
            raise self._other_run()
        if not taken:
            await self._check_new(guest, device, now)
        completed = 0
        last = ""
        for visit in range(1, self._visits + _OTHER_DEVICES + self._acts.pardons(guest.participant) + 1):
            asked = self._asked(guest, visit, device, now)
            if completed:
                await self._check_left(guest, asked, completed, now)
            session, is_new = await self._store.arrive(asked)
            facts = await self.facts(session.session)
            if self._acts.gives_way(facts):
                await self._store.release(session.session)
                continue
            if facts.end is None:
                if facts.list is None and guest.mode != "robot" and not await self._room.is_left(now):
                    await self._doors.keep(guest, session.session)  # the platform lists the visit all the same
                    raise self._doors.refusal("full", platform_id=guest.platform_id)
                return session.session, is_new
            last = session.session
            completed += facts.end.outcome == "completed"
            if completed == self._visits:
                return self._over(guest, last, "finished")
            has_other = not is_same(device_of(session.device, facts.told), device)
            may_return = facts.end.outcome == "wrong_device" and has_other and not self._has_failed(facts)
            if facts.end.outcome != "completed" and not may_return:
                break
        return self._over(guest, last, "ended")

    async def _check_new(self, guest: Guest, device: Mapping[str, Json], now: datetime) -> None:
        """Raise Refused where somebody does not begin now; whom a platform sent after closing is known all the same."""
        try:
            await self._doors.check_new(guest, now)
        except Refused as refused:
            if refused.code == "closed" and guest.mode in ("panel", "prolific"):
                session, _ = await self._store.arrive(self._asked(guest, 1, device, now))
                await self._doors.keep(guest, session.session)
            raise

    def _asked(self, guest: Guest, visit: int, device: Mapping[str, Json], now: datetime) -> Session:
        """Return the session of a visit as it is if nobody has begun it."""
        id_ = secrets.token_hex(10)
        return Session(id_, guest.participant, self._served.digest, self._run, guest.mode, visit, device, now)

    def _over(self, guest: Guest, last: str, code: str) -> tuple[str, bool]:
        """Return the last session, whose end has the code to take back; where a platform counts visits, refuse."""
        if last and guest.mode == "panel" and not guest.submission:
            return last, False
        raise self._doors.refusal(code)

    async def again(self, guest: Guest) -> tuple[Guest, str | None]:
        """Return who comes back and to which session; None where it never began, in another run than this one."""
        if guest.session is None:
            return guest, None
        facts = await self.known(guest.session)
        if self._acts.gives_way(facts):
            return Guest(facts.session.mode, facts.session.participant), None
        if guest.wants_more and facts.end is not None and facts.session.run == self._run and self._again.is_offered:
            return Guest(facts.session.mode, facts.session.participant), None
        if facts.session.run == self._run or facts.end is not None or facts.list is not None:
            return guest, guest.session
        return Guest(facts.session.mode, facts.session.participant), None

    async def known(self, session: str) -> SessionFacts:
        """Return what is known of a session, of whichever run, or raise Refused where there is none."""
        facts = await self._store.session_facts(session)
        if facts is None:
            raise Refused(self._words["unknown_token"], where="token", code="unknown_token", status=401)
        return facts

    async def facts(self, session: str) -> SessionFacts:
        """Return what is known of a session of this run, or of one that has ended; of any other raise Refused."""
        facts = await self.known(session)
        if facts.session.run != self._run and facts.end is None:
            raise self._other_run()
        if facts.list is not None and facts.session.run == self._run:
            await take_in(self._served, self._store, facts.list)
        return facts

    async def settle(self, session: str, script: Script | None, device: Mapping[str, Json], now: datetime) -> None:
        """Keep that somebody came with another device than before."""
        for _ in range(3):  # somebody who comes twice at once, with two devices
            facts = await self.facts(session)
            if facts.end is not None or facts.erased:
                return
            here = next_step(script, answers_of(facts), facts.told, now)
            moved: list[Fact] = [*move(facts, device, None if isinstance(here, Ending) else here, now)]
            if not moved or (await self._store.append(moved)).is_new:
                return

    def _other_run(self) -> Refused:
        return self._doors.refusal("earlier_run")

    def _has_failed(self, facts: SessionFacts) -> bool:
        """Return whether somebody has failed at something that they, and not their device, had to do."""
        asked = (step.check for step in self._served.script(1).steps)
        gates = {check.name: check.action for check in asked if check is not None and check.stage != "device"}
        told = [one for one in facts.told.values() if one.verdict == "fail" and one.check in gates]
        return any(acts(one, gates[one.check]) == "gate" for one in told)

    async def _check_left(self, guest: Guest, session: Session, completed: int, now: datetime) -> None:
        """Raise Refused where somebody comes again after closing, or there is nothing left that they have not met."""
        had = await self._again.had(session)
        if len(had) > completed:  # one is under way
            return
        self._doors.check_open(guest, now)
        if session.mode != "robot" and not await self._room.is_left(now, self._again.barred(had)):
            raise self._doors.refusal("nothing_left")
