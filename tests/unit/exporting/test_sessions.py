"""Sessions in the export: withdrawals, and values that a browser chooses."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

import beholder
from beholder.store.contract import Events
from beholder.store.open import open_store
from beholder.types import Json
from support.export_store import GOOD, START, come, make_study, record, rows


def test_who_withdrew_leaves_a_tombstone_and_nothing_else(folder: Path) -> None:
    (gone,) = (row for row in rows(folder, "sessions") if row["session"] == "gone")
    assert (gone["outcome"], gone["erased_at"]) == ("withdrawn", "2026-11-15T18:00:00.000000Z")
    assert int(gone["erased_rows"]) > 0
    assert {gone[name] for name in ("device", "width_px", "browser", "system")} == {""}
    for name in ("ratings", "answers", "events", "posed", "told", "playback", "questionnaires", "checks"):
        assert "gone" not in {row["session"] for row in rows(folder, name)}, name


def test_what_a_browser_calls_itself_is_no_formula(tmp_path: Path) -> None:
    study = make_study(tmp_path)

    async def fill_it() -> None:
        async with open_store(study.folder / "store") as store:
            await store.begin(record(study))
            await come(store, "alice", 1, says=GOOD)
            later = START + timedelta(hours=2)
            log: list[Json] = [[0, "click", "=1+1", "@SUM(A1)"], [1, "key", None, {"key": "="}]]
            await store.append([Events("alice", "trial:1", "=2+2", 0, log, later)])
            draft: list[Json] = [[0, "draft", None, {"values": {"comment": "never handed in"}}]]
            await store.append([Events("alice", "trial:1", "draft:=2+2", 1, draft, later)])  # which is not exported

    asyncio.run(fill_it())
    events = [row for row in rows(beholder.export(study).folder, "events") if row["tab"] != "t1"]
    assert [(row["tab"], row["slot"], row["data"]) for row in events] == [
        ("'=2+2", "'=1+1", "'@SUM(A1)"), ("'=2+2", "", '{"key": "="}'),
    ]  # fmt: skip
