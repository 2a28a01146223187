"""`forget`: erase everything of the person who has a receipt."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from beholder.blocking import block_on
from beholder.clean.judging import store_of
from beholder.errors import Problem, StoreError, UserError
from beholder.methods import load_study
from beholder.recruit.clock import utc_now
from beholder.recruit.deciding.file import NAME as DECISIONS
from beholder.recruit.deciding.file import strike_out
from beholder.recruit.forgetting.aside import names_aside
from beholder.recruit.forgetting.found import Forgotten
from beholder.serve.forgetting import Theirs, find_receipt, forget_sessions
from beholder.store.open import open_store
from beholder.store.rules import InUseError
from beholder.study.model import Study

_OUTPUTS = ("clean", "analyse", "report", "export")
"""Folders that the commands of the same names write again, without whoever is gone."""


def forget_receipt(
    receipt: str,
    study: str | Path | Study,
    *,
    store: str | None = None,
    dry_run: bool = False,
    now: Callable[[], datetime] = utc_now,
) -> Forgotten:
    """Erase everything of whoever has a receipt; the store must not be in use by a server."""
    loaded = study if isinstance(study, Study) else load_study(study)
    return block_on(_forget(receipt, loaded, store_of(loaded, store), dry_run=dry_run, now=now))


async def _forget(
    receipt: str, study: Study, url: str, *, dry_run: bool, now: Callable[[], datetime]
) -> Forgotten:  # fmt: skip
    async with open_store(url, write=False) as reading:
        theirs = await find_receipt(reading, receipt)
    if theirs is None:
        raise UserError(
            Problem(
                receipt.strip() or "RECEIPT",
                f"is no receipt of {study.name}",
                "what the last page shows, such as BH-SKX9-8ATT-MN2P-Q7RD-4XPD-KWQ2-9WMN",
                "Case, spaces and dashes do not matter; ask for every letter.",
            )
        )
    outputs = tuple(name for name in _OUTPUTS if (study.folder / name).is_dir())
    found = Forgotten(theirs.sessions, 0, None, was_done=not theirs.left, outputs=outputs, words=())
    if found.was_done:
        found = replace(found, at=max(theirs.erased.values()))
    if dry_run:
        return _told(study, found, theirs)
    if found.was_done:
        return _told(study, found, theirs, _strike_out(study, theirs.participant))
    try:
        async with open_store(url) as writing:
            at = now()
            rows = await forget_sessions(writing, theirs.left, "receipt", at)
    except InUseError as error:
        (problem,) = error.problems
        fix = "Open the page /forget of that server and give it the receipt, or stop the server and run this again."
        raise StoreError(replace(problem, fix=fix)) from None
    return _told(study, replace(found, rows=rows, at=at), theirs, _strike_out(study, theirs.participant))


def _strike_out(study: Study, participant: str) -> tuple[str, ...]:
    """Take somebody out of the file of decisions, whose messages may say what they answered; return it in words."""
    lines = strike_out(study.folder, participant)
    if lines is None:
        return (f"{DECISIONS} cannot be read, and may still hold what this person said: delete it.",)
    return (f"Their line is gone from {DECISIONS} too.",) if lines else ()


def _told(study: Study, found: Forgotten, theirs: Theirs, struck: tuple[str, ...] = ()) -> Forgotten:
    number = len(theirs.left)
    sessions = f"{number} session{'s' * (number != 1)}"
    if found.was_done and found.at is not None:
        words = [f"This was done already, on {found.at:%Y-%m-%d %H:%M} UTC."]
    elif found.at is None:
        words = [f"{sessions} would be erased, with the link to who it is. Nothing is erased yet."]
    else:
        words = [
            f"Erased: {sessions}, {found.rows} rows, and the link to who it is. That it was done stays known, "
            "and what was paid."
        ]
    words += struck
    if found.outputs:
        folders = ", ".join(f"{name}/" for name in found.outputs)
        again = ", ".join(f"`beholder {name}`" for name in found.outputs)
        words.append(f"{folders} may still hold what this person said: run {again} again.")
    words += names_aside(study)
    words.append("Backups, and what you have handed on or published, are yours to look after.")
    return replace(found, words=tuple(words))
