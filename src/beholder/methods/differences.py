"""Methods that score a stimulus and its hidden reference in one trial: the rating is the difference of the two scores.

The answer has both scores. `value` is the score of the stimulus under test minus that of the reference, wherever they
stood: 0 is as good as the reference, below zero is worse. `raw_value` is as seen: the later slot minus the earlier.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from beholder.methods.choices import ComparedSlots, judged_stimulus
from beholder.methods.contract import (
    Catalogue,
    Generator,
    Json,
    Judgement,
    Medium,
    Percept,
    Problem,
    Scale,
    Slot,
    Study,
    Trial,
    Unit,
    Units,
)
from beholder.methods.pairs import reference_units
from beholder.methods.presentation import (
    hidden_role,
    medium_problems,
    pair_problems,
    question_problems,
    reference_problems,
)
from beholder.methods.scores import ScoreMethod, score_response, score_values

Floats = NDArray[np.float64]
Differences = Callable[[Scale, Floats, Floats, NDArray[np.bool_]], Floats]
"""From a scale, how strong the stimuli under test and their references are, and whether scores are reversed."""


class DifferenceMethod(ScoreMethod):
    """Base of methods with two rated slots: a stimulus under test, and the reference of its content, unnamed."""

    name: ClassVar[str]
    media: ClassVar[frozenset[Medium]]
    hides: ClassVar[str]
    """What is done with the reference, after the name of the method."""

    def problems(self, study: Study, catalogue: Catalogue) -> Iterable[Problem]:
        yield from question_problems(self.name, self.questions(study))
        yield from medium_problems(self.name, self.media, catalogue)
        yield from pair_problems(self.name, study)
        yield from reference_problems(self.name, catalogue, self.hides)
        yield from _slider_problems(self.name, study)

    def units(self, study: Study, catalogue: Catalogue) -> Units:
        return Units(kind="pair", items=reference_units(catalogue), per_trial=2, shuffle="order")

    def compose(self, study: Study, unit: Unit, catalogue: Catalogue, rng: Generator) -> Trial:
        one, two = (catalogue.by_id[stimulus] for stimulus in unit.stimuli)
        return Trial(
            id=" ".join(unit.stimuli),
            content=unit.content,
            purpose="rate",
            slots=tuple(Slot(f"s{n}", s.id, hidden_role(s), None, True, None) for n, s in enumerate((one, two), 1)),
            asked=self.asked(study),
            draws={"judged": judged_stimulus(one, two, catalogue)},
        )

    def judgements(self, trial: Trial, answer: Json) -> tuple[Judgement, ...]:
        given = cast("Mapping[str, Any]", answer)
        slots = ComparedSlots.of(trial)
        judgements = []
        for asked in trial.asked:
            scores = {} if given.get("missing") else given["scores"][asked.id]
            first, second = (scores.get(slot.id) for slot in (slots.first, slots.second))
            # Scores are on steps of the scale; a difference in floating point would be a hair beside them.
            raw = None if first is None or second is None else round(second - first, 6)
            value = None if raw is None else slots.turned(raw)
            judgements.append(slots.judgement(asked, "diff", value, raw, limits=difference_limits(asked.scale)))
        return tuple(judgements)

    def felt(self, strengths: Floats) -> Floats:
        """Return how strong the two of many trials are to a robot that holds them against each other.

        One row for each of the two; by default they are as strong as each is by itself.
        """
        return strengths

    def respond(self, trial: Trial, percept: Percept, rng: Generator) -> Json:
        first, second = (slot.id for slot in trial.slots if slot.rated)
        felt = dict(percept)
        for asked in trial.asked:
            both = [f"{asked.id}.{slot}" for slot in (first, second)]
            inside = np.clip([[percept[where]] for where in both], 0.0, 1.0)
            felt |= dict(zip(both, self.felt(inside)[:, 0].tolist(), strict=True))
        return score_response(trial, felt)

    def differences(self, scale: Scale, judged: Floats, other: Floats, is_reversed: NDArray[np.bool_]) -> Floats:
        """Return the ratings of a robot that perceives these strengths: `respond` and `judgements`, vectorised."""
        felt = self.felt(np.clip(np.stack([judged, other]), 0.0, 1.0))
        one, two = (score_values(scale, row, is_reversed=is_reversed) for row in felt)
        return np.asarray(np.round(one - two, 6) + 0.0, np.float64)


def difference_limits(scale: Scale) -> tuple[float, float]:
    """Return the lowest and the highest difference of two scores."""
    span = scale.max - scale.min
    return -span, span


def _slider_problems(name: str, study: Study) -> Iterator[Problem]:
    for index, question in enumerate(study.questions):
        if question.scale.look != "slider" and not question.ticks:
            what = f"has the look radio, and {name} gives both a slider"
            yield Problem(f"questions.{index}.scale", what, "look: slider")
