"""p835: voice, background and the whole of one recording, each heard and rated by itself (ITU-T P.835)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from beholder.methods.aspects import Aspect, AspectMethod, read_aspects
from beholder.methods.contract import BaseModel, Json, Medium, Metric, Paper, Scoring, StudyPart


class P835Options(StudyPart):
    """Options of `p835`: none."""


class P835(AspectMethod):
    """One recording three times: how distorted the voice is, how intrusive the background, how good the whole."""

    name: ClassVar[str] = "p835"
    media: ClassVar[frozenset[Medium]] = frozenset({"audio"})
    scales: ClassVar[tuple[str, ...]] = ("sig5", "bak5", "acr5")
    aspects: ClassVar[tuple[Aspect, ...]] = read_aspects(Path(__file__).parent)
    Options: ClassVar[type[BaseModel]] = P835Options
    analyses: ClassVar[tuple[str, ...]] = ("scores", "pairs")
    defaults: ClassVar[Mapping[str, Json]] = {"design": {"contents": "apart"}}
    paper: ClassVar[Paper] = Paper(
        "the three ratings of ITU-T P.835",
        "Each recording was heard three times, and rated for the distortion of the voice, for the intrusiveness of the "
        "background and, last, as a whole; half of the participants rated the voice first, the others the background",
        ("itu-p835",),
    )
    scoring: ClassVar[Scoring] = Scoring(
        {
            "score": Metric(
                "MOS(P.835)",
                "Mean opinion score of one aspect: voice (SIG, 5 is not distorted), background (BAK, 5 is not "
                "noticeable), or the whole (OVRL, 5 is excellent).",
            )
        },
        short="P.835",
        citation="ITU-T P.835 (11/2003), mean opinion scores of signal, background and overall quality",
    )


p835 = P835()
