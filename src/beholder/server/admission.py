"""Admission: who may begin or go on, which session a participant gets, and which list it holds for how long."""

from __future__ import annotations

import contextlib
import logging
import secrets
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import get_args

from beholder.errors import Refused, StoreError
from beholder.recent_entries import MOST_SESSIONS, RecentEntries
from beholder.server import tokens
from beholder.server.attempts import action_of, carry_over, current_device, device_change_facts, is_same_device
from beholder.server.batch_dealer import Dealer, population_of
from beholder.server.context import Context
from beholder.server.entrances import ENTRANCES, RETURNING
from beholder.server.flow import Ending, answers_of, next_step
from beholder.server.further_sessions import FurtherSessions, add_new_lists
from beholder.server.participants import LAB, NUMBERED, Identity
from beholder.server.script import Script
from beholder.server.session_language import settled_language
from beholder.server.visits import check_visit, kept_session, record_visit
from beholder.store.contract import (
    Fact,
    Session,
    SessionFacts,
    Store,
    StoredVerdict,
    StoreUnavailable,
)
from beholder.store.open import open_store, read_rows
from beholder.study.recruitment import Mode, is_closed, is_person, moment
from beholder.types import Json

_OTHER_DEVICES = 5
"""How often a participant whose device did not qualify may return with another one."""
_UNBEGUN = 20
"""How many sessions that were opened by a readable id, and in which nobody has agreed, are passed over."""
_log = logging.getLogger("beholder.server")


async def load_session(ctx: Context, session: str) -> SessionFacts:
    """Return the facts of a session of this run, or of one that has ended; raise Refused for any other."""
    facts = await load_facts(ctx, session)
    is_current = facts.session.run == ctx.served.study.run
    if not is_current and facts.end is None:
        raise ctx.entrance.refusal("earlier_run")
    if is_current and facts.list is not None and facts.list > len(ctx.served.lists):
        await add_new_lists(ctx.served, ctx.store, facts.list)
    return facts


async def load_facts(ctx: Context, session: str) -> SessionFacts:
    """Return the facts of a session of any run; raise Refused for an unknown session."""
    facts = await ctx.store.session_facts(session)
    if facts is None:
        raise Refused(ctx.words["unknown_token"], where="token", code="unknown_token", status=401)
    return facts


async def check_moderation(ctx: Context, facts: SessionFacts) -> None:
    """Raise Refused, and release the list, where the participant is blocked or the session was replaced."""
    try:
        ctx.moderation.check(facts, ctx.words["blocked"], ctx.words["moved"])
    except Refused:
        await ctx.leases.release(facts.session.session)
        raise


async def refresh_moderation(ctx: Context) -> None:
    """Read new moderation entries: who is blocked, and whose list is released."""
    new_entries = await ctx.moderation.refresh()
    ctx.dealer.hear(new_entries)
    # Releases from before this server started took effect then; the participant may have returned since.
    released = [
        one.session
        for one in new_entries
        if one.kind == "release" and one.session and not ctx.moderation.is_earlier(one)
    ]
    stopped = {one.participant for one in new_entries if one.kind in ("shut_out", "reset")}
    for session in (*released, *(await _stopped_sessions(ctx, stopped) if stopped else ())):
        with contextlib.suppress(LookupError):
            await ctx.leases.release(session)


async def _stopped_sessions(ctx: Context, participants: Collection[str]) -> list[str]:
    """Return the sessions of these participants that may not continue."""
    sessions = [row["session"] for row in await read_rows(ctx.store, "sessions") if row["participant"] in participants]
    known = [await ctx.store.session_facts(session) for session in sessions]
    return [facts.session.session for facts in known if facts is not None and ctx.moderation.must_release(facts)]


# Sessions of a participant who arrives


