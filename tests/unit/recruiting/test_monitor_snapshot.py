"""The JSON document of a snapshot keeps its keys."""

from __future__ import annotations

import json
from pathlib import Path

from support.cleaning_store import add, make_study, store
from support.snapshots import snapshot_of


def test_the_document_keeps_its_keys(tmp_path: Path) -> None:
    study = make_study(tmp_path, recruit={"mode": "link", "reward": "2.00 GBP"}, title="Größe 2 | NA")
    tables = store(study)
    add(tables, "no")
    document = snapshot_of(study, tables).to_json()
    assert list(document) == [
        "version", "study", "title", "run", "mode", "population", "at", "link", "people", "arrived", "here", "present",
        "completed", "left", "ended", "steps", "trials", "checks", "verified", "unverified", "lists", "conditions",
        "stimuli", "minutes",
        "durations", "told_minutes", "per_hour", "finished_at", "earned", "cost", "platform", "alarms",
    ]  # fmt: skip
    earned = {"reward": "2.00 GBP", "hourly": "6.00 GBP", "platform_hourly": None, "floor": None, "top_up": None}
    assert (document["earned"], document["at"]) == (earned, "2026-11-15T15:00:00+00:00")
    assert json.loads(json.dumps(document)) == document
