"""Admission: who may begin, which session a participant gets, and which list the session holds for how long."""

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
from beholder.study.recruitment import Mode, Recruit, is_closed, longest_minutes, moment
from beholder.types import Json

_OTHER_DEVICES = 5
"""How often a participant whose device did not qualify may return with another one."""


class Admission:
    """Admits participants, each to as many sessions as the study allows, one after the other."""

    def __init__(
        self,
        served: ServedStudy,
        store: Store,
        words: Mapping[str, str],
        further: FurtherSessions,
        entrance: Entrance,
        moderation: Moderation,
        free_lists: FreeLists,
    ) -> None:
        self._served, self._store, self._words, self._further = served, store, words, further
        self._entrance, self._moderation, self._free_lists = entrance, moderation, free_lists
        self._max_sessions = further.max_sessions
        self._run = served.study.run

    async def admit(self, identity: Identity, device: Mapping[str, Json], now: datetime) -> tuple[str, bool]:
        """Return the session of a participant who arrives, and whether it is new, or raise Refused.

        It is the first one that has not ended. A participant who was screened out gets no other session, except with
        another device if only the device did not qualify, or where the researcher readmitted them. A new session
        starts all attempts again. A participant with a list in another run of the study gets none in this one.
        """
        taken = await self._store.runs_taken(identity.participant, identity.mode)
        if taken - {self._run}:
            raise self._other_run()
        if not taken:
            await self._check_new(identity, device, now)
        completed = 0
        last = ""
        for visit in range(
            1, self._max_sessions + _OTHER_DEVICES + self._moderation.readmissions(identity.participant) + 1
        ):
            proposed = self._new_session(identity, visit, device, now)
            if completed:
                await self._check_remaining(identity, proposed, completed, now)
            session, is_new = await self._store.arrive(proposed)
            facts = await self.facts(session.session)
            if self._moderation.is_superseded(facts):
                await self._store.release(session.session)
                continue
            if facts.end is None:
                if facts.list is None and identity.mode != "robot" and not await self._free_lists.has_free_list(now):
                    await self._entrance.record_visit(
                        identity, session.session
                    )  # the platform lists the visit all the same
                    raise self._entrance.refusal("full", platform_id=identity.platform_id)
                return session.session, is_new
            last = session.session
            completed += facts.end.outcome == "completed"
            if completed == self._max_sessions:
                return self._last_or_refuse(identity, last, "finished")
            has_other = not is_same_device(current_device(session.device, facts.verdicts), device)
            may_return = facts.end.outcome == "wrong_device" and has_other and not self._has_failed(facts)
            if facts.end.outcome != "completed" and not may_return:
                break
        return self._last_or_refuse(identity, last, "ended")

    async def _check_new(self, identity: Identity, device: Mapping[str, Json], now: datetime) -> None:
        """Raise Refused where nobody may begin now; a visit that the platform sent after closing is still recorded."""
        try:
            await self._entrance.check_new(identity, now)
        except Refused as refused:
            if refused.code == "closed" and identity.mode in ("panel", "prolific"):
                session, _ = await self._store.arrive(self._new_session(identity, 1, device, now))
                await self._entrance.record_visit(identity, session.session)
            raise

    def _new_session(self, identity: Identity, visit: int, device: Mapping[str, Json], now: datetime) -> Session:
        """Return a session for this visit, used if none has begun yet."""
        id_ = secrets.token_hex(10)
        return Session(id_, identity.participant, self._served.digest, self._run, identity.mode, visit, device, now)

    def _last_or_refuse(self, identity: Identity, last: str, code: str) -> tuple[str, bool]:
        """Return the last session, whose end has the completion code; refuse where the platform counts submissions."""
        if last and identity.mode == "panel" and not identity.submission:
            return last, False
        raise self._entrance.refusal(code)

    async def resume(self, identity: Identity) -> tuple[Identity, str | None]:
        """Return who comes back and to which session; None where a new session of this run begins."""
        if identity.session is None:
            return identity, None
        facts = await self.load_facts(identity.session)
        if self._moderation.is_superseded(facts):
            return Identity(facts.session.mode, facts.session.participant), None
        if (
            identity.wants_more
            and facts.end is not None
            and facts.session.run == self._run
            and self._further.is_offered
        ):
            return Identity(facts.session.mode, facts.session.participant), None
        if facts.session.run == self._run or facts.end is not None or facts.list is not None:
            return identity, identity.session
        return Identity(facts.session.mode, facts.session.participant), None

    async def load_facts(self, session: str) -> SessionFacts:
        """Return the facts of a session of any run; raise Refused for an unknown session."""
        facts = await self._store.session_facts(session)
        if facts is None:
            raise Refused(self._words["unknown_token"], where="token", code="unknown_token", status=401)
        return facts

    async def facts(self, session: str) -> SessionFacts:
        """Return the facts of a session of this run, or of one that has ended; raise Refused for any other."""
        facts = await self.load_facts(session)
        if facts.session.run != self._run and facts.end is None:
            raise self._other_run()
        if facts.list is not None and facts.session.run == self._run:
            await add_new_lists(self._served, self._store, facts.list)
        return facts

    async def record_device(
        self, session: str, script: Script | None, device: Mapping[str, Json], now: datetime
    ) -> None:
        """Store that a participant continues with another device."""
        for _ in range(3):  # two devices of one participant may arrive at the same time
            facts = await self.facts(session)
            if facts.end is not None or facts.erased:
                return
            here = next_step(script, answers_of(facts), facts.verdicts, now)
            moved: list[Fact] = [*device_change_facts(facts, device, None if isinstance(here, Ending) else here, now)]
            if not moved or (await self._store.append(moved)).is_new:
                return

    def _other_run(self) -> Refused:
        return self._entrance.refusal("earlier_run")

    def _has_failed(self, facts: SessionFacts) -> bool:
        """Return whether the participant, and not only the device, failed a gate."""
        checks = (step.check for step in self._served.script(1).steps)
        gates = {check.name: check.action for check in checks if check is not None and check.stage != "device"}
        failed = [one for one in facts.verdicts.values() if one.verdict == "fail" and one.check in gates]
        return any(action_of(one, gates[one.check]) == "gate" for one in failed)

    async def _check_remaining(self, identity: Identity, session: Session, completed: int, now: datetime) -> None:
        """Raise Refused where a further session would begin after closing, or no list is left for this participant."""
        taken = await self._further.lists_taken(session)
        if len(taken) > completed:  # one is under way
            return
        self._entrance.check_open(identity, now)
        if session.mode != "robot" and not await self._free_lists.has_free_list(now, self._further.barred(taken)):
            raise self._entrance.refusal("nothing_left")


