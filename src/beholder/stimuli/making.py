"""Stimuli that are made of others: the anchors that `options.anchors` asks for by a recipe."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from beholder.errors import Problem, StudyError, did_you_mean
from beholder.stimuli.anchors import FILTER, anchor_recipes, cutoff, lowpass
from beholder.stimuli.sources import Source
from beholder.study.model import Study
from beholder.types import Role


def condition_roles(study: Study) -> dict[str, Role]:
    """Return the role of each condition that has one: from the study, or from being named as an anchor."""
    roles: dict[str, Role] = {condition.name: condition.role for condition in study.conditions}
    for name in _anchors(study):
        if roles.get(name, "test") == "test":
            roles[name] = "anchor"
    return roles


def wanted_recipes(study: Study, there: Sequence[str], problems: list[Problem]) -> tuple[str, ...]:
    """Return the anchors that have to be made, for no file has their name; names that mean nothing are problems."""
    told: set[str] = set()
    recipes: list[str] = []
    try:
        recipes += anchor_recipes(study)
    except StudyError as error:
        problems.extend(error.problems)
        told |= {name for name in _anchors(study) if name.startswith("lowpass") and cutoff(name) is None}
    for place, name in enumerate(_anchors(study)):
        if name in there or name in recipes or name in told:
            continue
        if cutoff(name) is not None:
            recipes.append(name)
        elif there:
            problems.append(
                study.problem(
                    f"options.anchors.{place}",
                    f"is {name}, which is neither a condition nor a recipe",
                    f"{', '.join(there)}, or lowpass-3500, lowpass-7000",
                    did_you_mean(name, there),
                )
            )
    return tuple(name for name in recipes if name not in there)


def impossible(study: Study, recipes: Sequence[str], found: Sequence[Source]) -> list[Problem]:
    """Return why anchors cannot be made of these stimuli, nothing where they can."""
    if not recipes or not found:
        return []
    asks = f"asks for {' and '.join(recipes)}, made"
    if found[0].medium != "audio":
        what = f"{asks} of sound, and the stimuli are {found[0].medium}"
        return [study.problem("options.anchors", what, "names of conditions", "Make the anchors as conditions.")]
    roles = condition_roles(study)
    if not any(_role(source, roles) == "reference" for source in found):
        what = f"{asks} of a reference, and no condition is one"
        fix = "Write role: reference at a condition, as {name: original, role: reference}."
        return [study.problem("options.anchors", what, "", fix)]
    return []


def made_sources(recipes: Sequence[str], references: Sequence[tuple[Source, Path, str]], media: Path) -> list[Source]:
    """Return a source for each recipe and reference, given with its path and hash; the file need not be there yet."""
    return [
        Source(
            where=f"{recipe} of {reference.file}",
            file=f"{recipe} of {reference.file}",
            path=media / "made" / f"{_hash(recipe, sha256)}.wav",
            content=reference.content,
            condition=recipe,
            medium="audio",
            role="anchor",
            factors=dict.fromkeys(reference.factors, ""),
            made_from=path,
        )
        for recipe in recipes
        for reference, path, sha256 in references
    ]


def make(source: Source) -> None:
    """Make the file of a source that is made of another, unless it is there."""
    hertz = cutoff(source.condition)
    if source.made_from is None or source.path is None or hertz is None or source.path.exists():
        return
    source.path.parent.mkdir(parents=True, exist_ok=True)
    lowpass(source.made_from, source.path, hertz, source.where)


def identity(source: Source, sha256: str) -> str:
    """Return what stands for a stimulus in digests: the hash of its file, or of the recipe where we made that.

    Another version of a library may round a sample differently, which is no other design.
    """
    return sha256 if source.made_from is None or source.path is None else source.path.stem


def _anchors(study: Study) -> tuple[str, ...]:
    listed = study.options.get("anchors")
    return tuple(name for name in listed if isinstance(name, str)) if isinstance(listed, list | tuple) else ()


def _role(source: Source, roles: Mapping[str, Role]) -> Role:
    return source.role or roles.get(source.condition, "test")


def _hash(recipe: str, sha256: str) -> str:
    return hashlib.sha256(f"{sha256}\n{recipe}\n{FILTER}".encode()).hexdigest()
