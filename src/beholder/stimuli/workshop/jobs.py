"""Jobs of the workshop: run in parallel, recorded in a ledger, and never over files that it did not make."""

from __future__ import annotations

import hashlib
import json
import os
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from beholder.errors import Problem, StimuliError
from beholder.stimuli.media_formats import known_suffixes, medium_of
from beholder.types import Medium

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class WorkshopJob:
    """One file to make: its path, its recipe, and the function that makes it with a number of threads."""

    target: Path
    recipe: str
    make: Callable[[int], None]


@dataclass(frozen=True)
class WorkshopResult:
    """The files that were written, those kept because their recipe is the same, and notes."""

    written: tuple[Path, ...]
    kept: tuple[Path, ...]
    notes: tuple[str, ...] = ()


def run_jobs(
    jobs: Sequence[WorkshopJob], folder: Path, notes: Iterable[str], progress: Progress | None
) -> WorkshopResult:
    """Run jobs that write into `folder` and return the result. A job that fails does not stop the others."""
    ledger = RecipeLedger(folder)
    states = {job.target: ledger.state(job.target, job.recipe) for job in jobs}
    foreign = [job.target for job in jobs if states[job.target] == "foreign"]
    if foreign:
        fix = "Choose another --out, or move it away."
        raise StimuliError(
            Problem(str(target), "is there, and is not what this command made", "", fix) for target in foreign
        )
    waiting = [job for job in jobs if states[job.target] == "to make"]
    try:
        for parent in {job.target.parent for job in waiting}:
            parent.mkdir(parents=True, exist_ok=True)
        if waiting:
            ledger.begin(job.target for job in waiting)
    except OSError as error:
        what = f"is {folder}, which cannot be written to: {error.strerror or error}"
        raise StimuliError(Problem("--out", what, "a folder, there or to be made")) from None
    cores = os.cpu_count() or 1
    threads = max(1, cores // max(1, len(waiting)))
    problems: list[Problem] = []
    with ThreadPoolExecutor(max_workers=cores) as pool:
        work: dict[Future[None], WorkshopJob] = {pool.submit(job.make, threads): job for job in waiting}
        try:
            for done, future in enumerate(as_completed(work), start=1):
                try:
                    future.result()
                    ledger.remember(work[future].target, work[future].recipe)
                except StimuliError as error:
                    ledger.give_up(work[future].target)
                    problems += error.problems
                if progress is not None:
                    progress(done, len(waiting))
        finally:
            pool.shutdown(cancel_futures=True)
    if problems:
        raise StimuliError(sorted(problems, key=lambda problem: (problem.where, problem.what)))
    kept = tuple(job.target for job in jobs if states[job.target] == "made")
    return WorkshopResult(tuple(job.target for job in waiting), kept, tuple(notes))


def raise_problems(problems: Sequence[Problem]) -> None:
    """Raise StimuliError where there are problems."""
    if problems:
        raise StimuliError(problems)


# Ledger of recipes

_LEDGER_NAME = ".beholder-made.json"


class RecipeLedger:
    """The recipes of a folder's outputs, and the hashes of what they gave."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._rows: dict[str, dict[str, str]] = _read(folder / _LEDGER_NAME)
        self._before: dict[str, dict[str, str]] = {}

    def state(self, target: Path, recipe: str) -> Literal["made", "to make", "foreign"]:
        """Return whether a file was made by this recipe, has to be made, or is not ours."""
        if not target.exists():
            return "to make"
        row = self._rows.get(self._name(target))
        if row is not None and not row["sha256"] and target.is_file():
            return "to make"  # a run was killed while it made this file
        if row is None or not target.is_file() or _file_hash(target) != row["sha256"]:
            return "foreign"
        return "made" if row["recipe"] == recipe else "to make"

    def begin(self, targets: Iterable[Path]) -> None:
        """Record files that are about to be made, so that what a killed run leaves behind is known as ours."""
        names = [self._name(target) for target in targets]
        self._before = {name: self._rows[name] for name in names if name in self._rows}
        self._rows |= {name: {"recipe": "", "sha256": ""} for name in names}
        self._write()

    def give_up(self, target: Path) -> None:
        """Restore the row of a file that could not be made."""
        name = self._name(target)
        del self._rows[name]
        if name in self._before:
            self._rows[name] = self._before[name]
        self._write()

    def remember(self, target: Path, recipe: str) -> None:
        """Record that a file was made by a recipe."""
        self._rows[self._name(target)] = {"recipe": recipe, "sha256": _file_hash(target)}
        self._write()

    def _write(self) -> None:
        text = json.dumps({"made": dict(sorted(self._rows.items()))}, indent=2, ensure_ascii=False) + "\n"
        part = self.folder / f".{uuid.uuid4().hex}.part"
        try:
            part.write_text(text, "utf-8", newline="\n")
            part.replace(self.folder / _LEDGER_NAME)
        finally:
            part.unlink(missing_ok=True)

    def _name(self, target: Path) -> str:
        return target.relative_to(self.folder).as_posix()


def recipe_of(parts: Sequence[object], sources: Sequence[Path]) -> str:
    """Return the hash of a recipe: what is done, and the bytes it is done to."""
    words = [*(str(part) for part in parts), *(_file_hash(source) for source in sources)]
    return hashlib.sha256("\n".join(words).encode()).hexdigest()


def _file_hash(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _read(path: Path) -> dict[str, dict[str, str]]:
    if not path.exists():
        return {}
    try:
        rows = json.loads(path.read_text("utf-8"))["made"]
        return {str(name): {"recipe": str(row["recipe"]), "sha256": str(row["sha256"])} for name, row in rows.items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        fix = "Delete it and what was made there, and run the command again."
        raise StimuliError(Problem(str(path), "is not what this command wrote", fix=fix)) from None


# Media files

_CONVERTIBLE = (".avi", ".mpg", ".mpeg", ".wmv", ".flv", ".y4m")
"""Suffixes of videos that no study takes, but that can be made into ones that it does."""
_LISTS = (".csv", ".tsv", ".json", ".yaml", ".yml")
"""Suffixes of what lies beside media and tells of them."""


class MediaFile(NamedTuple):
    """A file with its medium, and its path relative to the folder that was named."""

    path: Path
    medium: Medium
    place: Path


def find_media(files: Iterable[Path], problems: list[Problem], without: Path | None = None) -> list[MediaFile]:
    """Return the media among files and folders, each once; folders without media are problems."""
    media_files: dict[Path, MediaFile] = {}
    for path in files:
        if path.is_dir():
            inside = [one for one in _walk(path, without) if one.path.is_file()]
            if not inside:
                allowed = "a folder with videos, sounds, pictures or texts"
                problems.append(Problem(str(path), "has no media in it", allowed))
        elif not path.is_file():
            problems.append(Problem(str(path), "does not exist", fix="Look for a slip in the name."))
            continue
        elif (medium := _medium(path)) is None:
            what = f"is an unknown kind of file: {path.suffix or 'no suffix'}"
            problems.append(Problem(str(path), what, ", ".join(known_suffixes())))
            continue
        else:
            inside = [MediaFile(path, medium, Path(path.name))]
        for one in inside:
            media_files.setdefault(_normal_path(one.path), one)
    return list(media_files.values())


def left_out(files: Iterable[Path], without: Path | None = None) -> list[str]:
    """Return a note for each file of an unknown kind in the folders among files."""
    passed = None if without is None else _normal_path(without)
    notes = []
    for folder in (path for path in files if path.is_dir()):
        for top, below, names in os.walk(folder):
            below[:] = sorted(one for one in below if one[0] != "." and _normal_path(Path(top) / one) != passed)
            paths = [Path(top) / name for name in sorted(names) if name[0] != "."]
            unknown = [path for path in paths if _medium(path) is None and path.suffix.lower() not in _LISTS]
            notes += [f"{path}: left out, {path.suffix or 'no suffix'} is an unknown kind of file" for path in unknown]
    return notes


def needs_conversion(path: Path) -> bool:
    """Return whether a video is of a kind that has to be made into another."""
    return path.suffix.lower() in _CONVERTIBLE


def _medium(path: Path) -> Medium | None:
    return "video" if needs_conversion(path) else medium_of(path.name)


def _walk(folder: Path, without: Path | None) -> Iterator[MediaFile]:
    passed = None if without is None else _normal_path(without)
    for top, below, names in os.walk(folder):
        below[:] = sorted(
            name for name in below if not name.startswith(".") and _normal_path(Path(top) / name) != passed
        )
        for name in sorted(names):
            path = Path(top) / name
            medium = _medium(path)
            if medium is not None and not name.startswith("."):
                yield MediaFile(path, medium, path.relative_to(folder))


def _normal_path(path: Path) -> Path:
    """Return a normalised path; links are not resolved."""
    return Path(os.path.normpath(path.absolute()))
