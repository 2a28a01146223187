"""pair: two stimuli of one content; which one is better? (ITU-T P.910, pair comparison)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import Field

from beholder.methods.choices import ChoiceMethod
from beholder.methods.contract import BaseModel, Catalogue, Json, Medium, Study, Units
from beholder.methods.pairs import pair_units
from beholder.methods.presentation import PreferenceOptions


class PairOptions(PreferenceOptions):
    """Options of `pair`."""

    presentation: Literal["sequential", "side-by-side", "free"] = Field(
        default="sequential",
        description="One after the other, both at once on one clock (not for audio), or behind buttons in any order.",
    )


class Pair(ChoiceMethod):
    """Two stimuli of one content, and a choice between them."""

    name: ClassVar[str] = "pair"
    media: ClassVar[frozenset[Medium]] = frozenset({"video", "audio", "image", "text"})
    scales: ClassVar[tuple[str, ...]] = ("pref2", "pref3")
    Options: ClassVar[type[BaseModel]] = PairOptions
    analyses: ClassVar[tuple[str, ...]] = ("scores", "pairs")
    defaults: ClassVar[Mapping[str, Json]] = {"design": {"contents": "apart"}}

    def units(self, study: Study, catalogue: Catalogue) -> Units:
        return Units(kind="pair", items=pair_units(study, catalogue), per_trial=2, shuffle="order")


pair = Pair()
