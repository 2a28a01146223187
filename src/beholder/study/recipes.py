"""Recipes of anchors: names such as `lowpass-3500` and `bitrate-200k` that say how a reference is made worse."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from beholder.types import Medium


@dataclass(frozen=True)
class RecipeKind:
    """One way to make a reference worse: its medium, its range, and how it is written."""

    name: str
    medium: Medium
    pattern: str
    """Regular expression of the part after the hyphen: a number, its unit in the second group."""
    lowest: float
    highest: float
    allowed: str
    examples: tuple[str, ...]
    more_is_worse: bool = False


@dataclass(frozen=True)
class Recipe:
    """How one anchor is made."""

    kind: str
    medium: Medium
    value: float
    """Hz, bits a second, lines, frames a second, or pixels at 1080 lines."""
    more_is_worse: bool = False

    @property
    def badness(self) -> float:
        """Greater is worse, among recipes of one kind."""
        return self.value if self.more_is_worse else -self.value


_WHOLE, _DECIMAL = r"([1-9][0-9]*)()", r"([0-9]+(?:\.[0-9]+)?)()"
_UNITS: Mapping[str, int] = {"": 1, "k": 1000, "M": 1_000_000}

KINDS: Mapping[str, RecipeKind] = {
    kind.name: kind
    for kind in (
        RecipeKind(
            "lowpass", "audio", r"([1-9][0-9]{1,5})()", 20, 999_999,
            "a frequency in Hz from 20 on, as {}3500", ("lowpass-3500", "lowpass-7000"),
        ),
        RecipeKind(
            "bitrate", "video", r"([0-9]+(?:\.[0-9]+)?)([kM])", 10_000, 100_000_000,
            "bits a second from 10k to 100M, as {}200k", ("bitrate-200k",),
        ),
        RecipeKind("resolution", "video", _WHOLE, 16, 4320, "16 to 4320 lines, as {}180", ("resolution-180",)),
        RecipeKind("fps", "video", _DECIMAL, 0.5, 240, "0.5 to 240 frames a second, as {}7.5", ("fps-7.5",)),
        RecipeKind(
            "blur", "video", _DECIMAL, 0.1, 100, "0.1 to 100 pixels at 1080 lines, as {}4", ("blur-4",),
            more_is_worse=True,
        ),
    )
}  # fmt: skip
"""By the word before the hyphen."""


def read_recipe(name: str) -> Recipe | None:
    """Return the recipe of a name; None where it is no recipe."""
    word, _, rest = name.partition("-")
    kind = KINDS.get(word)
    match = re.fullmatch(kind.pattern, rest, re.ASCII) if kind else None
    if kind is None or match is None:
        return None
    value = float(match[1]) * _UNITS[match[2]]
    return Recipe(kind.name, kind.medium, value, kind.more_is_worse) if kind.lowest <= value <= kind.highest else None


def intended_kind(name: str) -> RecipeKind | None:
    """Return the kind that a name begins with, even where the rest is wrong; None for other names."""
    if name.startswith("lowpass"):
        return KINDS["lowpass"]
    return KINDS.get(name.partition("-")[0]) if "-" in name else None


def example_recipes(medium: Medium) -> tuple[str, ...]:
    """Return example recipes for a medium; none for media without recipes."""
    return tuple(example for kind in KINDS.values() if kind.medium == medium for example in kind.examples)
