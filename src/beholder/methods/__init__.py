"""The rating methods: one folder each, registered in the entry point group `beholder.methods`.

contract       the interface of a method, and the trial that all parts share
scores         methods whose answer is a number for every rated slot
choices        methods whose answer is one of two slots
orders         pages whose stimuli are put in order
boards         pages with one stimulus, or with many of one content
aspects        fixed questions about one stimulus, each after a play of its own
pairs          which stimuli are compared
transcripts    what is said in each content, word by word
presentation   stimuli in turn or side by side; problems that many methods share
views          pairs of images or videos side by side, in one place, or with a line between them
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, cast

from beholder.study.entry_points import Group

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from beholder.methods.contract import Method
    from beholder.study.model import Study

_METHODS = Group("beholder.methods", "method", "beholder.methods.contract.Method")


def names() -> tuple[str, ...]:
    """Return the names of all registered methods, without importing them."""
    return _METHODS.names()


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
    from beholder.study.checks import installed_checks
    from beholder.study.loading import build_study
    from beholder.study.yaml import read_document

    document, checks = read_document(path), installed_checks()
    name = document.text("method")
    if not name:
        return build_study(document, None, checks, methods=names())
    try:
        method = find(name, document.where(("method",)))
    except StudyError as error:
        return build_study(document, None, checks, error.problems)
    return build_study(document, method, checks)


def _entry(name: str, where: str) -> EntryPoint:
    """Return the one entry point of this name."""
    return _METHODS.entry(name, where)


def _load(entry: EntryPoint, where: str) -> Method:
    """Return the method of an entry point after a first check of the contract."""
    from beholder.methods.contract import Method

    required = [*Method.__annotations__, *(name for name in vars(Method) if not name.startswith("_"))]
    return cast("Method", _METHODS.load(entry, where, required))
