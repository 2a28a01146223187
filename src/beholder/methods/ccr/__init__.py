"""ccr: two stimuli in either order; how is the second, compared with the first? (ITU-T P.910 clause 8.3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar, Literal

from beholder.methods.choices import ChoiceMethod
from beholder.methods.contract import BaseModel, Catalogue, Json, Medium, Paper, Problem, Scoring, Study, Units
from beholder.methods.pairs import pair_units, reference_units
from beholder.methods.presentation import P910_CITATION, TwoStimuliOptions, reference_problems
from beholder.methods.views import ViewOptions


class CcrOptions(ViewOptions, TwoStimuliOptions):
    """Options of `ccr`."""


class Ccr(ChoiceMethod):
    """Two stimuli are compared with a grade; the reference is not named."""

    name: ClassVar[str] = "ccr"
    shows_first: ClassVar[bool] = True
    media: ClassVar[frozenset[Medium]] = frozenset({"video", "audio", "image", "text"})
    scales: ClassVar[tuple[str, ...]] = ("ccr7", "ccr5", "ccr9")
    kind: ClassVar[Literal["diff", "choice"]] = "diff"
    Options: ClassVar[type[BaseModel]] = CcrOptions
    analyses: ClassVar[tuple[str, ...]] = ("scores", "pairs")
    defaults: ClassVar[Mapping[str, Json]] = {"playback": {"fullscreen": True}, "design": {"contents": "apart"}}
    paper: ClassVar[Paper] = Paper(
        "comparison category rating (CCR)",
        "Stimuli were shown in pairs, and the second was rated against the first",
        ("itu-p910", "naderi2022"),
    )
    scoring: ClassVar[Scoring] = Scoring(short="CCR", citation=P910_CITATION)

    def problems(self, study: Study, catalogue: Catalogue) -> Iterable[Problem]:
        yield from super().problems(study, catalogue)
        if catalogue.references:
            yield from reference_problems(self.name, catalogue, "compares with it")

    def units(self, study: Study, catalogue: Catalogue) -> Units:
        items = reference_units(catalogue) if catalogue.references else pair_units(study, catalogue)
        return Units(kind="pair", items=items, per_trial=2, shuffle="order")


ccr = Ccr()
