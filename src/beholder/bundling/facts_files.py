"""The facts of a bundle: one file of JSON lines for each table of the store, without what tells who somebody is.

What is left out is what an export leaves out: answers of sessions that were withdrawn or erased, free text unless it
was asked for, language and time zone. Beyond that completion codes, receipts, ids of platforms and who did what.
`clean`, `analyse` and `report` give their results from these files alone.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import aclosing
from pathlib import Path
from typing import Any, NamedTuple

from beholder.aio import block_on
from beholder.cleaning.facts import Rows
from beholder.cleaning.texts import Masks
from beholder.errors import Problem, UserError
from beholder.exporting.source import FreeTextFilter
from beholder.files import utf8
from beholder.store.contract import DRAFT, Table
from beholder.store.open import open_store
from beholder.store.tables import SHAPES, to_iso
from beholder.study.recruitment import is_person

_WITHHELD = ("answers", "posed", "told", "events")
"""Tables with what somebody did, of which nothing is handed on once they withdrew."""
_DEVICE = ("language", "languages", "timezone", "timezone_offset")
_STUDY_ACTS: Mapping[str, tuple[str, ...] | None] = {
    "look": ("run", "participants", "finished", "lists", "command", "ratings_sha256"),
    "target": None, "chain": None, "preregistration": None, "preregistered": None,
    "draft": ("run", "places", "minutes", "reward", "screen_out"),
    "publish": ("run", "places"), "places": ("run", "places"),
    "pause": ("run",), "resume": ("run",), "stop": ("run",), "close": ("run",), "condition": (),
}  # fmt: skip
"""Kinds of entries of the ledger about the study, with what is kept of their evidence; None for all of it."""
_MODERATION = ("release", "reset", "let_in", "shut_out", "leave_out", "take_in", "forget", "purge", "decisions")
_PAYMENTS = ("approve", "bonus", "reject", "return")
_NO_POSTING = frozenset({*_MODERATION, *_PAYMENTS})

Change = Callable[[str], str]
"""What a line goes through before it is written: names of authors, for reviewers."""


class FactScreen(NamedTuple):
    """What is left out of facts."""

    withheld: FreeTextFilter
    digests: Mapping[str, str]
    """The digest of the study text of each session whose answers may be read."""
    masks: Masks | None
    """Of reasons in words; None where these are left out."""
    has_payments: bool
    study_text: Change
    """Returns a study text without what is not handed on."""


def readable_sessions(tables: Mapping[str, Rows]) -> dict[str, str]:
    """Return the digest of each session that was not withdrawn or erased."""
    gone = {row["session"] for row in tables["erasures"]}
    gone |= {row["session"] for row in tables["ends"] if row["outcome"] == "withdrawn"}
    return {str(row["session"]): str(row["digest"]) for row in tables["sessions"] if row["session"] not in gone}


def screened_rows(table: Table, rows: Iterable[Mapping[str, Any]], screen: FactScreen) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table as they may be handed on."""
    for row in rows:
        if table in _WITHHELD and row["session"] not in screen.digests:
            continue
        screened = _SCREENS.get(table, _as_it_is)(dict(row), screen)
        if screened is not None:
            yield screened


def _as_it_is(row: dict[str, Any], screen: FactScreen) -> dict[str, Any] | None:
    return row


def _study(row: dict[str, Any], screen: FactScreen) -> dict[str, Any] | None:
    return row | {"yaml": screen.study_text(str(row["yaml"]))}


def _session(row: dict[str, Any], screen: FactScreen) -> dict[str, Any] | None:
    return row | {"device": {name: value for name, value in (row["device"] or {}).items() if name not in _DEVICE}}


def _answer(row: dict[str, Any], screen: FactScreen) -> dict[str, Any] | None:
    digest = screen.digests[row["session"]]
    return row | {"answer": screen.withheld.answer("answers", digest, str(row["key"]), row["answer"])}


def _events(row: dict[str, Any], screen: FactScreen) -> dict[str, Any] | None:
    """Return a batch of events; what was half done is gone, and nothing else changes its place."""
    digest, key = screen.digests[row["session"]], str(row["key"])
    events = [
        [ms, kind, slot, None if kind == DRAFT else screen.withheld.event("events", digest, key, kind, data)]
        for ms, kind, slot, data in row["events"]
    ]
    return row | {"events": events}


def _end(row: dict[str, Any], screen: FactScreen) -> dict[str, Any] | None:
    return row | {"code": "", "receipt": ""}


