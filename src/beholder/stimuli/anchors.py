"""Anchors that `options.anchors` of a study asks for by a recipe: read, checked, and made of references."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from beholder.errors import Problem, StudyError, did_you_mean
from beholder.stimuli.messages.message import insert_message
from beholder.stimuli.pcm import FILTER, lowpass
from beholder.stimuli.sources import StimulusSource
from beholder.study.model import Study
from beholder.study.recipes import example_recipes, intended_kind, read_recipe
from beholder.types import Medium, Role

if TYPE_CHECKING:
    pass


def anchor_recipes(study: Study, conditions: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the anchors of a study that are recipes, as `lowpass-3500`, and no conditions with files of their own.

    Those are the conditions that it lists, and `conditions`. Raise StudyError with all recipes that cannot be read.
    """
    listed = study.options.get("anchors")
    names = [str(name) for name in listed] if isinstance(listed, list | tuple) else []
    have = {*conditions, *(condition.name for condition in study.conditions)}
    candidates = [(place, name, intended_kind(name)) for place, name in enumerate(names) if name not in have]
    problems = [
        study.problem(
            f"options.anchors.{place}",
            f"is {name}, which is neither a condition nor a recipe",
            f"{kind.name}- and {kind.allowed.format(f'{kind.name}-')}",
        )
        for place, name, kind in candidates
        if kind is not None and read_recipe(name) is None
    ]
    if problems:
        raise StudyError(problems)
    return tuple(dict.fromkeys(name for _, name, kind in candidates if kind is not None))


_MEDIUM_NAMES: Mapping[Medium, str] = {"audio": "sound", "video": "video"}
_SUFFIXES: Mapping[Medium, str] = {"audio": ".wav", "video": ".mp4"}


def condition_roles(study: Study) -> dict[str, Role]:
    """Return the role of each condition that has one: from the study, or from being named as an anchor."""
    roles: dict[str, Role] = {condition.name: condition.role for condition in study.conditions}
    for name in _anchors(study):
        if roles.get(name, "test") == "test":
            roles[name] = "anchor"
    return roles


def missing_anchor_recipes(
    study: Study, conditions: Sequence[str], problems: list[Problem], medium: Medium = "audio"
) -> tuple[str, ...]:
    """Return the anchors without files, which have to be made; names that are no recipe are problems."""
    invalid: set[str] = set()
    recipes: list[str] = []
    try:
        recipes += anchor_recipes(study, conditions)
    except StudyError as error:
        problems.extend(error.problems)
        invalid |= {name for name in _anchors(study) if intended_kind(name) and read_recipe(name) is None}
    for place, name in enumerate(_anchors(study)):
        if name in conditions or name in recipes or name in invalid:
            continue
        if read_recipe(name) is not None:
            recipes.append(name)
        elif conditions:
            problems.append(
                study.problem(
                    f"options.anchors.{place}",
                    f"is {name}, which is neither a condition nor a recipe",
                    ", or ".join(filter(None, (", ".join(conditions), ", ".join(example_recipes(medium))))),
                    did_you_mean(name, conditions),
                )
            )
    return tuple(name for name in recipes if name not in conditions)


def recipe_problems(study: Study, recipes: Sequence[str], sources: Sequence[StimulusSource]) -> list[Problem]:
    """Return why anchors cannot be made of these stimuli."""
    if not recipes or not sources:
        return []
    medium = sources[0].medium
    problems = []
    for other, matter in _MEDIUM_NAMES.items():
        unfit = [name for name in recipes if other != medium and _medium(name) == other]
        if unfit:
            what = f"asks for {' and '.join(unfit)}, made of {matter}, and the stimuli are {medium}"
            allowed = ", or ".join(filter(None, ("names of conditions", ", ".join(example_recipes(medium)))))
            problems.append(study.problem("options.anchors", what, allowed, "Make the anchors as conditions."))
    if problems:
        return problems
    roles = condition_roles(study)
    if not any(_role(source, roles) == "reference" for source in sources):
        what = f"asks for {' and '.join(recipes)}, made of a reference, and no condition is one"
        fix = "Write role: reference at a condition, as {name: original, role: reference}."
        return [study.problem("options.anchors", what, "", fix)]
    return []


def anchor_sources(
    recipes: Sequence[str], references: Sequence[tuple[StimulusSource, Path, str]], media: Path
) -> list[StimulusSource]:
    """Return a source for each recipe and reference, given with its path and hash; the file need not be there yet."""
    return [
        StimulusSource(
            where=f"{recipe} of {reference.file}",
            file=f"{recipe} of {reference.file}",
            path=media / "made" / f"{_hash(recipe, sha256)}{_SUFFIXES[reference.medium]}",
            content=reference.content,
            condition=recipe,
            medium=reference.medium,
            role="anchor",
            factors=dict.fromkeys(reference.factors, ""),
            derived_from=path,
            relations=reference.relations,
        )
        for recipe in recipes
        for reference, path, sha256 in references
    ]


def make_file(source: StimulusSource) -> None:
    """Make the file of a source that is made of another, unless it is there."""
    if source.sound is not None:
        from beholder.stimuli.companions import give_sound

        give_sound(source)
        return
    if source.message is not None and source.derived_from is not None and source.path is not None:
        if not source.path.exists():
            source.path.parent.mkdir(parents=True, exist_ok=True)
            insert_message(source.derived_from, source.path, source.medium, source.message, source.where)
        return
    recipe = read_recipe(source.condition)
    if source.derived_from is None or source.path is None or recipe is None or source.path.exists():
        return
    source.path.parent.mkdir(parents=True, exist_ok=True)
    if recipe.medium == "audio":
        lowpass(source.derived_from, source.path, int(recipe.value), source.where)
    else:
        from beholder.stimuli.workshop.anchors import degrade

        degrade(source.derived_from, source.path, recipe, source.where)


def stimulus_hash(source: StimulusSource, sha256: str) -> str:
    """Return what stands for a stimulus in digests: the hash of its file, or of the recipe where we made that.

    Another version of a library may round a sample differently, which is no other design.
    """
    return sha256 if source.derived_from is None or source.path is None else source.path.stem


def _anchors(study: Study) -> tuple[str, ...]:
    listed = study.options.get("anchors")
    return tuple(name for name in listed if isinstance(name, str)) if isinstance(listed, list | tuple) else ()


def _role(source: StimulusSource, roles: Mapping[str, Role]) -> Role:
    return source.role or roles.get(source.condition, "test")


def _medium(recipe: str) -> Medium | None:
    read = read_recipe(recipe)
    return read.medium if read else None


def _hash(recipe: str, sha256: str) -> str:
    method = FILTER
    if _medium(recipe) == "video":
        from beholder.stimuli.workshop.anchors import DEGRADE

        method = DEGRADE
    return hashlib.sha256(f"{sha256}\n{recipe}\n{method}".encode()).hexdigest()
