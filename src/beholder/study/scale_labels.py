"""The words on the named scales, which are instruments: in each language, with where they come from.

A plan and a table have the English ones, whatever participants read: a study in several languages has one scale.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any

from beholder.words import PACKAGE, word_file


@cache
def _file(language: str) -> Mapping[str, Any]:
    path = word_file(PACKAGE / "study" / "labels" / f"{language}.json")
    found: Mapping[str, Any] = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    return found


def label_set(name: str) -> tuple[str, ...]:
    """Return the English labels of a set such as `quality`, from the lowest to the highest."""
    return tuple(_file("en")[name]["labels"])


@cache
def our_labels() -> frozenset[str]:
    """Return every English label of ours, which is shown in the language of whoever reads it."""
    return frozenset(label for name, kept in _file("en").items() if name != "sided" for label in kept["labels"])


def label_source(name: str, language: str) -> str:
    """Return where the labels of a set come from in a language; those that it lacks are in English."""
    return str((_file(language).get(name) or _file("en")[name])["source"])


def label_set_of(labels: Sequence[str]) -> str | None:
    """Return the name of the set with these English labels; None for labels of somebody else."""
    return next((name for name, kept in _file("en").items() if kept["labels"] == [*labels]), None)


def shown_set(name: str, language: str) -> tuple[str, ...]:
    """Return the labels of a set as people read them in a language."""
    return tuple((_file(language).get(name) or _file("en")[name])["labels"])


def with_side(label: str, side: str) -> str:
    """Return a label of a comparison with the side that is better: `Slightly worse` becomes `A slightly better`."""
    forms: Mapping[str, str] = _file("en")["sided"]["labels"]
    form = forms.get(label.lower().replace("worse", "better").capitalize())
    return form.format(side=side) if form else label


@cache
def labels_in(language: str) -> Mapping[str, str]:
    """Return our labels in a language by the English ones; none in English, and of sets that a language lacks."""
    english, own = _file("en"), _file(language)
    said: dict[str, str] = {}
    if language == "en":
        return MappingProxyType(said)
    for name in english.keys() & own.keys() - {"sided"}:
        said |= dict(zip(english[name]["labels"], own[name]["labels"], strict=True))
    sides = [*label_set("sides"), "A", "B"]
    for better, form in own.get("sided", {}).get("labels", {}).items():
        for side in sides:
            said[with_side(better, side)] = form.format(side=said.get(side, side))
    return MappingProxyType(said)
