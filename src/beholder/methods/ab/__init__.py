"""ab: two conditions, one attribute; which one has more of it? (A/B test, ReSEval)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar, Literal

from pydantic import Field

from beholder.methods.choices import ChoiceMethod
from beholder.methods.contract import BaseModel, Catalogue, Json, Medium, Paper, Problem, Scoring, Study
from beholder.methods.presentation import PreferenceOptions
from beholder.methods.views import ViewOptions


class AbOptions(ViewOptions, PreferenceOptions):
    """Options of `ab`."""

    presentation: Literal["free", "sequential", "side-by-side"] = Field(
        default="free",
        description="Behind buttons in any order, one after the other, or both at once on one clock (not for audio).",
    )


class Ab(ChoiceMethod):
    """The same content under two conditions, and a choice between them."""

    name: ClassVar[str] = "ab"
    media: ClassVar[frozenset[Medium]] = frozenset({"video", "audio", "image", "text"})
    scales: ClassVar[tuple[str, ...]] = ("pref2", "pref3")
    Options: ClassVar[type[BaseModel]] = AbOptions
    analyses: ClassVar[tuple[str, ...]] = ("scores", "pairs")
    defaults: ClassVar[Mapping[str, Json]] = {"design": {"contents": "apart"}}
    paper: ClassVar[Paper] = Paper(
        "an A/B test", "Of two stimuli of the same content participants chose one", ("morrison2022",)
    )
    scoring: ClassVar[Scoring] = Scoring(short="AB")

    def problems(self, study: Study, catalogue: Catalogue) -> Iterable[Problem]:
        yield from super().problems(study, catalogue)
        count = len(catalogue.conditions)
        if count != 2:
            what = f"are {count}, and {self.name} compares two"
            yield Problem("conditions", what, "two conditions", "For all pairs of more, use method: pair.")


ab = Ab()