async def admit(
    ctx: Context, identity: Identity, device: Mapping[str, Json], now: datetime, pace: Callable[[], None]
) -> tuple[str, bool]:
    """Return the session of a participant who arrives, and whether it is new, or raise Refused.

    It is the first one that has not ended. Where only a readable id says who comes, one that has begun is refused, and
    one in which nobody has agreed is passed over. A participant who was screened out gets no other session, except with
    another device if only the device did not qualify, or where the researcher readmitted them. A new session
    starts all attempts again. A participant with a list in another run of the study gets none in this one.
    `pace` is called for somebody who has not begun, unless the browser has kept the session; it may raise Refused.
    """
    taken = await ctx.store.runs_taken(identity.participant, identity.mode)
    if taken - {ctx.served.study.run}:
        raise ctx.entrance.refusal("earlier_run")
    kept = await kept_session(ctx, identity)
    if not taken:
        if kept is None:
            pace()
        await _check_new(ctx, identity, device, now)
    if kept is not None:
        await _check_place(ctx, identity, kept, now)
        return kept.session.session, False
    visit = completed = unbegun = 0
    last = ""
    most = ctx.further.max_sessions + _OTHER_DEVICES + ctx.moderation.readmissions(identity.participant)
    while visit < most + unbegun:
        visit += 1
        proposed = _new_session(ctx, identity, visit, device, now)
        if completed:
            await _check_remaining(ctx, identity, proposed, completed, now)
        session, is_new = await ctx.store.arrive(proposed)
        facts = await load_session(ctx, session.session)
        if ctx.moderation.is_superseded(facts):
            await ctx.store.release(session.session)
            continue
        if facts.end is None:
            await _check_place(ctx, identity, facts, now)
            if is_new or identity.is_proven:
                return session.session, is_new
            if facts.answers or facts.list is not None or unbegun == _UNBEGUN:
                raise ctx.entrance.refusal("other_device")
            unbegun += 1
            continue
        last = session.session
        completed += facts.end.outcome == "completed"
        if completed == ctx.further.max_sessions:
            return _last_or_refuse(ctx, identity, last, "finished")
        has_other = not is_same_device(current_device(session.device, facts.verdicts), device)
        may_return = facts.end.outcome == "wrong_device" and has_other and not _has_failed(ctx, facts)
        if facts.end.outcome != "completed" and not may_return:
            break
    return _last_or_refuse(ctx, identity, last, "ended")


async def _check_new(ctx: Context, identity: Identity, device: Mapping[str, Json], now: datetime) -> None:
    """Raise Refused where nobody may begin now; a visit that the platform sent after closing is still recorded."""
    try:
        check_open(ctx, identity, now)
    except Refused as refused:
        if refused.code in ("closed", "enough") and ENTRANCES[identity.mode].has_platform:
            session, _ = await ctx.store.arrive(_new_session(ctx, identity, 1, device, now))
            await record_visit(ctx, identity, session.session)
        raise
    if identity.platform not in ("", LAB, NUMBERED) and await _is_excluded(ctx, identity):
        raise ctx.entrance.refusal("excluded")
    if is_person(identity.mode) and not await ctx.room.is_free(lambda: _count_inside(ctx, now)):
        raise ctx.entrance.refusal("no_room", platform_id=identity.platform_id)


async def _count_inside(ctx: Context, now: datetime) -> int:
    return (await ctx.store.counts(now, ctx.served.study.run))["live"]


async def _check_place(ctx: Context, identity: Identity, facts: SessionFacts, now: datetime) -> None:
    """Raise Refused where a session has no list and none is free; the platform lists the visit all the same."""
    if facts.list is not None or not is_person(identity.mode):
        return
    # Before anybody has agreed, another language can still be chosen.
    language = settled_language(ctx.served.study, facts)
    if not await ctx.leases.has_free_list(now, ctx.further.barred(facts.session, (), language)):
        await record_visit(ctx, identity, facts.session.session)
        raise ctx.entrance.refusal("full", platform_id=identity.platform_id)


def _new_session(ctx: Context, identity: Identity, visit: int, device: Mapping[str, Json], now: datetime) -> Session:
    """Return a session for this visit, used if none has begun yet."""
    served, id_ = ctx.served, secrets.token_hex(10)
    return Session(id_, identity.participant, served.digest, served.study.run, identity.mode, visit, device, now)


def _last_or_refuse(ctx: Context, identity: Identity, last: str, code: str) -> tuple[str, bool]:
    """Return the last session, whose end has the completion code; refuse where the platform counts submissions."""
    is_theirs = identity.is_proven or last == identity.kept
    if last and is_theirs and ENTRANCES[identity.mode].is_shown_again(identity):
        return last, False
    raise ctx.entrance.refusal(code)


def _has_failed(ctx: Context, facts: SessionFacts) -> bool:
    """Return whether the participant, and not only the device, failed a gate."""
    checks = (step.check for step in ctx.served.script(1).steps)
    gates = {check.name: check.action for check in checks if check is not None and check.stage != "device"}
    failed = [one for one in facts.verdicts.values() if one.verdict == "fail" and one.check in gates]
    return any(action_of(one, gates[one.check]) == "gate" for one in failed)


