"""Letting somebody begin again: what it means for them, and where it would mean nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple

from beholder.errors import Problem, RecruitError
from beholder.recruit.desk import Desk
from beholder.recruit.people.found import Person, Visited
from beholder.serve.acts import Acts

Kind = Literal["let_in", "reset"]
PARDONS: tuple[Kind, ...] = ("let_in", "reset")
_MEANS: Mapping[Kind, str] = {"let_in": "may begin again", "reset": "at the next arrival all attempts begin anew"}
_ALLOWED: Mapping[Kind, str] = {
    "let_in": "somebody who was shut out, or whose session ended early",
    "reset": "somebody whose session is open, or ended early",
}


class Pardon(NamedTuple):
    """What letting somebody begin again comes to."""

    words: str
    is_so_already: bool


async def pardon(desk: Desk, kind: Kind, person: Person) -> Pardon:
    """Return what it means for a person, by the rules of the door; where it cannot help them, raise RecruitError."""
    acts = Acts(desk.store.ledger)
    await acts.read()
    last = await _last(desk, person, acts)
    if kind == "let_in" and acts.is_shut(person.participant):
        is_over_early = last is not None and last.outcome not in (None, "completed")
        return Pardon(_MEANS[kind] if is_over_early else "is turned away no longer", False)
    if problems := list(_vain(desk, kind, person, last, acts)):
        raise RecruitError(problems)
    if last is None:
        return Pardon(f"{_MEANS[kind]} already", True)
    if kind == "let_in" and last.outcome is None:
        return Pardon("is not shut out, and goes on by the same link", True)
    return Pardon(_MEANS[kind], False)


async def _last(desk: Desk, person: Person, acts: Acts) -> Visited | None:
    """Return the session of this run that counts; None where there is none, or the next arrival begins a new one."""
    for visited in reversed(person.sessions):
        facts = await desk.store.session_facts(visited.session) if visited.run == desk.study.run else None
        if facts is not None and not acts.gives_way(facts):
            return visited
    return None


def _vain(desk: Desk, kind: Kind, person: Person, last: Visited | None, acts: Acts) -> Iterator[Problem]:
    """Yield why somebody could not begin all the same."""
    who = person.participant
    elsewhere = [one.run for one in person.sessions if one.run != desk.study.run and one.list is not None]
    if acts.is_shut(who):
        yield Problem(who, "is shut out", "", "`beholder participants let-in` comes first.")
    elif elsewhere:
        yield Problem(who, f"took part in run {elsewhere[-1]}, and nobody takes part in two runs")
    elif last is not None and last.outcome == "completed":
        yield Problem(who, "has finished", _ALLOWED[kind])
    elif last is not None and last.is_erased and (kind == "reset" or last.outcome is None):
        yield Problem(who, "was erased, and there is nothing left to begin anew")
