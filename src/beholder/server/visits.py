"""Visits of a platform: who comes by which ids, which session a visit led to, and whether that shows who it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from beholder.errors import Refused
from beholder.server import tokens
from beholder.server.context import Context
from beholder.server.participants import Identity
from beholder.store.contract import PlatformIdentity, PlatformVisit, SessionFacts


async def prove(ctx: Context, identity: Identity, token: str) -> Identity:
    """Return the identity with what shows who comes: the token that the browser has kept, or a visit that came before.

    A readable id alone shows nothing. Whoever opens an address with the id of another must not get their session.
    """
    if identity.is_proven or identity.session is not None:
        return identity
    is_proven, session = False, _session_of_token(ctx, token)
    if identity.submission and ctx.entrance.has_secret_visits:
        before = await _sessions_of_visit(ctx, identity)
        is_proven = bool(before) and await _is_session_of(ctx, identity, before[-1])
    kept = session if session and await _is_session_of(ctx, identity, session) else ""
    return replace(identity, is_proven=is_proven, kept=kept)


async def kept_session(ctx: Context, identity: Identity) -> SessionFacts | None:
    """Return the facts of the open session of this run whose token the browser has kept."""
    facts = await ctx.store.session_facts(identity.kept) if identity.kept else None
    is_open = facts is not None and facts.end is None and facts.session.run == ctx.served.study.run
    return facts if is_open and facts is not None and not ctx.moderation.is_superseded(facts) else None


def _session_of_token(ctx: Context, token: str) -> str:
    try:
        return tokens.read_token(ctx.store.secret, ctx.served.study.name, token).session
    except Refused:  # none, or of another study or store
        return ""


async def _is_session_of(ctx: Context, identity: Identity, session: str) -> bool:
    facts = await ctx.store.session_facts(session)
    return facts is not None and facts.session.participant == identity.participant


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
