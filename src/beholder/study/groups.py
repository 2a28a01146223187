"""Whether factors between participants split anything, and fit the rest of a study: told with everything else."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import Any

from beholder.errors import did_you_mean
from beholder.study.design import Design
from beholder.study.document import Place
from beholder.study.fault import Fault
from beholder.study.kind import listed
from beholder.study.part import SLUG, SLUG_WORDS
from beholder.study.reader import dotted, shown

MOST_GROUPS = 1000
"""More groups than this are a slip of the pen."""
_BETWEEN: Place = ("design", "between")
_KEYS = ("questions", "conditions", "instructions")
_PARTS = ("options", "playback")
_SHARED: Mapping[Place, str] = {
    ("options", "anchors"): "List all of them in options.anchors, and let the levels choose by conditions.",
    ("playback", "look_seconds"): "Change another key.",
    ("playback", "words_per_second"): "Change another key.",
}
"""Keys by which stimuli are made and measured, once for everybody, and what to do instead of changing them."""


def between_faults(data: Mapping[str, Any], questions: Sequence[str], conditions: Sequence[str]) -> Iterator[Fault]:
    """Yield what does not fit, by places from the top of the study, given its questions and the listed conditions."""
    design = _map(data.get("design"))
    between = {name: _map(levels) for name, levels in _map(design.get("between")).items()}
    for factor, levels in between.items():
        for place in ((*_BETWEEN, factor), *((*_BETWEEN, factor, name) for name in levels)):
            if not re.search(SLUG, str(place[-1])):
                yield Fault("is no name for a column", SLUG_WORDS, "Rename it.", place)
        if len(levels) < 2:
            has = f"has one level, {next(iter(levels))}," if levels else "has no levels,"
            fix = "Add a level, which may be empty, or take the factor out."
            yield Fault(f"{has} and splits nothing", "two levels or more", fix, (*_BETWEEN, factor))
        for name, level in levels.items():
            place = (*_BETWEEN, factor, name)
            yield from _named(_map(level).get("questions"), (*place, "questions"), questions, "questions")
            yield from _named(_map(level).get("conditions"), (*place, "conditions"), conditions, "conditions")
            for key in _changes(level):
                if key in _SHARED:
                    what = "cannot be a factor: stimuli are made and measured once, for all participants"
                    yield Fault(what, "", _SHARED[key], (*place, *key))
    yield from _shared(between)
    yield from _too_many(design, between)


def _named(written: Any, place: Place, known: Sequence[str], what: str) -> Iterator[Fault]:
    """Yield what is wrong with the questions or conditions of a level."""
    if not isinstance(written, list):
        return
    if not written:
        yield Fault("is empty", f"one or more of the {what}", f"Leave it out to have all {what}.", place)
    first: dict[str, int] = {}
    for index, word in enumerate(written):
        if not isinstance(word, str):
            continue
        if word in first:
            again = dotted((*place, first[word]))
            yield Fault(f"is {shown(word)}, as is {again}", "each once", "Take one out.", (*place, index))
        elif known and word not in known:
            said = f"is {shown(word)}, which is not among the {what}"
            yield Fault(said, listed(known), did_you_mean(word, known), (*place, index))
        elif not known and what == "questions":
            said = f"is {shown(word)}, and the study has no questions of its own"
            fix = "Write the questions out, or let the levels choose item sets with options.items."
            yield Fault(said, "ids under questions", fix, (*place, index))
        first.setdefault(word, index)


def _changes(level: Any) -> Iterator[Place]:
    """Yield the keys that a level changes."""
    for key in _KEYS:
        if _map(level).get(key) is not None:
            yield (key,)
    for part in _PARTS:
        for key in _map(_map(level).get(part)):
            yield (part, key)


def _shared(between: Mapping[str, Mapping[str, Any]]) -> Iterator[Fault]:
    """Yield what two factors change: no group could have both."""
    first: dict[Place, Place] = {}
    for factor, levels in between.items():
        own: dict[Place, Place] = {}
        for name, level in levels.items():
            for key in _changes(level):
                own.setdefault(key, (*_BETWEEN, factor, name, *key))
        for key, place in own.items():
            if key in first:
                what = f"is changed by {dotted(first[key])} too"
                fix = "Write one factor whose levels have both, or change something else."
                yield Fault(what, "each key in one factor", fix, place)
            first.setdefault(key, place)


def _too_many(design: Mapping[str, Any], between: Mapping[str, Mapping[str, Any]]) -> Iterator[Fault]:
    """Yield that there are more groups than participants, or than anybody means."""
    if not between:
        return
    sizes = [len(levels) for levels in between.values()]
    groups, people = prod(sizes), design.get("participants", Design().participants)
    is_counted = isinstance(people, int) and not isinstance(people, bool) and design.get("votes") is None
    times = f" ({' x '.join(map(str, sizes))})" if len(sizes) > 1 else ""
    if groups > MOST_GROUPS:
        what = f"makes {groups} groups{times}"
        yield Fault(what, f"up to {MOST_GROUPS} groups", "Take a factor or some levels out.", _BETWEEN)
    elif is_counted and 0 < people < groups:
        what = f"is {people}, below the {groups} groups of design.between{times}"
        fix = f"participants: {groups} gives each of the {groups} groups one."
        yield Fault(what, f"{groups} or more", fix, ("design", "participants"))


def _map(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
