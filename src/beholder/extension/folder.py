"""Extending a study in its folder: reads the store, makes lists, adds them to the store and to plan/."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from beholder.aio import block_on
from beholder.cleaning.facts import TABLES
from beholder.cleaning.screening import SessionJudge, judge_tables, store_of
from beholder.errors import Problem, StoreError, StudyError, UserError
from beholder.extension import Extension
from beholder.extension.shortfall import ShortfallLists, ShortfallPlanner
from beholder.methods import find, load_study
from beholder.planning.balance import balance
from beholder.planning.digest import plan_digest, study_digest
from beholder.planning.folder import write_plan
from beholder.planning.growth import StudyChanges, earlier_stimuli, earlier_study, more_lists, study_changes, with_units
from beholder.planning.message_trials import load_stimuli
from beholder.planning.model import Addition, Plan, PlannedList, no_collection
from beholder.planning.serialization import lists_from_json, lists_to_json
from beholder.stimuli.catalogue import Catalogue
from beholder.store.contract import Store, StudyRecord
from beholder.store.open import display_address, is_postgresql, open_store, read_rows
from beholder.store.rules import InUseError, record_of
from beholder.study.model import Study

Tables = dict[str, list[dict[str, Any]]]


def extend_folder(
    study: str | Path | Study,
    *,
    participants: int | None,
    store: str | None,
    robots: bool,
    dry_run: bool,
    progress: Callable[[int, int], None] | None,
) -> Extension:
    """Add lists to the plan of a study."""
    if participants is not None and participants < 1:
        raise UserError(Problem("participants", f"is {participants}", "1 or more"))
    loaded = study if isinstance(study, Study) else load_study(study)
    url = store_of(loaded, store)
    with no_collection():
        record, tables = block_on(_read(url))
        extender = _Extender(loaded, display_address(store) if store else "store/", record, tables, progress)
        found, grown_to = extender.extend(url, participants, robots=robots, dry_run=dry_run)
        if grown_to is not None:
            _write(url, loaded, grown_to)
        return found


async def extend_open(study: Study, store: Store, url: str, *, dry_run: bool = False) -> Extension:
    """Add what cleaning left short to the plan of a study whose store is open for writing, beside a running server."""
    record, tables = await _read(url)

    def work() -> tuple[Extension, ExtendedPlan | None]:
        return _Extender(study, "store/", record, tables, None).extend(url, None, robots=False, dry_run=dry_run)

    found, grown_to = await asyncio.to_thread(work)
    if grown_to is not None:
        await store.begin(grown_to.record, study.run)
        await asyncio.to_thread(grown_to.write, study)
    return found


class ExtendedPlan(NamedTuple):
    """A plan with the lists that were added, as it goes into the store and into plan/."""

    plan: Plan
    record: StudyRecord
    catalogue: Catalogue

    def write(self, study: Study) -> None:
        """Write plan/."""
        write_plan(self.plan, self.catalogue, study_digest(study, self.catalogue), study.folder)


def _write(url: str, study: Study, grown_to: ExtendedPlan) -> None:
    async def begin() -> None:
        async with open_store(url) as store:
            await store.begin(grown_to.record, study.run)

    try:
        block_on(begin())
    except InUseError as error:
        (problem,) = error.problems
        fix = "Stop the server, run `beholder extend` again, then `beholder serve`: it goes on with all lists."
        raise StoreError(replace(problem, fix=fix)) from None
    grown_to.write(study)


async def _read(url: str) -> tuple[StudyRecord | None, Tables]:
    """Return what a store holds, without a lock and beside whoever writes."""
    async with open_store(url, write=False) as store:
        return await store.current(), {table: await read_rows(store, table) for table in TABLES}


class _Extender:
    """Extends one study, as its store holds it."""

    def __init__(
        self,
        study: Study,
        where: str,
        record: StudyRecord | None,
        tables: Tables,
        progress: Callable[[int, int], None] | None,
    ) -> None:
        if record is None or not record.lists:
            raise StoreError(Problem(where, "holds no plan yet", "", "Run `beholder serve` first."))
        method = find(study.method)
        self._study, self._method, self._where, self._record, self._tables = study, method, where, record, tables
        earlier = earlier_study(record.yaml, study, method)
        if earlier is not None and earlier.run != study.run:
            what = f"holds run {earlier.run}, and study.yaml is about run {study.run}"
            raise StoreError(Problem(where, what, "", f"Begin run {study.run} with `beholder serve`, then extend it."))
        self._before = earlier_stimuli(tables["studies"], tables["stimuli"], record.plan_digest)
        self._catalogue: Catalogue = load_stimuli(study, method, progress, self._before)
        self._growth: StudyChanges = study_changes(earlier, record.stimuli, study, self._catalogue)
        if self._growth.problems:
            raise StudyError(self._growth.problems)
        self._lists = tuple(lists_from_json(record.lists))
        self._maker = ShortfallPlanner(study, self._catalogue, method, self._lists)

    def extend(
        self, url: str, participants: int | None, *, robots: bool, dry_run: bool
    ) -> tuple[Extension, ExtendedPlan | None]:
        """Return what is added, and what has to be written for it, unless it is only to be looked at."""
        judging = self._judge(robots=robots)
        short = self._maker.shortfall(judging) if judging is not None else None
        fresh: list[PlannedList] = []
        made = ShortfallLists([], [])
        if participants is not None:
            fresh = more_lists(self._study, self._catalogue, self._method, self._lists, participants)
        else:
            if self._growth.stimuli:
                fresh = self._newcomers()
            if judging is None and not fresh:
                judge_tables(self._study, self._tables, where=self._where, robots=robots)  # tells that nobody came
            if judging is not None and short is not None:
                made = self._maker.make_up(short, judging)
        plan, json = self._grown([*fresh, *made.again, *made.dealt])
        is_shown = dry_run or (robots and self._has_people())
        grown_to = None
        if len(plan.lists) > len(self._lists) and not is_shown:
            record = record_of(self._study, self._catalogue, plan.plan_digest, json, datetime.now(UTC))
            grown_to = ExtendedPlan(plan, record, self._catalogue)
        finished = short.finished if short is not None else frozenset()
        coming = short.coming if short is not None else {}
        wanted = short.wanted if short is not None and participants is None else {}
        found = Extension(
            before=len(self._lists),
            again=len(made.again),
            dealt=len(made.dealt),
            more=len(fresh),
            missing=sum(max(0, n - coming.get(cell, 0)) for cell, n in wanted.items()),
            open=len(self._lists) - len(finished),
            balance=balance(plan, self._catalogue),
            is_written=not is_shown,
            words=(),
        )
        return replace(
            found, words=extension_words(found, self._growth.stimuli, is_shared=is_postgresql(url))
        ), grown_to

    def _judge(self, *, robots: bool) -> SessionJudge | None:
        """Return the sessions under this plan, judged; None where nobody came."""
        digests = {row["digest"] for row in self._tables["studies"] if row["plan_digest"] == self._record.plan_digest}
        came = [row for row in self._tables["sessions"] if row["digest"] in digests and row["run"] == self._study.run]
        kinds = ("robot",) if robots else ("robot", "link", "panel", "lab", "prolific")
        if not any(row["mode"] in kinds for row in came):
            return None
        judging = judge_tables(self._study, self._tables, where=self._where, robots=robots)
        return judging if judging.facts.planned.keys() == {planned.number for planned in self._lists} else None

    def _has_people(self) -> bool:
        return any(row["mode"] not in ("robot", "preview") for row in self._tables["sessions"])

    def _newcomers(self) -> list[PlannedList]:
        """Return lists for stimuli that were added, where the study says how many votes they need."""
        votes = self._study.design.votes
        if votes is not None and self._maker.is_free:
            return self._maker.newcomers(self._growth.stimuli, votes)
        number = len(self._growth.stimuli)
        why = "in this design only whole lists can be added"
        if votes is None:
            why = "nothing says how many people rate them"
        what = f"is left out, {number} stimul{'us is' if number == 1 else 'i are'} new, and {why}"
        people = self._suggested()
        fix = f"`beholder extend --participants {people}` would give each as many ratings as the others were to have."
        raise UserError(Problem("--participants", what, "1 or more", fix))

    def _suggested(self) -> int:
        """Return how many more participants give new stimuli as many ratings as the others have, all dealt alike."""
        first = [planned for planned in self._lists if not planned.makes_up]
        before = len(self._catalogue.by_cell) - len(self._growth.stimuli)
        lists = -(-len(first) * len(self._catalogue.by_cell) // max(1, before))
        return -(-lists // self._study.design.sessions_per_participant)

    def _grown(self, fresh: Sequence[PlannedList]) -> tuple[Plan, list[Any]]:
        """Return the plan with all its lists, and these as JSON: those that were there exactly as they are stored."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        digest = plan_digest(self._study, self._catalogue)
        numbered = [
            replace(planned, number=number, added=Addition(self._why(planned), now, digest))
            for number, planned in enumerate(fresh, len(self._lists) + 1)
        ]
        plan = Plan(self._record.plan_digest, self._study.design.seed, (*self._lists, *numbered))
        json = [*self._record.lists, *list(lists_to_json(plan))[len(self._lists) :]]
        read = replace(plan, lists=tuple(lists_from_json(json)))
        return with_units(read, self._study, self._catalogue, self._method, self._before), json

    def _why(self, planned: PlannedList) -> str:
        return "makes up" if planned.makes_up else "new stimuli" if self._growth.stimuli else "more participants"


