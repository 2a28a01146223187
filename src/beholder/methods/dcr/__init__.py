"""dcr: the reference, a gap, then the processed one; how annoying is the change? (ITU-T P.910 clause 8.2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

from beholder.methods.boards import SingleMethod, single_units
from beholder.methods.contract import (
    BaseModel,
    Catalogue,
    Generator,
    Json,
    Medium,
    Metric,
    Paper,
    Problem,
    Scoring,
    Slot,
    Study,
    Task,
    Trial,
    Unit,
    Units,
)
from beholder.methods.presentation import (
    P910_CITATION,
    TwoStimuliOptions,
    is_side_by_side,
    presentation_draws,
    presentation_problems,
    public_draws,
    reference_problems,
    seconds_shown,
    stimuli_under_test,
)
from beholder.methods.views import unfit_views


class DcrOptions(TwoStimuliOptions):
    """Options of `dcr`."""

    unfit = unfit_views("dcr", "ITU-T P.910 shows the reference first, and then what is rated")


class Dcr(SingleMethod):
    """A stimulus is rated against its reference, which is shown first and named."""

    name: ClassVar[str] = "dcr"
    shows_first: ClassVar[bool] = True
    task: ClassVar[Task] = "change"
    media: ClassVar[frozenset[Medium]] = frozenset({"video", "audio", "image", "text"})
    scales: ClassVar[tuple[str, ...]] = ("dcr5", "dcr9")
    Options: ClassVar[type[BaseModel]] = DcrOptions
    analyses: ClassVar[tuple[str, ...]] = ("scores", "pairs")
    defaults: ClassVar[Mapping[str, Json]] = {"playback": {"fullscreen": True}, "design": {"contents": "apart"}}
    paper: ClassVar[Paper] = Paper(
        "degradation category rating (DCR)",
        "Each stimulus was shown with its reference and rated by how visible the change is",
        ("itu-p910", "naderi2022"),
        names_reference=True,
    )
    scoring: ClassVar[Scoring] = Scoring(
        {
            "score": Metric(
                "DMOS(DCR)", "Mean of the votes on how visible a change from the shown reference is; higher is less."
            )
        },
        citation=P910_CITATION,
    )

    def problems(self, study: Study, catalogue: Catalogue) -> Iterable[Problem]:
        yield from super().problems(study, catalogue)
        yield from reference_problems(self.name, catalogue, "compares with one")
        yield from presentation_problems(study, catalogue)

    def units(self, study: Study, catalogue: Catalogue) -> Units:
        # One stimulus is dealt; its reference comes with it wherever it goes.
        return single_units(stimuli_under_test(catalogue))

    def compose(self, study: Study, unit: Unit, catalogue: Catalogue, rng: Generator) -> Trial:
        (stimulus,) = unit.stimuli
        reference = catalogue.references[unit.content]
        return Trial(
            id=stimulus,
            content=unit.content,
            purpose="rate",
            slots=(
                Slot("s1", reference.id, "reference", "reference", False, None),
                Slot("s2", stimulus, catalogue.by_id[stimulus].role, None, True, None),
            ),
            asked=self.asked(study),
            draws=presentation_draws(study, catalogue),
            together=is_side_by_side(study, catalogue),
        )

    def other_slot(self, trial: Trial, slot: Slot) -> str | None:
        return next(other.id for other in trial.slots if not other.rated)

    def extra(self, trial: Trial) -> Mapping[str, Json]:
        return public_draws(trial)

    def seconds(self, trial: Trial, catalogue: Catalogue) -> float:
        return seconds_shown(trial, catalogue) + 3 + 5 * len(trial.asked)


dcr = Dcr()
