"""best-worst: several stimuli of one content, of which the best and the worst are marked (best-worst scaling)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from beholder.methods.contract import (
    BaseModel,
    Json,
    Metric,
    MetricWords,
    Paper,
    Refused,
    Scoring,
    Study,
    StudyPart,
    Task,
    Trial,
)
from beholder.methods.orders import Order, OrderMethod, PageScores, only, places_on_pages
from beholder.methods.scores import exact_object

_MARKS = ("best", "worst")


class BestWorstOptions(StudyPart):
    """Options of `best-worst`: none."""


class BestWorst(OrderMethod):
    """Several stimuli of one content on one page; the best and the worst are marked."""

    name: ClassVar[str] = "best-worst"
    task: ClassVar[Task] = "extremes"
    usual: ClassVar[int] = 4
    shape: ClassVar[str] = '{"choices": {"q1": {"best": "s1", "worst": "s4"}}}'
    Options: ClassVar[type[BaseModel]] = BestWorstOptions
    paper: ClassVar[Paper] = Paper(
        "best-worst scaling",
        "Versions of the same content were on one page, to be played in any order, and participants marked the best "
        "and the worst of them",
        ("louviere2015",),
    )
    scoring: ClassVar[Scoring] = Scoring(
        {
            "score": Metric(
                "Best-worst score",
                "How often it was marked best minus how often worst, as a share of the pages that showed it: from -1 "
                "(always the worst) to 1 (always the best).",
                MetricWords(heading="Best-worst scores"),
            ),
        },
        citation="Louviere et al. (2015), Best-Worst Scaling",
    )

    def read_choice(self, trial: Trial, slots: Sequence[str], choice: Json, where: str) -> Json:
        marks = exact_object(choice, _MARKS, where, "choices")
        for mark in _MARKS:
            if not isinstance(marks[mark], str) or marks[mark] not in slots:
                allowed = ", ".join(slots)
                raise Refused.because("not_a_slot", where=f"{where}.{mark}", allowed=allowed, slot=marks[mark])
        if marks["best"] == marks["worst"]:
            allowed = "two slots"
            raise Refused.because("best_is_worst", where=f"{where}.worst", allowed=allowed, slot=marks["best"])
        return {mark: marks[mark] for mark in _MARKS}

    def order(self, trial: Trial, slots: Sequence[str], choice: Mapping[str, Any]) -> Order:
        between = [slot for slot in slots if slot not in choice.values()]
        return only([[choice["best"]], between, [choice["worst"]]], slots)

    def choose(self, trial: Trial, order: Order) -> Json:
        return {"best": order[0][0], "worst": order[-1][-1]}

    def page_scores(self, study: Study) -> PageScores:
        def scores(strengths: Any, pages: Any) -> Any:
            places, counts = places_on_pages(strengths, pages)
            return np.where(places == 1, 1.0, np.where(places == counts, -1.0, 0.0))

        return scores


best_worst = BestWorst()
