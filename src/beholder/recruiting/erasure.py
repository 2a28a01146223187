"""Erasure: `forget` erases one participant by receipt, `purge` everything whose retention has ended."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from beholder.aio import block_on
from beholder.cleaning.facts import Rows
from beholder.cleaning.screening import store_of
from beholder.clock import utc_now
from beholder.errors import Problem, RecruitError, StoreError, UserError
from beholder.formats import plain_count
from beholder.methods import load_study
from beholder.recruiting.closure import open_runs
from beholder.recruiting.decisions_file import DECISIONS_FILE as DECISIONS
from beholder.recruiting.decisions_file import remove_participant
from beholder.recruiting.launch_record import postings_of
from beholder.recruiting.ledger import IDENTITY, MONEY, last_purge, replay
from beholder.result_view import ResultView, ShownResult
from beholder.server.bound_lists import pseudonym_of
from beholder.server.erasure import ErasableSessions, erase_sessions, find_erasable, wipe_patiently
from beholder.stimuli.manifest import read_manifest
from beholder.stimuli.relations import EVERYBODY
from beholder.store.contract import LedgerEntry, Store, Table
from beholder.store.open import open_store, read_rows
from beholder.store.rules import InUseError, anonymise
from beholder.study.model import Study
from beholder.study.recruitment import is_own_posting, moment
from beholder.types import Json


@dataclass(frozen=True, repr=False)
class Forgotten(ShownResult):
    """What was erased about one participant, or would be."""

    sessions: tuple[str, ...]
    rows: int
    """Erased facts: answers, events, questions posed and verdicts."""
    at: datetime | None
    """When it was done; None in a dry run."""
    was_done: bool
    """Whether it had been done before."""
    outputs: tuple[str, ...]
    """Folders written before that may still hold this participant's answers."""
    words: tuple[str, ...]
    remains: str = ""
    """Why bytes of it are still in a file of the store; empty when none is."""

    def _view(self) -> ResultView:
        return ResultView(self.words)


@dataclass(frozen=True, repr=False)
class Purged(ShownResult):
    """What was erased because its day has come, or would be."""

    people: int
    """Participants whose platform ids are erased."""
    sessions: int
    """Sessions whose answers are erased."""
    rows: int
    is_done: bool
    words: tuple[str, ...]
    remains: str = ""
    """Why bytes of it are still in a file of the store; empty when none is."""

    def _view(self) -> ResultView:
        return ResultView(self.words)


class _OverdueData(NamedTuple):
    """What is due to be erased and still there."""

    people: int
    """Participants with known ids, now or when an unfinished purge began."""
    is_known: bool
    """Whether anything links ids and visits on a platform to sessions."""
    is_begun: bool
    """Whether a purge of identities began and did not finish."""
    sessions: tuple[str, ...]
    """Sessions whose answers are due."""

    @property
    def is_something(self) -> bool:
        """Whether anything is left to erase."""
        return self.is_known or bool(self.sessions)


# Erasing one participant


_OUTPUTS = ("clean", "analyse", "report", "export")
"""Folders that the commands of the same names write again, without the erased participant."""


def erase_by_receipt(
    receipt: str,
    study: str | Path | Study,
    *,
    store: str | None = None,
    dry_run: bool = False,
    now: Callable[[], datetime] = utc_now,
) -> Forgotten:
    """Erase everything about the participant with a receipt; the store must not be in use by a server."""
    loaded = study if isinstance(study, Study) else load_study(study)
    url = store_of(loaded, store)
    done = block_on(_forget(receipt, loaded, url, dry_run=dry_run, now=now))
    return replace(done, words=(*done.words, *_backup_lines(loaded, url, dry_run=dry_run)))


