"""Doing something about a person: a recorded fact with its reason, which the server and cleaning go by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from beholder.clean.persons import LEFT_OUT, TAKEN_IN
from beholder.errors import Problem, RecruitError, did_you_mean
from beholder.recruit.deciding.file import NAME, person_of
from beholder.recruit.desk import Desk
from beholder.recruit.people.found import Person, Visited
from beholder.recruit.people.pardons import PARDONS, pardon
from beholder.recruit.people.people import people
from beholder.store.contract import Entry
from beholder.store.open import open_store
from beholder.store.rules import InUseError

Act = Literal["release", "reset", "let_in", "shut_out", "leave_out", "take_in"]
_REASONS: Mapping[Act, str] = {"leave_out": LEFT_OUT, "take_in": TAKEN_IN}
_MEANS: Mapping[Act, str] = {
    "release": "the list is open to others; whoever comes back still finishes it",
    "shut_out": "is turned away kindly, also from a session that is open",
    "leave_out": "is not used, whatever the rules say; `beholder clean` goes by it",
    "take_in": "is used, whatever the rules over the session say; `beholder clean` goes by it",
}
_SHORTEST = 4
"""Letters of an id that may stand for all of it."""
_TELLING = 8
"""Letters of an id on a platform that no other word holds by chance."""


@dataclass(frozen=True)
class Acted:
    """What was done about somebody, or would be."""

    kind: Act
    participant: str
    sessions: tuple[str, ...]
    """Those it is about; none where it is about the person."""
    words: str


async def act(desk: Desk, kind: Act, name: str, reason: str, *, dry_run: bool = False) -> Acted:
    """Record an act about a person or a session, with its reason, and return it in words."""
    if not reason.strip():
        raise RecruitError(Problem("--reason", "is empty", "a few words, which are kept"))
    if any(len(link.platform_id) >= _TELLING and link.platform_id in reason for link in await desk.store.links()):
        fix = "Write the pseudonym, or nobody: it is recorded with whom it is about anyway."
        raise RecruitError(Problem("--reason", "holds somebody's id on their platform", "words without ids", fix))
    person, session = find(await people(desk), name, desk.study.folder)
    sessions = _sessions(kind, person, session)
    who = sessions[0] if len(sessions) == 1 else person.participant
    if kind in PARDONS:
        means, is_so_already = await pardon(desk, kind, person)
    else:
        means, is_so_already = _MEANS[kind], False
    settled = f"{who}: {means}. Nothing is recorded." if is_so_already else _already(kind, person, sessions)
    if settled is not None:
        return Acted(kind, person.participant, sessions, settled)
    means = f"{who}: {means}"
    if dry_run:
        return Acted(kind, person.participant, sessions, f"{means}. Nothing is recorded.")
    await desk.store.ledger.append(
        [
            Entry(
                kind, "done", desk.now(), participant=person.participant, session=one,
                reason_code=_REASONS.get(kind, ""), reason_text=reason.strip(),
            )
            for one in sessions or ("",)
        ]
    )  # fmt: skip
    told = await _release(desk, sessions) if kind == "release" else ""
    return Acted(kind, person.participant, sessions, f"{means}. Recorded{told}.")


def find(everybody: Sequence[Person], name: str, folder: Path) -> tuple[Person, Visited | None]:
    """Return whom a pseudonym, a session or the beginning of either means, and the session where it is one.

    A submission means whoever stands beside it in the decisions of the study in this folder.
    """
    wanted = name.strip()
    ids: dict[str, tuple[Person, Visited | None]] = {one.participant: (one, None) for one in everybody}
    ids |= {visited.session: (one, visited) for one in everybody for visited in one.sessions}
    wanted = wanted if wanted in ids else person_of(folder, wanted) or wanted
    if wanted in ids:
        return ids[wanted]
    near = [one for one in ids if one.startswith(wanted)] if len(wanted) >= _SHORTEST else []
    if len(near) == 1:
        return ids[near[0]]
    if near:
        shown = ", ".join(near[:5]) + (" …" if len(near) > 5 else "")
        raise RecruitError(Problem(wanted, f"is the beginning of {len(near)} ids", shown, "Write more of it."))
    fix = did_you_mean(wanted, sorted(ids)) or "`beholder participants` lists everybody."
    allowed = f"a pseudonym, a session, or its beginning; a submission in {NAME}"
    raise RecruitError(Problem(wanted or "ID", "is nobody who came", allowed, fix))


def _sessions(kind: Act, person: Person, session: Visited | None) -> tuple[str, ...]:
    """Return the sessions that an act is about, or raise RecruitError where it cannot be about any."""
    if kind in ("reset", "let_in", "shut_out"):
        return ()
    asked = [session] if session is not None else list(person.sessions)
    where = session.session if session is not None else person.participant
    if kind == "release":
        live = [one for one in asked if one.outcome is None and one.list is not None]
        if not live:
            what = "holds no list: " + ("; ".join(f"{one.session} {_stands(one)}" for one in asked))
            raise RecruitError(Problem(where, what, "a session that has begun and not ended"))
        return tuple(one.session for one in live)
    kept = [one for one in asked if not one.is_erased]
    if not kept:
        raise RecruitError(Problem(where, "was erased, and there is nothing left to use"))
    return tuple(one.session for one in kept)


def _stands(one: Visited) -> str:
    return f"ended ({one.at})" if one.outcome is not None else "has claimed none"


def _already(kind: Act, person: Person, sessions: Sequence[str]) -> str | None:
    """Return that there is nothing to do, in words; None where there is."""
    if kind == "shut_out" and person.is_shut_out:
        return f"{person.participant} is shut out already. Nothing is recorded."
    if kind not in _REASONS:
        return None
    last = {done.session: done.kind for done in person.acts if done.kind in _REASONS}
    if all(last.get(one) == kind for one in sessions):
        word = "left out" if kind == "leave_out" else "taken in"
        return f"{', '.join(sessions)}: {word} already. Nothing is recorded."
    return None


async def _release(desk: Desk, sessions: Sequence[str]) -> str:
    """End the leases where nobody else writes the store; a server does it by itself."""
    try:
        async with open_store(desk.url) as store:
            for session in sessions:
                await store.release(session)
    except InUseError:
        return "; the server that is running does it within a second"
    return ""