# Entrance

_log = logging.getLogger("beholder.server")


class Entrance:
    """Decides who may begin: blocked participants, postings, opening hours and excluded studies."""

    def __init__(self, study: Study, store: Store, moderation: Moderation, words: Mapping[str, str]) -> None:
        self._study, self._store, self._moderation, self._words = study, store, moderation, words

    def check_identity(self, identity: Identity) -> None:
        """Raise Refused for a blocked participant, or for a posting that is not of this study."""
        if self._moderation.is_blocked(identity.participant):
            raise self.refusal("blocked")
        if identity.posting and not self._moderation.is_posted(identity.posting, self._study.run):
            raise self.refusal("other_posting" if self._moderation.postings else "not_launched")

    async def find_session(self, identity: Identity) -> SessionFacts | None:
        """Return the facts of the session that this platform visit led to before, the last one of several.

        None where it never got a list, so that a free list is looked for again.
        """
        facts = (
            await self._last_session(identity, await self._sessions_of_visit(identity)) if identity.submission else None
        )
        if facts is None:
            return None
        has_begun = facts.list is not None or facts.end is not None or facts.erased
        return facts if has_begun and not self._moderation.is_superseded(facts) else None

    async def check_new(self, identity: Identity, now: datetime) -> None:
        """Raise Refused where a new participant may not begin now."""
        self.check_open(identity, now)
        if identity.platform not in ("", LAB, NUMBERED) and await self._is_excluded(identity):
            raise self.refusal("excluded")

    def check_open(self, identity: Identity, now: datetime) -> None:
        """Raise Refused before opening, after closing and while paused. Robots may begin at any time."""
        recruit = self._study.recruit
        if identity.mode == "robot":
            return
        if recruit.opens is not None and now < moment(recruit.opens):
            raise self.refusal("not_open", moment(recruit.opens))
        if recruit.closes is not None and is_closed(recruit, now):
            raise self.refusal("closed", moment(recruit.closes), identity.platform_id)
        # On Prolific the platform pauses a posting itself, and participants it has sent already may begin.
        if self._moderation.pauses.active(self._study) is not None:
            raise self.refusal("halted")

    async def record_visit(self, identity: Identity, session: str) -> None:
        """Store the platform identity of a participant, and which platform visit led to this session.

        Of two participants with the same visit, the first gets it, at whichever server; the other is refused.
        """
        facts = await self._store.session_facts(session) if identity.platform else None
        if facts is None or facts.erased:  # the identity of an erased participant is not stored again
            return
        person = PlatformIdentity(identity.participant, identity.platform, identity.platform_id)
        visit = PlatformVisit(session, identity.posting, identity.submission or identity.platform_id)
        seen: list[str] | None = [] if identity.submission else None
        while not await self._store.identify(person, visit, seen=seen):
            seen = await self._sessions_of_visit(identity)
            await self._last_session(identity, seen)

    async def record_further_session(self, earlier: str, participant: str, session: str) -> None:
        """Store that a further session belongs to the platform visit of an earlier one."""
        visits = [one for one in await self._store.platform_visits() if one.session == earlier]
        if not visits:
            return
        people = [one for one in await self._store.platform_identities() if one.participant == participant]
        if people:
            await self._store.identify(people[0], visits[-1]._replace(session=session))

    async def _sessions_of_visit(self, identity: Identity) -> list[str]:
        """Return the sessions that this platform visit led to, oldest first."""
        visit = (identity.posting, identity.submission)
        return [one.session for one in await self._store.platform_visits() if (one.posting, one.submission) == visit]

    async def _last_session(self, identity: Identity, sessions: Sequence[str]) -> SessionFacts | None:
        """Return the facts of the last session if it is of this run; raise Refused if it is of another participant."""
        facts = await self._store.session_facts(sessions[-1]) if sessions else None
        if facts is None or facts.session.run != self._study.run:
            return None
        if facts.session.participant != identity.participant:
            raise self.refusal("other_posting")
        return facts

    def refusal(self, code: str, at: datetime | None = None, platform_id: str | None = None) -> Refused:
        """Return the refusal with this code, with the address to return to."""
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

    async def _is_excluded(self, identity: Identity) -> bool:
        """Return whether this participant has begun one of the studies in recruit.exclude."""
        for name in self._study.recruit.exclude:
            folder = self._study.folder / name / "store"
            try:
                async with open_store(folder, write=False) as other:
                    participant = tokens.pseudonym(other.secret, identity.platform, identity.platform_id)
                    for mode in get_args(Mode):
                        if mode not in ("robot", "preview") and await other.runs_taken(participant, mode):
                            return True
            except (StoreError, StoreUnavailable, OSError) as error:
                _log.warning("recruit.exclude: %s leaves nobody out, as its store cannot be read: %s", name, error)
        return False


