"""Visits of a platform: what shows who comes, whether a visit is real, and which session it led to."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

from beholder.errors import Refused
from beholder.server import tokens
from beholder.server.context import Context
from beholder.server.moderation import VERIFIED
from beholder.server.participants import Identity
from beholder.store.contract import LedgerEntry, PlatformIdentity, PlatformVisit, SessionFacts

VisitState = Literal["verified", "unlisted", "unknown"]
"""What a platform says about a visit: that it is of this person, that there is none such, or nothing."""


class VisitIds(NamedTuple):
    """The ids of a visit on its platform, as the address names them."""

    participant: str
    posting: str
    submission: str


class Platform(NamedTuple):
    """What the server asks the platform of its study; all take a few seconds at most, and raise no errors."""

    release_abandoned: Callable[[], Awaitable[None]]
    """Releases the lists of participants who left."""
    state_of: Callable[[str, str], Awaitable[VisitState]]
    """Tells about a visit, by the participant's id on the platform and the id of the submission."""
    is_signed: Callable[[VisitIds, str], Awaitable[bool]]
    """Tells whether the platform itself has signed a visit, by the signature in its address."""


# What shows who comes


async def prove(ctx: Context, identity: Identity, token: str, signature: str = "") -> Identity:
    """Return the identity with what shows who comes.

    That is the platform's signature, the token that the browser has kept, or a visit that came before.

    A readable id alone shows nothing. Whoever opens an address with the id of another must not get their session. A
    browser in which a session was completed goes on with later ones, too.
    """
    if identity.is_proven or identity.session is not None:
        return identity
    if signature and ctx.platform is not None and identity.submission:
        ids = VisitIds(identity.platform_id, identity.posting, identity.submission)
        if await ctx.platform.is_signed(ids, signature):
            return replace(identity, is_proven=True, is_signed=True)
    is_proven, session = False, _session_of_token(ctx, token)
    if identity.submission and ctx.entrance.has_secret_visits:
        before = await _sessions_of_visit(ctx, identity)
        is_proven = await (
            _is_session_of(ctx, identity, before[-1]) if before else _is_returning_by_new_visit(ctx, identity)
        )
    facts = await ctx.store.session_facts(session) if session else None
    if facts is None or facts.session.participant != identity.participant:
        return replace(identity, is_proven=is_proven)
    has_completed = facts.end is not None and facts.end.outcome == "completed"
    return replace(identity, is_proven=is_proven or has_completed, kept=session)


async def kept_session(ctx: Context, identity: Identity) -> SessionFacts | None:
    """Return the facts of the open session of this run whose token the browser has kept."""
    facts = await ctx.store.session_facts(identity.kept) if identity.kept else None
    is_open = facts is not None and facts.end is None and facts.session.run == ctx.served.study.run
    return facts if is_open and facts is not None and not ctx.moderation.is_superseded(facts) else None


async def _is_returning_by_new_visit(ctx: Context, identity: Identity) -> bool:
    """Return whether somebody who has begun comes by another visit, which the platform verifies."""
    if ctx.platform is None or not await ctx.store.runs_taken(identity.participant, identity.mode):
        return False
    return await ctx.platform.state_of(identity.platform_id, identity.submission) == "verified"


def _session_of_token(ctx: Context, token: str) -> str:
    try:
        return tokens.read_token(ctx.store.secret, ctx.served.study.name, token).session
    except Refused:  # none, or of another study or store
        return ""


async def _is_session_of(ctx: Context, identity: Identity, session: str) -> bool:
    facts = await ctx.store.session_facts(session)
    return facts is not None and facts.session.participant == identity.participant


# Visits that nobody made up


async def visit_state(ctx: Context, session: str) -> VisitState:
    """Return what the platform says about the visits that led to a session; a verified one is recorded once.

    `unknown` where there is no platform to ask, where it does not answer, and where the visit was erased.
    """
    if ctx.platform is None or session in ctx.moderation.verified:
        return "unknown" if ctx.platform is None else "verified"
    visits = [one for one in await ctx.store.platform_visits() if one.session == session]
    facts = await ctx.store.session_facts(session) if visits else None
    people = await ctx.store.platform_identities() if facts is not None else ()
    ids = [one.platform_id for one in people if facts is not None and one.participant == facts.session.participant]
    if facts is None or not ids:
        return "unknown"
    states = [await ctx.platform.state_of(ids[0], one.submission) for one in reversed(visits)]
    if "verified" not in states:
        return "unknown" if "unknown" in states else "unlisted"
    await _record_verified(ctx, facts, visits[-1 - states.index("verified")].submission)
    return "verified"


