"""The dashboard in a terminal: an empty study, and names with markup."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from beholder.recruiting.dashboard import as_text
from beholder.recruiting.monitor_snapshot import VoteProgress
from beholder.recruiting.monitoring import (
    MonitorFacts,
    make_snapshot,
)
from beholder.store.contract import LedgerEntry
from support.cleaning_store import START, add, make_study, store
from support.snapshots import LATER, snapshot_of, with_verdicts


def test_nobody_has_come_yet(tmp_path: Path) -> None:
    study = make_study(tmp_path)
    view = snapshot_of(study, store(study))
    assert (view.arrived, view.lists.planned, view.alarms) == (0, 4, ())
    assert as_text(view).splitlines()[-1] == "Nobody has come yet. `beholder launch` says how to bring people."
    launched = LedgerEntry("draft", "done", START, provider_ref="x", evidence={"public_url": "https://lab.example.org"})
    view = snapshot_of(study, store(study), entries=[launched])
    assert as_text(view).splitlines()[-1] == "Nobody has come yet. Link: https://lab.example.org/s/cleaned"
    study = make_study(tmp_path, recruit={"mode": "link", "single_use": True})
    assert snapshot_of(study, store(study), entries=[launched]).link == "", "it lets nobody in"
    robots = make_snapshot(study, MonitorFacts(with_verdicts(store(study))), LATER, robots=True)
    assert "No robots have come yet. Send some with `beholder simulate" in as_text(robots)


def test_names_are_shown_as_they_are(tmp_path: Path) -> None:
    study = make_study(tmp_path, title="[/b] no :smile:")
    tables = store(study)
    add(tables, "a")
    view = replace(
        snapshot_of(study, tables), conditions=tuple(VoteProgress(f"[/b] :x: {n}", 1, 0, 2) for n in range(14))
    )
    text = as_text(view)
    assert text.startswith("[/b] no :smile:\n")
    assert "[/b] :x: 11" in text
    assert "[/b] :x: 12" not in text
    assert "and 2 more; `--json` has all of them" in text


def test_names_do_not_steer_the_terminal(tmp_path: Path) -> None:
    study = make_study(tmp_path)
    view = replace(snapshot_of(study, store(study)), title="A\x1b[2Jb", alarms=("\x9b31m",))
    assert "A\\u001b[2Jb" in as_text(view)
    assert "! \\u009b31m" in as_text(view)
    assert "\x1b" not in as_text(view)
