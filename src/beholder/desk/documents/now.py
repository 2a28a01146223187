"""The page Now: the document of `monitor --json`, conditions as the viewer may see them, and how full the plan is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from beholder.desk.desk_study import DeskStudy
from beholder.desk.documents.study_facts import CodeNames
from beholder.desk.viewer import Viewer
from beholder.recruiting.monitor_snapshot import MonitorSnapshot
from beholder.recruiting.monitoring import take_snapshot
from beholder.store.open import read_rows
from beholder.study.recruitment import is_person, is_robot
from beholder.types import Json

_Rows = Iterable[Mapping[str, Any]]
_COUNTED = ("finished", "coming", "planned")


async def document(study: DeskStudy, viewer: Viewer) -> dict[str, Json]:
    """Return how a study goes: everything on one page."""
    return await snapshot_document(
        study, viewer, await take_snapshot(study.context, robots=await has_only_robots(study))
    )


async def has_only_robots(study: DeskStudy) -> bool:
    """Return whether nobody but robots has come, so that the page is about them."""
    modes = {row["mode"] for row in await read_rows(study.context.store, "sessions")}
    return not any(map(is_person, modes)) and any(map(is_robot, modes))


async def snapshot_document(study: DeskStudy, viewer: Viewer, snapshot: MonitorSnapshot) -> dict[str, Json]:
    """Return the page for a snapshot, such as the next one of a stream."""
    store = study.context.store
    stimuli = {str(row["stimulus"]): row for row in await read_rows(store, "stimuli")}
    names = CodeNames.of(study.study, stimuli.values(), store.secret, is_blinded=viewer.blinded)
    shown: dict[str, Any] = dict(snapshot.to_json())
    shown["alarms"] = [names.text(alarm) for alarm in snapshot.alarms]
    shown["conditions"] = _in_order(
        [{**one, "name": names.condition(str(one["name"])), "id": one["name"]} for one in shown["conditions"]], names
    )
    heat = _heat(shown.pop("stimuli"), stimuli, names)
    return {"key": study.key, "blinded": viewer.blinded, "monitor": shown, "fill": heat}


def _in_order(rows: list[dict[str, Json]], names: CodeNames) -> list[dict[str, Json]]:
    """Return conditions in the order of their code names where they are blinded, and never their own names."""
    place = {name: number for number, name in enumerate(names.order)}
    rows = sorted(rows, key=lambda row: place.get(str(row["id"]), len(place)))
    return [{key: value for key, value in row.items() if key != "id"} for row in rows]


def _heat(votes: list[dict[str, Any]], stimuli: Mapping[str, Mapping[str, Any]], names: CodeNames) -> dict[str, Json]:
    """Return how often each content under each condition was rated, is being rated and is to be rated."""
    cells: dict[str, dict[str, dict[str, int]]] = defaultdict(dict)
    for one in votes:
        row = stimuli.get(str(one["name"]))
        if row is None:
            continue
        cell = cells[str(row["condition"])].setdefault(str(row["content"]), dict.fromkeys(_COUNTED, 0))
        for count in _COUNTED:
            cell[count] += int(one[count])
    contents = sorted({content for own in cells.values() for content in own})
    conditions = [name for name in names.order if name in cells]
    return {
        "contents": [*contents],
        "conditions": [names.condition(name) for name in conditions],
        "cells": [
            [dict(cells[name][content]) if content in cells[name] else None for content in contents]
            for name in conditions
        ],
    }
