"""Archives: written with the same bytes each time, and read as if somebody meant harm.

What is refused before anything is unpacked: names that lead out of the folder, or that a system reads as something
else; links and devices; the same name twice; encrypted members; archives that are far larger than they look.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath

from beholder.errors import Problem, UserError
from beholder.files import write_atomically
from beholder.formats import megabytes

_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The first time that an archive can hold; of no file does it say when it was written."""
_MODE = (stat.S_IFREG | 0o644) << 16
_UNIX = 3
_BLOCK = 1 << 20
MOST_FILES = 200_000
MOST_RATIO = 400
"""How much smaller than its content a large member may be: text like ours comes to 30."""
_LARGE = 50_000_000
"""Bytes from which on the ratio is looked at: the lists of a plan repeat themselves."""
_LONGEST_NAME = 500
_RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)", re.IGNORECASE)
"""Names that are devices on Windows."""
_UNSAFE = re.compile(r'[\x00-\x1f\x7f\\:*?"<>|]')
_PACKED = (
    ".png",
    ".jpg",
    ".jpeg",
    ".webp",
    ".avif",
    ".mp4",
    ".webm",
    ".mov",
    ".mkv",
    ".mp3",
    ".m4a",
    ".ogg",
    ".opus",
    ".flac",
    ".parquet",
)
"""Endings of what is compressed already."""


# Writing


