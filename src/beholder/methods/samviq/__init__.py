"""samviq: versions behind buttons beside their reference, in any order, scored one by one (after ITU-R BT.1788)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

from pydantic import Field

from beholder.methods.boards import (
    anchor_problems,
    anchors,
    board_problems,
    board_seconds,
    board_units,
    rated_slots,
    shown_reference,
)
from beholder.methods.contract import (
    BaseModel,
    Catalogue,
    Generator,
    Json,
    Medium,
    Metric,
    MetricWords,
    Paper,
    Problem,
    Scoring,
    Study,
    StudyPart,
    Task,
    Trial,
    Unit,
    Units,
)
from beholder.methods.presentation import medium_problems, question_problems, reference_problems
from beholder.methods.scores import ScoreMethod


class SamviqOptions(StudyPart):
    """Options of `samviq`."""

    anchors: tuple[str, ...] = Field(
        default=(),
        description="Conditions that are bad on purpose and in every trial: names of conditions, or recipes that "
        "are made from the reference, as in `mushra`.",
    )


class Samviq(ScoreMethod):
    """All versions of a content beside their reference; only the one that was played last can be scored."""

    name: ClassVar[str] = "samviq"
    task: ClassVar[Task] = "board"
    media: ClassVar[frozenset[Medium]] = frozenset({"video", "image", "audio"})
    scales: ClassVar[tuple[str, ...]] = ("cont100",)
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
        citation="ITU-T P.913 (06/2021), SAMVIQ, after ITU-R BT.1788",
    )

    def problems(self, study: Study, catalogue: Catalogue) -> Iterable[Problem]:
        yield from question_problems(self.name, self.questions(study))
        yield from medium_problems(self.name, self.media, catalogue)
        yield from reference_problems(self.name, catalogue, "shows one beside the others")
        yield from anchor_problems(study, catalogue)
        yield from board_problems(self.name, study, self.units(study, catalogue))
        if study.playback.watch != "whole":
            what = f"is {study.playback.watch}, and {self.name} opens a slider when all was played"
            yield Problem("playback.watch", what, "whole", "Leave it out, or use method: mushra.")
        if study.playback.switching != "restart":
            what = f"is {study.playback.switching}, and {self.name} plays each version from its beginning"
            yield Problem("playback.switching", what, "restart", "Leave it out, or use method: mushra.")

    def units(self, study: Study, catalogue: Catalogue) -> Units:
        references = dict.fromkeys(stimulus.condition for stimulus in catalogue.references.values())
        return board_units(study, catalogue, always=(*references, *anchors(study, catalogue)))

    def compose(self, study: Study, unit: Unit, catalogue: Catalogue, rng: Generator) -> Trial:
        return Trial(
            id=unit.content,
            content=unit.content,
            purpose="rate",
            slots=(shown_reference(unit, catalogue), *rated_slots(study, unit, catalogue, first=2)),
            asked=self.asked(study),
        )

    def seconds(self, trial: Trial, catalogue: Catalogue) -> float:
        return board_seconds(trial, catalogue)


samviq = Samviq()