async def _check_remaining(ctx: Context, identity: Identity, session: Session, completed: int, now: datetime) -> None:
    """Raise Refused where a further session would begin after closing, or no list is left for this participant."""
    taken = await ctx.further.lists_taken(session)
    if len(taken) > completed:  # one is under way
        return
    check_open(ctx, identity, now)
    before = replace(session, visit=session.visit - 1)
    if await ctx.further.is_enough_today(before, now):
        raise ctx.entrance.refusal("enough_today")
    barred = ctx.further.barred(session, taken, ctx.served.study.language)
    if is_person(session.mode) and not await ctx.leases.has_free_list(now, barred):
        raise ctx.entrance.refusal("nothing_left")


async def present_params(ctx: Context, params: Mapping[str, str]) -> Mapping[str, str]:
    """Return by which parameters somebody comes: by a link to a session alone, or by all others once it was removed."""
    links = [name for name in RETURNING if name in params]
    if not links or not params.keys().isdisjoint(("robot", "preview")):  # which are of nobody
        return params
    session = tokens.read_token(ctx.store.secret, ctx.served.study.name, params[links[0]]).session
    if await ctx.store.session_facts(session) is not None:
        return {links[0]: params[links[0]]}
    return {name: value for name, value in params.items() if name not in links}


async def resume(ctx: Context, identity: Identity) -> tuple[Identity, str | None]:
    """Return who comes back and to which session; None where a new session of this run begins."""
    if identity.session is None:
        return identity, None
    facts = await load_facts(ctx, identity.session)
    begins_again = Identity(facts.session.mode, facts.session.participant, is_proven=True), None
    is_current = facts.session.run == ctx.served.study.run
    if ctx.moderation.is_superseded(facts):
        return begins_again
    if identity.wants_more and facts.end is not None and is_current and ctx.further.is_offered:
        return begins_again
    if is_current or facts.end is not None or facts.list is not None:
        return identity, identity.session
    return begins_again


async def record_device(
    ctx: Context, session: str, script: Script | None, device: Mapping[str, Json], now: datetime
) -> None:
    """Store that a participant continues with another device."""
    for _ in range(3):  # two devices of one participant may arrive at the same time
        facts = await load_session(ctx, session)
        if facts.end is not None or facts.erased:
            return
        here = next_step(script, answers_of(facts), facts.verdicts, now)
        moved: list[Fact] = [*device_change_facts(facts, device, None if isinstance(here, Ending) else here, now)]
        if not moved or (await ctx.store.append(moved)).is_new:
            return


# Who may begin


def check_identity(ctx: Context, identity: Identity) -> None:
    """Raise Refused for a blocked participant, another posting, or an address that does not show who comes."""
    if ctx.bound.refuses(identity):
        raise ctx.entrance.refusal("no_id")
    if ctx.moderation.is_blocked(identity.participant):
        raise ctx.entrance.refusal("blocked")
    if identity.posting and not ctx.moderation.is_posted(identity.posting, ctx.served.study.run):
        raise ctx.entrance.refusal("other_posting" if ctx.moderation.postings else "not_launched")


def check_open(ctx: Context, identity: Identity, now: datetime) -> None:
    """Raise Refused before opening, after closing and while paused. Robots may begin at any time."""
    recruit = ctx.served.study.recruit
    if not is_person(identity.mode):
        return
    if recruit.opens is not None and now < moment(recruit.opens):
        raise ctx.entrance.refusal("not_open", at=moment(recruit.opens))
    if recruit.closes is not None and is_closed(recruit, now):
        raise ctx.entrance.refusal("closed", at=moment(recruit.closes), platform_id=identity.platform_id)
    if ctx.moderation.pauses.active(ctx.served.study) is not None:
        raise ctx.entrance.refusal("halted")
    if ctx.presence.is_closing:
        raise ctx.entrance.refusal("enough", platform_id=identity.platform_id)


async def _is_excluded(ctx: Context, identity: Identity) -> bool:
    """Return whether this participant has begun one of the studies in recruit.exclude."""
    study = ctx.served.study
    for name in study.recruit.exclude:
        folder = study.folder / name / "store"
        try:
            async with open_store(folder, write=False) as other:
                participant = tokens.pseudonym(other.secret, identity.platform, identity.platform_id)
                for mode in get_args(Mode):
                    if is_person(mode) and await other.runs_taken(participant, mode):
                        return True
        except (StoreError, StoreUnavailable, OSError) as error:
            _log.warning("recruit.exclude: %s leaves nobody out, as its store cannot be read: %s", name, error)
    return False