async def _forget(
    receipt: str, study: Study, url: str, *, dry_run: bool, now: Callable[[], datetime]
) -> Forgotten:  # fmt: skip
    async with open_store(url, write=False) as reading:
        erasable, secret = await find_erasable(reading, receipt), reading.secret
    if erasable is None:
        raise UserError(
            Problem(
                receipt.strip() or "RECEIPT",
                f"is no receipt of {study.name}",
                "what the last page shows, such as BH-SKX9-8ATT-MN2P-Q7RD-4XPD-KWQ2-9WMN",
                "Case, spaces and dashes do not matter; ask for every letter.",
            )
        )
    outputs = tuple(name for name in _OUTPUTS if (study.folder / name).is_dir())
    result = Forgotten(erasable.sessions, 0, None, was_done=not erasable.remaining, outputs=outputs, words=())
    if result.was_done:
        result = replace(result, at=max(erasable.erased.values()))
    own = _own_stimuli_lines(study, secret, erasable.participant)
    if dry_run:
        return _forget_result(study, result, erasable, own)
    if result.was_done:
        result = replace(result, remains=await _wipe_again(url))
        return _forget_result(study, result, erasable, (*_remove_decisions(study, erasable.participant), *own))
    try:
        async with open_store(url) as writing:
            at = now()
            rows = await erase_sessions(writing, erasable.remaining, "receipt", at)
            remains = await wipe_patiently(writing)
    except InUseError as error:
        (problem,) = error.problems
        fix = "Open the page /forget of that server and give it the receipt, or stop the server and run this again."
        raise StoreError(replace(problem, fix=fix)) from None
    result = replace(result, rows=rows, at=at, remains=remains.words if remains else "")
    return _forget_result(study, result, erasable, (*_remove_decisions(study, erasable.participant), *own))


async def _wipe_again(url: str) -> str:
    """Finish what an earlier erasure could not remove from the disk; return why not. A running server does it too."""
    try:
        async with open_store(url) as writing:
            remains = await wipe_patiently(writing)
    except InUseError:
        return ""
    return remains.words if remains else ""


def _own_stimuli_lines(study: Study, secret: bytes, participant: str) -> tuple[str, ...]:
    """Return in words what becomes of the stimuli that the manifest binds to a person; nothing where it binds none."""
    if study.stimuli.manifest is None:
        return ()
    sources = read_manifest(study, study.stimuli.manifest).entries
    names = {name for source in sources for name in source.relations if name != EVERYBODY}
    theirs = [name for name in names if pseudonym_of(study, secret, name) == participant]
    number = sum(any(name in source.relations for name in theirs) for source in sources)
    if not number:
        return ()
    are, them = ("is", "it") if number == 1 else ("are", "them")
    stimuli = plain_count(number, "stimulus", "stimuli")
    return (
        f"{stimuli} of {study.stimuli.manifest} {are} for this person and stay, as the plan holds {them}: when nobody "
        "comes any more, delete the files, their lines, and their copies in media/ and "
        "in a bucket.",
    )


def _remove_decisions(study: Study, participant: str) -> tuple[str, ...]:
    """Remove a participant from the file of decisions, whose messages may quote answers; return it in words."""
    lines = remove_participant(study.folder, participant)
    if lines is None:
        return (f"{DECISIONS} cannot be read, and may still hold what this person said: delete it.",)
    return (f"Their line is gone from {DECISIONS} too.",) if lines else ()


def _forget_result(
    study: Study, result: Forgotten, erasable: ErasableSessions, removed: tuple[str, ...] = ()
) -> Forgotten:
    number = len(erasable.remaining)
    sessions = plain_count(number, "session")
    if result.was_done and result.at is not None:
        words = [f"This was done already, on {result.at:%Y-%m-%d %H:%M} UTC."]
    elif result.at is None:
        words = [f"{sessions} would be erased, with the link to who it is. Nothing is erased yet."]
    else:
        words = [
            f"Erased: {sessions}, {result.rows} rows, and the link to who it is. That it was done stays known, "
            "and what was paid."
        ]
    words += [*_remaining_lines(result.remains), *removed]
    if result.outputs:
        folders = ", ".join(f"{name}/" for name in result.outputs)
        commands = ", ".join(f"`beholder {name}`" for name in result.outputs)
        words.append(f"{folders} may still hold what this person said: run {commands} again.")
    words += _files_with_names(study)
    others = "Other copies" if study.backup is not None else "Backups"
    words.append(f"{others}, and what you have handed on or published, are yours to look after.")
    return replace(result, words=tuple(words))


