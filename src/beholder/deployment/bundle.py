"""What is sent to a machine: the study with its media, a wheel of Beholder, and the lock of everything it needs."""

from __future__ import annotations

import base64
import hashlib
import json
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import Distribution, distribution
from pathlib import Path
from typing import Any

import beholder
from beholder.backups.backup_settings import needs_obstore
from beholder.deployment.contract import DeployError
from beholder.errors import Problem
from beholder.study.model import Study

OUTPUTS = frozenset({
    "analyse", "board", "clean", "close", "compare", "container", "decide", "deploy", "dimensions", "export", "launch",
    "metrics", "monitor", "pay", "power", "preregistration", "rehearsal", "report", "storyboard", "store",
})  # fmt: skip
"""Folders of a study that verbs write and no server reads. The plan and the media go along."""
_BLOCK = 1 << 20
_LOCKS = ("run.txt", "caddy.txt", "uv.txt", "buckets.txt")


# Study


@dataclass(frozen=True)
class SentFile:
    """A file of the study, as it is known on both sides."""

    path: str
    """Below the folder of the study, with / between."""
    size: int
    sha256: str
    mtime_ns: int


@dataclass(frozen=True)
class StudyBundle:
    """The files of a study that a server needs."""

    folder: Path
    files: tuple[SentFile, ...]

    @property
    def version(self) -> str:
        """The hash of all files, with their names."""
        text = json.dumps([[one.path, one.sha256, one.mtime_ns] for one in self.files])
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(one.size for one in self.files)

    def missing(self, held: Collection[str]) -> list[SentFile]:
        """Return the files whose bytes are not there, each content once."""
        by_hash = {one.sha256: one for one in self.files if one.sha256 not in set(held)}
        return list(by_hash.values())

    def tar(self, files: Iterable[SentFile]) -> Iterator[bytes]:
        """Yield a tar of files that are named by their hashes."""
        for one in files:
            yield from _tar_entry(one.sha256, self.folder / one.path, one.size)
        yield _TAR_END


def bundle_of(study: Study, besides: Path | None = None) -> StudyBundle:
    """Return the files of a study: everything in its folder but hidden files and what verbs have written.

    `besides` is a folder that is left out too.
    """
    folder = study.folder.absolute()
    found = []
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        if parts[0] in OUTPUTS or any(part.startswith(".") for part in parts) or not path.is_file():
            continue
        if besides is not None and path.is_relative_to(besides.absolute()):
            continue
        status = path.stat()
        with path.open("rb") as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        found.append(SentFile("/".join(parts), status.st_size, sha256, status.st_mtime_ns))
    return StudyBundle(folder, tuple(found))


_TAR_END = b"\0" * 1024


def _tar_entry(name: str, path: Path, size: int) -> Iterator[bytes]:
    """Yield one file of a tar; where it has changed its size since it was measured, raise DeployError."""
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = size, 0o600
    yield entry.tobuf(tarfile.PAX_FORMAT)
    left = size
    with path.open("rb") as file:
        while left and (block := file.read(min(_BLOCK, left))):
            left -= len(block)
            yield block
    if left:
        raise DeployError(Problem(str(path), "has changed while it was sent", "", "Run it again."))
    yield b"\0" * (-size % tarfile.BLOCKSIZE)


# Environment


@dataclass(frozen=True)
class EnvironmentBundle:
    """What an environment is made of: wheels of ours, locks, and with `--offline` every other wheel."""

    files: Mapping[str, Path]
    """By the name under which each is sent."""
    wheels: tuple[str, ...]
    """Of these, the wheels that no lock has: ours, and those of packages from which methods and checks come."""
    version: str
    is_offline: bool = False

    def tar(self) -> Iterator[bytes]:
        """Yield a tar of all files."""
        for name, path in sorted(self.files.items()):
            yield from _tar_entry(name, path, path.stat().st_size)
        yield _TAR_END


def environment_bundle(
    folder: Path,
    study: Study,
    facts: Mapping[str, Any],
    *,
    has_caddy: bool,
    is_offline: bool,
    held: Collection[str] = (),
) -> EnvironmentBundle:
    """Return what an environment for a study on a machine is made of, written to a folder of temporary files.

    `held` are the versions that the machine has: for one of them nothing is fetched.
    """
    packages = [distribution("beholder"), *packages_of(study)]
    files: dict[str, Path] = {}
    for package in packages:
        wheel = make_wheel(package, folder)
        files[wheel.name] = wheel
    wheels = tuple(files)
    locks = ["run.txt", *(["caddy.txt"] if has_caddy else []), *(["buckets.txt"] if needs_obstore(study) else [])]
    files |= {name: lock_file(name) for name in locks}
    digest = hashlib.sha256(str(facts["version"]).encode())
    for _, path in sorted(files.items()):
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    version = digest.hexdigest()[:16]
    if version not in held:
        if not facts["tools"]["uv"]:
            files |= download_wheels(folder, ["uv.txt"], facts)
        if is_offline:
            files |= download_wheels(folder, locks, facts)
    return EnvironmentBundle(files, wheels, version, is_offline)


