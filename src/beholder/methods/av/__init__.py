"""av: sound, picture and the whole of one video, rated after one play or each after a play of its own (ITU-T P.913)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field

from beholder.methods.aspects import Aspect, AspectMethod, read_aspects
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
)
from beholder.methods.presentation import P910_CITATION


class AvOptions(StudyPart):
    """Options of `av`."""

    layout: Literal["page", "passes"] = Field(
        default="page",
        description="All three questions after one play (`page`), or each after a play of its own (`passes`).",
    )


class Av(AspectMethod):
    """One video with sound, rated for its sound, its picture and as a whole."""

    name: ClassVar[str] = "av"
    media: ClassVar[frozenset[Medium]] = frozenset({"video"})
    scales: ClassVar[tuple[str, ...]] = ("acr5", "acr9", "acr11", "cont100")
    aspects: ClassVar[tuple[Aspect, ...]] = read_aspects(Path(__file__).parent)
    Options: ClassVar[type[BaseModel]] = AvOptions
    analyses: ClassVar[tuple[str, ...]] = ("scores", "pairs")
    defaults: ClassVar[Mapping[str, Json]] = {"playback": {"fullscreen": True}, "design": {"contents": "apart"}}
    paper: ClassVar[Paper] = Paper(
        "audiovisual absolute category rating",
        "Videos were shown with their sound, one at a time, and rated for the sound, for the picture and as a whole",
        ("itu-p910", "itu-p913"),
    )
    scoring: ClassVar[Scoring] = Scoring(
        {
            "score": Metric(
                "MOS(AV)",
                "Mean opinion score of the sound, of the picture, or of both together: the mean of the votes.",
            )
        },
        short="AV",
        citation=P910_CITATION,
    )

    def is_in_passes(self, study: Study) -> bool:
        return study.options.get("layout") == "passes"

    def problems(self, study: Study, catalogue: Catalogue) -> Iterable[Problem]:
        yield from super().problems(study, catalogue)
        if study.playback.sound == "off":
            yield Problem("playback.sound", f"is off, and {self.name} asks about the sound", "on", "Leave it out.")
        silent = [one.id for one in catalogue.stimuli if one.medium == "video" and one.probe.audio_codec == ""]
        if silent:
            what = f"has no sound, as {len(silent)} of {len(catalogue.stimuli)} have, and {self.name} asks about it"
            yield Problem(f"stimulus {silent[0]}", what, "videos with sound", "Use method: acr for silent videos.")


av = Av()
