"""Moderation: record an act about a participant with its reason, which the server and cleaning apply."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from beholder.cleaning.facts import LEFT_OUT, TAKEN_IN
from beholder.errors import Problem, RecruitError, did_you_mean
from beholder.recruiting.context import RecruitContext
from beholder.recruiting.decisions_file import DECISIONS_FILE, participant_of
from beholder.recruiting.participant_records import ParticipantRecord, ParticipantSession, participant_records
from beholder.server.moderation import Moderation
from beholder.store.contract import LedgerEntry
from beholder.store.open import open_store
from beholder.store.rules import InUseError

Act = Literal["release", "reset", "let_in", "shut_out", "leave_out", "take_in"]
_REASONS: Mapping[Act, str] = {"leave_out": LEFT_OUT, "take_in": TAKEN_IN}
_ACT_MEANS: Mapping[Act, str] = {
    "release": "the list is open to others; whoever comes back still finishes it",
    "shut_out": "is turned away kindly, also from a session that is open",
    "leave_out": "is not used, whatever the rules say; `beholder clean` goes by it",
    "take_in": "is used, whatever the rules over the session say; `beholder clean` goes by it",
}
_SHORTEST = 4
"""Letters of an id that identify it."""
_SHORTEST_PLATFORM_ID = 8
"""Letters of a platform id that occur in no other word by chance."""


@dataclass(frozen=True)
class ModerationResult:
    """The recorded act, or what would be recorded."""

    kind: Act
    participant: str
    sessions: tuple[str, ...]
    """The sessions concerned; none where it concerns the participant."""
    words: str


async def record_act(
    context: RecruitContext, kind: Act, name: str, reason: str, *, by: str = "", dry_run: bool = False
) -> ModerationResult:
    """Record an act about a participant or a session, with its reason and who did it, and return it in words."""
    await require_reason(context, reason)
    person, session = find_participant(await participant_records(context), name, context.study.folder)
    sessions = _sessions(kind, person, session)
    subject = sessions[0] if len(sessions) == 1 else person.participant
    if kind in _READMISSIONS:
        means, is_unchanged = await _readmit(context, kind, person)
    else:
        means, is_unchanged = _ACT_MEANS[kind], False
    settled = f"{subject}: {means}. Nothing is recorded." if is_unchanged else _no_change(kind, person, sessions)
    if settled is not None:
        return ModerationResult(kind, person.participant, sessions, settled)
    means = f"{subject}: {means}"
    if dry_run:
        return ModerationResult(kind, person.participant, sessions, f"{means}. Nothing is recorded.")
    await context.store.ledger.append(
        [
            LedgerEntry(
                kind, "done", context.now(), participant=person.participant, session=one,
                reason_code=_REASONS.get(kind, ""), reason_text=reason.strip(),
                evidence={"by": by} if by else None,
            )
            for one in sessions or ("",)
        ]
    )  # fmt: skip
    suffix = await _release_lists(context, sessions) if kind == "release" else ""
    return ModerationResult(kind, person.participant, sessions, f"{means}. Recorded{suffix}.")


async def require_reason(context: RecruitContext, reason: str) -> None:
    """Raise RecruitError for a reason that is empty, or names somebody by their id on a platform."""
    if not reason.strip():
        raise RecruitError(Problem("--reason", "is empty", "a few words, which are kept"))
    if any(
        len(link.platform_id) >= _SHORTEST_PLATFORM_ID and link.platform_id in reason
        for link in await context.store.platform_identities()
    ):
        fix = "Write the pseudonym, or nobody: it is recorded with whom it is about anyway."
        raise RecruitError(Problem("--reason", "holds somebody's id on their platform", "words without ids", fix))


def find_participant(
    records: Sequence[ParticipantRecord], name: str, folder: Path
) -> tuple[ParticipantRecord, ParticipantSession | None]:
    """Return the participant for a pseudonym, a session or the beginning of either, and the session if it is one.

    A submission means the participant in its row of the decisions of the study in this folder.
    """
    id_ = name.strip()
    ids: dict[str, tuple[ParticipantRecord, ParticipantSession | None]] = {
        one.participant: (one, None) for one in records
    }
    ids |= {session.session: (one, session) for one in records for session in one.sessions}
    id_ = id_ if id_ in ids else participant_of(folder, id_) or id_
    if id_ in ids:
        return ids[id_]
    matches = [one for one in ids if one.startswith(id_)] if len(id_) >= _SHORTEST else []
    if len(matches) == 1:
        return ids[matches[0]]
    if matches:
        shown = ", ".join(matches[:5]) + (" …" if len(matches) > 5 else "")
        raise RecruitError(Problem(id_, f"is the beginning of {len(matches)} ids", shown, "Write more of it."))
    fix = did_you_mean(id_, sorted(ids)) or "`beholder participants` lists everybody."
    allowed = f"a pseudonym, a session, or its beginning; a submission in {DECISIONS_FILE}"
    raise RecruitError(Problem(id_ or "ID", "is nobody who came", allowed, fix))


def _sessions(kind: Act, person: ParticipantRecord, session: ParticipantSession | None) -> tuple[str, ...]:
    """Return the sessions that an act concerns, or raise RecruitError where there are none."""
    if kind in ("reset", "let_in", "shut_out"):
        return ()
    candidates = [session] if session is not None else list(person.sessions)
    where = session.session if session is not None else person.participant
    if kind == "release":
        live = [one for one in candidates if one.outcome is None and one.list is not None]
        if not live:
            what = "holds no list: " + ("; ".join(f"{one.session} {_session_state(one)}" for one in candidates))
            raise RecruitError(Problem(where, what, "a session that has begun and not ended"))
        return tuple(one.session for one in live)
    remaining = [one for one in candidates if not one.is_erased]
    if not remaining:
        raise RecruitError(Problem(where, "was erased, and there is nothing left to use"))
    return tuple(one.session for one in remaining)


def _session_state(one: ParticipantSession) -> str:
    return f"ended ({one.at})" if one.outcome is not None else "has claimed none"


def _no_change(kind: Act, person: ParticipantRecord, sessions: Sequence[str]) -> str | None:
    """Return that there is nothing to do, in words; None where there is."""
    if kind == "shut_out" and person.is_shut_out:
        return f"{person.participant} is shut out already. Nothing is recorded."
    if kind == "release" and all(_is_released(person, one) for one in sessions):
        return f"{', '.join(sessions)}: released already, and nothing has come since. Nothing is recorded."
    if kind not in _REASONS:
        return None
    last = {done.session: done.kind for done in person.acts if done.kind in _REASONS}
    if all(last.get(one) == kind for one in sessions):
        word = "left out" if kind == "leave_out" else "taken in"
        return f"{', '.join(sessions)}: {word} already. Nothing is recorded."
    return None


def _is_released(person: ParticipantRecord, session: str) -> bool:
    """Return whether the list of a session was released, and nothing was answered since."""
    released = [done.at for done in person.acts if done.kind == "release" and done.session == session]
    answered = [step.at for one in person.sessions if one.session == session for step in one.steps]
    return bool(released) and not any(at > released[-1] for at in answered)


async def _release_lists(context: RecruitContext, sessions: Sequence[str]) -> str:
    """End the leases, unless a server writes the store, which does it by itself."""
    try:
        async with open_store(context.url) as store:
            for session in sessions:
                await store.release(session)
    except InUseError:
        return "; the server that is running does it within a second"
    return ""


# Readmission


_ReadmissionKind = Literal["let_in", "reset"]
_READMISSIONS: tuple[_ReadmissionKind, ...] = ("let_in", "reset")
_READMISSION_MEANS: Mapping[_ReadmissionKind, str] = {
    "let_in": "may begin again",
    "reset": "at the next arrival all attempts begin anew",
}
_ALLOWED: Mapping[_ReadmissionKind, str] = {
    "let_in": "somebody who was shut out, or whose session ended early",
    "reset": "somebody whose session is open, or ended early",
}


class _Readmission(NamedTuple):
    """The effect of letting a participant begin again."""

    words: str
    is_unchanged: bool


async def _readmit(context: RecruitContext, kind: _ReadmissionKind, person: ParticipantRecord) -> _Readmission:
    """Return the effect for a participant, by the rules of admission; raise RecruitError where it cannot help."""
    acts = Moderation(context.store.ledger)
    await acts.refresh()
    last = await _last(context, person, acts)
    if kind == "let_in" and acts.is_blocked(person.participant):
        has_ended_early = last is not None and last.outcome not in (None, "completed")
        return _Readmission(_READMISSION_MEANS[kind] if has_ended_early else "is turned away no longer", False)
    if problems := list(_readmission_problems(context, kind, person, last, acts)):
        raise RecruitError(problems)
    if last is None:
        return _Readmission(f"{_READMISSION_MEANS[kind]} already", True)
    if kind == "let_in" and last.outcome is None:
        return _Readmission("is not shut out, and goes on by the same link", True)
    return _Readmission(_READMISSION_MEANS[kind], False)


async def _last(context: RecruitContext, person: ParticipantRecord, acts: Moderation) -> ParticipantSession | None:
    """Return the current session of this run; None where there is none, or the next arrival begins a new one."""
    for session in reversed(person.sessions):
        facts = await context.store.session_facts(session.session) if session.run == context.study.run else None
        if facts is not None and not acts.is_superseded(facts):
            return session
    return None


def _readmission_problems(
    context: RecruitContext,
    kind: _ReadmissionKind,
    person: ParticipantRecord,
    last: ParticipantSession | None,
    acts: Moderation,
) -> Iterator[Problem]:
    """Yield why the participant could not begin all the same."""
    who = person.participant
    elsewhere = [one.run for one in person.sessions if one.run != context.study.run and one.list is not None]
    if acts.is_blocked(who):
        yield Problem(who, "is shut out", "", "`beholder participants let-in` comes first.")
    elif elsewhere:
        yield Problem(who, f"took part in run {elsewhere[-1]}, and nobody takes part in two runs")
    elif last is not None and last.outcome == "completed":
        yield Problem(who, "has finished", _ALLOWED[kind])
    elif last is not None and last.is_erased and (kind == "reset" or last.outcome is None):
        yield Problem(who, "was erased, and there is nothing left to begin anew")
