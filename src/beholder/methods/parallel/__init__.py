"""parallel: many stimuli of one content, one slider each (HEMVIP; Jonell et al. 2021, sections 3 and 4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar, Literal

from pydantic import Field

from beholder.methods.contract import (
    BaseModel,
    Catalogue,
    Generator,
    Json,
    Medium,
    Part,
    Problem,
    Slot,
    Study,
    Trial,
    Unit,
    Units,
)
from beholder.methods.scores import ScoreMethod


class ParallelOptions(Part):
    """Options of `parallel`."""

    layout: Literal["turns", "rows"] = Field(
        default="turns",
        description="Several questions: one set of sliders after the other (`turns`), or all at once (`rows`).",
    )


class Parallel(ScoreMethod):
    """Many stimuli of one content on one page, one slider each."""

    name: ClassVar[str] = "parallel"
    media: ClassVar[frozenset[Medium]] = frozenset({"video"})
    scales: ClassVar[tuple[str, ...]] = ("cont100",)
    Options: ClassVar[type[BaseModel]] = ParallelOptions
    analyses: ClassVar[tuple[str, ...]] = ("scores", "pairs")
    defaults: ClassVar[Mapping[str, Json]] = {"design": {"contents": "once"}}

    def problems(self, study: Study, catalogue: Catalogue) -> Iterable[Problem]:
        if not self.questions(study):
            yield Problem("questions", f"are missing, and {self.name} asks at least one", "a list of {id, text, scale}")
        slots = study.design.per_trial or len(catalogue.conditions)
        if slots < 2:
            yield Problem("design.per_trial", f"is {slots}, and {self.name} compares at least two", "2 or more")
        for index, question in enumerate(study.questions):
            if question.scale.look != "slider":
                yield Problem(
                    f"questions.{index}.scale", "has the look radio, and each video gets a slider", "look: slider"
                )

    def units(self, study: Study, catalogue: Catalogue) -> Units:
        items = []
        for content in catalogue.contents:
            cells = [catalogue.by_cell.get((content, condition)) for condition in catalogue.conditions]
            items.append(Unit(content, tuple(stimulus.id for stimulus in cells if stimulus)))
        per_trial = study.design.per_trial or len(catalogue.conditions)
        return Units(kind="content", items=tuple(items), per_trial=per_trial, shuffle="slots")

    def compose(self, study: Study, unit: Unit, catalogue: Catalogue, rng: Generator) -> Trial:
        return Trial(
            id=unit.content,
            content=unit.content,
            purpose="rate",
            slots=tuple(
                Slot(f"s{n}", stimulus, catalogue.by_id[stimulus].role, None, True, None)
                for n, stimulus in enumerate(unit.stimuli, 1)
            ),
            asked=self.asked(study),
            draws={"layout": study.options.get("layout", "turns")},
        )

    def extra(self, trial: Trial) -> Mapping[str, Json]:
        return {"layout": trial.draws["layout"]}

    def seconds(self, trial: Trial, catalogue: Catalogue) -> float:
        # HEMVIP: 8 clips of 10 s took 176 s a page, that is 22 s a clip with going back and forth.
        watching = sum(catalogue.by_id[slot.stimulus].probe.duration_ms for slot in trial.slots) / 1000
        return 1.4 * watching + 8 * len(trial.slots) * len(trial.asked)


parallel = Parallel()
