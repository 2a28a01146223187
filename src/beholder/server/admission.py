"""People at the door: which of their sessions they get, and whether they came with another device."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import get_args

from beholder.errors import Refused, StoreError
from beholder.server import tokens
from beholder.server.attempts import action_of, current_device, device_change_facts, is_same_device
from beholder.server.endings import platform_home, return_url, shared_codes
from beholder.server.flow import Ending, answers_of, next_step
from beholder.server.further_sessions import FurtherSessions, add_new_lists
from beholder.server.moderation import Moderation
from beholder.server.participants import LAB, NUMBERED, Identity
from beholder.server.script import Script, ServedStudy
from beholder.store.contract import (
    Fact,
    PlatformIdentity,
    PlatformVisit,
    Session,
    SessionFacts,
    Store,
    StoreUnavailable,
)
from beholder.store.open import open_store
from beholder.study.model import Study
from beholder.study.parts import duration
from beholder.study.recruitment import Recruit, is_closed, longest_minutes, moment
from beholder.types import Json, Mode

_OTHER_DEVICES = 5
"""How often somebody whose device did not fit may come with another one."""


class Admission:
    """Receives people, each for as many sessions as one person may take, one after the other."""

    def __init__(
        self,
        served: ServedStudy,
        store: Store,
        words: Mapping[str, str],
        again: FurtherSessions,
        doors: Entrance,
        acts: Moderation,
        room: FreeLists,
    ) -> None:
        self._served, self._store, self._words, self._again = served, store, words, again
        self._doors, self._acts, self._room = doors, acts, room
        self._visits = again.visits
        self._run = served.study.run

    async def come(self, guest: Identity, device: Mapping[str, Json], now: datetime) -> tuple[str, bool]:
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
            has_other = not is_same_device(current_device(session.device, facts.verdicts), device)
            may_return = facts.end.outcome == "wrong_device" and has_other and not self._has_failed(facts)
            if facts.end.outcome != "completed" and not may_return:
                break
        return self._over(guest, last, "ended")

    async def _check_new(self, guest: Identity, device: Mapping[str, Json], now: datetime) -> None:
        """Raise Refused where somebody does not begin now; whom a platform sent after closing is known all the same."""
        try:
            await self._doors.check_new(guest, now)
        except Refused as refused:
            if refused.code == "closed" and guest.mode in ("panel", "prolific"):
                session, _ = await self._store.arrive(self._asked(guest, 1, device, now))
                await self._doors.keep(guest, session.session)
            raise

    def _asked(self, guest: Identity, visit: int, device: Mapping[str, Json], now: datetime) -> Session:
        """Return the session of a visit as it is if nobody has begun it."""
        id_ = secrets.token_hex(10)
        return Session(id_, guest.participant, self._served.digest, self._run, guest.mode, visit, device, now)

    def _over(self, guest: Identity, last: str, code: str) -> tuple[str, bool]:
        """Return the last session, whose end has the code to take back; where a platform counts visits, refuse."""
        if last and guest.mode == "panel" and not guest.submission:
            return last, False
        raise self._doors.refusal(code)

    async def again(self, guest: Identity) -> tuple[Identity, str | None]:
        """Return who comes back and to which session; None where it never began, in another run than this one."""
        if guest.session is None:
            return guest, None
        facts = await self.known(guest.session)
        if self._acts.gives_way(facts):
            return Identity(facts.session.mode, facts.session.participant), None
        if guest.wants_more and facts.end is not None and facts.session.run == self._run and self._again.is_offered:
            return Identity(facts.session.mode, facts.session.participant), None
        if facts.session.run == self._run or facts.end is not None or facts.list is not None:
            return guest, guest.session
        return Identity(facts.session.mode, facts.session.participant), None

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
            await add_new_lists(self._served, self._store, facts.list)
        return facts

    async def settle(self, session: str, script: Script | None, device: Mapping[str, Json], now: datetime) -> None:
        """Keep that somebody came with another device than before."""
        for _ in range(3):  # somebody who comes twice at once, with two devices
            facts = await self.facts(session)
            if facts.end is not None or facts.erased:
                return
            here = next_step(script, answers_of(facts), facts.verdicts, now)
            moved: list[Fact] = [*device_change_facts(facts, device, None if isinstance(here, Ending) else here, now)]
            if not moved or (await self._store.append(moved)).is_new:
                return

    def _other_run(self) -> Refused:
        return self._doors.refusal("earlier_run")

    def _has_failed(self, facts: SessionFacts) -> bool:
        """Return whether somebody has failed at something that they, and not their device, had to do."""
        asked = (step.check for step in self._served.script(1).steps)
        gates = {check.name: check.action for check in asked if check is not None and check.stage != "device"}
        told = [one for one in facts.verdicts.values() if one.verdict == "fail" and one.check in gates]
        return any(action_of(one, gates[one.check]) == "gate" for one in told)

    async def _check_left(self, guest: Identity, session: Session, completed: int, now: datetime) -> None:
        """Raise Refused where somebody comes again after closing, or there is nothing left that they have not met."""
        had = await self._again.had(session)
        if len(had) > completed:  # one is under way
            return
        self._doors.check_open(guest, now)
        if session.mode != "robot" and not await self._room.is_left(now, self._again.barred(had)):
            raise self._doors.refusal("nothing_left")


# --- Whether somebody may begin: when the study is open, where they come from, and whom other studies have met ---


_log = logging.getLogger("beholder.server")


class Entrance:
    """Opens to those who may come, and says kindly why where somebody may not."""

    def __init__(self, study: Study, store: Store, acts: Moderation, words: Mapping[str, str]) -> None:
        self._study, self._store, self._acts, self._words = study, store, acts, words

    def welcome(self, guest: Identity) -> None:
        """Raise Refused where somebody was shut out, or comes from a posting that is not of this study."""
        if self._acts.is_shut(guest.participant):
            raise self.refusal("blocked")
        if guest.posting and not self._acts.is_posted(guest.posting, self._study.run):
            raise self.refusal("other_posting" if self._acts.postings else "not_launched")

    async def visit(self, guest: Identity) -> SessionFacts | None:
        """Return the session that this visit led to before, the last one where there are several.

        None where it never got a list: whether there is one is asked anew.
        """
        facts = await self._last(guest, await self._came_by(guest)) if guest.submission else None
        if facts is None:
            return None
        has_begun = facts.list is not None or facts.end is not None or facts.erased
        return facts if has_begun and not self._acts.gives_way(facts) else None

    async def check_new(self, guest: Identity, now: datetime) -> None:
        """Raise Refused where this person does not begin now; whoever has begun is not asked."""
        self.check_open(guest, now)
        if guest.platform not in ("", LAB, NUMBERED) and await self._has_met(guest):
            raise self.refusal("excluded")

    def check_open(self, guest: Identity, now: datetime) -> None:
        """Raise Refused where nobody begins a session yet, or any more. Robots rehearse whenever they like."""
        recruit = self._study.recruit
        if guest.mode == "robot":
            return
        if recruit.opens is not None and now < moment(recruit.opens):
            raise self.refusal("not_open", moment(recruit.opens))
        if recruit.closes is not None and is_closed(recruit, now):
            raise self.refusal("closed", moment(recruit.closes), guest.platform_id)
        # A platform lets nobody begin by itself; whom it has sent already may come in.
        if self._acts.halts.of(self._study) is not None:
            raise self.refusal("halted")

    async def keep(self, guest: Identity, session: str) -> None:
        """Keep who somebody is on their platform, and which of its visits led to this session.

        Of two people who come by one visit the first has it, whichever servers they reach; the other is refused.
        """
        facts = await self._store.session_facts(session) if guest.platform else None
        if facts is None or facts.erased:  # who was erased and looks in once more stays unknown
            return
        link = PlatformIdentity(guest.participant, guest.platform, guest.platform_id)
        coming = PlatformVisit(session, guest.posting, guest.submission or guest.platform_id)
        seen: list[str] | None = [] if guest.submission else None
        while not await self._store.identify(link, coming, seen=seen):
            seen = await self._came_by(guest)
            await self._last(guest, seen)

    async def keep_round(self, earlier: str, participant: str, session: str) -> None:
        """Keep that a further session belongs to the visit that an earlier one came by."""
        coming = [one for one in await self._store.platform_visits() if one.session == earlier]
        link = (
            [one for one in await self._store.platform_identities() if one.participant == participant] if coming else []
        )
        if link:
            await self._store.identify(link[0], coming[-1]._replace(session=session))

    async def _came_by(self, guest: Identity) -> list[str]:
        """Return the sessions that this visit led to, oldest first."""
        visit = (guest.posting, guest.submission)
        return [one.session for one in await self._store.platform_visits() if (one.posting, one.submission) == visit]

    async def _last(self, guest: Identity, sessions: Sequence[str]) -> SessionFacts | None:
        """Return the last session of a visit, where it is of this run; another person's raises Refused."""
        facts = await self._store.session_facts(sessions[-1]) if sessions else None
        if facts is None or facts.session.run != self._study.run:
            return None
        if facts.session.participant != guest.participant:
            raise self.refusal("other_posting")
        return facts

    def refusal(self, code: str, at: datetime | None = None, platform_id: str | None = None) -> Refused:
        """Return why somebody cannot come in, with the way back to where they came from."""
        words = self._words[code]
        more = {}
        if at is not None:
            words = words.format(time=f"{at:%Y-%m-%d %H:%M} UTC{at:%z}".removesuffix("+0000"))
            more["at"] = at.isoformat()
        back = platform_home(self._study)
        if code == "full" or (code == "closed" and platform_id):
            shared = shared_codes(self._study, self._store.secret).get("technical")
            back = return_url(self._study, shared, "technical", platform_id) or back
        if back is not None:
            more["return_url"] = back
        return Refused(words, code=_CODES.get(code, code), status=403, more=more)

    async def _has_met(self, guest: Identity) -> bool:
        """Return whether somebody has begun one of the studies whose participants are left out."""
        for name in self._study.recruit.exclude:
            folder = self._study.folder / name / "store"
            try:
                async with open_store(folder, write=False) as other:
                    theirs = tokens.pseudonym(other.secret, guest.platform, guest.platform_id)
                    for mode in get_args(Mode):
                        if mode not in ("robot", "preview") and await other.runs_taken(theirs, mode):
                            return True
            except (StoreError, StoreUnavailable, OSError) as error:
                _log.warning("recruit.exclude: %s leaves nobody out, as its store cannot be read: %s", name, error)
        return False


