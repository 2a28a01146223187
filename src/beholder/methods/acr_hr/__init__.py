"""acr-hr: one stimulus, then one vote, the reference among them unnamed (ITU-T P.913 clause 7.2.2)."""

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
from beholder.methods.fitting import (
    hidden_role,
    medium_problems,
    question_problems,
    reference_problems,
    single_problems,
    tests_of,
)
from beholder.methods.scores import ScoreMethod


class AcrHrOptions(Part):
    """Options of `acr-hr`: none."""


class AcrHr(ScoreMethod):
    """One stimulus at a time; whoever rates a stimulus also rates its reference, some trials away."""

    name: ClassVar[str] = "acr-hr"
    media: ClassVar[frozenset[Medium]] = frozenset({"video", "audio", "image"})
    scales: ClassVar[tuple[str, ...]] = ("acr5", "acr9", "acr11", "cont100")
    Options: ClassVar[type[BaseModel]] = AcrHrOptions
    analyses: ClassVar[tuple[str, ...]] = ("scores", "pairs")
    defaults: ClassVar[Mapping[str, Json]] = {"playback": {"fullscreen": True}, "design": {"contents": "apart"}}

    def problems(self, study: Study, catalogue: Catalogue) -> Iterable[Problem]:
        yield from question_problems(self.name, self.questions(study))
        yield from medium_problems(self.name, self.media, catalogue)
        yield from single_problems(self.name, study)
        yield from reference_problems(self.name, catalogue, "hides one among the others")
        if study.design.contents == "once":
            what = f"is once, and {self.name} shows a content and its reference in one session"
            yield Problem("design.contents", what, "apart or free", "Leave it out.")

    def units(self, study: Study, catalogue: Catalogue) -> Units:
        references = catalogue.references
        return Units(
            kind="stimulus",
            items=tuple(Unit(stimulus.content, (stimulus.id,)) for stimulus in catalogue.by_cell.values()),
            per_trial=1,
            shuffle="none",
            companions={
                stimulus.id: (references[stimulus.content].id,)
                for stimulus in tests_of(catalogue)
                if stimulus.content in references
            },
            apart=2,
        )

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


acr_hr = AcrHr()
