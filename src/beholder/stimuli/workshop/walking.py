"""The media among files and folders that somebody names: folders are walked, hidden files are passed over."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from beholder.errors import Problem
from beholder.stimuli.media import known_suffixes, medium_of
from beholder.types import Medium

RARE = (".avi", ".mpg", ".mpeg", ".wmv", ".flv", ".y4m")
"""Suffixes of videos that no study takes, but that can be made into ones that it does."""


class Found(NamedTuple):
    """A file with its medium, and where it lies in the folder that was named."""

    path: Path
    medium: Medium
    place: Path


def find_media(files: Iterable[Path], problems: list[Problem], without: Path | None = None) -> list[Found]:
    """Return each file once, in the order of the names and then by path; what holds nothing is a problem."""
    found: dict[Path, Found] = {}
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
            inside = [Found(path, medium, Path(path.name))]
        for one in inside:
            found.setdefault(_plain(one.path), one)
    return list(found.values())


def is_rare(path: Path) -> bool:
    """Return whether a video is of a kind that has to be made into another."""
    return path.suffix.lower() in RARE


def _medium(path: Path) -> Medium | None:
    return "video" if is_rare(path) else medium_of(path.name)


def _walk(folder: Path, without: Path | None) -> Iterator[Found]:
    passed = None if without is None else _plain(without)
    for top, below, names in os.walk(folder):
        below[:] = sorted(name for name in below if not name.startswith(".") and _plain(Path(top) / name) != passed)
        for name in sorted(names):
            path = Path(top) / name
            medium = _medium(path)
            if medium is not None and not name.startswith("."):
                yield Found(path, medium, path.relative_to(folder))


def _plain(path: Path) -> Path:
    """Return a path by its words: two links to one file are two files."""
    return Path(os.path.normpath(path.absolute()))
