"""The state of backups: kept beside the facts of either database, one maker at a time, and told in words."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from beholder.backups.backup_state import (
    BackupRunning,
    BackupState,
    backup_status,
    one_backup,
    read_state,
    state_words,
    write_state,
)
from support.backed_up_store import fill, settings_to

NOW = datetime(2026, 11, 18, 14, 30, tzinfo=UTC)
STATE = BackupState(
    "s3://lab/x",
    NOW - timedelta(minutes=4),
    1_234_567,
    3,
    40,
    NOW - timedelta(minutes=4),
    NOW,
    "ab12",
    erased=2,
    told=2,
)


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    found = str(tmp_path / "store") if request.param == "sqlite" else str(request.getfixturevalue("postgresql_url"))
    fill(found, "ann")
    return found


def test_it_is_kept_and_one_process_makes_backups_at_a_time(url: str) -> None:
    assert read_state(url) == BackupState()
    write_state(url, STATE)
    assert read_state(url) == STATE
    with one_backup(url), pytest.raises(BackupRunning, match="is being backed up by another process"), one_backup(url):
        pass
    with one_backup(url):
        pass


def test_a_state_of_another_version_is_begun_anew(tmp_path: Path) -> None:
    (tmp_path / "backup.json").write_text('{"colour": "red"}', "utf-8")
    assert read_state(tmp_path) == BackupState()
    (tmp_path / "backup.json").write_text("no", "utf-8")
    assert read_state(tmp_path) == BackupState()


def test_it_is_told_in_words_and_what_fails_is_a_warning(tmp_path: Path) -> None:
    settings = settings_to("s3://lab/x", tmp_path)
    write_state(tmp_path, STATE)
    well = backup_status(settings, tmp_path, NOW)
    assert (well.words, well.warnings) == ("2026-11-18 14:26 UTC (4 min ago), 1.2 MB", ())
    late = backup_status(settings, tmp_path, NOW + timedelta(hours=3))
    assert late.words == "2026-11-18 14:26 UTC (3 h ago), 1.2 MB"
    assert late.warnings == ("Nobody has looked after backups since 2026-11-18 14:26 UTC: none is served.",)
    write_state(tmp_path, STATE.failed("s3://lab/x  cannot be written.", 3, NOW))
    failing = backup_status(settings, tmp_path, NOW)
    assert failing.words == (
        "2026-11-18 14:26 UTC (4 min ago), 1.2 MB; failing since 2026-11-18 14:30 UTC; 1 erasure not told there yet"
    )
    assert failing.warnings == (
        "Backups fail since 2026-11-18 14:30 UTC, and the last one is of 2026-11-18 14:26 UTC: s3://lab/x  cannot be "
        "written.",
        "1 erasure could not be told to s3://lab/x yet: a restore from there alone would bring them back. It is tried "
        "again with every backup.",
    )
    assert STATE.failed("a", 3, NOW).failed("b", 3, NOW + timedelta(hours=1)).failing_since == NOW


def test_what_everybody_may_know_tells_neither_where_nor_why() -> None:
    facts = replace(STATE, failure="secret", failing_since=NOW).facts
    assert facts == {
        "at": "2026-11-18T14:26:00+00:00", "bytes": 1_234_567, "failing_since": "2026-11-18T14:30:00+00:00",
        "queued_erasures": 0,
    }  # fmt: skip
    assert state_words(BackupState().facts, NOW) == "none yet"
