"""acr: one stimulus, then one vote (absolute category rating, ITU-T P.910 clause 8.1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from beholder.methods.boards import SingleMethod
from beholder.methods.contract import BaseModel, Json, Medium, Metric, Paper, Scoring, StudyPart
from beholder.methods.presentation import P910_CITATION


class AcrOptions(StudyPart):
    """Options of `acr`: none."""


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


acr = Acr()