_CODES = {"not_launched": "other_posting", "nothing_left": "finished", "ended": "finished"}
"""Codes that browsers get where several refusals mean the same to them."""


# Free lists

ReleaseLists = Callable[[], Awaitable[None]]
"""Releases the lists of participants who left. It takes a few seconds at most, and raises no errors."""


class FreeLists:
    """Looks for a free list, and once more after releasing the lists of participants who left."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.release_abandoned: ReleaseLists | None = None
        """Releases abandoned lists; None without a platform that reports who left."""

    async def has_free_list(self, now: datetime, barred: Collection[int] = ()) -> bool:
        """Return whether a list is free, other than those barred."""
        if await self._store.has_free_list(now, barred):
            return True
        return await self.release() and await self._store.has_free_list(now, barred)

    async def release(self) -> bool:
        """Release abandoned lists; return whether that was possible, so that it is worth looking again."""
        if self.release_abandoned is None:
            return False
        await self.release_abandoned()
        return True


# Leases

_RESERVED = timedelta(minutes=10)
"""How long Prolific reserves a place for a participant who has not begun."""


def lease_duration(recruit: Recruit) -> timedelta:
    """Return how long a lease lasts without activity; on Prolific at least the platform's limit and reservation."""
    written = duration(recruit.time_limit or "60 min")
    if recruit.mode != "prolific":
        return written
    longest = timedelta(minutes=longest_minutes(recruit.minutes)) if recruit.minutes else timedelta()
    return max(written if recruit.time_limit or not longest else longest, longest) + _RESERVED


class Leases:
    """Claims lists for sessions and renews their leases, with few writes."""

    def __init__(
        self, store: Store, further: FurtherSessions, duration: timedelta, entrance: Entrance, free_lists: FreeLists
    ) -> None:
        self._store, self._further, self._duration, self._entrance, self._free_lists = (
            store,
            further,
            duration,
            entrance,
            free_lists,
        )
        self._until: dict[str, datetime] = {}

    async def claim(self, session: Session, taken: Sequence[int], now: datetime) -> int:
        """Return the list of a session, claimed now, or raise Refused where none is free. Robots share lists.

        A participant who had other lists gets none with a stimulus that they have rated.
        """
        until = now + self._duration
        number = await self._claim(session, taken, now, until)
        if number is None and session.mode != "robot" and await self._free_lists.release():
            number = await self._claim(session, taken, now, until)
        if number is None and taken:
            raise self._entrance.refusal("nothing_left")
        if number is None:
            raise self._entrance.refusal("full")
        self._until[session.session] = until
        return number

    async def _claim(self, session: Session, taken: Sequence[int], now: datetime, until: datetime) -> int | None:
        is_robot = session.mode == "robot"
        return await self._store.claim(
            session.session,
            now=now,
            until=until,
            per_list=None if is_robot else 1,
            barred=self._further.barred(taken),
            preferred=() if is_robot and not taken else self._further.preferred(taken),
        )

    async def renew(self, session: str, now: datetime) -> None:
        """Renew a lease once a tenth of it has passed, so that most answers need no second write."""
        if self._until.get(session, now) < now + 0.9 * self._duration:
            self._until[session] = now + self._duration
            await self._store.renew(session, now + self._duration)

    async def release(self, session: str) -> None:
        """End a lease now; a later answer takes it again."""
        self._until.pop(session, None)
        await self._store.release(session)
