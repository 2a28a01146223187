"""pair: two stimuli of one content; which one is better? (ITU-T P.910, pair comparison)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import Field

from beholder.methods.choices import ChoiceMethod
from beholder.methods.contract import BaseModel, Json, Medium, Paper
from beholder.methods.presentation import PreferenceOptions
from beholder.methods.views import ViewOptions


class PairOptions(ViewOptions, PreferenceOptions):
    """Options of `pair`."""

    presentation: Literal["sequential", "side-by-side", "free"] | None = Field(
        default=None,
        description="One after the other, both at once on one clock (not for audio), or behind buttons in any order. "
        "Left out, texts are side by side and everything else comes one after the other.",
    )


class Pair(ChoiceMethod):
    """Two stimuli of one content, and a choice between them."""

    name: ClassVar[str] = "pair"
    shows_first: ClassVar[bool] = True
    media: ClassVar[frozenset[Medium]] = frozenset({"video", "audio", "image", "text"})
    scales: ClassVar[tuple[str, ...]] = ("pref2", "pref3")
    Options: ClassVar[type[BaseModel]] = PairOptions
    analyses: ClassVar[tuple[str, ...]] = ("scores", "pairs")
    defaults: ClassVar[Mapping[str, Json]] = {"design": {"contents": "apart"}}
    paper: ClassVar[Paper] = Paper("pair comparison", "Of two stimuli of the same content participants chose one")


pair = Pair()
