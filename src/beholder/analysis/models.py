"""What all rater models share: how they are called, and how their qualities become a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from beholder.analyse.models.votes import Asked, asked_votes, modelled_questions
from beholder.analyse.result import Result
from beholder.analyse.table import Ratings, as_ratings
from beholder.stats.rater_models.votes import Fitted, Votes

_KEYS = ["question", "stimulus", "content", "quality", "se", "low", "high"]


@dataclass(frozen=True)
class RaterModel:
    """A model of raters: how it is fitted, and what there is to say of it."""

    name: str
    fit: Callable[[Votes], Fitted]
    note: str
    """What it does with votes, and what its interval is."""
    citation: str
    remark: Callable[[Asked, Fitted], str] = lambda _asked, _found: ""
    """What a reader should know of the votes on a question under this model; empty where nothing is odd."""

    def result(self, data: pd.DataFrame | Ratings) -> Result | None:
        """Return the quality of every stimulus; None where no question has scores."""
        ratings = as_ratings(data)
        found = [(asked, self.fit(asked.votes)) for asked in each_question(ratings)]
        if not found:
            return None
        table = pd.concat([qualities(asked, fitted) for asked, fitted in found], ignore_index=True)
        return Result(table[_KEYS], " ".join([self.note, *self.remarks(found)]), self.citation)

    def remarks(self, found: Sequence[tuple[Asked, Fitted]]) -> list[str]:
        """Return what is odd, question by question."""
        told = [(asked.question, remark) for asked, fitted in found for remark in self._odd(asked, fitted)]
        return [f"{question}: {remark}" if len(found) > 1 else remark for question, remark in told]

    def _odd(self, asked: Asked, fitted: Fitted) -> list[str]:
        return [remark for remark in (self.remark(asked, fitted), unsettled(fitted), parted(fitted)) if remark]


def each_question(ratings: Ratings) -> list[Asked]:
    """Return the votes on every question that rater models can use."""
    return [asked_votes(ratings, name) for name in modelled_questions(ratings)]


def qualities(asked: Asked, fitted: Fitted) -> pd.DataFrame:
    """Return the quality of every stimulus of a question; without a vote that counts it has none."""
    return asked.stimuli.assign(
        question=asked.question, quality=fitted.quality, se=fitted.se, low=fitted.low, high=fitted.high
    )


def unsettled(fitted: Fitted) -> str:
    """Return a warning where a model stopped before nothing changed any more; empty where it had settled."""
    return "" if fitted.is_settled else f"It had not settled after {fitted.iterations:,} rounds."


def parted(fitted: Fitted) -> str:
    """Return a warning where groups of stimuli share no rater; empty where all hang together."""
    parts = len(np.unique(fitted.component))
    if parts < 2:
        return ""
    return (
        f"The stimuli fall into {parts} groups that share no participant: within a group qualities can be compared, "
        "between groups they differ by who happened to rate them. Bias is counted from the mean of each group."
    )