def _entry(row: dict[str, Any], screen: FactScreen) -> dict[str, Any] | None:
    """Return an entry of the ledger; None of one that is about identities, or about money where that is left out."""
    kind, evidence = str(row["kind"]), row["evidence"]
    if kind in _STUDY_ACTS:
        kept = _STUDY_ACTS[kind]
        if kept is not None:
            evidence = {name: evidence[name] for name in kept if isinstance(evidence, Mapping) and name in evidence}
        return row | {"evidence": evidence, "submission": "", "batch": ""}
    if kind not in _MODERATION and not (kind in _PAYMENTS and screen.has_payments):
        return None
    words = str(row["reason_text"]) if kind in _MODERATION and kind != "decisions" else ""
    if kind in _NO_POSTING:
        row = row | {"provider_ref": ""}
    return row | {
        "evidence": None, "submission": "", "batch": "",
        "reason_text": screen.masks.text(words) if screen.masks is not None else "",
    }  # fmt: skip


_SCREENS: Mapping[str, Callable[[dict[str, Any], FactScreen], dict[str, Any] | None]] = {
    "studies": _study, "sessions": _session, "answers": _answer, "events": _events, "ends": _end, "ledger": _entry,
}  # fmt: skip


# Files


def facts_file(table: Table) -> str:
    """Return the name of the file of a table."""
    return f"{table}.jsonl"


def write_rows(path: Path, table: Table, rows: Iterable[Mapping[str, Any]], change: Change) -> int:
    """Write rows as JSON lines, in the order of their columns, and return how many there are."""
    number = 0
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        for row in rows:
            file.write(utf8(f"{change(json_line(table, row))}\n"))
            number += 1
    return number


def json_line(table: Table, row: Mapping[str, Any]) -> str:
    """Return a row as one line of JSON."""
    shape = SHAPES[table]
    cells = {
        name: to_iso(row[name]) if kind == "time" else row[name]
        for name, kind in zip(shape.columns, shape.kinds, strict=True)
    }
    return json.dumps(cells, ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=_plain)


def _plain(value: object) -> Any:
    """Return what a store decodes when it is looked at."""
    return dict(value) if isinstance(value, Mapping) else list(value)  # type: ignore[call-overload]


def write_events(path: Path, url: str, screen: FactScreen, change: Change) -> int:
    """Write the events of a store as they come from it: they may not fit into memory."""
    return block_on(_stream_events(path, url, screen, change))


async def _stream_events(path: Path, url: str, screen: FactScreen, change: Change) -> int:
    number = 0
    async with open_store(url, write=False) as store, aclosing(store.rows("events")) as batches:
        with path.open("wb") as file:
            async for row in _screened(batches, screen):
                file.write(utf8(f"{change(json_line('events', row))}\n"))
                number += 1
    return number


async def _screened(batches: AsyncIterator[dict[str, Any]], screen: FactScreen) -> AsyncIterator[dict[str, Any]]:
    async for batch in batches:
        for row in screened_rows("events", [batch], screen):
            yield row


def read_rows_of(folder: Path, tables: Iterable[Table]) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of tables as a store would; UserError names the line of what is none."""
    return {table: [*_read_file(folder / facts_file(table), table)] for table in tables}


def _read_file(path: Path, table: Table) -> Iterator[dict[str, Any]]:
    shape = SHAPES[table]
    where = f"facts/{path.name}"
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        raise UserError(Problem(where, "is not there, or no text", "a file of every bundle")) from None
    for number, line in enumerate(text.split("\n"), 1):
        if not line:
            continue
        try:
            row = json.loads(line, object_pairs_hook=dict)
            if set(row) != set(shape.columns):
                raise ValueError
            for name, kind in zip(shape.columns, shape.kinds, strict=True):
                if name in shape.key and kind == "int" and not isinstance(row[name], int):
                    raise ValueError
            yield {name: reading(row[name]) if (reading := _READ.get(kind)) else row[name]
                   for name, kind in zip(shape.columns, shape.kinds, strict=True)}  # fmt: skip
        except (ValueError, TypeError, RecursionError, AttributeError):
            columns = ", ".join(shape.columns)
            raise UserError(
                Problem(f"{where}:{number}", "is no row of this table", f"a JSON object of {columns}")
            ) from None


def _time(text: Any) -> Any:
    from datetime import datetime

    at = datetime.fromisoformat(text)
    if at.tzinfo is None:
        raise ValueError
    return at


_READ: Mapping[str, Callable[[Any], Any]] = {"time": _time}


def population_of(tables: Mapping[str, Rows]) -> str:
    """Return whether people have come, or robots alone."""
    return "people" if any(is_person(row["mode"]) for row in tables["sessions"]) else "robots"


def typed_texts(tables: Mapping[str, Rows]) -> bool:
    """Return whether ratings are made of texts that people typed."""
    return any(isinstance(row["answer"], Mapping) and row["answer"].get("texts") for row in tables["answers"])
