"""rank: several stimuli of one content, put in order from the best to the worst."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, cast

from pydantic import Field

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
    Trial,
)
from beholder.methods.orders import Order, OrderMethod, PageScores, only, places_on_pages, scores_of_places
from beholder.methods.scores import exact_object


class RankOptions(StudyPart):
    """Options of `rank`."""

    ties: bool = Field(default=False, description="Two or more may share a place.")
    partial: bool = Field(
        default=False,
        description="People may stop after the best ones; those that they leave out share the last places.",
    )


class Rank(OrderMethod):
    """Several stimuli of one content on one page, put in order."""

    name: ClassVar[str] = "rank"
    shape: ClassVar[str] = '{"choices": {"q1": {"order": [["s2"], ["s1"], ["s3"]]}}}'
    Options: ClassVar[type[BaseModel]] = RankOptions
    paper: ClassVar[Paper] = Paper(
        "ranking",
        "Versions of the same content were on one page, to be played in any order, and participants put them in order "
        "from the best to the worst",
        ("marden1995",),
    )
    scoring: ClassVar[Scoring] = Scoring(
        {
            "score": Metric(
                "Rank score",
                "Mean place on its pages, as a number from -1 (always last) to 1 (always first); those that share a "
                "place have the mean of their places.",
                MetricWords(heading="Rank scores"),
            ),
        },
        citation="Marden (1995), Analyzing and Modeling Rank Data",
    )

    def draws(self, study: Study) -> dict[str, Json]:
        return {name: bool(study.options.get(name)) for name in RankOptions.model_fields}

    def read_choice(self, trial: Trial, slots: Sequence[str], choice: Json, where: str) -> Json:
        order = exact_object(choice, ["order"], where, "choices")["order"]
        where = f"{where}.order"
        if not isinstance(order, list | tuple) or not all(isinstance(group, list | tuple) and group for group in order):
            raise Refused.because("unreadable_order", where=where, allowed='lists of slots, such as [["s2"], ["s1"]]')
        ranked: list[Json] = [slot for group in order if isinstance(group, list | tuple) for slot in group]
        for slot in ranked:
            if not isinstance(slot, str) or slot not in slots:
                raise Refused.because("not_a_slot", where=where, allowed=", ".join(slots), slot=slot)
            if ranked.count(slot) > 1:
                raise Refused.because("placed_twice", where=where, allowed="every slot once", slot=slot)
        if len(order) < len(ranked) and not trial.draws.get("ties"):
            raise Refused.because("shared_place", where=where, allowed="one slot for each place")
        if len(ranked) < (1 if trial.draws.get("partial") else len(slots)):
            allowed = "at least one slot" if trial.draws.get("partial") else f"all of {', '.join(slots)}"
            raise Refused.because("not_all_placed", where=where, allowed=allowed)
        return {"order": [[one for one in slots if one in cast("list[Json]", group)] for group in order]}

    def order(self, trial: Trial, slots: Sequence[str], choice: Mapping[str, Any]) -> Order:
        ranked = {slot for group in choice["order"] for slot in group}
        return only([*choice["order"], [slot for slot in slots if slot not in ranked]], slots)

    def choose(self, trial: Trial, order: Order) -> Json:
        return {"order": [sorted(group, key=lambda slot: int(slot[1:])) for group in order]}

    def page_scores(self, study: Study) -> PageScores:
        ties = bool(study.options.get("ties"))
        return lambda strengths, pages: scores_of_places(*places_on_pages(strengths, pages, ties=ties))


rank = Rank()