def _backup_lines(study: Study, url: str, *, dry_run: bool = False) -> tuple[str, ...]:
    """Let backups know that those who were erased must not come back, and return in words whether they do."""
    from beholder.backups.backup_settings import backup_settings
    from beholder.backups.cycle import tell_erasures

    try:
        settings = backup_settings(study)
        if settings is None:
            return ()
        if dry_run:
            return (f"The list of erasures at {settings.to} would name it, so that no restore brings it back.",)
        tell_erasures(settings, url)
    except UserError as error:
        why = str(error.problems[0])
        return (
            f"The backups do not know of it yet: {why}",
            "A restore from there alone would bring it back. It is told with the next backup, while the study is "
            "served; or try again with `beholder backup now`.",
        )
    days = settings.keep.days
    return (
        f"The list of erasures at {settings.to} names it: no restore brings it back. "
        f"Encrypted backups from before hold it for {plain_count(days, 'day')} at most.",
    )


def _remaining_lines(remains: str) -> tuple[str, ...]:
    return (f"Bytes of it are still on the disk: {remains}.",) if remains else ()


# Erasing what `retention` no longer allows


def purge_study(
    study: str | Path | Study,
    *,
    store: str | None = None,
    dry_run: bool = False,
    now: Callable[[], datetime] = utc_now,
) -> Purged:
    """Erase what is overdue; the store must not be in use by a server."""
    loaded = study if isinstance(study, Study) else load_study(study)
    url = store_of(loaded, store)
    done = block_on(_purge(loaded, url, now(), dry_run=dry_run))
    return replace(done, words=(*done.words, *_backup_lines(loaded, url))) if done.is_done else done


async def _purge(study: Study, url: str, now: datetime, *, dry_run: bool) -> Purged:
    retention = study.retention
    identity = retention.identity is not None and moment(retention.identity) <= now
    answers = retention.answers is not None and moment(retention.answers) <= now
    nothing = Purged(0, 0, 0, is_done=False, words=())
    if not identity and not answers:
        return replace(nothing, words=_not_due_lines(study, now))
    async with open_store(url, write=False) as reading:
        due = await _find_overdue(reading, identity=identity, answers=answers)
        if due.is_something:
            await _check_settled(study, reading)
    if dry_run or not due.is_something:
        remains = "" if dry_run else await _wipe_again(url)
        words = (*_overdue_lines(study, due), *_remaining_lines(remains), *_later_days(study, now))
        return replace(nothing, people=due.people, sessions=len(due.sessions), words=words, remains=remains)
    try:
        async with open_store(url, alone=True) as store:
            rows = await _erase(study, store, due, now)
            left = await wipe_patiently(store)
    except InUseError as error:
        (problem,) = error.problems
        fix = "Stop the server, then run `beholder purge`."
        raise StoreError(replace(problem, fix=fix)) from None
    done = Purged(due.people, len(due.sessions), rows, is_done=True, words=(), remains=left.words if left else "")
    words = (*_purged_lines(study, done, due), *_remaining_lines(done.remains), *_later_days(study, now))
    return replace(done, words=words)


async def _erase(study: Study, store: Store, due: _OverdueData, now: datetime) -> int:
    """Return how many facts were erased. A purge that is cut off is completed by the next one."""
    people: dict[str, Json] = {"people": due.people}
    if due.is_known and not due.is_begun:
        await store.ledger.append([LedgerEntry("purge", "planned", now, reason_code=IDENTITY, evidence=people)])
    rows = await erase_sessions(store, due.sessions, "retention.answers", now)
    if due.is_known:
        await store.purge_identity()
        await store.ledger.purge_identity()
        (study.folder / DECISIONS).unlink(missing_ok=True)
        await store.ledger.append([LedgerEntry("purge", "done", now, reason_code=IDENTITY, evidence=people)])
    if due.sessions:
        evidence: dict[str, Json] = {"sessions": len(due.sessions), "rows": rows}
        await store.ledger.append([LedgerEntry("purge", "done", now, reason_code="answers", evidence=evidence)])
    return rows


