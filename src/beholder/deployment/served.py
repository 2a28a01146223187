"""What the Beholder on the machine is asked about the study that it serves: who is inside, and what is owed to whom.

    python -m beholder.deployment.served people study.yaml

It runs there, in the environment of the server and beside it, and prints one line of JSON. Where the answers are and
under which address people come is told by BEHOLDER_STORE and BEHOLDER_PUBLIC_URL, as to every verb.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from beholder.clock import utc_now
from beholder.errors import UserError

if TYPE_CHECKING:
    from beholder.recruiting.context import RecruitContext


async def people(study: str) -> Mapping[str, Any]:
    """Return how many people have come, are inside, and have finished. Asked often, it loads the store alone."""
    from beholder.store.open import is_postgresql, open_store

    store = store_of(study)
    if not is_postgresql(store) and not (Path(store) / "facts.sqlite").is_file():
        return {"counts": {}}
    run = int(os.environ.get("BEHOLDER_RUN") or 1)
    async with open_store(store, write=False) as opened:
        return {"counts": dict(await opened.counts(utc_now(), run))}


async def copy(study: str) -> Mapping[str, Any]:
    """Write the database with the answers to files beside the study, and return its rows by table."""
    from beholder.store.full_copy import copy_counts, copy_postgresql

    folder = Path(study).absolute().parents[1] / "snapshot"
    try:
        await copy_postgresql(store_of(study), folder)
        return {"counts": {table: rows for tables in copy_counts(folder).values() for table, rows in tables.items()}}
    except UserError as error:
        return {"problems": [asdict(problem) for problem in error.problems]}


def store_of(study: str) -> str:
    """Return where the answers of a study are."""
    return os.environ.get("BEHOLDER_STORE") or str(Path(study).parent / "store")


async def owed(context: RecruitContext) -> Mapping[str, Any]:
    """Return what holds up the end of the study, without those who are inside: they are waited for."""
    from beholder.recruiting.closure import close_study
    from beholder.recruiting.open_items import LIVE_PLACE

    closed = await close_study(context, dry_run=True)
    return {"owed": [asdict(problem) for problem in closed.open if problem.where != LIVE_PLACE]}


async def stop_arrivals(context: RecruitContext) -> Mapping[str, Any]:
    """Let nobody begin; who has begun goes on. On a platform the study is paused, so that it can be opened again."""
    from beholder.recruiting.launch_record import launch_record
    from beholder.recruiting.postings import change_posting, current_posting
    from beholder.store.contract import LedgerEntry
    from beholder.study.recruitment import own_posting

    record = launch_record(await context.store.ledger.entries(), context.study.run)
    posting = await current_posting(context, record)
    if posting is not None and posting.state in ("active", "scheduled") and "pause" in context.recruiter.can:
        await change_posting(context, "pause")
    elif posting is None and context.is_by_hand:
        # Without a platform people come as soon as a study is served, launched or not.
        own = own_posting(context.study.name, context.study.run)
        await context.store.ledger.append([LedgerEntry("pause", "done", context.now(), provider_ref=own)])
    return {}


QUESTIONS: dict[str, Callable[[RecruitContext], Awaitable[Mapping[str, Any]]]] = {
    "owed": owed,
    "stop-arrivals": stop_arrivals,
}


async def answer(verb: str, study: str) -> Mapping[str, Any]:
    """Return the answer to one question; problems of the study are an answer too."""
    from beholder.recruiting.context import open_context

    try:
        async with open_context(study, store_of(study), may_be_new=True) as context:
            return await QUESTIONS[verb](context)
    except UserError as error:
        return {"problems": [asdict(problem) for problem in error.problems]}


def main(verb: str, study: str) -> None:
    """Print the answer to one question."""
    of_store = {"people": people, "copy": copy}
    asked = of_store[verb](study) if verb in of_store else answer(verb, study)
    sys.stdout.write(f"{json.dumps(asyncio.run(asked))}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
