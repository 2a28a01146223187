"""acr: one stimulus, then one vote (absolute category rating, ITU-T P.910 clause 8.1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

from beholder.methods.contract import (
    BaseModel,
    Catalogue,
    Generator,
    Json,
    Medium,
    Part,
    Problem,
    Slot,
    Study,
    Trial,
    Unit,
    Units,
)
from beholder.methods.fitting import hidden_role, medium_problems, question_problems, single_problems
from beholder.methods.scores import ScoreMethod


class AcrOptions(Part):
    """Options of `acr`: none."""


class Acr(ScoreMethod):
    """One stimulus at a time, rated after its end."""

    name: ClassVar[str] = "acr"
    media: ClassVar[frozenset[Medium]] = frozenset({"video", "audio", "image", "text"})
    scales: ClassVar[tuple[str, ...]] = ("acr5", "acr9", "acr11", "cont100")
    Options: ClassVar[type[BaseModel]] = AcrOptions
    analyses: ClassVar[tuple[str, ...]] = ("scores", "pairs")
    defaults: ClassVar[Mapping[str, Json]] = {"playback": {"fullscreen": True}, "design": {"contents": "apart"}}

    def problems(self, study: Study, catalogue: Catalogue) -> Iterable[Problem]:
        yield from question_problems(self.name, self.questions(study))
        yield from medium_problems(self.name, self.media, catalogue)
        yield from single_problems(self.name, study)

    def units(self, study: Study, catalogue: Catalogue) -> Units:
        items = tuple(Unit(stimulus.content, (stimulus.id,)) for stimulus in catalogue.by_cell.values())
        return Units(kind="stimulus", items=items, per_trial=1, shuffle="none")

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


acr = Acr()