def write_archive(path: Path, folder: Path, names: Iterable[str]) -> None:
    """Write files of a folder to an archive, in the order of their names: the same files give the same bytes."""
    part = path.with_name(f".{path.name}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(part, "w", allowZip64=True) as archive:
            for name in sorted(names):
                _write_member(archive, name, folder / name)
        part.replace(path)
    except OSError as error:
        what = f"cannot be written: {error.strerror or error}"
        raise UserError(Problem(str(path), what, "a file in a folder in which you may write")) from None
    finally:
        with suppress(OSError):
            part.unlink()


def _write_member(archive: zipfile.ZipFile, name: str, file: Path) -> None:
    member = zipfile.ZipInfo(name, _EPOCH)
    member.create_system, member.external_attr = _UNIX, _MODE
    member.compress_type = zipfile.ZIP_STORED if name.lower().endswith(_PACKED) else zipfile.ZIP_DEFLATED
    member.file_size = file.stat().st_size
    with file.open("rb") as source, archive.open(member, "w") as target:
        while block := source.read(_BLOCK):
            target.write(block)


def file_hash(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def checksum_lines(hashes: Mapping[str, str]) -> bytes:
    """Return hashes as `sha256sum --check` reads them."""
    return "".join(f"{hashes[name]}  {name}\n" for name in sorted(hashes)).encode()


def read_checksums(text: str, where: str) -> dict[str, str]:
    """Return the hash of each file, or raise UserError where a line is none."""
    hashes: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        match = re.fullmatch(r"([0-9a-f]{64})  (.+)", line)
        if match is None or match[2] in hashes:
            what = "names a file twice" if match else "is no line of a hash, two spaces and a file"
            raise UserError(Problem(f"{where}:{number}", what, "lines as `sha256sum` writes them"))
        hashes[match[2]] = match[1]
    return hashes


# Reading


def unpack(path: Path, folder: Path) -> tuple[str, ...]:
    """Unpack an archive into an empty folder and return the names of its files; UserError tells why it is refused."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            if problems := list(_faults(members, path)):
                raise UserError(problems)
            _refuse_large(sum(one.file_size for one in members), folder, path.name)
            files = [one for one in members if not one.is_dir()]
            for member in files:
                _extract(archive, member, folder / member.filename, path.name)
            return tuple(sorted(one.filename for one in files))
    except FileNotFoundError:
        raise UserError(Problem(str(path), "is not there", "a file that `beholder bundle` wrote")) from None
    except (zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError, UnicodeDecodeError) as error:
        what = "cannot be unpacked" if zipfile.is_zipfile(path) else "is no archive"
        fix = "It may have been cut off on its way: get it again."
        raise UserError(Problem(path.name, f"{what} ({error})", "a file that `beholder bundle` wrote", fix)) from None
    except OSError as error:
        raise UserError(Problem(str(path), f"cannot be read: {error.strerror}", "a file that you may read")) from None


_MOST_FAULTS = 10


def _refuse_large(total: int, folder: Path, where: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(folder).free
    if total > free:
        what = f"holds {megabytes(total)}, and the disk has room for {megabytes(free)}"
        raise UserError(Problem(where, what, "", "Make room, or name a folder on another disk with --out."))


def _faults(members: list[zipfile.ZipInfo], path: Path) -> Iterator[Problem]:
    """Yield why an archive is refused, from its list of members alone."""
    where = path.name
    if len(members) > MOST_FILES:
        yield Problem(where, f"holds {len(members):,} files", f"at most {MOST_FILES:,}")
        return
    total, packed = sum(one.file_size for one in members), path.stat().st_size
    if sum(one.compress_size for one in members) > packed:
        yield Problem(
            where, "has members that lie over each other", "what `beholder bundle` writes", "Do not trust it."
        )
    if total > _LARGE and total > MOST_RATIO * packed:
        what = f"would become {megabytes(total)} out of {megabytes(packed)}"
        yield Problem(where, what, "what `beholder bundle` writes", "Do not trust it.")
    seen: set[str] = set()
    told = 0
    for one in members:
        fault = _member_fault(one) or ("is in it twice" if one.filename.casefold() in seen else "")
        seen.add(one.filename.casefold())
        if fault and told < _MOST_FAULTS:
            told += 1
            yield Problem(
                f"{where}: {_shown(one.filename)}", fault, "what `beholder bundle` writes", "Do not trust it."
            )


def _member_fault(member: zipfile.ZipInfo) -> str:
    name = member.filename.removesuffix("/") if member.is_dir() else member.filename
    kind = stat.S_IFMT(member.external_attr >> 16)
    parts = PurePosixPath(name).parts
    if member.flag_bits & 0x1:
        return "is encrypted"
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        return "is a link" if kind == stat.S_IFLNK else "is no plain file"
    if name.startswith("/") or ".." in parts or "." in name.split("/") or "" in name.split("/"):
        return "leads out of the archive"
    if _UNSAFE.search(name) or len(name) > _LONGEST_NAME or any(map(_RESERVED.match, parts)):
        return "has a name that not every system reads in the same way"
    if any(part.endswith((".", " ")) for part in parts):
        return "has a name that not every system reads in the same way"
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return "is compressed in a way that bundles are not"
    if member.file_size > _LARGE and member.file_size > MOST_RATIO * max(1, member.compress_size):
        return f"would become {megabytes(member.file_size)} out of {megabytes(member.compress_size)}"
    return ""


def _shown(name: str) -> str:
    return name if len(name) <= 80 else f"{name[:79]}…"


def _extract(archive: zipfile.ZipFile, member: zipfile.ZipInfo, file: Path, where: str) -> None:
    """Write a member, and not one byte more than the archive said."""
    file.parent.mkdir(parents=True, exist_ok=True)
    place, left = f"{where}: {_shown(member.filename)}", member.file_size
    try:
        with archive.open(member) as source, file.open("xb") as target:
            while block := source.read(_BLOCK):
                left -= len(block)
                if left < 0:
                    raise UserError(Problem(place, "is larger than it says", "", "Do not trust it."))
                target.write(block)
    except (zipfile.BadZipFile, zlib.error, EOFError):
        fix = "It was changed or cut off after it was made: get it again."
        raise UserError(Problem(place, "does not have the bytes that were written", "", fix)) from None


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files into a folder by their names."""
    for name, content in files.items():
        write_atomically(folder / name, content)
