"""One backup: what it holds, and that nothing else is taken for one."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from beholder.backups.archive import pack_store, unpack
from beholder.errors import BackupError
from beholder.testing.stores.facts import NOON
from support.backed_up_store import STUDY, answered_in, fill, key_in


def test_a_store_goes_in_and_comes_out(tmp_path: Path) -> None:
    sessions = fill(tmp_path / "store", "ann", "bob")
    key = key_in(tmp_path)
    (tmp_path / "scratch").mkdir()
    packed = pack_store(tmp_path / "store", STUDY, [key.public], tmp_path / "scratch", NOON)
    assert [path.name for path in (tmp_path / "scratch").rglob("*") if path.is_file()] == ["backup.age"]
    assert b"planted-" not in packed.file.read_bytes()
    manifest = unpack(packed.file, tmp_path / "back", key.file)
    assert manifest == packed.manifest
    assert (manifest.study, manifest.digest, manifest.at) == (STUDY, "d1", NOON)
    assert answered_in(tmp_path / "back") == sessions
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "back").glob("*.sqlite")} == {0o600}
    with pytest.raises(BackupError, match="--identity  is missing, and the backup is encrypted"):
        unpack(packed.file, tmp_path / "again", None)


def _changed(file: Path, change: Callable[[dict[str, bytes]], None]) -> Path:
    """Return an archive with other content."""
    with tarfile.open(file) as archive:
        content = {one.name: archive.extractfile(one).read() for one in archive}  # type: ignore[union-attr]
    change(content)
    with tarfile.open(file, "w:gz") as archive:
        for name, data in content.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return file


def _without(content: dict[str, bytes]) -> None:
    del content["identity.sqlite"]


def _other_bytes(content: dict[str, bytes]) -> None:
    content["facts.sqlite"] = content["facts.sqlite"][:-1] + b"\x01"


def _other_counts(content: dict[str, bytes]) -> None:
    manifest = json.loads(content["manifest.json"])
    manifest["files"]["facts.sqlite"]["counts"]["answers"] += 1
    content["manifest.json"] = json.dumps(manifest).encode()


def _other_study(content: dict[str, bytes]) -> None:
    manifest = json.loads(content["manifest.json"])
    content["manifest.json"] = json.dumps({**manifest, "digest": "d2"}).encode()


def _later_format(content: dict[str, bytes]) -> None:
    manifest = json.loads(content["manifest.json"])
    content["manifest.json"] = json.dumps({**manifest, "format": 2}).encode()


def _foreign(content: dict[str, bytes]) -> None:
    content["../../evil"] = b"x"


def _no_manifest(content: dict[str, bytes]) -> None:
    del content["manifest.json"]


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("plain")
    fill(folder / "store", "ann")
    (folder / "scratch").mkdir()
    return pack_store(folder / "store", STUDY, [], folder / "scratch", NOON).file


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_without, "is damaged: it does not hold the files that it says"),
        (_other_bytes, "is damaged: facts.sqlite has other bytes than it says"),
        (_other_counts, "is damaged: its tables have other rows than it says"),
        (_other_study, "is damaged: it holds another study text than it says"),
        (_later_format, "has the format 2 of beholder"),
        (_foreign, "is no backup of Beholder"),
        (_no_manifest, "is no backup of Beholder"),
    ],
)
def test_what_is_not_as_it_says_is_refused(
    tmp_path: Path, plain: Path, change: Callable[[dict[str, bytes]], None], words: str
) -> None:
    file = tmp_path / "walk.tar.gz"
    file.write_bytes(plain.read_bytes())
    with pytest.raises(BackupError, match=words):
        unpack(_changed(file, change), tmp_path / "back", None)
    assert not (tmp_path.parent / "evil").exists()


def test_files_that_are_cut_off_or_something_else_are_refused(tmp_path: Path, plain: Path) -> None:
    cut, other = tmp_path / "cut", tmp_path / "other"
    cut.write_bytes(plain.read_bytes()[:-500])
    with pytest.raises(BackupError, match="cut  is damaged: it cannot be unpacked"):
        unpack(cut, tmp_path / "back", None)
    other.write_bytes(b"a letter")
    with pytest.raises(BackupError, match=r"other  is no backup of Beholder\. Name the place to which a study"):
        unpack(other, tmp_path / "again", None)
