"""Errors of a text against another: words and characters that are other, missing or added, by fewest edits.

An alignment with the fewest errors is not always the only one, and they differ in how many words they call right. The
counts here are those of the alignment with the most words right among those with the fewest errors, so that they are
the same whatever the library.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

CITATION = "Levenshtein (1966), Soviet Physics Doklady 10"


class WordErrors(NamedTuple):
    """How the words of a text compare with those of another, the reference."""

    words: int
    """Of the reference."""
    right: int
    substituted: int
    missed: int
    added: int
    characters: int
    """Of the reference, without spaces."""
    character_errors: int
    """Characters that are other, missing or added."""

    @property
    def errors(self) -> int:
        """Words that are other, missing or added."""
        return self.substituted + self.missed + self.added


def word_errors(said: Sequence[str], heard: Sequence[str]) -> WordErrors:
    """Return the errors in what was heard of what was said, both as words."""
    from rapidfuzz.distance import Levenshtein  # of all commands few compare texts

    # Any error costs more than all substitutions together, and a substitution a little more than another error.
    base = len(said) + len(heard) + 1
    cost = Levenshtein.distance(said, heard, weights=(base, base, base + 1))
    errors, substituted = divmod(cost, base)
    added = (errors - substituted + len(heard) - len(said)) // 2
    missed = errors - substituted - added
    letters, typed = "".join(said), "".join(heard)
    return WordErrors(
        len(said), len(said) - substituted - missed, substituted, missed, added,
        len(letters), Levenshtein.distance(letters, typed),
    )  # fmt: skip


def confusions(said: Sequence[str], heard: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield each error of one alignment with the fewest: what was said, empty of an added word, and what was heard."""
    from rapidfuzz.distance import Levenshtein

    for edit in Levenshtein.editops(said, heard):
        yield (
            "" if edit.tag == "insert" else said[edit.src_pos],
            "" if edit.tag == "delete" else heard[edit.dest_pos],
        )
