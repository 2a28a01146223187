"""The results of a bundle, computed from its facts alone: clean, analyse and report in a folder without a store."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from beholder.analysis.folder import analyse_folder
from beholder.cleaning.facts import IMPORTED, TABLES, Rows
from beholder.cleaning.tables import clean_tables
from beholder.planning.model import no_collection
from beholder.reporting.folder import report_folder
from beholder.store.contract import Table
from beholder.store.tables import to_iso
from beholder.study.model import Study
from beholder.study.recruitment import is_closed, moment

BUNDLED: tuple[Table, ...] = (*TABLES, "told")
"""The tables of facts from which results are computed; events are the only others."""
STEPS = 3
"""How often `tell` is called."""


def recompute(
    study: Study, tables: Mapping[str, Rows], *, robots: bool, as_of: datetime, tell: Callable[[], None]
) -> Study:
    """Write clean/, analyse/ and report/ of a study; return the study with the folder in which they are."""
    rows = dict(tables)
    if not any(row["mode"] == IMPORTED for row in rows["sessions"]):
        del rows["told"]
    with no_collection():
        cleaned = clean_tables(study, rows, robots=robots, now=as_of)
    tell()
    computed = study if cleaned.folder.parent == study.folder else study.in_rehearsal()
    analyse_folder(computed, out=None)
    tell()
    report_folder(computed)
    tell()
    return computed


def time_of(study: Study, tables: Mapping[str, list[dict[str, Any]]], now: datetime) -> datetime:
    """Return the time as of which a bundle stands: that of its last fact, or a moment after the study closed."""
    last = max(row["at"] for rows in tables.values() for row in rows if "at" in row)
    if is_closed(study.recruit, now) and study.recruit.closes is not None:
        last = max(last, moment(study.recruit.closes))
    return datetime.fromisoformat(to_iso(last + timedelta(microseconds=1)))


def output_files(study: Study) -> list[Path]:
    """Return every file of clean/, analyse/ and report/, in the order of their names."""
    return sorted(
        path for name in ("clean", "analyse", "report") for path in (study.outputs / name).rglob("*") if path.is_file()
    )
