"""The backups at a place: which are whole, which stay, and what is fetched."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beholder.backups.archive import pack_store
from beholder.backups.destinations import FolderDestination
from beholder.backups.history import fetch_backup, kept, prune, read_history, store_backup
from beholder.errors import BackupError
from beholder.testing.stores.facts import NOON
from support.backed_up_store import STUDY, fill, key_in

KEEP = timedelta(days=30)
NOW = datetime(2026, 11, 18, 14, 30, tzinfo=UTC)
ages = st.lists(st.integers(0, 40 * 24 * 60), min_size=1, max_size=60, unique=True)


@given(ages)
def test_all_of_the_last_hour_stay_then_one_an_hour_then_one_a_day(minutes: list[int]) -> None:
    times = [NOW - timedelta(minutes=age) for age in minutes]
    stay = kept(times, NOW, KEEP)
    assert stay <= set(times)
    assert max(times) in stay
    assert {at for at in times if NOW - at <= timedelta(hours=1)} <= stay
    assert all(NOW - at <= KEEP for at in stay - {max(times)})
    for at in times:
        if NOW - at <= timedelta(hours=23):  # none is further than an hour from one that stays, and later
            assert any(timedelta(0) <= other - at < timedelta(hours=1) for other in stay)
        elif NOW - at <= KEEP:
            assert any(timedelta(0) <= other - at < timedelta(days=1) for other in stay)
    hours = [f"{at:%d %H}" for at in stay if timedelta(hours=1) < NOW - at <= timedelta(hours=23)]
    assert len(hours) <= len(set(hours)) + 1  # the hour that is partly within the last one
    days = [f"{at:%m-%d}" for at in stay if NOW - at > timedelta(days=2)]
    assert len(days) == len(set(days))


@given(ages, st.lists(st.integers(1, 40 * 24 * 60), max_size=5))
def test_what_stays_does_not_depend_on_how_often_it_was_pruned(minutes: list[int], looks: list[int]) -> None:
    times = {NOW - timedelta(minutes=age) for age in minutes}
    remaining: set[datetime] = set()
    moments = sorted({*(NOW - timedelta(minutes=look) for look in looks), NOW})
    for before, moment in zip([datetime.min.replace(tzinfo=UTC), *moments], moments, strict=False):
        remaining |= {at for at in times if before < at <= moment}
        remaining = kept(remaining, moment, KEEP) if remaining else remaining
    assert remaining == kept(times, NOW, KEEP)


def _make(folder: Path, times: list[datetime]) -> FolderDestination:
    """Fill a folder with backups of these times."""
    fill(folder / "store", "ann")
    (folder / "scratch").mkdir()
    place = FolderDestination(folder / "to")
    for at in times:
        packed = pack_store(folder / "store", STUDY, [key_in(folder).public], folder / "scratch", at)
        store_backup(place, packed, [key_in(folder).public], 0, folder / "scratch")
    return place


def test_old_backups_go_with_their_notes_and_the_newest_stays_however_old(tmp_path: Path) -> None:
    times = [NOON, NOON + timedelta(minutes=1), NOON + timedelta(days=2)]
    place = _make(tmp_path, times)
    (tmp_path / "to" / "letter.txt").write_text("not ours", "utf-8")
    assert [note.at for note in read_history(place)] == times
    removed = prune(place, STUDY, NOON + timedelta(days=3), KEEP)
    assert len(removed) == 1
    assert [note.at for note in read_history(place, STUDY)] == times[1:]
    prune(place, STUDY, NOON + timedelta(days=900), KEEP)
    assert [note.at for note in read_history(place, STUDY)] == times[2:]
    assert len(list((tmp_path / "to").iterdir())) == 3
    assert prune(place, "other", NOON + timedelta(days=900), KEEP) == []


def test_a_backup_without_its_note_is_none_and_goes_after_a_day(tmp_path: Path) -> None:
    place = _make(tmp_path, [NOON, NOON + timedelta(minutes=1)])
    first, second = read_history(place)
    place.delete(second.name)  # as where a process was killed before it had written it
    assert read_history(place) == [first]
    prune(place, STUDY, NOON + timedelta(hours=2), KEEP)
    assert second.file in place.names()  # it may be under way
    prune(place, STUDY, NOON + timedelta(days=2), KEEP)
    assert second.file not in place.names()
    (tmp_path / "to" / first.name).write_text("{}", "utf-8")
    assert read_history(place) == []


def test_stores_of_the_same_study_do_not_prune_each_other(tmp_path: Path) -> None:
    place = _make(tmp_path, [NOON])
    (other,) = read_history(place)
    renamed = {name: name.replace(other.origin, "o0000000") for name in (other.file, other.name)}
    for old, new in renamed.items():
        text = (tmp_path / "to" / old).read_bytes().replace(other.origin.encode(), b"o0000000")
        (tmp_path / "to" / new).write_bytes(text)
    assert len(read_history(place)) == 2
    assert prune(place, STUDY, NOON + timedelta(days=900), KEEP) == []


def test_several_studies_at_one_place_are_told_apart(tmp_path: Path) -> None:
    place = _make(tmp_path, [NOON])
    for name in place.names():
        text = (tmp_path / "to" / name).read_bytes()
        (tmp_path / "to" / name.replace("walk.", "run.")).write_bytes(text.replace(b"walk", b"run"))
    assert len(read_history(place, "walk")) == 1
    with pytest.raises(BackupError, match=r"holds backups of run, walk\. Allowed: one study\. Restore into the folder"):
        read_history(place)


def test_what_is_cut_off_damaged_or_gone_is_told(tmp_path: Path) -> None:
    place = _make(tmp_path, [NOON])
    (note,) = read_history(place)
    file = tmp_path / "to" / note.file
    content = file.read_bytes()
    file.write_bytes(content[:-10])
    with pytest.raises(BackupError, match=rf"is cut off: {note.size - 10} of {note.size} bytes are there"):
        fetch_backup(place, note, tmp_path / "back")
    file.write_bytes(content[:-1] + b"x")
    with pytest.raises(BackupError, match="is damaged: it has other bytes than when it was made"):
        fetch_backup(place, note, tmp_path / "back")
    file.unlink()
    with pytest.raises(BackupError, match="is gone from"):
        fetch_backup(place, note, tmp_path / "back")
