"""Groups of participants: every combination of levels, the study of each group, and its problems."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import prod
from typing import Any

from beholder.errors import Problem, did_you_mean
from beholder.formats import listed
from beholder.study.design import Design, Level
from beholder.study.model import Playback, Study
from beholder.study.parts import GROUP_NAME, GROUP_NAME_WORDS, Fault
from beholder.study.questions import Page
from beholder.study.reader import StudyReader, dotted, quoted
from beholder.study.yaml import Place

Levels = Mapping[str, str]
"""The level of each factor: one group of participants."""
DESIGN_KEYS = ("per_trial", "trials")
"""The keys of the design that a level can change: how many stimuli stand on a page, and how many pages there are."""


def groups_in(between: Mapping[str, Sequence[str] | Mapping[str, Any]]) -> list[Levels]:
    """Return every combination of levels, the last factor changing fastest; an empty one without factors."""
    return [dict(zip(between, levels, strict=True)) for levels in product(*between.values())]


def group_name(levels: Levels) -> str:
    """Return the name of a group in messages: `asked: matching, layout: grid`."""
    return ", ".join(f"{factor}: {level}" for factor, level in levels.items())


def group_study(study: Study, levels: Levels) -> Study:
    """Return the study of one group.

    Its problems name the line of the level that changes a key.
    """
    if not levels:
        return study
    changed: dict[str, Any] = {}
    options, playback = dict(study.options), study.playback.model_dump()
    moved: dict[str, str] = {}
    design: dict[str, int] = {}
    for factor, name in levels.items():
        level, key = study.design.between[factor][name], f"design.between.{factor}.{name}"
        options |= level.options
        playback |= level.playback
        moved |= _moved_keys(level, key)
        if level.questions is not None:
            places = {question.id: place for place, question in enumerate(study.questions)}
            changed["questions"] = tuple(study.questions[places[one]] for one in level.questions)
            moved |= {f"questions.{n}": f"questions.{places[one]}" for n, one in enumerate(level.questions)}
        if level.conditions is not None:
            kept = [(n, one) for n, one in enumerate(study.conditions) if one.name in level.conditions]
            changed["conditions"] = tuple(one for _, one in kept)
            moved |= {f"conditions.{n}": f"conditions.{place}" for n, (place, _) in enumerate(kept)}
        if level.instructions is not None:
            pages = (Page(text=level.instructions),)
            changed["texts"] = study.texts.model_copy(update={"instructions": pages})
        design |= {key: value for key in DESIGN_KEYS if (value := getattr(level, key)) is not None}
    if design:
        changed["design"] = study.design.model_copy(update=design)
    changed |= {"options": options, "playback": Playback.model_validate(playback)}
    group = study.model_copy(update=changed)
    group._lines = replace(study._lines, moved_keys=moved)
    return group


def _moved_keys(level: Level, key: str) -> Iterator[tuple[str, str]]:
    """Yield every key that a level changes, and where it is written."""
    for name in ("options", "playback"):
        for option in getattr(level, name):
            yield f"{name}.{option}", f"{key}.{name}.{option}"
    if level.instructions is not None:
        yield "texts.instructions", f"{key}.instructions"
    for name in DESIGN_KEYS:
        if getattr(level, name) is not None:
            yield f"design.{name}", f"{key}.{name}"


def varied_keys(study: Study) -> frozenset[str]:
    """Return the keys that differ between groups, such as `options.layout` or `questions`."""
    levels = [level for levels in study.design.between.values() for level in levels.values()]
    whole = {key for level in levels for key in ("questions", "conditions") if getattr(level, key) is not None}
    return frozenset({key for level in levels for key, _ in _moved_keys(level, "")} | whole)


def common_options(study: Study) -> dict[str, Any]:
    """Return the options that all groups share."""
    varied = varied_keys(study)
    return {key: value for key, value in study.options.items() if f"options.{key}" not in varied}


# Problems with factors

MOST_GROUPS = 1000
"""More groups than this are a mistake."""
_BETWEEN: Place = ("design", "between")
_KEYS = ("questions", "conditions", "instructions", *DESIGN_KEYS)
_PARTS = ("options", "playback")
_SHARED: Mapping[Place, str] = {
    ("options", "anchors"): "List all of them in options.anchors, and let the levels choose by conditions.",
    ("playback", "look_seconds"): "Change another key.",
    ("playback", "words_per_second"): "Change another key.",
}
"""Keys by which stimuli are made and measured once for all groups, and what to write instead."""


def between_faults(data: Mapping[str, Any], questions: Sequence[str], conditions: Sequence[str]) -> Iterator[Fault]:
    """Yield the faults of factors and levels, given the ids of the questions and the listed conditions."""
    design = _map(data.get("design"))
    between = {name: _map(levels) for name, levels in _map(design.get("between")).items()}
    for factor, levels in between.items():
        for place in ((*_BETWEEN, factor), *((*_BETWEEN, factor, name) for name in levels)):
            if not re.search(GROUP_NAME, str(place[-1])):
                yield Fault("is no name for a factor or a level", GROUP_NAME_WORDS, "Rename it.", place)
        if len(levels) < 2:
            has = f"has one level, {next(iter(levels))}," if levels else "has no levels,"
            fix = "Add a level, which may be empty, or take the factor out."
            yield Fault(f"{has} and splits nothing", "two levels or more", fix, (*_BETWEEN, factor))
        for name, level in levels.items():
            place = (*_BETWEEN, factor, name)
            yield from _name_faults(_map(level).get("questions"), (*place, "questions"), questions, "questions")
            yield from _name_faults(_map(level).get("conditions"), (*place, "conditions"), conditions, "conditions")
            for key in _changes(level):
                if key in _SHARED:
                    what = "cannot be a factor: stimuli are made and measured once, for all participants"
                    yield Fault(what, "", _SHARED[key], (*place, *key))
    yield from _shared_faults(between)
    yield from _size_faults(design, between)


def _name_faults(written: Any, place: Place, known: Sequence[str], what: str) -> Iterator[Fault]:
    """Yield the faults of the questions or conditions of a level."""
    if not isinstance(written, list):
        return
    if not written:
        yield Fault("is empty", f"one or more of the {what}", f"Leave it out to have all {what}.", place)
    first: dict[str, int] = {}
    for index, word in enumerate(written):
        if not isinstance(word, str):
            continue
        if word in first:
            other = dotted((*place, first[word]))
            yield Fault(f"is {quoted(word)}, as is {other}", "each once", "Take one out.", (*place, index))
        elif known and word not in known:
            wrong = f"is {quoted(word)}, which is not among the {what}"
            yield Fault(wrong, listed(known), did_you_mean(word, known), (*place, index))
        elif not known and what == "questions":
            wrong = f"is {quoted(word)}, and the study has no questions of its own"
            fix = "Write the questions out, or let the levels choose item sets with options.items."
            yield Fault(wrong, "ids under questions", fix, (*place, index))
        first.setdefault(word, index)


def _changes(level: Any) -> Iterator[Place]:
    """Yield the keys that a level changes."""
    for key in _KEYS:
        if _map(level).get(key) is not None:
            yield (key,)
    for part in _PARTS:
        for key in _map(_map(level).get(part)):
            yield (part, key)


def _shared_faults(between: Mapping[str, Mapping[str, Any]]) -> Iterator[Fault]:
    """Yield the keys that two factors change: no group could have both."""
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


def _size_faults(design: Mapping[str, Any], between: Mapping[str, Mapping[str, Any]]) -> Iterator[Fault]:
    """Yield a fault where there are more groups than participants, or than anybody needs."""
    if not between:
        return
    sizes = [len(levels) for levels in between.values()]
    looks = design.get("looks")
    last = looks[-1] if isinstance(looks, list) and looks else Design().participants
    groups, people = prod(sizes), design.get("participants", last)
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


# Reading the study of each group


class GroupReader(StudyReader):
    """Collects the problems of one group: those of a level at its place, others with the name of the group.

    Problems of the whole study are not repeated.
    """

    def __init__(self, whole: StudyReader, levels: Levels, moved: Mapping[Place, Place]) -> None:
        super().__init__(whole.document)
        self.problems, self._whole, self._moved, self._group = [], whole, moved, group_name(levels)
        self.refused_places, self.dropped_places = set(whole.refused_places), set(whole.dropped_places)

    def note(self, place: Place, what: str, allowed: str = "", fix: str = "") -> None:
        for part, moved in self._moved.items():
            if place[: len(part)] == part:
                self._add(moved + place[len(part) :], what, allowed, fix)
                return
        subject = f"{dotted(place)} {what}" if place else what
        problem = (self.document.line(place), Problem(self.document.where(place), subject, allowed, fix))
        if problem not in self._whole.problems:
            self._add(place, f"{what}, in the group {self._group}", allowed, fix)

    def _add(self, place: Place, what: str, allowed: str, fix: str) -> None:
        if place not in self._whole.refused_places:
            super().note(place, what, allowed, fix)


def group_data(data: Mapping[str, Any]) -> Iterator[tuple[Levels, dict[str, Any], dict[Place, Place]]]:
    """Yield each group with the values of its study, and where its own keys are written."""
    between = data["design"]["between"]
    for levels in groups_in(between):
        values, moved = {**data, "design": {**data["design"], "between": {}}}, dict[Place, Place]()
        for factor, name in levels.items():
            level, place = between[factor][name] or {}, (*_BETWEEN, factor, name)
            for key in ("options", "playback"):
                changed = level.get(key) or {}
                values[key] = {**(values.get(key) or {}), **changed}
                moved |= {(key, option): (*place, key, option) for option in changed}
            for key, of in (("questions", "id"), ("conditions", "name")):
                if level.get(key) is not None:
                    kept, places = _chosen(values.get(key) or [], level[key], of)
                    values[key] = kept
                    moved |= {(key, n): (key, at) for n, at in enumerate(places)}
            if level.get("instructions") is not None:
                values["texts"] = {**(values.get("texts") or {}), "instructions": level["instructions"]}
                moved[("texts", "instructions")] = (*place, "instructions")
            for key in DESIGN_KEYS:
                if level.get(key) is not None:
                    values["design"] = {**values["design"], key: level[key]}
                    moved[("design", key)] = (*place, key)
        yield levels, values, moved


def _chosen(items: list[Any], names: list[str], of: str) -> tuple[list[Any], list[int]]:
    """Return the items with these names, and their places: questions as named, conditions as listed."""
    by_name = {item.get(of) if isinstance(item, Mapping) else item: at for at, item in enumerate(items)}
    places = [by_name[name] for name in names if name in by_name]
    places = sorted(places) if of == "name" else places
    return [items[at] for at in places], places
