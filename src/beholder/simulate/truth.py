"""The truth that a simulation plants, so that its result can be held against it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beholder.simulate.chance import keyed_rng
from beholder.stimuli.catalogue import Catalogue
from beholder.stimuli.samples import SAMPLE_CONDITIONS

_BEST, _WORST = 0.85, 0.2
_CONTENT_SD = 0.03
_LOWPASS = re.compile(r"lowpass-([0-9]+)")


@dataclass(frozen=True)
class Truth:
    """Latent quality between 0 and 1 of every stimulus and question, and its mean per condition."""

    quality: NDArray[np.float64]
    """Rows are stimuli in the order of the catalogue, columns are questions."""
    stimuli: Mapping[str, int]
    questions: Mapping[str, int]
    conditions: Mapping[str, float]


def plant_truth(catalogue: Catalogue, questions: tuple[str, ...], seed: int) -> Truth:
    """Return the truth: our samples' own order where they are used, else falling from the first condition on.

    A reference is the best of all, and anchors are the worst: the lower they cut, the worse.
    """
    conditions = _condition_qualities(catalogue)
    rng = keyed_rng(seed, "contents")
    effects = dict(zip(catalogue.contents, rng.normal(0, _CONTENT_SD, len(catalogue.contents)), strict=True))
    quality = np.array(
        [[conditions.get(s.condition, 0.5) + effects.get(s.content, 0.0)] * len(questions) for s in catalogue.stimuli]
    )
    return Truth(
        quality=np.clip(quality, 0, 1),
        stimuli={stimulus.id: row for row, stimulus in enumerate(catalogue.stimuli)},
        questions={question: column for column, question in enumerate(questions)},
        conditions=conditions,
    )


def _condition_qualities(catalogue: Catalogue) -> dict[str, float]:
    roles = {stimulus.condition: stimulus.role for stimulus in catalogue.by_cell.values()}
    made = sorted((name for name in catalogue.conditions if _cutoff(name)), key=_cutoff, reverse=True)
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


def _cutoff(condition: str) -> int:
    """Return at how many hertz an anchor made by us cuts; 0 for any other condition."""
    found = _LOWPASS.fullmatch(condition)
    return int(found.group(1)) if found else 0