# --- An extension in sentences ---


def extension_words(found: Extension, stimuli: Sequence[str], *, is_shared: bool) -> tuple[str, ...]:
    """Return what was added and why, and what to do next; `is_shared` if several servers share the store."""
    if not found.added:
        if found.open:
            return (
                "Nothing to add: every stimulus has its votes when "
                f"{_many(found.open, 'list is', 'lists are')} finished that nobody has finished yet.",
            )
        return ("Nothing to add: every stimulus has its votes.",)
    first, last = found.before + 1, found.before + found.added
    numbers = f"{first}" if first == last else f"{first} to {last}"
    verb = "Added" if found.is_written else "Would add"
    lines = [f"{verb} {_many(found.added, 'list', 'lists')}, {numbers}:", *_parts(found, stimuli)]
    if found.is_written:
        lines.append(
            "Running servers hand them out from now on."
            if is_shared and not stimuli
            else "`beholder serve` or `beholder run` goes on until they are finished, too."
        )
    else:
        lines.append("Nothing was written.")
    return tuple(lines)


def _parts(found: Extension, stimuli: Sequence[str]) -> list[str]:
    parts = []
    if found.more and stimuli:
        parts.append(
            f"  {found.more} with {_many(len(stimuli), 'stimulus that is', 'stimuli that are')} new in the study"
        )
    elif found.more:
        parts.append(f"  {found.more} for more participants, by the same design")
    if found.again:
        parts.append(f"  {found.again} again, of which nothing is used although somebody finished")
    if found.dealt:
        parts.append(f"  {found.dealt} made of what is short")
    if found.missing:
        parts.append(f"{_many(found.missing, 'vote was', 'votes were')} missing.")
    return parts


def _many(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
