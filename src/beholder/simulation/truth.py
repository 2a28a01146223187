"""The truth that a simulation plants, so that its result can be held against it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from beholder.errors import Problem, UserError, did_you_mean
from beholder.methods.contract import Method
from beholder.planning.groups import groups_of
from beholder.stimuli.catalogue import Catalogue, Stimulus
from beholder.stimuli.samples import SAMPLE_CONDITIONS
from beholder.study.model import Question, Study
from beholder.study.recipes import KINDS, read_recipe

_BEST, _WORST = 0.85, 0.2
_GOLD = (0.0, 0.96)
"""The worst and the best that a video was felt to be in the data of `tools/fit_raters.py`: even the best is not perfect
to everybody."""


@dataclass(frozen=True)
class Truth:
    """Latent quality between 0 and 1 of every stimulus and question, and its mean per condition."""

    quality: NDArray[np.float64]
    """Rows are stimuli in the order of the catalogue, columns are questions."""
    stimuli: Mapping[str, int]
    questions: Mapping[str, int]
    conditions: Mapping[str, float]
    condition_of: tuple[str, ...] = ()
    """The condition of each row."""


def truth_of(
    study: Study,
    catalogue: Catalogue,
    method: Method,
    seed: int = 1,
    people: Population | None = None,
    means: Mapping[str, float] | None = None,
) -> Truth:
    """Return the truth of a study, with a column for every question that any of its participants is asked."""
    asked = {one.id: one for group in groups_of(study, catalogue, method) for one in method.questions(group.study)}
    return plant_truth(catalogue, tuple(asked), seed, asked, people, means)


def plant_truth(
    catalogue: Catalogue,
    questions: tuple[str, ...],
    seed: int,
    scales: Mapping[str, Question] | None = None,
    people: Population | None = None,
    means: Mapping[str, float] | None = None,
) -> Truth:
    """Return the truth: our samples' own order where they are used, else falling from the first condition on.

    A reference is the best of all, and anchors are the worst: the lower they cut and the more they blur, the worse.
    A gold stimulus is what is expected of it, on the `scales` of the questions; one that asks for an answer is as good
    as what it was made of. `means` are qualities of conditions that are known otherwise.
    """
    people = people or Population()
    conditions = _condition_qualities(catalogue) | {
        name: quality for name, quality in (means or {}).items() if name in catalogue.conditions
    }
    rng = keyed_rng(seed, "contents")
    effects = dict(zip(catalogue.contents, rng.normal(0, people.content, len(catalogue.contents)), strict=True))
    table = keyed_rng(seed, "cells").normal(0, people.content_condition, (len(effects), len(conditions)))
    cells = {(one, other): table[i, j] for i, one in enumerate(effects) for j, other in enumerate(conditions)}
    quality = np.array(
        [
            [conditions.get(s.condition, 0.5) + effects.get(s.content, 0.0) + cells.get((s.content, s.condition), 0.0)]
            * len(questions)
            for s in catalogue.stimuli
        ]
    ).reshape(len(catalogue.stimuli), len(questions))
    rows = {stimulus.id: row for row, stimulus in enumerate(catalogue.stimuli)}
    for stimulus in catalogue.stimuli:
        row = rows[stimulus.id]
        if stimulus.derived_from in rows:
            quality[row] = quality[rows[stimulus.derived_from]]
        elif stimulus.role == "gold":
            for column, question in enumerate(questions):
                strength = _expected(stimulus, (scales or {}).get(question))
                if strength is not None:
                    quality[row, column] = strength
    return Truth(
        quality=np.clip(quality, 0, 1),
        stimuli=rows,
        questions={question: column for column, question in enumerate(questions)},
        conditions=conditions,
        condition_of=tuple(stimulus.condition for stimulus in catalogue.stimuli),
    )


def _condition_qualities(catalogue: Catalogue) -> dict[str, float]:
    roles = {stimulus.condition: stimulus.role for stimulus in catalogue.by_cell.values()}
    recipes = {name: read_recipe(name) for name in catalogue.conditions if roles.get(name) == "anchor"}
    badness = {name: (list(KINDS).index(recipe.kind), recipe.badness) for name, recipe in recipes.items() if recipe}
    recipe_names = sorted(badness, key=lambda name: badness[name])
    named = [name for name in catalogue.conditions if name not in recipe_names]
    if all(name in SAMPLE_CONDITIONS for name in named):
        qualities = {name: SAMPLE_CONDITIONS[name] for name in named}
        lowest = min(qualities.values(), default=_BEST)
        below = np.linspace(0.6 * lowest, 0.2 * lowest, len(recipe_names)).tolist()
        qualities |= dict(zip(recipe_names, below, strict=True))
    else:
        ranks = {"reference": 0, "anchor": 2}
        order = [*sorted(named, key=lambda name: ranks.get(roles.get(name, "test"), 1)), *recipe_names]
        qualities = dict(zip(order, np.linspace(_BEST, _WORST, max(2, len(order))).tolist(), strict=False))
    return {name: qualities[name] for name in catalogue.conditions}


def _expected(stimulus: Stimulus, question: Question | None) -> float | None:
    """Return how good a gold stimulus is by the answer that is expected of it; None where none is."""
    expected = (
        stimulus.known_answer.expectation(question.id)
        if stimulus.known_answer is not None and question is not None
        else None
    )
    if expected is None or question is None:
        return None
    scale = question.scale
    strength = (expected[1].value - scale.min) / (scale.max - scale.min)
    return float(np.clip(1 - strength if question.keyed == "-" else strength, *_GOLD))


# --- Chance that depends on names, never on the order of calls ---


def keyed_rng(seed: int, *names: str) -> Generator:
    """Return a generator that is the same for the same seed and names, whoever asks first."""
    digest = hashlib.sha256("\x1f".join((str(seed), *names)).encode()).digest()
    return np.random.default_rng(np.frombuffer(digest, dtype=np.uint32))


# --- What the simulated people of a study have in common: how far they differ, waver, tire, and leave ---


@dataclass(frozen=True)
class Population:
    """The spread of people and of contents. What is an amount of quality is a share of the scale.

    The defaults of `bias` and `inconsistency` are measured, the other effects are off: `PUBLIC` holds all that one
    laboratory has shown, `from_pilot` what a store shows, and an effect can be set by hand.
    """

    bias: float = 0.117
    """Standard deviation between people of a shift of all that they rate."""
    inconsistency: float = 0.147
    """Standard deviation of one person from rating to rating, in the middle of all people."""
    inconsistency_spread: float = 0.0
    """How far people differ in that: standard deviation of its logarithm."""
    taste: float = 0.0
    """Standard deviation between people of what they think of one condition, beside their bias."""
    content: float = 0.03
    """Standard deviation between contents of a shift of all their conditions."""
    content_condition: float = 0.0
    """Standard deviation between contents of what one condition does to them."""
    carry: float = 0.0
    """How much of the distance of the trial before from the average is added (assimilation), or, below zero, taken
    away (contrast)."""
    fatigue: float = 0.0
    """By how much inconsistency grows from the first trial to the last: 0.5 makes it half as large again."""
    lapse: float = 0.0
    """How often somebody has not looked, so that what they say of a stimulus is anything."""
    gain_spread: float = 0.0
    """How far people differ in how much of the scale they use, about its middle: deviation of the logarithm."""
    ends: float = 0.0
    """How much of the scale at either end nobody uses."""
    leaving: float = 0.0
    """How likely somebody leaves before any one trial, and never comes back."""
    pace: float = 1.0
    """How long judgements take, as a multiple of the usual seconds."""


PUBLIC = Population(
    bias=0.117,
    inconsistency=0.136,
    inconsistency_spread=0.175,
    taste=0.055,
    content=0.024,
    content_condition=0.097,
)
"""24 people in a laboratory who rated 72 videos, 8 contents under 9 conditions, on five points (VQEG HDTV3), as
`tools/fit_raters.py` prints it. Order, fatigue, lapses and leaving cannot be seen in it and stay off."""
_MOST = {"ends": 0.45, "lapse": 1.0, "leaving": 1.0, "carry": 1.0}
_LEAST = {"carry": -1.0, "pace": 0.01}
_LARGEST = 10.0


def read_people(spec: str, base: Population | None = None) -> Population:
    """Return a population changed as in `fatigue:0.5,lapse:0.02`."""
    changes: dict[str, float] = {}
    problems = []
    names = [field.name for field in fields(Population)]
    for part in filter(None, (part.strip() for part in spec.split(","))):
        name, _, written = part.partition(":")
        if name not in names:
            what = f"{name!r} is nothing that people differ in"
            problems.append(Problem("--people", what, ", ".join(names), did_you_mean(name, names)))
            continue
        low, high = _LEAST.get(name, 0.0), _MOST.get(name, _LARGEST)
        try:
            value = float(written)
        except ValueError:
            value = float("nan")
        if low <= value <= high:
            changes[name] = value
        else:
            problems.append(Problem("--people", f"{name} is {written!r}", f"a number from {low:g} to {high:g}"))
    if problems:
        raise UserError(problems)
    return replace(base or Population(), **changes)
