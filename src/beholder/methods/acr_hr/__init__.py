"""acr-hr: one stimulus, then one vote, the reference among them unnamed (ITU-T P.910, formerly P.913 clause 7.2.2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import ClassVar

from beholder.methods.boards import SingleMethod
from beholder.methods.contract import (
    BaseModel,
    Catalogue,
    Json,
    Medium,
    Metric,
    Paper,
    Problem,
    Scoring,
    Study,
    StudyPart,
    Units,
)
from beholder.methods.presentation import P910_CITATION, reference_problems, stimuli_under_test


class AcrHrOptions(StudyPart):
    """Options of `acr-hr`: none."""


class AcrHr(SingleMethod):
    """One stimulus at a time; each participant also rates the reference of its content, some trials away."""

    name: ClassVar[str] = "acr-hr"
    shows_first: ClassVar[bool] = True
    media: ClassVar[frozenset[Medium]] = frozenset({"video", "audio", "image", "text"})
    scales: ClassVar[tuple[str, ...]] = ("acr5", "acr9", "acr11", "cont100")
    Options: ClassVar[type[BaseModel]] = AcrHrOptions
    analyses: ClassVar[tuple[str, ...]] = ("scores", "pairs", "dmos")
    defaults: ClassVar[Mapping[str, Json]] = {"playback": {"fullscreen": True}, "design": {"contents": "apart"}}
    paper: ClassVar[Paper] = Paper(
        "absolute category rating with hidden reference (ACR-HR)",
        "Stimuli were shown one at a time, the reference of each content among them without being named, and "
        "rated after their end",
        ("itu-p910", "naderi2022"),
    )
    scoring: ClassVar[Scoring] = Scoring(
        {
            "score": Metric("MOS(ACR-HR)", "Mean opinion score of every condition, the hidden reference among them."),
            "dmos": Metric(
                "DMOS(ACR-HR)",
                "Mean of each participant's vote minus the same participant's vote on the hidden reference of that "
                "content, plus the highest vote of the scale.",
            ),
        },
        citation=P910_CITATION,
    )

    def problems(self, study: Study, catalogue: Catalogue) -> Iterable[Problem]:
        yield from super().problems(study, catalogue)
        yield from reference_problems(self.name, catalogue, "hides one among the others")
        if study.design.contents == "once":
            what = f"is once, and {self.name} shows a content and its reference in one session"
            yield Problem("design.contents", what, "apart or free", "Leave it out.")

    def units(self, study: Study, catalogue: Catalogue) -> Units:
        references = catalogue.references
        companions = {
            stimulus.id: (references[stimulus.content].id,)
            for stimulus in stimuli_under_test(catalogue)
            if stimulus.content in references
        }
        return replace(super().units(study, catalogue), companions=companions, apart=2)


acr_hr = AcrHr()