def brings_caddy(facts: Mapping[str, Any]) -> bool:
    """Return whether the package index has a Caddy for a machine; else it has to have one itself."""
    return facts["machine"] in ("x86_64", "aarch64")


def lock_file(name: str) -> Path:
    """Return a lock with the hash of every package; in the package, or in the checkout from which it is run."""
    assert name in _LOCKS
    package = Path(beholder.__file__).parent
    places = (package / "deployment" / "locks" / name, package.parents[1] / "requirements" / name)
    found = next((path for path in places if path.is_file()), None)
    if found is None:
        raise DeployError(Problem(str(places[0]), "is missing", "", "Install Beholder again."))
    return found


def packages_of(study: Study) -> list[Distribution]:
    """Return the other packages from which the method and the checks of a study come."""
    from importlib.metadata import entry_points

    names = {study.method, *(rule.name for rule, _ in study.checks.rules())}
    found = {
        point.dist.name: point.dist
        for group in ("beholder.methods", "beholder.checks")
        for point in entry_points(group=group)
        if point.name in names and point.dist is not None and point.dist.name != "beholder"
    }
    return [found[name] for name in sorted(found)]


def make_wheel(package: Distribution, folder: Path) -> Path:
    """Write the wheel of an installed package, also of one that is installed from a checkout; return its path.

    A wheel is an archive of the files of a package and of what is known about it, so nothing has to be built.
    """
    name, version = package.name.replace("-", "_"), package.version
    info = f"{name}-{version}.dist-info"
    tags = [line[5:] for line in (package.read_text("WHEEL") or "").splitlines() if line.startswith("Tag: ")]
    tag = tags[0] if tags else "py3-none-any"
    content = {path: file.read_bytes() for path, file in _package_files(package)}
    for file in ("METADATA", "entry_points.txt"):
        if text := package.read_text(file):
            content[f"{info}/{file}"] = text.encode()
    lines = [
        "Wheel-Version: 1.0",
        "Generator: beholder",
        "Root-Is-Purelib: true",
        *(f"Tag: {one}" for one in tags or [tag]),
    ]
    content[f"{info}/WHEEL"] = "".join(f"{line}\n" for line in lines).encode()
    if package.name == "beholder":
        content |= {f"beholder/deployment/locks/{lock}": lock_file(lock).read_bytes() for lock in _LOCKS}
    content[f"{info}/RECORD"] = _record(content, f"{info}/RECORD")
    path = folder / f"{name}-{version}-{tag}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as wheel:
        for inner in sorted(content):
            entry = zipfile.ZipInfo(inner, (1980, 1, 1, 0, 0, 0))  # the same bytes each time
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, content[inner], compresslevel=1)
    return path


def _package_files(package: Distribution) -> Iterator[tuple[str, Path]]:
    """Yield the files of a package by their places in a wheel; of a checkout, those beside its modules."""
    if package.name == "beholder":
        top = Path(beholder.__file__).parent
        paths = {f"beholder/{path.relative_to(top).as_posix()}": path for path in top.rglob("*")}
    else:
        paths = {file.as_posix(): Path(str(file.locate())) for file in package.files or () if ".." not in file.parts}
        if any(name.endswith(".pth") for name in paths):
            raise DeployError(
                Problem(
                    package.name, "is installed from a checkout, and cannot be sent as it is", "an installed package",
                    f"`pip install` it without -e: the study needs {package.name} there.",
                )
            )  # fmt: skip
    for name, path in paths.items():
        if path.is_file() and "__pycache__" not in path.parts and ".dist-info/" not in name:
            yield name, path


def _record(content: Mapping[str, bytes], own: str) -> bytes:
    lines = []
    for name in sorted(content):
        digest = base64.urlsafe_b64encode(hashlib.sha256(content[name]).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(content[name])}\n")
    return "".join([*lines, f"{own},,\n"]).encode()


def download_wheels(folder: Path, locks: Iterable[str], facts: Mapping[str, Any]) -> dict[str, Path]:
    """Return the wheels of locks for the system and Python of a machine, fetched here, with the hashes of the locks."""
    wheels = Path(tempfile.mkdtemp(dir=folder))
    machine, python = str(facts["machine"]), ".".join(str(facts["version"]).split(".")[:2])
    systems = [f"manylinux_2_{minor}_{machine}" for minor in range(35, 16, -1)]
    systems += [f"manylinux2014_{machine}", f"musllinux_1_1_{machine}" if "musl" in str(facts["libc"]) else "any"]
    for lock in locks:
        command = [
            sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
            "--only-binary", ":all:", "--require-hashes", "--python-version", python, "--dest", str(wheels),
            *(f"--platform={system}" for system in systems), "-r", str(lock_file(lock)),
        ]  # fmt: skip
        ran = subprocess.run(command, capture_output=True, text=True)
        if ran.returncode:
            last = (ran.stderr.strip().splitlines() or ["it says nothing"])[-1]
            what = f"of {lock} cannot be fetched here: {last}"
            raise DeployError(Problem("wheels", what, "", "See that this machine reaches a package index."))
    return {path.name: path for path in sorted(wheels.iterdir())}
