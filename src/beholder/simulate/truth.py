"""The truth that a simulation plants, so that its result can be held against it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beholder.simulate.chance import keyed_rng
from beholder.stimuli.catalogue import Catalogue
from beholder.stimuli.samples import SAMPLE_CONDITIONS

_BEST, _WORST = 0.85, 0.2
_CONTENT_SD = 0.03


@dataclass(frozen=True)
class Truth:
    """Latent quality between 0 and 1 of every stimulus and question, and its mean per condition."""

    quality: NDArray[np.float64]
    """Rows are stimuli in the order of the catalogue, columns are questions."""
    stimuli: Mapping[str, int]
    questions: Mapping[str, int]
    conditions: Mapping[str, float]


def plant_truth(catalogue: Catalogue, questions: tuple[str, ...], seed: int) -> Truth:
    """Return the truth: our samples' own order where they are used, else falling from the first condition on."""
    if all(condition in SAMPLE_CONDITIONS for condition in catalogue.conditions):
        conditions = {condition: SAMPLE_CONDITIONS[condition] for condition in catalogue.conditions}
    else:
        falling = np.linspace(_BEST, _WORST, max(2, len(catalogue.conditions)))
        conditions = dict(zip(catalogue.conditions, falling.tolist(), strict=False))
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