# Lists


async def claim_list(
    ctx: Context, facts: SessionFacts, now: datetime
) -> tuple[SessionFacts, Script, list[StoredVerdict]]:
    """Return the facts of a session with its list, its script, and the verdicts to store: passes that are carried over.

    Raises Refused where no list is free.
    """
    served, store = ctx.served, ctx.store
    if facts.list is None and is_person(facts.session.mode) and ctx.platform is not None:
        await check_visit(ctx, facts.session.session)
    if facts.list is None and ctx.presence.is_closing and is_person(facts.session.mode):
        raise ctx.entrance.refusal("enough")
    taken = await ctx.further.lists_taken(facts.session, facts.list)
    if taken:  # barring lists needs all lists of the plan
        await add_new_lists(served, store, (await store.counts(now, served.study.run))["lists"])
    number = await ctx.leases.claim(facts.session, taken, now, ctx.served.study.language)
    if number is None:
        raise ctx.entrance.refusal("nothing_left" if taken else "full")
    await add_new_lists(served, store, number)
    facts, script = replace(facts, list=number), served.script(number, is_later=bool(taken))
    verdicts = ctx.further.later_session_facts(facts.session, taken, now) if taken else []
    if script.has_attempts:
        verdicts += await carry_over(store, served.digest, facts, script, now)
    return facts, script, verdicts


ReleaseLists = Callable[[], Awaitable[None]]
"""Releases the lists of participants who left. It takes a few seconds at most, and raises no errors."""


class Leases:
    """Claims lists for sessions and renews their leases, with few writes.

    Where no list is free, it looks once more after `release_abandoned`, if a platform reports who left.
    """

    def __init__(
        self,
        store: Store,
        further: FurtherSessions,
        dealer: Dealer,
        duration: timedelta,
        release_abandoned: ReleaseLists | None = None,
    ) -> None:
        self._store, self._further, self._dealer, self._duration = store, further, dealer, duration
        self._release_abandoned = release_abandoned
        self._until: RecentEntries[str, datetime] = RecentEntries(MOST_SESSIONS)

    async def claim(self, session: Session, taken: Sequence[int], now: datetime, language: str = "") -> int | None:
        """Return the list of a session, claimed now; None where none is free. Robots share lists.

        Lists that are for another language are not given. A participant who had other lists gets none with a stimulus
        that they have rated.
        """
        until = now + self._duration
        number = await self._claim(session, taken, now, until, language)
        if number is None and is_person(session.mode) and await self.release_abandoned():
            number = await self._claim(session, taken, now, until, language)
        while number is None and await self._dealer.deal(population_of(session)):
            number = await self._claim(session, taken, now, until, language)
        if number is not None:
            self._until[session.session] = until
            self._dealer.look_ahead(population_of(session), number)
        return number

    async def _claim(
        self, session: Session, taken: Sequence[int], now: datetime, until: datetime, language: str
    ) -> int | None:
        is_shared = not is_person(session.mode) and not self._dealer.is_active
        return await self._store.claim(
            session.session,
            now=now,
            until=until,
            per_list=None if is_shared else 1,
            barred=self._further.barred(session, taken, language) | self._dealer.barred(population_of(session)),
            preferred=self._further.preferred(taken, language),
        )

    async def has_free_list(self, now: datetime, barred: Collection[int] = ()) -> bool:
        """Return whether a list is free for a person, other than those barred, or will be made."""
        if self._dealer.can_deal("people"):
            return True
        barred = {*barred, *self._dealer.barred("people")}
        if await self._store.has_free_list(now, barred):
            return True
        return await self.release_abandoned() and await self._store.has_free_list(now, barred)

    async def release_abandoned(self) -> bool:
        """Release abandoned lists; return whether that was possible, so that it is worth looking again."""
        if self._release_abandoned is None:
            return False
        await self._release_abandoned()
        return True

    async def renew(self, session: str, now: datetime) -> None:
        """Renew a lease once a tenth of it has passed, so that most answers need no second write."""
        if self._until.get(session, now) < now + 0.9 * self._duration:
            self._until[session] = now + self._duration
            await self._store.renew(session, now + self._duration)

    async def release(self, session: str) -> None:
        """End a lease now; a later answer takes it again."""
        self._until.pop(session, None)
        await self._store.release(session)
