"""samviq: versions behind buttons beside their reference, in any order, scored one by one (after ITU-R BT.1788)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

from pydantic import Field

from beholder.methods.boards import ReferenceBoard
from beholder.methods.contract import (
    BaseModel,
    Catalogue,
    Json,
    Medium,
    Metric,
    MetricWords,
    Paper,
    Problem,
    Scoring,
    Study,
    StudyPart,
)


class SamviqOptions(StudyPart):
    """Options of `samviq`."""

    anchors: tuple[str, ...] = Field(
        default=(),
        description="Conditions that are bad on purpose and in every trial: names of conditions, or recipes that "
        "are made from the reference, as in `mushra`.",
    )


class Samviq(ReferenceBoard):
    """All versions of a content beside their reference; only the one that was played last can be scored."""

    name: ClassVar[str] = "samviq"
    media: ClassVar[frozenset[Medium]] = frozenset({"video", "image", "audio"})
    Options: ClassVar[type[BaseModel]] = SamviqOptions
    analyses: ClassVar[tuple[str, ...]] = ("scores", "pairs")
    defaults: ClassVar[Mapping[str, Json]] = {"playback": {"switching": "restart"}, "design": {"contents": "once"}}
    paper: ClassVar[Paper] = Paper(
        "a method after SAMVIQ",
        "All versions of a content stood behind buttons beside the reference, among them the reference once more, "
        "unnamed; they were played whole, in any order and as often as wanted, and only the one played last could be "
        "scored, the last score being kept",
        ("itu-p913",),
        names_reference=True,
    )
    scoring: ClassVar[Scoring] = Scoring(
        {
            "score": Metric(
                "SAMVIQ mean",
                "Mean of the last scores, the hidden reference among the conditions.",
                MetricWords(heading="SAMVIQ means"),
            )
        },
        short="SAMVIQ",
        controls_reference=True,
        citation="ITU-T P.913 (06/2021), SAMVIQ, after ITU-R BT.1788",
    )

    def problems(self, study: Study, catalogue: Catalogue) -> Iterable[Problem]:
        yield from super().problems(study, catalogue)
        if study.playback.watch != "whole":
            what = f"is {study.playback.watch}, and {self.name} opens a slider when all was played"
            yield Problem("playback.watch", what, "whole", "Leave it out, or use method: mushra.")
        if study.playback.switching != "restart":
            what = f"is {study.playback.switching}, and {self.name} plays each version from its beginning"
            yield Problem("playback.switching", what, "restart", "Leave it out, or use method: mushra.")


samviq = Samviq()
