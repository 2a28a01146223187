"""Patterns that a researcher writes: regular expressions with a limit on their length and on their time.

A study file may come from a stranger, and a few signs such as `(a+)+b` keep the matcher of Python busy for years. The
package `regex` reads the same language and stops at a time limit.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import regex

LONGEST_PATTERN = 500
_SECONDS = 0.5
"""A name of a file is matched in microseconds; only a pattern without an end comes near this."""


class PatternError(Exception):
    """A text that is no pattern."""


class PatternTimeout(Exception):
    """A pattern that did not come to an end in time."""


class Pattern:
    """A regular expression that names its groups; raises `PatternError` where a text is none."""

    def __init__(self, text: str) -> None:
        self._compiled: Any = _compiled(text)

    @property
    def groups(self) -> tuple[str, ...]:
        """The names of the groups."""
        return tuple(self._compiled.groupindex)

    def match(self, name: str) -> Mapping[str, str] | None:
        """Return the groups of a whole name, None where it does not match; raises `PatternTimeout`."""
        try:
            found = self._compiled.fullmatch(name, timeout=_SECONDS)
        except TimeoutError:
            raise PatternTimeout from None
        return None if found is None else {group: text or "" for group, text in found.groupdict().items()}


@lru_cache(maxsize=64)
def _compiled(text: str) -> Any:
    if len(text) > LONGEST_PATTERN:
        raise PatternError(f"it has {len(text)} characters, at most {LONGEST_PATTERN} are read")
    try:
        return regex.compile(text, cache_pattern=False)
    except (regex.error, ValueError, OverflowError, RecursionError, MemoryError) as error:
        raise PatternError(str(error)) from None
