"""`purge`: erase what the study's `retention` no longer lets be kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from beholder.blocking import block_on
from beholder.clean.judging import store_of
from beholder.errors import StoreError
from beholder.methods import load_study
from beholder.recruit.clock import utc_now
from beholder.recruit.deciding.file import NAME as DECISIONS
from beholder.recruit.forgetting.aside import names_aside
from beholder.recruit.forgetting.due import Due, check_over, find_due
from beholder.recruit.forgetting.found import Purged
from beholder.recruit.ledger.purged import IDENTITY
from beholder.serve.forgetting import forget_sessions
from beholder.store.contract import Entry, Store
from beholder.store.open import open_store
from beholder.store.rules import InUseError
from beholder.study.model import Study
from beholder.study.recruiting import moment
from beholder.types import Json


def purge_study(
    study: str | Path | Study,
    *,
    store: str | None = None,
    dry_run: bool = False,
    now: Callable[[], datetime] = utc_now,
) -> Purged:
    """Erase what is due; the store must not be in use by a server."""
    loaded = study if isinstance(study, Study) else load_study(study)
    return block_on(_purge(loaded, store_of(loaded, store), now(), dry_run=dry_run))


async def _purge(study: Study, url: str, now: datetime, *, dry_run: bool) -> Purged:
    retention = study.retention
    identity = retention.identity is not None and moment(retention.identity) <= now
    answers = retention.answers is not None and moment(retention.answers) <= now
    nothing = Purged(0, 0, 0, is_done=False, words=())
    if not identity and not answers:
        return replace(nothing, words=_not_due(study, now))
    async with open_store(url, write=False) as reading:
        due = await find_due(reading, identity=identity, answers=answers)
        if due.is_something:
            await check_over(study, reading)
    if dry_run or not due.is_something:
        words = (*_found(study, due), *_later(study, now))
        return replace(nothing, people=due.people, sessions=len(due.sessions), words=words)
    try:
        async with open_store(url, alone=True) as store:
            rows = await _erase(study, store, due, now)
    except InUseError as error:
        (problem,) = error.problems
        fix = "Stop the server, then run `beholder purge`."
        raise StoreError(replace(problem, fix=fix)) from None
    done = Purged(due.people, len(due.sessions), rows, is_done=True, words=())
    return replace(done, words=(*_done(study, done, due), *_later(study, now)))


async def _erase(study: Study, store: Store, due: Due, now: datetime) -> int:
    """Return how many facts are gone. What is planned first is carried on by the next purge, should we die here."""
    people: dict[str, Json] = {"people": due.people}
    if due.is_known and not due.is_begun:
        await store.ledger.append([Entry("purge", "planned", now, reason_code=IDENTITY, evidence=people)])
    rows = await forget_sessions(store, due.sessions, "retention.answers", now)
    if due.is_known:
        await store.purge_identity()
        await store.ledger.purge_identity()
        (study.folder / DECISIONS).unlink(missing_ok=True)
        await store.ledger.append([Entry("purge", "done", now, reason_code=IDENTITY, evidence=people)])
    if due.sessions:
        evidence: dict[str, Json] = {"sessions": len(due.sessions), "rows": rows}
        await store.ledger.append([Entry("purge", "done", now, reason_code="answers", evidence=evidence)])
    return rows


def _later(study: Study, now: datetime) -> tuple[str, ...]:
    """Return what is not due yet, with its day."""
    days = {"Who is who": study.retention.identity, "All answers": study.retention.answers}
    return tuple(f"{what}: kept until {day}." for what, day in days.items() if day is not None and moment(day) > now)


def _not_due(study: Study, now: datetime) -> tuple[str, ...]:
    later = _later(study, now)
    if not later:
        return ("The study has no `retention`, so nothing is ever due. Give it a day, such as identity: 2027-01-31.",)
    return ("Nothing is due yet.", *later)


def _found(study: Study, due: Due) -> tuple[str, ...]:
    if not due.is_something:
        return ("What is due is gone already.", *names_aside(study))
    sessions = len(due.sessions)
    return (
        f"Due: who {due.people} {'person is' if due.people == 1 else 'people are'}, and the answers of "
        f"{sessions} session{'s' * (sessions != 1)}. Nothing is erased yet.",
    )


def _done(study: Study, done: Purged, due: Due) -> tuple[str, ...]:
    words = []
    if due.is_known:
        who = f"{done.people} {'person is' if done.people == 1 else 'people are'}"
        words.append(
            f"Erased: who {who}, which visit was whose, and {DECISIONS}. From now on nobody can be matched, paid, "
            "topped up, or kept out of other studies by their id."
        )
    if done.sessions:
        words.append(
            f"Erased: the answers of {done.sessions} session{'s' * (done.sessions != 1)}, {done.rows} rows. "
            "Results that are written stay; `beholder clean` would find nothing any more."
        )
    return (*words, *names_aside(study))
