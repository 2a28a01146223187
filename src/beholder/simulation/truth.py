"""The planted truth of a simulation, the population that rates it, and random numbers by name."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from beholder.checks.known_answers import Gold
from beholder.errors import Problem, UserError, did_you_mean
from beholder.methods.contract import Method
from beholder.planning.groups import groups_of
from beholder.stimuli.catalogue import Catalogue, Stimulus
from beholder.stimuli.samples import SAMPLE_ASPECTS, SAMPLE_CONDITIONS
from beholder.study.model import Question, Study
from beholder.study.recipes import KINDS, read_recipe

_BEST, _WORST = 0.85, 0.2
_GOLD = (0.0, 0.96)
"""The lowest and the highest quality of a video in the data of `tools/fit_raters.py`: even the best is not perfect."""
_MISMATCHED = 0.1
"""The quality of what is shown with a foreign companion, of whatever condition: it fits as badly in all of them."""


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
    aspects: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """The means of questions about something else than the whole, by question and condition."""

    def means(self, question: str) -> Mapping[str, float]:
        """Return the mean quality per condition of what a question asks about."""
        return {**self.conditions, **self.aspects.get(question, {})}


@dataclass(frozen=True)
class Population:
    """Variation between people and between contents, as shares of the scale.

    The defaults are those of 24 people in a laboratory who rated 72 videos, 8 contents under 9 conditions, on five
    points (VQEG HDTV3), as `tools/fit_raters.py` prints them. Order, fatigue, lapses and leaving cannot be estimated
    from these data and are off. `IDEAL` people differ less, `from_pilot` has the people of a store, and `read_people`
    sets single numbers.
    """

    bias: float = 0.117
    """Standard deviation between people of their mean rating."""
    inconsistency: float = 0.136
    """Standard deviation within a person from rating to rating, of the median person."""
    inconsistency_spread: float = 0.175
    """Standard deviation between people of the logarithm of their inconsistency."""
    taste: float = 0.055
    """Standard deviation between people of their opinion of one condition, without their bias."""
    content: float = 0.024
    """Standard deviation between contents of their mean quality."""
    content_condition: float = 0.097
    """Standard deviation between contents of the effect of one condition."""
    carry: float = 0.0
    """Share of the previous trial's distance from the average that is added (assimilation) or, below zero, subtracted
    (contrast)."""
    fatigue: float = 0.0
    """Growth of inconsistency from the first trial to the last: 0.5 means 50 % more."""
    lapse: float = 0.0
    """How often a rating is random because the person did not look."""
    gain_spread: float = 0.0
    """Standard deviation between people of the logarithm of their use of the scale."""
    ends: float = 0.0
    """Share of the scale at either end that nobody uses."""
    leaving: float = 0.0
    """Probability of leaving for good before any one trial."""
    pace: float = 1.0
    """Time of judgements as a multiple of the usual time."""


IDEAL = Population(inconsistency=0.147, inconsistency_spread=0.0, taste=0.0, content=0.03, content_condition=0.0)
"""People who differ in their bias alone, and contents that suit no condition more than another: few studies are so
lucky. Their inconsistency is that of the same data where nothing else explains it."""


def truth_of(
    study: Study,
    catalogue: Catalogue,
    method: Method,
    seed: int = 1,
    people: Population | None = None,
    means: Mapping[str, float] | None = None,
) -> Truth:
    """Return the truth of a study, with a column for every question of any group."""
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
    """Return the truth: the order of our samples where they are used, otherwise decreasing from the first condition.

    References are the best, and anchors the worst, in the order of their recipes. A gold stimulus has its expected
    quality on the `scales` of the questions; one with a message has the quality of its source. `means` are known
    qualities of conditions.
    """
    people = people or Population()
    conditions = _condition_qualities(catalogue) | {
        name: quality for name, quality in (means or {}).items() if name in catalogue.conditions
    }
    rng = keyed_rng(seed, "contents")
    effects = dict(zip(catalogue.contents, rng.normal(0, people.content, len(catalogue.contents)), strict=True))
    table = keyed_rng(seed, "cells").normal(0, people.content_condition, (len(effects), len(conditions)))
    cells = {(one, other): table[i, j] for i, one in enumerate(effects) for j, other in enumerate(conditions)}
    aspects = {question: _aspect_qualities(question, conditions, means or {}) for question in questions}
    quality = np.array(
        [
            [
                aspects[question].get(s.condition, conditions.get(s.condition, 0.5))
                + effects.get(s.content, 0.0)
                + cells.get((s.content, s.condition), 0.0)
                for question in questions
            ]
            for s in catalogue.stimuli
        ]
    ).reshape(len(catalogue.stimuli), len(questions))
    rows = {stimulus.id: row for row, stimulus in enumerate(catalogue.stimuli)}
    for stimulus in catalogue.stimuli:
        row = rows[stimulus.id]
        if stimulus.role == "mismatched":
            quality[row] = _MISMATCHED
        elif stimulus.derived_from in rows:
            quality[row] = quality[rows[stimulus.derived_from]]
        elif stimulus.role == Gold.role:
            for column, question in enumerate(questions):
                strength = _expected(stimulus, (scales or {}).get(question))
                if strength is not None:
                    quality[row, column] = strength
    return Truth(
        quality=np.clip(quality, 0, 1),
        stimuli=rows,
        questions={question: column for column, question in enumerate(questions)},
        conditions=conditions,
        # What people think of a condition they think of it with its own companion.
        condition_of=tuple("" if one.role == "mismatched" else one.condition for one in catalogue.stimuli),
        aspects=aspects,
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


def _aspect_qualities(
    question: str, conditions: Mapping[str, float], means: Mapping[str, float]
) -> Mapping[str, float]:
    """Return the qualities of our samples in what a question asks about, where it is known and not that of the whole.

    Whose quality is among the known `means` has it in every respect.
    """
    aspect = SAMPLE_ASPECTS.get(question, {})
    if not aspect.keys() >= conditions.keys():
        return {}
    return {name: aspect[name] for name in conditions if name not in means}


def _expected(stimulus: Stimulus, question: Question | None) -> float | None:
    """Return the quality of a gold stimulus by its expected answer, or None."""
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


# Random numbers that depend on names, never on the order of calls


def keyed_rng(seed: int, *names: str) -> Generator:
    """Return the generator of a seed and names."""
    digest = hashlib.sha256("\x1f".join((str(seed), *names)).encode()).digest()
    return np.random.default_rng(np.frombuffer(digest, dtype=np.uint32))


# Changes of a population


_MOST = {"ends": 0.45, "lapse": 1.0, "leaving": 1.0, "carry": 1.0}
_LEAST = {"carry": -1.0, "pace": 0.01}
_LARGEST = 10.0


def read_people(spec: str, base: Population | None = None) -> Population:
    """Return a population with changes such as `fatigue:0.5,lapse:0.02`."""
    changes: dict[str, float] = {}
    problems = []
    names = [one.name for one in fields(Population)]
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