def _later_days(study: Study, now: datetime) -> tuple[str, ...]:
    """Return what is not due yet, with its day."""
    days = {"Who is who": study.retention.identity, "All answers": study.retention.answers}
    return tuple(f"{what}: kept until {day}." for what, day in days.items() if day is not None and moment(day) > now)


def _not_due_lines(study: Study, now: datetime) -> tuple[str, ...]:
    later = _later_days(study, now)
    if not later:
        return ("The study has no `retention`, so nothing is ever due. Give it a day, such as identity: 2027-01-31.",)
    return ("Nothing is due yet.", *later)


def _overdue_lines(study: Study, due: _OverdueData) -> tuple[str, ...]:
    if not due.is_something:
        return ("What is due is gone already.", *_files_with_names(study))
    sessions = len(due.sessions)
    return (
        f"Due: who {plain_count(due.people, 'person is', 'people are')}, and the answers of "
        f"{plain_count(sessions, 'session')}. Nothing is erased yet.",
    )


def _purged_lines(study: Study, done: Purged, due: _OverdueData) -> tuple[str, ...]:
    words = []
    if due.is_known:
        who = plain_count(done.people, "person is", "people are")
        words.append(
            f"Erased: who {who}, which visit was whose, and {DECISIONS}. From now on nobody can be matched, paid, "
            "topped up, or kept out of other studies by their id."
        )
    if done.sessions:
        words.append(
            f"Erased: the answers of {plain_count(done.sessions, 'session')}, {done.rows} rows. "
            "Results that are written stay; `beholder clean` would find nothing any more."
        )
    return (*words, *_files_with_names(study))


# What is overdue, and whether the study is settled


_FACTS: tuple[Table, ...] = ("sessions", "ends")


async def _find_overdue(store: Store, *, identity: bool, answers: bool) -> _OverdueData:
    """Return what is there of what is due: identities, and answers."""
    sessions = await _kept_sessions(store) if answers else ()
    if not identity:
        return _OverdueData(0, False, False, sessions)
    entries = await store.ledger.entries()
    people = len({link.participant for link in await store.platform_identities()})
    last = last_purge(entries)
    is_begun = last is not None and last.event == "planned"
    if is_begun and last is not None and isinstance(last.evidence, Mapping):
        people = int(str(last.evidence["people"]))
    is_known = is_begun or people > 0 or bool(await store.platform_visits()) or anonymise(entries) != entries
    return _OverdueData(people, is_known, is_begun, sessions)


async def _check_settled(study: Study, store: Store) -> None:
    """Raise RecruitError while a run is not closed, as closing finds out who is owed what, or money is open.

    Once identities are purged, a run on a platform can no longer be closed, and this is not required.
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
    unpaid = [debt for debt in replay(entries).pending() if debt.kind in MONEY]
    if unpaid:
        what = f"would leave {plain_count(len(unpaid), 'payment')} without anybody to pay"
        raise RecruitError(Problem("retention", what, "", "Run `beholder pay`: it says what is open. Then purge."))


async def _kept_sessions(store: Store) -> tuple[str, ...]:
    erased = {row["session"] for row in await read_rows(store, "erasures")}
    return tuple(str(row["session"]) for row in await read_rows(store, "sessions") if row["session"] not in erased)


# Files that name participants, which we do not erase: a platform or a payment needs them


_NAMING_FILES = ("launch/links.csv", "pay/payments.csv", "pay/by_hand.csv")


def _files_with_names(study: Study) -> tuple[str, ...]:
    """Return in words which existing files name participants; nothing where there are none."""
    names = [*_NAMING_FILES, *filter(None, (study.recruit.people, study.recruit.block))]
    existing = [name for name in names if (study.folder / name).is_file()]
    return (f"These files name people too, and are yours to delete: {', '.join(existing)}.",) if existing else ()
