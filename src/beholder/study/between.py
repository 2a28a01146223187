"""Groups of participants: every combination of levels, and the study as each of them meets it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from beholder.study.design import Level
from beholder.study.model import Playback, Study
from beholder.study.pages import Page

Levels = Mapping[str, str]
"""The level of each factor: one group of participants."""


def groups_in(between: Mapping[str, Sequence[str] | Mapping[str, Any]]) -> list[Levels]:
    """Return every combination of levels, the last factor changing fastest; one without any where nothing is split."""
    return [dict(zip(between, levels, strict=True)) for levels in product(*between.values())]


def named(levels: Levels) -> str:
    """Return how a group is called where people read it: `asked: matching, layout: grid`."""
    return ", ".join(f"{factor}: {level}" for factor, level in levels.items())


def study_of(study: Study, levels: Levels) -> Study:
    """Return a study as one group of its participants meets it.

    Its problems still name the line where a key stands: that of the level which changes it.
    """
    if not levels:
        return study
    changed: dict[str, Any] = {}
    options, playback = dict(study.options), study.playback.model_dump()
    stands: dict[str, str] = {}
    for factor, name in levels.items():
        level, key = study.design.between[factor][name], f"design.between.{factor}.{name}"
        options |= level.options
        playback |= level.playback
        stands |= _stands(level, key)
        if level.questions is not None:
            places = {question.id: place for place, question in enumerate(study.questions)}
            changed["questions"] = tuple(study.questions[places[one]] for one in level.questions)
            stands |= {f"questions.{n}": f"questions.{places[one]}" for n, one in enumerate(level.questions)}
        if level.conditions is not None:
            kept = [(n, one) for n, one in enumerate(study.conditions) if one.name in level.conditions]
            changed["conditions"] = tuple(one for _, one in kept)
            stands |= {f"conditions.{n}": f"conditions.{place}" for n, (place, _) in enumerate(kept)}
        if level.instructions is not None:
            pages = (Page(text=level.instructions),)
            changed["texts"] = study.texts.model_copy(update={"instructions": pages})
    changed |= {"options": options, "playback": Playback.model_validate(playback)}
    group = study.model_copy(update=changed)
    group._lines = replace(study._lines, stands=stands)
    return group


def _stands(level: Level, key: str) -> Iterator[tuple[str, str]]:
    """Yield every key that a level changes, and where it stands."""
    for name in ("options", "playback"):
        for option in getattr(level, name):
            yield f"{name}.{option}", f"{key}.{name}.{option}"
    if level.instructions is not None:
        yield "texts.instructions", f"{key}.instructions"


def varied(study: Study) -> frozenset[str]:
    """Return the keys that some participants have in another way, such as `options.layout` or `questions`."""
    levels = [level for levels in study.design.between.values() for level in levels.values()]
    whole = {key for level in levels for key in ("questions", "conditions") if getattr(level, key) is not None}
    return frozenset({key for level in levels for key, _ in _stands(level, "")} | whole)


def common_options(study: Study) -> dict[str, Any]:
    """Return the options that all participants share."""
    theirs = varied(study)
    return {key: value for key, value in study.options.items() if f"options.{key}" not in theirs}
