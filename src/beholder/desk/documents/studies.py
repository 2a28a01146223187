"""The page All my studies: each study of the desk in a line, with what is due next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from beholder.desk.desk_study import DeskStudy
from beholder.desk.documents.now import has_only_robots
from beholder.desk.documents.study_facts import CodeNames
from beholder.desk.viewer import Viewer
from beholder.recruiting.launch_record import launch_record
from beholder.recruiting.monitor_snapshot import MonitorSnapshot
from beholder.recruiting.monitoring import take_snapshot
from beholder.recruiting.signatures import signed_rows
from beholder.server.moderation import Pauses
from beholder.store.contract import LedgerEntry
from beholder.store.open import read_rows
from beholder.study.recruitment import is_closed
from beholder.types import Json


async def document(studies: Sequence[DeskStudy], viewer: Viewer) -> dict[str, Json]:
    """Return all studies that the viewer may see."""
    return {"studies": [await _line(study, viewer) for study in studies]}


async def _line(study: DeskStudy, viewer: Viewer) -> dict[str, Json]:
    robots = await has_only_robots(study)
    # Without asking the platform: a page of many studies is opened often.
    snapshot = await take_snapshot(study.context, robots=robots, platform=(None, ""))
    entries = await study.context.store.ledger.entries()
    names = CodeNames.of(
        study.study, await read_rows(study.context.store, "stimuli"), study.context.store.secret,
        is_blinded=viewer.blinded,
    )  # fmt: skip
    state = _state(study, snapshot, entries)
    told: Any = snapshot.to_json()
    return {
        "key": study.key,
        "name": study.study.name,
        "title": study.study.title,
        "method": study.study.method,
        "mode": study.study.recruit.mode,
        "run": study.study.run,
        "population": snapshot.population,
        "state": state,
        "people": snapshot.people,
        "here": snapshot.here,
        "completed": snapshot.completed,
        "lists": {"finished": snapshot.lists.finished, "planned": snapshot.lists.planned},
        "cost": told["cost"],
        "finished_at": told["finished_at"],
        "alarms": len(snapshot.alarms),
        "next": names.text(_next(snapshot, entries, state)),
    }


def _state(study: DeskStudy, snapshot: MonitorSnapshot, entries: Sequence[LedgerEntry]) -> str:
    """Return how a study stands: not begun, collecting, paused, finished or closed."""
    run = study.study.run
    if any(one.kind == "close" and one.event == "done" for one in entries):
        return "closed"
    if snapshot.population == "robots":
        return "rehearsal"
    if snapshot.lists.planned and snapshot.lists.finished >= snapshot.lists.planned:
        return "finished"
    if Pauses(entries).notice(study.study) or is_closed(study.study.recruit, study.context.now()):
        return "paused"
    return "collecting" if snapshot.arrived or launch_record(entries, run) is not None else "new"


def _next(snapshot: MonitorSnapshot, entries: Sequence[LedgerEntry], state: str) -> str:
    """Return what is due next, in a sentence."""
    if snapshot.alarms:
        return snapshot.alarms[0]
    if state == "closed":
        return "Nothing: it is closed."
    if state in ("new", "rehearsal"):
        return "Bring people: `beholder launch`."
    if state == "finished" and not signed_rows(entries):
        return "Look at the decisions and sign them."
    if state == "finished":
        return "Pay what is owed, then `beholder close`."
    return "Nothing: people are coming." if state == "collecting" else "It waits: resume it when you are ready."
