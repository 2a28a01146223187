"""Methods whose trial is one stimulus under test."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from beholder.methods.contract import (
    Catalogue,
    Generator,
    Medium,
    Problem,
    Slot,
    Stimulus,
    Study,
    Trial,
    Unit,
    Units,
)
from beholder.methods.fitting import hidden_role, medium_problems, question_problems, single_problems
from beholder.methods.scores import ScoreMethod


class SingleMethod(ScoreMethod):
    """What they share: every stimulus is a unit, shown by itself and then asked about."""

    name: ClassVar[str]
    media: ClassVar[frozenset[Medium]]

    def problems(self, study: Study, catalogue: Catalogue) -> Iterable[Problem]:
        yield from question_problems(self.name, self.questions(study))
        yield from medium_problems(self.name, self.media, catalogue)
        yield from single_problems(self.name, study)

    def units(self, study: Study, catalogue: Catalogue) -> Units:
        return single_units(catalogue.by_cell.values())

    def compose(self, study: Study, unit: Unit, catalogue: Catalogue, rng: Generator) -> Trial:
        (stimulus,) = unit.stimuli
        return Trial(
            id=stimulus,
            content=unit.content,
            purpose="rate",
            slots=(Slot("s1", stimulus, hidden_role(catalogue.by_id[stimulus]), None, True, None),),
            asked=self.asked(study),
        )

    def seconds(self, trial: Trial, catalogue: Catalogue) -> float:
        return catalogue.by_id[trial.slots[0].stimulus].probe.duration_ms / 1000 + 3 + 4 * len(trial.asked)


def single_units(stimuli: Iterable[Stimulus]) -> Units:
    """Return each of these stimuli as a unit of its own."""
    items = tuple(Unit(stimulus.content, (stimulus.id,)) for stimulus in stimuli)
    return Units(kind="stimulus", items=items, per_trial=1, shuffle="none")
