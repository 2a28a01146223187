"""dscqs: two versions in turn, twice, and a continuous scale for each; one is the reference (ITU-R BT.500)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import ClassVar

from pydantic import Field

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
)
from beholder.methods.differences import DifferenceMethod
from beholder.methods.presentation import Gap, public_draws, seconds_shown
from beholder.methods.views import unfit_views

_PASSES = 2


class DscqsOptions(StudyPart):
    """Options of `dscqs`."""

    unfit = unfit_views("dscqs", "ITU-R BT.500 shows the two in turn, and then both once more")

    gap: Gap = Field(default=1.0, description="Seconds of grey between two plays.")


class Dscqs(DifferenceMethod):
    """The reference and a version of it in either order, shown twice, each with a slider of its own.

    The rating is the score of the stimulus under test minus that of the reference in the same trial: 0 is as good as
    the reference, below zero is worse.
    """

    name: ClassVar[str] = "dscqs"
    shows_first: ClassVar[bool] = True
    task: ClassVar[Task] = "compare"
    media: ClassVar[frozenset[Medium]] = frozenset({"video", "image", "audio"})
    scales: ClassVar[tuple[str, ...]] = ("cont100",)
    hides: ClassVar[str] = "hides one beside each of the others"
    Options: ClassVar[type[BaseModel]] = DscqsOptions
    analyses: ClassVar[tuple[str, ...]] = ("scores", "pairs")
    defaults: ClassVar[Mapping[str, Json]] = {"playback": {"fullscreen": True}, "design": {"contents": "apart"}}
    paper: ClassVar[Paper] = Paper(
        "the double-stimulus continuous quality scale (DSCQS)",
        "The reference and a version of it were shown twice in either order, without being named, and each was scored "
        "on a continuous scale",
        ("itu-bt500",),
    )
    scoring: ClassVar[Scoring] = Scoring(
        {
            "diff": Metric(
                "DSCQS difference",
                "Mean of each participant's score minus the same participant's score of the reference in the same "
                "trial: 0 is as good as the reference, below zero worse.",
                MetricWords(heading="Differences from the reference (DSCQS)"),
            )
        },
        short="DSCQS",
        citation="ITU-R BT.500-15 (05/2023), DSCQS, with the sign turned",
    )

    def problems(self, study: Study, catalogue: Catalogue) -> Iterable[Problem]:
        yield from super().problems(study, catalogue)
        most = study.playback.max_plays
        if most is not None and most < _PASSES:
            what = f"is {most}, and {self.name} shows everything twice"
            yield Problem("playback.max_plays", what, "2 or more", "Leave it out.")

    def compose(self, study: Study, unit: Unit, catalogue: Catalogue, rng: Generator) -> Trial:
        trial = super().compose(study, unit, catalogue, rng)
        shown: dict[str, Json] = {"presentation": "sequential", "gap": study.options.get("gap", 1.0)}
        return replace(trial, draws={**trial.draws, **shown}, passes=_PASSES)

    def extra(self, trial: Trial) -> Mapping[str, Json]:
        return public_draws(trial)

    def seconds(self, trial: Trial, catalogue: Catalogue) -> float:
        return trial.passes * seconds_shown(trial, catalogue) + 3 + 10 * len(trial.asked)


dscqs = Dscqs()
