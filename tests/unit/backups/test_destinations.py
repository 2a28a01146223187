"""Destinations of backups: whole or not at all, and messages that say what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from beholder.backups.destinations import (
    DestinationAway,
    FolderDestination,
    open_destination,
    put_verified,
)
from beholder.errors import BackupError
from support.backed_up_store import check_destination


def test_a_folder_keeps_the_contract(tmp_path: Path) -> None:
    check_destination(open_destination("backups here", tmp_path), tmp_path)
    assert (tmp_path / "backups here").stat().st_mode & 0o777 == 0o700


def test_files_that_a_killed_process_left_are_not_listed_and_go_with_the_next(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"whole")
    place = FolderDestination(tmp_path / "to")
    place.put("walk.1.age", file)
    (tmp_path / "to" / ".partial-walk.x").write_bytes(b"half")
    (tmp_path / "to" / ".partial-other.x").write_bytes(b"half, of another study that may be at it")
    assert place.names() == ["walk.1.age"]
    place.put("walk.2.age", file)
    assert sorted(path.name for path in (tmp_path / "to").iterdir()) == [
        ".partial-other.x", "walk.1.age", "walk.2.age",
    ]  # fmt: skip


def test_a_disk_that_is_not_there_is_away_and_no_folder_is_made_in_its_place(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"x")
    place = FolderDestination(tmp_path / "disk" / "backups")
    with pytest.raises(DestinationAway, match=r"cannot be written \(there is no .*disk\)\. See that the disk is there"):
        place.put("a", file)
    assert not (tmp_path / "disk").exists()
    assert place.names() == []


class _Forgetful(FolderDestination):
    """A place that changes what it is given."""

    def fetch(self, name: str, file: Path) -> None:
        super().fetch(name, file)
        file.write_bytes(file.read_bytes()[:-1])


def test_what_comes_back_otherwise_is_removed_and_told(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"whole")
    place = _Forgetful(tmp_path / "to")
    with pytest.raises(DestinationAway, match=r"gave back walk\.1\.age otherwise than it was sent"):
        put_verified(place, "walk.1.age", file, tmp_path)
    assert place.names() == []
    assert not (tmp_path / "read-back").exists()


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("ftp://host/x", "backup  is ftp://host/x. Allowed: a folder, s3://bucket/folder, gs://…, az://… or sftp://"),
        ("sftp://ada:pw@host/x", "backup  holds a password. Allowed: an address without one. Secrets go by the "),
        ("sftp://host", "backup  names no folder. Allowed: sftp://user@host/folder. A folder in the home there is "),
        ("sftp://host/a*", r"backup  is sftp://host/a*. Allowed: a folder without quotes, \, *, ? and [ in its name."),
        ("s3://bucket:9000/x", "backup  is s3://bucket:9000/x. Allowed: s3://bucket/folder."),
    ],
)
def test_an_address_that_is_none_is_refused(address: str, words: str) -> None:
    with pytest.raises(BackupError) as caught:
        open_destination(address)
    assert str(caught.value).startswith(words)
    assert "pw" not in str(caught.value)
