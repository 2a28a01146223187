"""Extending a study in its folder: reads the store, makes lists, and adds them to the store and to plan/."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from beholder.aio import block_on
from beholder.cleaning.collection import looks_in
from beholder.cleaning.facts import TABLES
from beholder.cleaning.screening import JudgedPopulation, judge_tables, store_of
from beholder.errors import Problem, StoreError, StudyError, UserError
from beholder.extension import Extension
from beholder.extension.shortfall import ShortfallLists, ShortfallPlanner
from beholder.formats import plain_count
from beholder.methods import find, load_study
from beholder.planning.balance import balance
from beholder.planning.digest import plan_digest, study_digest
from beholder.planning.folder import write_plan
from beholder.planning.growth import (
    StudyChanges,
    earlier_stimuli,
    earlier_study,
    given_plan_changes,
    more_lists,
    study_changes,
    transcript_changes,
    with_units,
)
from beholder.planning.message_trials import load_stimuli
from beholder.planning.model import Addition, Plan, PlannedList, no_collection
from beholder.planning.serialization import lists_from_json, lists_to_json
from beholder.stimuli.catalogue import Catalogue
from beholder.store.contract import Store, StudyRecord
from beholder.store.open import display_address, is_postgresql, open_store, read_rows
from beholder.store.rules import InUseError, record_of
from beholder.study.model import Study
from beholder.study.recruitment import is_person, is_robot

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
    """Add lists to the plan of a study, and return what was added."""
    if participants is not None and participants < 1:
        raise UserError(Problem("participants", f"is {participants}", "1 or more"))
    loaded = study if isinstance(study, Study) else load_study(study)
    url = store_of(loaded, store)
    with no_collection():
        record, tables = block_on(_read(url))
        extender = _Extender(loaded, display_address(store) if store else "store/", record, tables, progress)
        extension, extended = extender.extend(url, participants, robots=robots, dry_run=dry_run)
        if extended is not None:
            _write(url, loaded, extended)
        return extension


async def extend_open(study: Study, store: Store, url: str, *, dry_run: bool = False) -> Extension:
    """Add lists for missing votes to a plan whose store is open for writing, next to a running server."""
    record, tables = await _read(url)

    def work() -> tuple[Extension, ExtendedPlan | None]:
        return _Extender(study, "store/", record, tables, None).extend(url, None, robots=False, dry_run=dry_run)

    extension, extended = await asyncio.to_thread(work)
    if extended is not None:
        await store.begin(extended.record, study.run)
        await asyncio.to_thread(extended.write, study)
    return extension


class ExtendedPlan(NamedTuple):
    """An extended plan, as it is written to the store and to plan/."""

    plan: Plan
    record: StudyRecord
    catalogue: Catalogue

    def write(self, study: Study) -> None:
        """Write plan/."""
        write_plan(self.plan, self.catalogue, study_digest(study, self.catalogue), study.folder)


def _write(url: str, study: Study, extended: ExtendedPlan) -> None:
    async def begin() -> None:
        async with open_store(url) as store:
            await store.begin(extended.record, study.run)

    try:
        block_on(begin())
    except InUseError as error:
        (problem,) = error.problems
        fix = "Stop the server, run `beholder extend` again, then `beholder serve`: it goes on with all lists."
        raise StoreError(replace(problem, fix=fix)) from None
    extended.write(study)


async def _read(url: str) -> tuple[StudyRecord | None, Tables]:
    """Return the content of a store, without a lock, also while a server writes."""
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
        if study.design.active is not None:
            what = "is active: lists are made while people come, up to design.participants"
            fix = "Raise design.participants and start the server again; stimuli that are new join an arena."
            raise StudyError(study.problem("design.pairs", what, "", fix))
        method = find(study.method)
        self._study, self._method, self._where, self._record, self._tables = study, method, where, record, tables
        earlier = earlier_study(record.yaml, study, method)
        if earlier is not None and earlier.run != study.run:
            what = f"holds run {earlier.run}, and study.yaml is about run {study.run}"
            raise StoreError(Problem(where, what, "", f"Begin run {study.run} with `beholder serve`, then extend it."))
        self._earlier_stimuli = earlier_stimuli(tables["studies"], tables["stimuli"], record.plan_digest)
        self._catalogue: Catalogue = load_stimuli(study, method, progress, self._earlier_stimuli)
        self._changes: StudyChanges = study_changes(earlier, record.stimuli, study, self._catalogue)
        self._lists = tuple(lists_from_json(record.lists))
        transcripts = transcript_changes(earlier, self._lists, study, self._catalogue, method)
        given = given_plan_changes(self._lists, study, self._catalogue, self._method)
        if problems := (*self._changes.problems, *transcripts, *given):
            raise StudyError(problems)
        self._maker = ShortfallPlanner(study, self._catalogue, method, self._lists)

    def extend(
        self, url: str, participants: int | None, *, robots: bool, dry_run: bool
    ) -> tuple[Extension, ExtendedPlan | None]:
        """Return what is added, and the extended plan to write; None if nothing is to be written."""
        judging = self._judge(robots=robots)
        short = self._maker.shortfall(judging) if judging is not None else None
        added: list[PlannedList] = []
        replacements = ShortfallLists([], [])
        if participants is not None:
            added = more_lists(self._study, self._catalogue, self._method, self._lists, participants)
        else:
            if self._changes.stimuli:
                added = self._lists_for_new()
            if judging is None and not added:
                judge_tables(
                    self._study, self._tables, where=self._where, robots=robots
                )  # raises that there are no sessions
            if judging is not None and short is not None:
                replacements = self._maker.make_up(short, judging)
        plan, json = self._extended_plan([*added, *replacements.repeated, *replacements.recombined])
        is_dry = dry_run or (robots and self._has_people())
        extended = None
        if len(plan.lists) > len(self._lists) and not is_dry:
            record = record_of(self._study, self._catalogue, plan.plan_digest, json, datetime.now(UTC))
            extended = ExtendedPlan(plan, record, self._catalogue)
        finished = short.finished if short is not None else frozenset()
        coming = short.coming if short is not None else {}
        needed = short.wanted if short is not None and participants is None else {}
        extension = Extension(
            before=len(self._lists),
            again=len(replacements.repeated),
            dealt=len(replacements.recombined),
            more=len(added),
            missing=sum(max(0, n - coming.get(cell, 0)) for cell, n in needed.items()),
            open=len(self._lists) - len(finished),
            balance=balance(plan, self._catalogue),
            is_written=not is_dry,
            words=(),
        )
        words = extension_words(extension, self._changes.stimuli, is_shared=is_postgresql(url))
        return replace(extension, words=(*words, *self._look_words(extension))), extended

    def _look_words(self, extension: Extension) -> list[str]:
        """Return what it costs that more people are asked when results are known; nothing where they are not."""
        looks = len({look.finished for look in looks_in(self._tables["ledger"], self._study.run)})
        if not looks or not extension.more:
            return []
        times = f"Results were looked at before ({plain_count(looks, 'time')})"
        return [f"{times}: with more people now, intervals have to hold whenever one looks, and are wider."]

    def _judge(self, *, robots: bool) -> JudgedPopulation | None:
        """Return the judged sessions of this plan; None if there are none."""
        digests = {row["digest"] for row in self._tables["studies"] if row["plan_digest"] == self._record.plan_digest}
        sessions = [
            row for row in self._tables["sessions"] if row["digest"] in digests and row["run"] == self._study.run
        ]
        if not any(is_robot(row["mode"]) or (is_person(row["mode"]) and not robots) for row in sessions):
            return None
        judging = judge_tables(self._study, self._tables, where=self._where, robots=robots)
        return judging if judging.facts.planned.keys() == {planned.number for planned in self._lists} else None

    def _has_people(self) -> bool:
        return any(is_person(row["mode"]) for row in self._tables["sessions"])

    def _lists_for_new(self) -> list[PlannedList]:
        """Return lists for added stimuli, if the study says how many votes they need."""
        votes = self._study.design.votes
        if votes is not None and self._maker.can_recombine:
            return self._maker.lists_for_new(self._changes.stimuli, votes)
        number = len(self._changes.stimuli)
        why = "in this design only whole lists can be added"
        if votes is None:
            why = "nothing says how many people rate them"
        what = f"is left out, {plain_count(number, 'stimulus is', 'stimuli are')} new, and {why}"
        people = self._suggested_participants()
        fix = f"`beholder extend --participants {people}` would give each as many ratings as the others were to have."
        raise UserError(Problem("--participants", what, "1 or more", fix))

    def _suggested_participants(self) -> int:
        """Return how many more participants give added stimuli as many ratings as the others have."""
        first = [planned for planned in self._lists if not planned.makes_up]
        before = len(self._catalogue.by_cell) - len(self._changes.stimuli)
        lists = -(-len(first) * len(self._catalogue.by_cell) // max(1, before))
        return -(-lists // self._study.design.sessions_per_participant)

    def _extended_plan(self, added: Sequence[PlannedList]) -> tuple[Plan, list[Any]]:
        """Return the extended plan and its lists as JSON, existing ones exactly as they are stored."""
        time = datetime.now(UTC).isoformat(timespec="seconds")
        digest = plan_digest(self._study, self._catalogue)
        numbered = [
            replace(planned, number=number, added=Addition(self._why(planned), time, digest))
            for number, planned in enumerate(added, len(self._lists) + 1)
        ]
        plan = Plan(self._record.plan_digest, self._study.design.seed, (*self._lists, *numbered))
        json = [*self._record.lists, *list(lists_to_json(plan))[len(self._lists) :]]
        read = replace(plan, lists=tuple(lists_from_json(json)))
        return with_units(read, self._study, self._catalogue, self._method, self._earlier_stimuli), json

    def _why(self, planned: PlannedList) -> str:
        return "makes up" if planned.makes_up else "new stimuli" if self._changes.stimuli else "more participants"


def extension_words(extension: Extension, stimuli: Sequence[str], *, is_shared: bool) -> tuple[str, ...]:
    """Return what was added and why, and what to do next; `is_shared` if several servers share the store."""
    if not extension.added:
        if extension.open:
            return (
                "Nothing to add: every stimulus has its votes when "
                f"{plain_count(extension.open, 'list is', 'lists are')} finished that nobody has finished yet.",
            )
        return ("Nothing to add: every stimulus has its votes.",)
    first, last = extension.before + 1, extension.before + extension.added
    numbers = f"{first}" if first == last else f"{first} to {last}"
    verb = "Added" if extension.is_written else "Would add"
    lines = [f"{verb} {plain_count(extension.added, 'list')}, {numbers}:", *_parts(extension, stimuli)]
    if extension.is_written:
        lines.append(
            "Running servers hand them out from now on."
            if is_shared and not stimuli
            else "`beholder serve` or `beholder run` goes on until they are finished, too."
        )
    else:
        lines.append("Nothing was written.")
    return tuple(lines)


def _parts(extension: Extension, stimuli: Sequence[str]) -> list[str]:
    parts = []
    if extension.more and stimuli:
        new = plain_count(len(stimuli), "stimulus that is", "stimuli that are")
        parts.append(f"  {extension.more} with {new} new in the study")
    elif extension.more:
        parts.append(f"  {extension.more} for more participants, by the same design")
    if extension.again:
        parts.append(f"  {extension.again} again, of which nothing is used although somebody finished")
    if extension.dealt:
        parts.append(f"  {extension.dealt} made of what is short")
    if extension.missing:
        parts.append(f"{plain_count(extension.missing, 'vote was', 'votes were')} missing.")
    return parts
