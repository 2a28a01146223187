"""The truth that a simulation plants, so that its result can be held against it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beholder.methods.contract import Method
from beholder.plan.groups import groups_of
from beholder.simulate.chance import keyed_rng
from beholder.simulate.population import Population
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
        if stimulus.made_of in rows:
            quality[row] = quality[rows[stimulus.made_of]]
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
    known = {name: (list(KINDS).index(recipe.kind), recipe.badness) for name, recipe in recipes.items() if recipe}
    made = sorted(known, key=lambda name: known[name])
    named = [name for name in catalogue.conditions if name not in made]
    if all(name in SAMPLE_CONDITIONS for name in named):
        found = {name: SAMPLE_CONDITIONS[name] for name in named}
        lowest = min(found.values(), default=_BEST)
        below = np.linspace(0.6 * lowest, 0.2 * lowest, len(made)).tolist()
        found |= dict(zip(made, below, strict=True))
    else:
        ranks = {"reference": 0, "anchor": 2}
        order = [*sorted(named, key=lambda name: ranks.get(roles.get(name, "test"), 1)), *made]
        found = dict(zip(order, np.linspace(_BEST, _WORST, max(2, len(order))).tolist(), strict=False))
    return {name: found[name] for name in catalogue.conditions}


def _expected(stimulus: Stimulus, question: Question | None) -> float | None:
    """Return how good a gold stimulus is by the answer that is expected of it; None where none is."""
    expected = stimulus.lesson.of(question.id) if stimulus.lesson is not None and question is not None else None
    if expected is None or question is None:
        return None
    scale = question.scale
    strength = (expected[1].value - scale.min) / (scale.max - scale.min)
    return float(np.clip(1 - strength if question.keyed == "-" else strength, *_GOLD))
