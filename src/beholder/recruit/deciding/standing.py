"""What is signed already, and what is new since: told to whoever looks again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from beholder.recruit.deciding.rows import Row
from beholder.recruit.deciding.signing import Signed, signed_rows
from beholder.store.contract import Entry

_NAMED = 5
_QUIET = ("nothing", "wait")
"""Decisions that nobody has to sign: what is over, and what is not over yet."""


class Standing(NamedTuple):
    """What was signed before in words; nothing where nobody has signed anything."""

    words: tuple[str, ...]
    is_all_signed: bool


def standing(rows: Sequence[Row], entries: Iterable[Entry]) -> Standing:
    """Return who has signed these rows last and when, and which of them nobody has signed as they are now."""
    signed = signed_rows(entries)
    mine = [signed[row.decided.submission] for row in rows if row.decided.submission in signed]
    if not mine:
        return Standing((), False)
    last = max(mine, key=lambda one: one.at)
    new = [row for row in rows if row.decided.submission not in signed and row.decided.pay not in _QUIET]
    changed = [row for row in rows if _has_changed(row, signed.get(row.decided.submission))]
    count = f"{len(mine)} {'row is' if len(mine) == 1 else 'rows are'} signed"
    head = f"{count}, last by {last.by} on {last.at:%Y-%m-%d at %H:%M} UTC."
    since = [f"{len(some)} {word} ({_names(some)})" for some, word in ((new, "new"), (changed, "changed")) if some]
    return Standing((f"{head} Since then: {', '.join(since) or 'nothing new'}.",), not since)


def _has_changed(row: Row, before: Signed | None) -> bool:
    now = row.decided
    if before is None:
        return False
    if now.pay in _QUIET:
        return now.is_use_changed
    said = (before.pay, before.use, before.category, before.message)
    return (now.pay, now.use, now.category or "", now.message) != said


def _names(rows: Sequence[Row]) -> str:
    named = [row.decided.submission for row in rows[:_NAMED]]
    return ", ".join([*named, "…"] if len(rows) > _NAMED else named)
