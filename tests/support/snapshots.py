"""Snapshots of a study from the tables of a store."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from beholder.recruiting.monitor_snapshot import MonitorSnapshot
from beholder.recruiting.monitoring import (
    MonitorFacts,
    make_snapshot,
)
from beholder.study.model import Study
from support.cleaning_store import START, Tables, add

LATER = START + timedelta(hours=6)


def with_verdicts(tables: Tables) -> Tables:
    return {"told": [], **tables}


def snapshot_of(study: Study, tables: Tables, now: datetime = LATER, **known: Any) -> MonitorSnapshot:
    return make_snapshot(study, MonitorFacts(with_verdicts(tables), **known), now)


def add_drop_out(tables: Tables, name: str, answered: int, **options: Any) -> None:
    """Add a session that stops after this number of trials, the last one minutes after its start."""
    add(tables, name, outcome=None, **options)
    unanswered = {f"trial:{place}" for place in range(answered + 1, 100)}
    tables["answers"] = [row for row in tables["answers"] if row["session"] != name or row["key"] not in unanswered]