_CODES = {"not_launched": "other_posting", "nothing_left": "finished", "ended": "finished"}
"""What browsers are told where several sentences mean the same to them."""


# --- Room: whether a list is left for somebody, after whoever can make room was asked ---


ReleaseLists = Callable[[], Awaitable[None]]
"""Opens the lists that nobody will finish. It takes a few seconds at most, and raises nothing of its own."""


class FreeLists:
    """Looks for a list twice: in between, lists may be given back whose people are gone."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.release_abandoned: ReleaseLists | None = None
        """Who is asked to make room; nobody where people come from no platform that could tell who is gone."""

    async def is_left(self, now: datetime, barred: Collection[int] = ()) -> bool:
        """Return whether there is a list that nobody has, but for those barred."""
        if await self._store.has_free_list(now, barred):
            return True
        return await self.make() and await self._store.has_free_list(now, barred)

    async def make(self) -> bool:
        """Return whether somebody was asked to make room, so that it is worth looking again."""
        if self.release_abandoned is None:
            return False
        await self.release_abandoned()
        return True


# --- The list that a session holds, and for how long nobody else gets it ---


_RESERVED = timedelta(minutes=10)
"""How long Prolific keeps a place for somebody before they begin."""


def lease_duration(recruit: Recruit) -> timedelta:
    """Return how long a session may rest: on Prolific as long as the platform lets people take, and a little more."""
    written = duration(recruit.time_limit or "60 min")
    if recruit.mode != "prolific":
        return written
    asked = timedelta(minutes=longest_minutes(recruit.minutes)) if recruit.minutes else timedelta()
    return max(written if recruit.time_limit or not asked else asked, asked) + _RESERVED


class Leases:
    """Claims lists and renews them, a write only now and then."""

    def __init__(
        self, store: Store, again: FurtherSessions, lasts: timedelta, doors: Entrance, room: FreeLists
    ) -> None:
        self._store, self._again, self._lasts, self._doors, self._room = store, again, lasts, doors, room
        self._until: dict[str, datetime] = {}

    async def claim(self, session: Session, had: Sequence[int], now: datetime) -> int:
        """Return the list of a session, or raise Refused where none is left. Robots share lists.

        Who had other lists gets none with anything in it that they have met.
        """
        until = now + self._lasts
        number = await self._claim(session, had, now, until)
        if number is None and session.mode != "robot" and await self._room.make():
            number = await self._claim(session, had, now, until)
        if number is None and had:
            raise self._doors.refusal("nothing_left")
        if number is None:
            raise self._doors.refusal("full")
        self._until[session.session] = until
        return number

    async def _claim(self, session: Session, had: Sequence[int], now: datetime, until: datetime) -> int | None:
        is_robot = session.mode == "robot"
        return await self._store.claim(
            session.session,
            now=now,
            until=until,
            per_list=None if is_robot else 1,
            barred=self._again.barred(had),
            preferred=() if is_robot and not had else self._again.preferred(had),
        )

    async def renew(self, session: str, now: datetime) -> None:
        """Renew a lease once a tenth of it is gone, so that most answers cost no second write."""
        if self._until.get(session, now) < now + 0.9 * self._lasts:
            self._until[session] = now + self._lasts
            await self._store.renew(session, now + self._lasts)

    async def release(self, session: str) -> None:
        """End a lease now; an answer that still comes takes it again."""
        self._until.pop(session, None)
        await self._store.release(session)
