"""bs1116: a reference beside two versions, one of them the reference again, each with a grade (ITU-R BS.1116)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, ClassVar, cast

import numpy as np
from pydantic import Field

from beholder.methods.boards import board_seconds, shown_reference
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
    Refused,
    Scoring,
    Study,
    StudyPart,
    Task,
    Trial,
    Unit,
)
from beholder.methods.differences import DifferenceMethod, Floats
from beholder.methods.presentation import sound_problems


class Bs1116Options(StudyPart):
    """Options of `bs1116`."""

    strict: bool = Field(
        default=True, description="Sounds of one content have the same length, sample rate and channels."
    )


class Bs1116(DifferenceMethod):
    """A stimulus and its reference behind two buttons, beside the reference under its name; one of the two gets 5.0.

    The rating is the difference grade: the grade of the stimulus minus that of the hidden reference.
    """

    name: ClassVar[str] = "bs1116"
    task: ClassVar[Task] = "board"
    media: ClassVar[frozenset[Medium]] = frozenset({"audio", "video"})
    scales: ClassVar[tuple[str, ...]] = ("grade5",)
    hides: ClassVar[str] = "shows one, and hides it once more beside each of the others"
    Options: ClassVar[type[BaseModel]] = Bs1116Options
    analyses: ClassVar[tuple[str, ...]] = ("scores", "pairs")
    defaults: ClassVar[Mapping[str, Json]] = {
        "playback": {"switching": "keep", "loop": "region"},
        "design": {"contents": "apart"},
        "checks": {"expertise": True},
    }
    paper: ClassVar[Paper] = Paper(
        "a double-blind triple-stimulus test with hidden reference (ITU-R BS.1116)",
        "Each version of a content was behind one of two unnamed buttons, the reference once more behind the other, "
        "and both were graded against the reference, which was there under its name; one of the two had to get the "
        "highest grade",
        ("itu-bs1116",),
        names_reference=True,
    )
    scoring: ClassVar[Scoring] = Scoring(
        {
            "diff": Metric(
                "Difference grade (SDG)",
                "Mean subjective difference grade: each participant's grade minus the grade of the hidden reference in "
                "the same trial. 0 is as good as the reference, below zero is impaired; above zero the reference was "
                "taken for the version.",
                MetricWords(unit="grades", heading="Difference grades (SDG)"),
            )
        },
        short="BS.1116",
        citation="ITU-R BS.1116-3 (02/2015), difference grades",
    )

    def problems(self, study: Study, catalogue: Catalogue) -> Iterable[Problem]:
        yield from super().problems(study, catalogue)
        for index, question in enumerate(study.questions):
            if question.keyed == "-":
                what = f"is -, and in {self.name} the reference gets the highest grade"
                yield Problem(f"questions.{index}.keyed", what, "+", "Leave it out.")
        if study.options.get("strict", True):
            yield from sound_problems(study, catalogue)

    def compose(self, study: Study, unit: Unit, catalogue: Catalogue, rng: Generator) -> Trial:
        trial = super().compose(study, unit, catalogue, rng)
        hidden = [slot._replace(id=f"s{place}") for place, slot in enumerate(trial.slots, 2)]
        return replace(trial, slots=(shown_reference(unit, catalogue), *hidden))

    def read(self, trial: Trial, answer: Json) -> Json:
        read = super().read(trial, answer)
        given = cast("Mapping[str, Any]", read)
        for asked in trial.asked:
            # With one that would not play there is no choice, and no difference.
            if "missing" not in given and asked.scale.max not in given["scores"][asked.id].values():
                allowed = f"{asked.scale.max:g} for one of them, or for both"
                raise Refused.because("none_is_best", where=f"answer.scores.{asked.id}", allowed=allowed)
        return read

    def felt(self, strengths: Floats) -> Floats:
        # The stronger one is taken for the reference, and the other is as far below the top as it is below that one.
        return np.asarray(1 - (strengths.max(axis=0) - strengths), np.float64)

    def seconds(self, trial: Trial, catalogue: Catalogue) -> float:
        return board_seconds(trial, catalogue)


bs1116 = Bs1116()
