"""parallel: many stimuli of one content, one slider each (HEMVIP; Jonell et al. 2021, sections 3 and 4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar, Literal

from pydantic import Field

from beholder.methods.boards import (
    HEMVIP,
    anchor_problems,
    anchors,
    board_problems,
    board_seconds,
    board_units,
    rated_slots,
    reference_conditions,
    shown_reference,
)
from beholder.methods.contract import (
    BaseModel,
    Catalogue,
    Generator,
    Json,
    Medium,
    Paper,
    Problem,
    Scoring,
    Study,
    Task,
    Trial,
    Unit,
    Units,
)
from beholder.methods.presentation import medium_problems, question_problems, reference_problems
from beholder.methods.scores import ScoreMethod
from beholder.methods.time_marks import (
    MarkableOptions,
    Marks,
    mark_extra,
    mark_problems,
    marks_in_language,
    marks_option,
    with_marks,
)


class ParallelOptions(MarkableOptions):
    """Options of `parallel`."""

    layout: Literal["turns", "rows"] = Field(
        default="turns",
        description="Several questions: one set of sliders after the other (`turns`), or all at once (`rows`).",
    )
    reference: Literal["none", "shown", "hidden", "both"] = Field(
        default="none",
        description="The condition with role reference: like any other (`none`), `shown` under its name and not rated, "
        "`hidden` among the others of every trial, or `both`.",
    )
    anchors: tuple[str, ...] = Field(
        default=(),
        description="Conditions that are bad on purpose and in every trial: names of conditions, or recipes that "
        "are made from the reference: lowpass-3500 (audio), bitrate-200k, resolution-180, fps-7.5, blur-4 (video).",
    )
    marks: Marks = marks_option()


class Parallel(ScoreMethod):
    """Many stimuli of one content on one page, one slider each."""

    name: ClassVar[str] = "parallel"
    task: ClassVar[Task] = "board"
    media: ClassVar[frozenset[Medium]] = frozenset({"video", "audio", "image", "text"})
    scales: ClassVar[tuple[str, ...]] = ("cont100",)
    Options: ClassVar[type[BaseModel]] = ParallelOptions
    analyses: ClassVar[tuple[str, ...]] = ("scores", "pairs")
    defaults: ClassVar[Mapping[str, Json]] = {"design": {"contents": "once"}}
    paper: ClassVar[Paper] = Paper(
        "rating of several stimuli in parallel (HEMVIP)",
        "Versions of the same content were on one page, to be played in any order, each with a slider of its own",
        ("jonell2021",),
    )
    scoring: ClassVar[Scoring] = Scoring(citation=HEMVIP)

    def problems(self, study: Study, catalogue: Catalogue) -> Iterable[Problem]:
        yield from question_problems(self.name, self.questions(study))
        yield from medium_problems(self.name, self.media, catalogue)
        shown = study.options.get("reference", "none")
        if shown != "none":
            yield from reference_problems(self.name, catalogue, f"has options.reference: {shown}")
        yield from anchor_problems(study, catalogue)
        yield from board_problems(self.name, study, self.units(study, catalogue))
        yield from mark_problems(self.name, study, catalogue)

    def units(self, study: Study, catalogue: Catalogue) -> Units:
        shown = study.options.get("reference", "none")
        references = reference_conditions(catalogue)
        always = (*(references if shown in ("hidden", "both") else ()), *anchors(study, catalogue))
        return board_units(study, catalogue, always, *(references if shown == "shown" else ()))

    def compose(self, study: Study, unit: Unit, catalogue: Catalogue, rng: Generator) -> Trial:
        is_shown = study.options.get("reference", "none") in ("shown", "both")
        shown = (shown_reference(unit, catalogue),) if is_shown else ()
        trial = Trial(
            id=unit.content,
            content=unit.content,
            purpose="rate",
            slots=(*shown, *rated_slots(study, unit, catalogue, first=len(shown) + 1)),
            asked=self.asked(study),
            draws={"layout": study.options.get("layout", "turns")},
        )
        return with_marks(trial, study)

    def in_language(self, trial: Trial, study: Study) -> Trial:
        """Return a trial with the words of its marks in the language of a study."""
        return marks_in_language(trial, study)

    def extra(self, trial: Trial) -> Mapping[str, Json]:
        return {"layout": trial.draws["layout"], **mark_extra(trial)}

    def seconds(self, trial: Trial, catalogue: Catalogue) -> float:
        return board_seconds(trial, catalogue)


parallel = Parallel()
