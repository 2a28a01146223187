"""The study's own block list: ids on a platform that nobody comes in with."""

from __future__ import annotations

import logging

from beholder.study.model import Study

_log = logging.getLogger("beholder.serve")


class BlockList:
    """Reads the list anew each time, so that a line added counts at once."""

    def __init__(self, study: Study) -> None:
        self._name = study.recruit.block
        self._path = study.folder / self._name if self._name else None
        self._ids: frozenset[str] = frozenset()
        self._read()

    def has(self, id: str) -> bool:
        """Return whether somebody's id is in the list."""
        self._read()
        return id in self._ids

    def _read(self) -> None:
        """Take in the list; while it cannot be read, what it said last stands."""
        if self._path is None:
            return
        try:
            lines = self._path.read_text("utf-8-sig").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            _log.warning("recruit.block: %s cannot be read, so it stays as it was: %s", self._name, error)
        else:
            self._ids = frozenset(line.strip() for line in lines)
