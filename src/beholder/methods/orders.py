"""Pages whose stimuli are put in order: all of them, or the best and the worst of them.

An order is a list of groups, the best first; those of a group are tied. A score follows from it, from -1 for the last
place to 1 for the first, tied ones at the mean of their places: the counting score of best-worst scaling, and Borda's
count of rankings. Stimuli of checks take no place among the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from beholder.methods.boards import board_units, rated_slots
from beholder.methods.contract import (
    Asked,
    Catalogue,
    Generator,
    Json,
    Judgement,
    Medium,
    Percept,
    Problem,
    Refused,
    Study,
    Task,
    Trial,
    Unit,
    Units,
)
from beholder.methods.presentation import medium_problems, question_problems
from beholder.methods.scores import ScoreMethod, answer_parts, exact_object, read_comment, read_missing
from beholder.types import UNRATED_ROLES

MOST = 8
"""Stimuli on a page: with more nobody keeps all of them in mind."""

Floats = NDArray[np.float64]
Order = Sequence[Sequence[str]]
"""Slots, the best first; those of a group are tied."""
PageScores = Callable[[Floats, NDArray[np.int64]], Floats]
"""From how strong each slot is, and the number of its page, to its score."""


class OrderMethod(ScoreMethod):
    """Base of methods that put the stimuli of a page in order, by any question."""

    name: ClassVar[str]
    media: ClassVar[frozenset[Medium]] = frozenset({"video", "audio", "image", "text"})
    scales: ClassVar[tuple[str, ...]] = ("order",)
    task: ClassVar[Task] = "order"
    analyses: ClassVar[tuple[str, ...]] = ("scores", "pairs", "plackett_luce")
    defaults: ClassVar[Mapping[str, Json]] = {"design": {"contents": "once"}}
    usual: ClassVar[int] = MOST
    """Stimuli on a page, where the study does not say and has as many conditions."""
    shape: ClassVar[str]
    """An answer to show."""

    def order(self, trial: Trial, slots: Sequence[str], choice: Mapping[str, Any]) -> Order:
        """Return the order that a choice, as it was read, tells of these slots of a page."""
        raise NotImplementedError

    def read_choice(self, trial: Trial, slots: Sequence[str], choice: Json, where: str) -> Json:
        """Return a choice as it is kept, or raise Refused."""
        raise NotImplementedError

    def choose(self, trial: Trial, order: Order) -> Json:
        """Return the choice of somebody who sees this order."""
        raise NotImplementedError

    def page_scores(self, study: Study) -> PageScores:
        """Return how the scores of many pages at once follow from how strong their stimuli are to a robot."""
        raise NotImplementedError

    def problems(self, study: Study, catalogue: Catalogue) -> Iterable[Problem]:
        yield from question_problems(self.name, self.questions(study))
        yield from medium_problems(self.name, self.media, catalogue)
        units = self.units(study, catalogue)
        if units.items and max(len(unit.stimuli) for unit in units.items) < 2:
            what = f"give every page 1 stimulus, and {self.name} compares at least two"
            yield Problem("conditions", what, "two or more", "Add one, or use method: acr.")
        elif not 2 <= units.per_trial <= MOST:
            what = f"is {units.per_trial}, and {self.name} puts 2 to {MOST} in order"
            yield Problem("design.per_trial", what, f"2 to {MOST}")
        for index, question in enumerate(study.questions):
            if (question.scale.min, question.scale.max) != (-1, 1) and not question.ticks:
                what = f"is from {question.scale.min:g} to {question.scale.max:g}, and places are from -1 to 1"
                fix = "Leave it out, or write {min: -1, max: 1, labels: {-1: ..., 1: ...}, look: radio}."
                yield Problem(f"questions.{index}.scale", what, "order", fix)

    def units(self, study: Study, catalogue: Catalogue) -> Units:
        return board_units(study, catalogue, always=(), usual=self.usual, pairs_evenly=True)

    def compose(self, study: Study, unit: Unit, catalogue: Catalogue, rng: Generator) -> Trial:
        return Trial(
            id=unit.content,
            content=unit.content,
            purpose="rate",
            slots=rated_slots(study, unit, catalogue),
            asked=self.asked(study),
            draws={"presentation": "free", **self.draws(study)},
        )

    def draws(self, study: Study) -> dict[str, Json]:
        """Return the options that a trial keeps and its page knows."""
        return {}

    def extra(self, trial: Trial) -> Mapping[str, Json]:
        return trial.draws

    def seconds(self, trial: Trial, catalogue: Catalogue) -> float:
        # As on a page of sliders, people go back and forth; the answer itself takes a few seconds a stimulus.
        watching = sum(catalogue.by_id[slot.stimulus].probe.duration_ms for slot in trial.slots) / 1000
        return 1.4 * watching + 3 * len(trial.slots) * len(trial.asked)

    def read(self, trial: Trial, answer: Json) -> Json:
        given = answer_parts(answer, ("choices", "missing", "comment"), self.shape)
        missing = read_missing(trial, given.get("missing", {}))
        if missing:
            # The place of one that was not seen is not known, and so that of no other.
            if given.get("choices", {}) != {}:
                raise Refused.because(
                    "nothing_to_compare", where="answer.choices", allowed="{} where a slot is missing"
                )
            return {"choices": {}, "missing": missing, **read_comment(given)}
        choices = exact_object(given.get("choices"), [one.id for one in trial.asked], "answer.choices", "choices")
        slots = [slot.id for slot in trial.slots if slot.rated]
        read = {name: self.read_choice(trial, slots, one, f"answer.choices.{name}") for name, one in choices.items()}
        return {"choices": read, **read_comment(given)}

    def judgements(self, trial: Trial, answer: Json) -> tuple[Judgement, ...]:
        choices = cast("Mapping[str, Any]", answer)["choices"]
        return tuple(one for asked in trial.asked for one in self._judged(trial, asked, choices.get(asked.id)))

    def _judged(self, trial: Trial, asked: Asked, choice: Mapping[str, Any] | None) -> Iterator[Judgement]:
        """Yield the score of each slot: of a stimulus under test among those alone, of a check among all."""
        rated = [slot for slot in trial.slots if slot.rated]
        tested = [slot.id for slot in rated if slot.role not in UNRATED_ROLES]
        scores: dict[str, float] = {}
        if choice is not None:
            for slots in ([slot.id for slot in rated], tested):
                scores |= order_scores(self.order(trial, slots, choice))
        for slot in rated:
            if choice is not None and slot.id not in scores:
                continue  # alone on its page beside a check: it has no place
            value = scores.get(slot.id)
            yield Judgement(
                question=asked.question,
                kind="score",
                slot=slot.id,
                value=value,
                raw_value=value,
                scale_min=asked.scale.min,
                scale_max=asked.scale.max,
                keyed=-value + 0.0 if value is not None and asked.keyed == "-" else value,
                missing=None if value is not None else "media_error",
            )

    def respond(self, trial: Trial, percept: Percept, rng: Generator) -> Json:
        choices: dict[str, Json] = {}
        for asked in trial.asked:
            slots = [slot.id for slot in trial.slots if slot.rated]
            strengths = [min(1.0, max(0.0, percept[f"{asked.id}.{slot}"])) for slot in slots]
            sign = -1 if asked.keyed == "-" else 1
            has_ties = bool(trial.draws.get("ties"))
            choices[asked.id] = self.choose(trial, _felt_order(slots, [sign * one for one in strengths], has_ties))
        return {"choices": choices}


# Scores


def order_scores(order: Order) -> dict[str, float]:
    """Return the score of each slot by its place, from 1 for the first to -1 for the last; none where one is alone."""
    count = sum(map(len, order))
    scores: dict[str, float] = {}
    before = 0
    for group in order:
        place = before + (len(group) + 1) / 2
        if count > 1:
            scores |= dict.fromkeys(group, 1 - 2 * (place - 1) / (count - 1) + 0.0)
        before += len(group)
    return scores


def only(order: Order, slots: Sequence[str]) -> Order:
    """Return an order without other slots than these."""
    kept = [[slot for slot in group if slot in slots] for group in order]
    return [group for group in kept if group]


_STEPS = 20
"""Steps of strength that a robot tells apart, where ties are allowed."""


def _felt_order(slots: Sequence[str], strengths: Sequence[float], has_ties: bool) -> Order:
    """Return the order that a robot sees; of two that are the same to it the earlier slot is first, or they tie."""
    felt = felt_strengths(np.array(strengths), has_ties)
    order = sorted(range(len(slots)), key=lambda place: -felt[place])
    groups: list[list[str]] = []
    for at, place in enumerate(order):
        if has_ties and at and felt[place] == felt[order[at - 1]]:
            groups[-1].append(slots[place])
        else:
            groups.append([slots[place]])
    return groups


def felt_strengths(strengths: Floats, has_ties: bool) -> Floats:
    """Return strengths as a robot tells them apart: in steps where it may call two equally good."""
    return np.rint(strengths * _STEPS) / _STEPS if has_ties else strengths


def places_on_pages(strengths: Floats, pages: NDArray[np.int64], *, ties: bool = False) -> tuple[Floats, Floats]:
    """Return the place of each slot on its page, from 1, and how many the page has: `order_scores`, vectorised."""
    felt = felt_strengths(strengths, ties)
    order = np.lexsort((np.arange(len(felt)), -felt, pages))
    sizes = np.bincount(pages)
    first = (np.cumsum(sizes) - sizes)[pages[order]]
    places = np.empty(len(felt))
    places[order] = np.arange(len(felt)) - first + 1
    if ties:
        _, groups = np.unique(np.stack([pages, felt]), axis=1, return_inverse=True)
        groups = groups.ravel()
        places = (np.bincount(groups, places) / np.bincount(groups))[groups]
    return places, sizes[pages].astype(np.float64)


def scores_of_places(places: Floats, counts: Floats) -> Floats:
    """Return the scores of places on pages with this many."""
    return np.asarray(1 - 2 * (places - 1) / np.maximum(1, counts - 1), np.float64)