async def record_signed_visit(ctx: Context, identity: Identity, session: str) -> None:
    """Record that the platform has signed the visit that led to a session, if it has: its list is not asked."""
    facts = await ctx.store.session_facts(session) if identity.is_signed else None
    if facts is not None and not facts.erased and session not in ctx.moderation.verified:
        await _record_verified(ctx, facts, identity.submission)


async def _record_verified(ctx: Context, facts: SessionFacts, submission: str) -> None:
    of = facts.session
    entry = LedgerEntry(
        VERIFIED, "done", ctx.now(), submission=submission, participant=of.participant, session=of.session
    )
    await ctx.store.ledger.append([entry])
    ctx.moderation.verified.add(of.session)


async def check_visit(ctx: Context, session: str) -> None:
    """Raise Refused where the platform does not list the visit of a session: it takes no place."""
    if await visit_state(ctx, session) == "unlisted":
        raise ctx.entrance.refusal("unlisted")


async def without_code(ctx: Context, refused: Refused, identity: Identity) -> Refused:
    """Return a refusal that leads back without a code, where the platform does not list the visit."""
    if ctx.platform is None or not identity.submission or refused.more.get("return_url") in (None, ctx.entrance.home):
        return refused
    if identity.is_signed:
        return refused
    if await ctx.platform.state_of(identity.platform_id, identity.submission) != "unlisted":
        return refused
    return ctx.entrance.refusal("unlisted")


# The sessions of a visit


async def find_session(ctx: Context, identity: Identity) -> SessionFacts | None:
    """Return the facts of the session that this platform visit led to before, the last one of several.

    None where it never got a list, so that a free list is looked for again.
    """
    if not identity.submission:
        return None
    facts = await _last_session(ctx, identity, await _sessions_of_visit(ctx, identity))
    if facts is None:
        return None
    has_begun = facts.list is not None or facts.end is not None or facts.erased
    return facts if has_begun and not ctx.moderation.is_superseded(facts) else None


async def record_visit(ctx: Context, identity: Identity, session: str) -> None:
    """Store the platform identity of a participant, and which platform visit led to this session.

    Of two participants with the same visit, the first gets it, at whichever server; the other is refused.
    """
    facts = await ctx.store.session_facts(session) if identity.platform else None
    if facts is None or facts.erased:  # the identity of an erased participant is not stored again
        return
    person = PlatformIdentity(identity.participant, identity.platform, identity.platform_id)
    visit = PlatformVisit(session, identity.posting, identity.submission or identity.platform_id)
    seen: list[str] | None = [] if identity.submission else None
    while not await ctx.store.identify(person, visit, seen=seen):
        seen = await _sessions_of_visit(ctx, identity)
        await _last_session(ctx, identity, seen)


async def record_further_session(ctx: Context, earlier: str, participant: str, session: str) -> None:
    """Store that a further session belongs to the platform visit of an earlier one."""
    visits = [one for one in await ctx.store.platform_visits() if one.session == earlier]
    if not visits:
        return
    people = [one for one in await ctx.store.platform_identities() if one.participant == participant]
    if people:
        await ctx.store.identify(people[0], visits[-1]._replace(session=session))


async def _sessions_of_visit(ctx: Context, identity: Identity) -> list[str]:
    """Return the sessions that this platform visit led to, oldest first."""
    visit = (identity.posting, identity.submission)
    return [one.session for one in await ctx.store.platform_visits() if (one.posting, one.submission) == visit]


async def _last_session(ctx: Context, identity: Identity, sessions: Sequence[str]) -> SessionFacts | None:
    """Return the facts of the last session if it is of this run; raise Refused if it is of another participant."""
    facts = await ctx.store.session_facts(sessions[-1]) if sessions else None
    if facts is None or facts.session.run != ctx.served.study.run:
        return None
    if facts.session.participant != identity.participant:
        raise ctx.entrance.refusal("other_posting")
    return facts
