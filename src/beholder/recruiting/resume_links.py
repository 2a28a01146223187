"""Resume links: the way back to a session for a participant who has changed the device and writes to the contact.

Such a participant names the id with which they came, so that people are found by their platform ids here, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from beholder.errors import Problem, RecruitError
from beholder.recruiting.context import RecruitContext
from beholder.recruiting.launch_record import launch_record
from beholder.recruiting.ledger import last_purge
from beholder.recruiting.moderation import find_participant
from beholder.recruiting.participant_records import ParticipantRecord, ParticipantSession, participant_records
from beholder.server.moderation import Moderation
from beholder.server.tokens import resume_address
from beholder.store.contract import LedgerEntry, PlatformIdentity

_WARNING = "Whoever has this link has the session: send it to this person alone."


@dataclass(frozen=True)
class ResumeLink:
    """The link that leads one person back to their session."""

    participant: str
    """The pseudonym."""
    session: str
    link: str
    is_over: bool
    """Whether the session has ended: then the link shows its last page."""
    words: str
    """Where the link leads, and that it is secret."""


async def resume_link(context: RecruitContext, name: str, *, public_url: str | None = None) -> ResumeLink:
    """Return the link back to the session of a participant; raise RecruitError where no link would lead there.

    `name` is the id with which the participant came, a pseudonym, a session, or the beginning of either of these.
    """
    identities = await context.store.platform_identities()
    records = await participant_records(context)
    person, session = _find(context, records, name.strip(), identities)
    await _check_known(context, person, identities)
    if person.is_shut_out:
        fix = "`beholder participants let-in` comes first."
        raise RecruitError(Problem(person.participant, "is shut out, and would be turned away", "", fix))
    replaced = await _replaced_sessions(context, person)
    last = _last_session(context, person, None if session is None or session.session in replaced else session, replaced)
    url = await _public_url(context, public_url)
    begins_anew = last.session in replaced
    is_over = last.outcome is not None and not begins_anew
    if begins_anew:
        leads = "begins anew, as you have allowed"
    elif is_over:
        leads = f"is over ({last.at}), and the link shows its last page once more"
    else:
        leads = f"goes on where it is: {last.at}"
    link = resume_address(context.store.secret, url, context.study.name, last.session)
    words = f"{person.participant}: session {last.session} {leads}. {_WARNING}"
    # Whoever has the link has the session: that one was made is among what was done about this person.
    made = LedgerEntry("resume_link", "done", context.now(), participant=person.participant, session=last.session)
    await context.store.ledger.append([made])
    return ResumeLink(person.participant, last.session, link, is_over, words)


def _find(
    context: RecruitContext,
    records: tuple[ParticipantRecord, ...],
    name: str,
    identities: Sequence[PlatformIdentity],
) -> tuple[ParticipantRecord, ParticipantSession | None]:
    """Return the participant for an id, and the session if it is one; raise RecruitError for nobody, or several."""
    known = {one.participant: one for one in records}
    named = {one.participant: one for one in identities if one.platform_id == name and one.participant in known}
    if name in known or not named:
        return find_participant(records, name, context.study.folder)
    if len(named) > 1:
        people = ", ".join(f"{pseudonym} ({one.platform})" for pseudonym, one in sorted(named.items()))
        fix = "Find out which of them wrote, and write the pseudonym."
        raise RecruitError(Problem(name, f"is the id of {len(named)} people, who came by different ways", people, fix))
    return known[next(iter(named))], None


async def _check_known(
    context: RecruitContext, person: ParticipantRecord, identities: Sequence[PlatformIdentity]
) -> None:
    """Raise RecruitError for a participant from before a purge: nobody can tell any more whose session this is."""
    purged = last_purge(await context.store.ledger.entries())
    is_before = purged is not None and person.sessions[-1].began <= purged.at
    if purged is not None and is_before and all(one.participant != person.participant for one in identities):
        what = f"came before who is who was erased, on {purged.at:%Y-%m-%d}: nobody can tell whose session it is"
        raise RecruitError(Problem(person.participant, what, "", "No link is given."))


async def _replaced_sessions(context: RecruitContext, person: ParticipantRecord) -> set[str]:
    """Return the sessions of a participant that `reset` or `let-in` have replaced: their links begin anew."""
    acts = Moderation(context.store.ledger)
    await acts.refresh()
    facts = [await context.store.session_facts(one.session) for one in person.sessions]
    return {one.session.session for one in facts if one is not None and acts.is_superseded(one)}


def _last_session(
    context: RecruitContext, person: ParticipantRecord, session: ParticipantSession | None, replaced: set[str]
) -> ParticipantSession:
    """Return the session to go back to: the one that was named, else the last open one, else the last that ended."""
    candidates = [session] if session is not None else list(person.sessions)
    where = session.session if session is not None else person.participant
    kept = [one for one in candidates if not one.is_erased]
    if not kept:
        raise RecruitError(Problem(where, "was erased, and there is nothing to go back to"))
    run = context.study.run
    reachable = [one for one in kept if one.run == run or one.outcome is not None]
    if not reachable:
        what = f"began in run {kept[-1].run}, and the study is at run {run}: that session does not go on"
        raise RecruitError(Problem(where, what, "a session of this run"))
    current = [one for one in reachable if one.session not in replaced] or reachable[-1:]
    return next((one for one in reversed(current) if one.outcome is None), current[-1])


async def _public_url(context: RecruitContext, given: str | None) -> str:
    """Return the address under which participants reach the server: as given, else as launched."""
    launched = launch_record(await context.store.ledger.entries(), context.study.run)
    url = (given or (launched.public_url if launched is not None else "")).strip().rstrip("/")
    allowed = "an address that begins with https:// or http://"
    if not url:
        fix = "Write --public-url with the address under which participants reach the server."
        raise RecruitError(Problem("--public-url", "is left out, and the study was never launched", allowed, fix))
    if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname:
        raise RecruitError(Problem("--public-url", f"is {url}", allowed))
    return url
