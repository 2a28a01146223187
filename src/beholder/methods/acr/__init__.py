"""acr: one stimulus, then one vote (absolute category rating, ITU-T P.910 clause 8.1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

from beholder.methods.boards import SingleMethod
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
    Study,
    Trial,
    Unit,
)
from beholder.methods.presentation import P910_CITATION
from beholder.methods.time_marks import (
    MarkableOptions,
    Marks,
    mark_extra,
    mark_problems,
    marks_in_language,
    marks_option,
    with_marks,
)


class AcrOptions(MarkableOptions):
    """Options of `acr`."""

    marks: Marks = marks_option()


class Acr(SingleMethod):
    """One stimulus at a time, rated after its end."""

    name: ClassVar[str] = "acr"
    shows_first: ClassVar[bool] = True
    media: ClassVar[frozenset[Medium]] = frozenset({"video", "audio", "image", "text"})
    scales: ClassVar[tuple[str, ...]] = ("acr5", "acr9", "acr11", "cont100")
    Options: ClassVar[type[BaseModel]] = AcrOptions
    analyses: ClassVar[tuple[str, ...]] = ("scores", "pairs")
    defaults: ClassVar[Mapping[str, Json]] = {"playback": {"fullscreen": True}, "design": {"contents": "apart"}}
    paper: ClassVar[Paper] = Paper(
        "absolute category rating (ACR)",
        "Stimuli were shown one at a time and rated after their end",
        ("itu-p910", "naderi2022"),
    )
    scoring: ClassVar[Scoring] = Scoring(
        {
            "score": Metric("MOS(ACR)", "Mean opinion score: the mean of the votes."),
            "dmos": Metric(
                "DMOS(ACR)",
                "Votes against votes on the original of that content, which is one of the conditions, plus the "
                "highest vote of the scale.",
            ),
        },
        citation=P910_CITATION,
    )

    def problems(self, study: Study, catalogue: Catalogue) -> Iterable[Problem]:
        yield from super().problems(study, catalogue)
        yield from mark_problems(self.name, study, catalogue)

    def compose(self, study: Study, unit: Unit, catalogue: Catalogue, rng: Generator) -> Trial:
        return with_marks(super().compose(study, unit, catalogue, rng), study)

    def in_language(self, trial: Trial, study: Study) -> Trial:
        """Return a trial with the words of its marks in the language of a study."""
        return marks_in_language(trial, study)

    def extra(self, trial: Trial) -> Mapping[str, Json]:
        return mark_extra(trial)


acr = Acr()
