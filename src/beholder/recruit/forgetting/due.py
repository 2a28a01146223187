"""What is due to be erased and still there, and whether the study is over, so that it can go."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from beholder.clean.facts import Rows
from beholder.errors import Problem, RecruitError
from beholder.recruit.closing.over import open_runs
from beholder.recruit.launching.recorded import postings_of
from beholder.recruit.ledger.fold import MONEY, fold
from beholder.recruit.ledger.purged import last_purge
from beholder.store.contract import Store, Table
from beholder.store.nameless import nameless
from beholder.store.open import read_rows
from beholder.study.model import Study
from beholder.study.recruiting import is_own_posting

_FACTS: tuple[Table, ...] = ("sessions", "ends")


class Due(NamedTuple):
    """What is due and still there."""

    people: int
    """Whose ids are known, or were when a purge began that did not come to its end."""
    is_known: bool
    """Whether anything leads from ids and visits on a platform to sessions."""
    is_begun: bool
    """Whether a purge of that began and did not come to its end."""
    sessions: tuple[str, ...]
    """Whose answers are due."""

    @property
    def is_something(self) -> bool:
        """Whether anything is left to erase."""
        return self.is_known or bool(self.sessions)


async def find_due(store: Store, *, identity: bool, answers: bool) -> Due:
    """Return what is there of what is due: who is who, and answers."""
    sessions = await _kept(store) if answers else ()
    if not identity:
        return Due(0, False, False, sessions)
    entries = await store.ledger.entries()
    people = len({link.participant for link in await store.links()})
    last = last_purge(entries)
    is_begun = last is not None and last.event == "planned"
    if is_begun and last is not None and isinstance(last.evidence, Mapping):
        people = int(str(last.evidence["people"]))
    is_known = is_begun or people > 0 or bool(await store.comings()) or nameless(entries) != entries
    return Due(people, is_known, is_begun, sessions)


async def check_over(study: Study, store: Store) -> None:
    """Raise RecruitError while a run is not closed: closing finds out who is owed what; or money is open since.

    Where who is who was erased before, nobody can close a run on a platform any more, and it is not asked for.
    """
    tables: dict[str, Rows] = {table: await read_rows(store, table) for table in _FACTS}
    entries = await store.ledger.entries()
    runs = open_runs(entries, tables)
    if last_purge(entries) is not None:
        runs = [run for run in runs if all(is_own_posting(one) for one in postings_of(entries, run))]
    if runs:
        run = runs[0]
        where = "" if run == study.run else f" with `run: {run}` in study.yaml"
        what = f"is due, and run {run} is not closed: whoever still waits for money could not be paid any more"
        fix = f"Run `beholder close`{where}: it says who waits. Then purge."
        raise RecruitError(Problem("retention", what, "", fix))
    unpaid = [debt for debt in fold(entries).pending() if debt.kind in MONEY]
    if unpaid:
        what = f"would leave {len(unpaid)} payment{'s' * (len(unpaid) != 1)} without anybody to pay"
        raise RecruitError(Problem("retention", what, "", "Run `beholder pay`: it says what is open. Then purge."))


async def _kept(store: Store) -> tuple[str, ...]:
    erased = {row["session"] for row in await read_rows(store, "erasures")}
    return tuple(str(row["session"]) for row in await read_rows(store, "sessions") if row["session"] not in erased)
