"""Archives of strangers: what leads out, what is a link, what grows, and what was damaged is refused with a reason."""

from __future__ import annotations

import stat
import zipfile
from pathlib import Path

import pytest

from beholder.bundling.zip_files import (
    checksum_lines,
    file_hash,
    read_checksums,
    unpack,
    write_archive,
    write_files,
)
from beholder.errors import UserError


def archive_of(path: Path, *members: tuple[str | zipfile.ZipInfo, bytes], compress: int = zipfile.ZIP_STORED) -> Path:
    with zipfile.ZipFile(path, "w", compress) as archive:
        for member, content in members:
            archive.writestr(member, content)
    return path


def refusal(archive: Path, folder: Path) -> str:
    with pytest.raises(UserError) as caught:
        unpack(archive, folder / "out")
    assert not [path for path in folder.rglob("*") if path.is_file() and "out" in path.parts], "nothing was unpacked"
    return str(caught.value)


def linked(name: str) -> zipfile.ZipInfo:
    member = zipfile.ZipInfo(name)
    member.create_system, member.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
    return member


@pytest.mark.parametrize("name", ["../out.txt", "/etc/passwd", "a/../../b", "./a", "a//b"])
def test_a_name_that_leads_out_is_refused(tmp_path: Path, name: str) -> None:
    assert "leads out of the archive" in refusal(archive_of(tmp_path / "a.zip", (name, b"x")), tmp_path)


@pytest.mark.parametrize("name", ["C:\\x", "a\\b", "con.txt", "a/NUL", "x ", "y.", "a\x01b", "n" * 600])
def test_a_name_that_systems_read_differently_is_refused(tmp_path: Path, name: str) -> None:
    assert "not every system reads" in refusal(archive_of(tmp_path / "a.zip", (name, b"x")), tmp_path)


def test_links_doubles_and_bombs_are_refused_before_anything_is_unpacked(tmp_path: Path) -> None:
    assert "is a link" in refusal(archive_of(tmp_path / "l.zip", (linked("study"), b"/etc")), tmp_path)
    with pytest.warns(UserWarning, match="Duplicate"):
        twice = archive_of(tmp_path / "t.zip", ("a.txt", b"1"), ("a.txt", b"2"))
    assert "is in it twice" in refusal(twice, tmp_path)
    assert "is in it twice" in refusal(archive_of(tmp_path / "c.zip", ("A.txt", b"1"), ("a.txt", b"2")), tmp_path)
    bomb = archive_of(tmp_path / "b.zip", ("big", b"\0" * 60_000_000), compress=zipfile.ZIP_DEFLATED)
    assert "would become 60.0 MB out of" in refusal(bomb, tmp_path)
    packed = archive_of(tmp_path / "p.zip", ("a.txt", b"x" * 99), compress=zipfile.ZIP_BZIP2)
    assert "is compressed in a way that bundles are not" in refusal(packed, tmp_path)


def test_members_that_lie_over_each_other_are_refused(tmp_path: Path) -> None:
    whole = archive_of(tmp_path / "a.zip", ("a.bin", b"x" * 4000)).read_bytes()
    start = whole.index(b"PK\x01\x02")
    entry = whole[start : whole.index(b"PK\x05\x06")]
    end = bytearray(whole[whole.index(b"PK\x05\x06") :])
    others = b"".join(entry.replace(b"a.bin", f"{letter}.bin".encode()) for letter in "bc")
    end[8:12] = (3).to_bytes(2, "little") * 2
    end[12:16] = (3 * len(entry)).to_bytes(4, "little")
    (tmp_path / "o.zip").write_bytes(whole[:start] + entry + others + bytes(end))
    assert "lie over each other" in refusal(tmp_path / "o.zip", tmp_path)


def test_an_encrypted_member_is_refused(tmp_path: Path) -> None:
    content = bytearray(archive_of(tmp_path / "a.zip", ("a.txt", b"x")).read_bytes())
    content[6] |= 1
    content[content.index(b"PK\x01\x02") + 8] |= 1
    (tmp_path / "e.zip").write_bytes(content)
    assert "is encrypted" in refusal(tmp_path / "e.zip", tmp_path)


def test_a_byte_that_was_changed_on_the_way_is_found(tmp_path: Path) -> None:
    content = bytearray(archive_of(tmp_path / "a.zip", ("a.txt", b"one two three")).read_bytes())
    content[content.index(b"two")] ^= 1
    (tmp_path / "a.zip").write_bytes(content)
    with pytest.raises(UserError, match=r"a\.txt.*does not have the bytes that were written"):
        unpack(tmp_path / "a.zip", tmp_path / "out")


def test_what_is_no_archive_is_told_so(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(b"no archive")
    assert "is no archive" in refusal(tmp_path / "a.zip", tmp_path)
    whole = archive_of(tmp_path / "b.zip", ("a.txt", b"x" * 999)).read_bytes()
    (tmp_path / "b.zip").write_bytes(whole[:500])
    assert "is no archive" in refusal(tmp_path / "b.zip", tmp_path)
    assert "is not there" in refusal(tmp_path / "none.zip", tmp_path)


def test_the_same_files_give_the_same_archive_and_come_back(tmp_path: Path) -> None:
    write_files(tmp_path / "in", {"b/c.txt": b"two\n", "a.png": b"\x89PNG"})
    for name in ("one.zip", "two.zip"):
        write_archive(tmp_path / name, tmp_path / "in", ["b/c.txt", "a.png"])
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()
    assert unpack(tmp_path / "one.zip", tmp_path / "out") == ("a.png", "b/c.txt")
    assert (tmp_path / "out/b/c.txt").read_bytes() == b"two\n"
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(UserError, match="cannot be written"):
        write_archive(tmp_path / "file" / "x.zip", tmp_path / "in", ["a.png"])


def test_checksums_are_as_sha256sum_writes_them(tmp_path: Path) -> None:
    write_files(tmp_path, {"a.txt": b"x\n"})
    lines = checksum_lines({"a.txt": file_hash(tmp_path / "a.txt")}).decode()
    assert lines == "73cb3858a687a8494ca3323053016282f3dad39d42cf62ca4e79dda2aac7d9ac  a.txt\n"
    assert read_checksums(lines, "c") == {"a.txt": lines[:64]}
    with pytest.raises(UserError, match=r"c:1 .*is no line of a hash"):
        read_checksums("x", "c")
    with pytest.raises(UserError, match=r"c:2 .*names a file twice"):
        read_checksums(lines + lines, "c")
