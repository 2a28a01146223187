"""The rating methods: one folder each, registered in the entry point group `beholder.methods`.

contract       the interface of a method, and the trial that all parts share
scores         methods whose answer is a number for every rated slot
choices        methods whose answer is one of two slots
boards         pages with one stimulus, or with many of one content
pairs          which stimuli are compared
presentation   stimuli in turn or side by side; problems that many methods share
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint, EntryPoints

    from beholder.methods.contract import Method
    from beholder.study.model import Study

_GROUP = "beholder.methods"


def names() -> tuple[str, ...]:
    """Return the names of all registered methods, without importing them."""
    return tuple(sorted(_registered().names))


def methods() -> Mapping[str, Method]:
    """Return all registered methods by name; raises `StudyError` where one cannot be imported."""
    return {name: find(name) for name in names()}


def find(name: str, where: str = "method") -> Method:
    """Return a method by its name; raises `StudyError` where there is none, or it cannot be used."""
    return _load(_entry(name, where), where)


def method_folder(name: str, where: str = "method") -> Path:
    """Return the folder of a method, which holds its view.js, example.yaml and README.md."""
    entry = _entry(name, where)
    _load(entry, where)
    file = sys.modules[entry.module].__file__
    assert file is not None, "a method that was imported has a file"
    return Path(file).parent


def load_study(path: str | Path = "study.yaml") -> Study:
    """Return the study in a file, or in `study.yaml` of a folder; raises `StudyError` with every problem at once."""
    from beholder.errors import StudyError
    from beholder.study.loading import build_study
    from beholder.study.yaml import read_document

    document = read_document(path)
    name = document.text("method")
    if not name:
        return build_study(document, None)
    try:
        method = find(name, document.where(("method",)))
    except StudyError as error:
        return build_study(document, None, error.problems)
    return build_study(document, method)


def _registered() -> EntryPoints:
    """Return the entry points of all methods, as they are installed now."""
    folders = [Path(name) for name in sys.path]
    return _read_entry_points(tuple((str(folder), folder.stat().st_mtime_ns) for folder in folders if folder.is_dir()))


@lru_cache(maxsize=1)
def _read_entry_points(_folders: tuple[tuple[str, int], ...]) -> EntryPoints:
    """Read the entry points again only when a folder of packages has changed: that opens a file of every package."""
    from importlib.metadata import entry_points

    return entry_points(group=_GROUP)


def _entry(name: str, where: str) -> EntryPoint:
    """Return the one entry point of this name."""
    from beholder.errors import Problem, StudyError, did_you_mean
    from beholder.study.presets import RESERVED_METHODS
    from beholder.study.value_kinds import listed

    registered = _registered()
    available = tuple(sorted(registered.names))
    # An installation that was repeated may name the same thing twice.
    entries = {entry.value: entry for entry in registered if entry.name == name}
    if len(entries) == 1:
        return next(iter(entries.values()))
    if entries:
        what = f"method {name} is brought by two packages: {listed(sorted(entries), 'and')}"
        raise StudyError(Problem(where, what, "one package for each name", "Uninstall one of them."))
    if name in RESERVED_METHODS:
        raise StudyError(Problem(where, f"method is {name}, which is not in this version", listed(available)))
    what = f"method is {' '.join(name.split()) or 'empty'}, which is not a method"
    raise StudyError(Problem(where, what, listed(available), did_you_mean(name, available)))


def _load(entry: EntryPoint, where: str) -> Method:
    """Return the method of an entry point after a first check of the contract."""
    from beholder.errors import Problem, StudyError
    from beholder.methods.contract import Method
    from beholder.study.value_kinds import listed

    package = f" of the package {entry.dist.name}" if entry.dist else ""
    subject = f"method {entry.name}, entry point {entry.value}{package},"
    try:
        method = entry.load()
    # A third-party module may fail in any way while it is imported.
    except Exception as error:
        what = f"{subject} cannot be imported: {type(error).__name__}: {error}"
        raise StudyError(Problem(where, what, "", "Repair, update or uninstall that package.")) from error
    if isinstance(method, type):
        raise StudyError(Problem(where, f"{subject} is a class", "an instance of it"))
    required = [*Method.__annotations__, *(name for name in vars(Method) if not name.startswith("_"))]
    missing = [name for name in required if not hasattr(method, name)]
    if missing:
        what = f"{subject} lacks {listed(missing, 'and')}"
        raise StudyError(Problem(where, what, "what beholder.methods.contract.Method names", "Update that package."))
    if method.name != entry.name:
        what = f"{subject} calls itself {method.name}"
        raise StudyError(Problem(where, what, "one name", "Register it under its own name."))
    return cast("Method", method)
