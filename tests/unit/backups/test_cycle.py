"""Making backups: verified, only where something is new, and again and again beside a server."""

from __future__ import annotations

import json
import logging
import shutil
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from beholder.backups.backup_settings import BackupSettings
from beholder.backups.backup_state import BackupRunning, one_backup, read_state
from beholder.backups.cycle import BackupCycle, backing_up, make_backup, tell_erasures
from beholder.backups.destinations import DestinationAway
from beholder.backups.erasure_list import read_list
from beholder.backups.history import read_history
from support.backed_up_store import STUDY, erase, fill, settings_to


@pytest.fixture
def settings(tmp_path: Path) -> BackupSettings:
    fill(tmp_path / "store", "ann")
    return settings_to(tmp_path / "disk" / "to", tmp_path)


def _is_there(tmp_path: Path, *, it_is: bool) -> None:
    """Let the disk of the backups be there, or not."""
    (tmp_path / "disk").mkdir() if it_is else shutil.rmtree(tmp_path / "disk")


def test_a_backup_is_made_where_anything_is_new(tmp_path: Path, settings: BackupSettings) -> None:
    _is_there(tmp_path, it_is=True)
    first = make_backup(settings, tmp_path / "store").note
    assert first is not None
    assert (first.study, first.sessions, first.answers, first.erasures) == (STUDY, 1, 3, 0)
    assert make_backup(settings, tmp_path / "store").note is None
    assert make_backup(settings, tmp_path / "store", is_forced=True).note is not None
    (bob,) = fill(tmp_path / "store", "bob")
    second = make_backup(settings, tmp_path / "store").note
    assert second is not None
    assert second.sessions == 2
    erase(tmp_path / "store", bob)
    third = make_backup(settings, tmp_path / "store").note
    assert third is not None
    assert (third.answers, third.erasures) == (3, 1)
    state = read_state(tmp_path / "store")
    assert (state.at, state.size, state.queued) == (third.at, third.size, 0)
    assert [path.name for path in (tmp_path / "store").glob(".backup-*")] == []
    assert len(read_history(settings.destination(), STUDY)) == 4


def test_a_place_that_is_away_is_noted_and_erasures_wait_for_it(tmp_path: Path, settings: BackupSettings) -> None:
    (tmp_path / "store" / ".backup-killed").mkdir()
    _is_there(tmp_path, it_is=True)
    assert make_backup(settings, tmp_path / "store").note is not None
    assert not (tmp_path / "store" / ".backup-killed").exists()
    (bob,) = fill(tmp_path / "store", "bob")
    erase(tmp_path / "store", bob)
    shutil.move(tmp_path / "disk", tmp_path / "unplugged")
    with pytest.raises(DestinationAway):
        tell_erasures(settings, tmp_path / "store")
    with pytest.raises(DestinationAway):
        make_backup(settings, tmp_path / "store")
    state = read_state(tmp_path / "store")
    assert "cannot be written (there is no" in state.failure
    assert state.queued == 1
    assert state.at is not None
    shutil.move(tmp_path / "unplugged", tmp_path / "disk")
    tell_erasures(settings, tmp_path / "store")
    assert read_state(tmp_path / "store").queued == 0
    assert read_list(settings.destination(), STUDY, tmp_path).names(bob)
    made = make_backup(settings, tmp_path / "store").note
    assert made is not None
    assert made.erasures == 1
    assert read_state(tmp_path / "store").failure == ""


def test_only_one_process_makes_a_backup(tmp_path: Path, settings: BackupSettings) -> None:
    _is_there(tmp_path, it_is=True)
    with one_backup(tmp_path / "store"), pytest.raises(BackupRunning):
        make_backup(settings, tmp_path / "store")


def _until(condition: threading.Event) -> None:
    assert condition.wait(60)


class _Watched(BackupCycle):
    """A cycle that says when it has looked."""

    def __init__(self, settings: BackupSettings, url: Path, leads: Callable[[], bool] = lambda: True) -> None:
        super().__init__(settings, url, leads=leads)
        self.looked, self.looks = threading.Event(), 0

    def _look(self, *, is_due: bool) -> float:
        pause = super()._look(is_due=is_due)
        self.looks += 1
        self.looked.set()
        return pause

    def until_looked(self) -> None:
        _until(self.looked)
        self.looked.clear()


def test_a_cycle_tries_again_until_the_place_is_back_and_says_so_once(
    tmp_path: Path, settings: BackupSettings, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "beholder.backups")
    cycle = _Watched(settings, tmp_path / "store")
    cycle.start()
    for _ in range(2):
        cycle.until_looked()
        assert cycle.state.failing_since is not None
        cycle.wake()
    cycle.until_looked()
    _is_there(tmp_path, it_is=True)
    cycle.wake()
    cycle.until_looked()
    assert cycle.state.failing_since is None
    cycle.stop()
    texts = [record.getMessage() for record in caplog.records]
    assert texts[0].startswith("Backups: Every 10 min to ")
    assert [text for text in texts if text.startswith("a backup has failed, and is tried again")] == texts[1:2]
    assert texts[2] == f"backups to {settings.to} work again"
    assert len(read_history(settings.destination())) == 1


def test_a_second_server_leaves_it_to_the_first_and_the_end_makes_the_last_one(
    tmp_path: Path, settings: BackupSettings
) -> None:
    _is_there(tmp_path, it_is=True)
    often = replace(settings, every=timedelta(hours=1))
    first, second = _Watched(often, tmp_path / "store"), _Watched(often, tmp_path / "store")
    first.start()
    first.until_looked()
    second.start()
    second.until_looked()
    assert second.state == first.state
    fill(tmp_path / "store", "bob")
    second.stop()
    first.stop()
    assert [note.sessions for note in read_history(settings.destination())] == [1, 2]


def test_of_several_servers_the_one_that_leads_makes_backups_and_each_tells_of_an_erasure(
    tmp_path: Path, settings: BackupSettings
) -> None:
    (ann,) = fill(tmp_path / "store", "bob")
    _is_there(tmp_path, it_is=True)
    cycle = _Watched(settings, tmp_path / "store", leads=lambda: False)
    cycle.start()
    cycle.until_looked()
    assert read_history(settings.destination()) == []
    erase(tmp_path / "store", ann)
    cycle.wake()
    cycle.until_looked()
    assert read_list(settings.destination(), STUDY, tmp_path).names(ann)
    fill(tmp_path / "store", "eve")
    cycle.stop()
    assert len(read_history(settings.destination())) == 1, "the last one is made by who leads"


def test_beside_a_block_and_nothing_without_settings(tmp_path: Path, settings: BackupSettings) -> None:
    _is_there(tmp_path, it_is=True)
    with backing_up(None, tmp_path / "store") as nothing:
        assert nothing is None
    with backing_up(settings, tmp_path / "store"):
        pass
    (note,) = read_history(settings.destination())
    document = json.loads((tmp_path / "disk" / "to" / note.name).read_text("utf-8"))
    assert document["keys"] == list(settings.keys)
    assert "secret" not in json.dumps(document).lower()
