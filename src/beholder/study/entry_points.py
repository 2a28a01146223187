"""Entry points: what installed packages register under a group, ours and those of other authors alike.

A kind of thing that others may add, such as a rating method, is a `Group`. It finds names without importing anything,
and turns whatever is wrong with a package into a `StudyError` that names the package.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint, EntryPoints

    from beholder.errors import StudyError


class Group(NamedTuple):
    """A group of entry points, and what one thing in it is called in messages."""

    group: str
    """As in `[project.entry-points."beholder.methods"]`."""
    noun: str
    contract: str
    """The dotted name of the class that says what is required."""
    of_classes: bool = False
    """Whether classes are registered; otherwise instances are."""

    def names(self) -> tuple[str, ...]:
        """Return all registered names, without importing anything."""
        return tuple(sorted(self._registered().names))

    def entries(self, name: str) -> list[EntryPoint]:
        """Return the entry points of a name: more than one where packages do not agree."""
        # An installation that was repeated may name the same thing twice.
        return list({entry.value: entry for entry in self._registered() if entry.name == name}.values())

    def entry(self, name: str, where: str) -> EntryPoint:
        """Return the one entry point of a name; raises `StudyError` where there is none, or more than one."""
        from beholder.errors import Problem, StudyError, did_you_mean
        from beholder.formats import listed

        available = self.names()
        entries = self.entries(name)
        if len(entries) == 1:
            return entries[0]
        if entries:
            values = sorted(entry.value for entry in entries)
            what = f"{self.noun} {name} is brought by two packages: {listed(values, 'and')}"
            raise StudyError(Problem(where, what, "one package for each name", "Uninstall one of them."))
        what = f"{self.noun} is {' '.join(name.split()) or 'empty'}, which is not {self._article} {self.noun}"
        raise StudyError(Problem(where, what, listed(available), did_you_mean(name, available)))

    def load(self, entry: EntryPoint, where: str, required: Sequence[str]) -> Any:
        """Return what an entry point names, after a first look at the contract: all `required` attributes are there."""
        from beholder.formats import listed

        def refused(what: str, allowed: str, fix: str = "") -> StudyError:
            # Here, not before: which package an entry point is of stands in a file that is slow to read.
            return _refusal(where, f"{self.subject(entry)} {what}", allowed, fix)

        try:
            loaded = entry.load()
        # A third-party module may fail in any way while it is imported.
        except Exception as error:
            what = f"cannot be imported: {type(error).__name__}: {error}"
            raise refused(what, "", "Repair, update or uninstall that package.") from error
        if isinstance(loaded, type) is not self.of_classes:
            is_what, allowed = ("an instance", "its class") if self.of_classes else ("a class", "an instance of it")
            raise refused(f"is {is_what}", allowed)
        missing = [name for name in required if not hasattr(loaded, name)]
        if missing:
            raise refused(f"lacks {listed(missing, 'and')}", f"what {self.contract} names", "Update that package.")
        if loaded.name != entry.name:
            raise refused(f"calls itself {loaded.name}", "one name", "Register it under its own name.")
        return loaded

    def subject(self, entry: EntryPoint) -> str:
        """Return what a message calls one thing of the group, with its package: the beginning of a sentence."""
        package = f" of the package {entry.dist.name}" if entry.dist else ""
        return f"{self.noun} {entry.name}, entry point {entry.value}{package},"

    @property
    def _article(self) -> str:
        return "an" if self.noun[0] in "aeiou" else "a"

    def _registered(self) -> EntryPoints:
        """Return the entry points of the group, as they are installed now."""
        return _read_entry_points(installation(), self.group)


Installation = tuple[tuple[str, int], ...]
"""The folders of packages, and when each has changed."""


def installation() -> Installation:
    """Return what is installed now, as something to compare and to cache by."""
    return tuple(entry for name in sys.path if (entry := _changed(name)) is not None)


def _changed(folder: str) -> tuple[str, int] | None:
    """Return a folder and when it has changed; None where it is none. Without `Path`: this is asked all the time."""
    folder = folder or os.curdir
    try:
        status = os.stat(folder)  # noqa: PTH116
    except (OSError, ValueError):
        return None
    return (folder, status.st_mtime_ns) if stat.S_ISDIR(status.st_mode) else None


@lru_cache(maxsize=8)
def _read_entry_points(_installed: Installation, group: str) -> EntryPoints:
    """Read the entry points again only when a folder of packages has changed: that opens a file of every package."""
    from importlib.metadata import entry_points

    return entry_points(group=group)


def _refusal(where: str, what: str, allowed: str, fix: str) -> StudyError:
    from beholder.errors import Problem, StudyError

    return StudyError(Problem(where, what, allowed, fix))
