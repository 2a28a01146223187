"""Whether a run is over: it was closed, and since then nobody has come or finished, and nothing was opened."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from beholder.clean.facts import Rows
from beholder.recruit.launching.recorded import OPENING, postings_of, published_postings, runs_of
from beholder.recruit.ledger.noted import noted
from beholder.store.contract import Entry
from beholder.store.rules import NOT_PEOPLE


def is_over(run: int, entries: Sequence[Entry], tables: Mapping[str, Rows]) -> bool:
    """Return whether a run was closed after everything that people did in it, by the sessions and ends of a store.

    Whatever was opened again may send somebody at any time.
    """
    closed = [place for place, one in enumerate(entries) if one.kind == "close" and _run(one) == run]
    if not closed:
        return False
    close, since = entries[closed[-1]], entries[closed[-1] :]
    mine = {row["session"]: row["at"] for row in _people(tables) if row["run"] == run}
    done = [*mine.values(), *(row["at"] for row in tables["ends"] if row["session"] in mine)]
    postings = postings_of(entries, run)
    opened = [one for one in since if one.kind in OPENING and one.event in ("planned", "done")]
    is_opened = any(one.provider_ref in postings for one in opened)
    return not is_opened and all(at <= close.at for at in done)


def open_runs(entries: Sequence[Entry], tables: Mapping[str, Rows]) -> list[int]:
    """Return the runs that people came to, or may come to as they are published, and that are not over."""
    came = {int(row["run"]) for row in _people(tables)}
    runs = sorted(came | {run for run in runs_of(entries) if published_postings(entries, run)})
    return [run for run in runs if not is_over(run, entries, tables)]


def _people(tables: Mapping[str, Rows]) -> Rows:
    return [row for row in tables["sessions"] if row["mode"] not in NOT_PEOPLE]


def _run(entry: Entry) -> int:
    return int(noted(entry).get("run", 1))
