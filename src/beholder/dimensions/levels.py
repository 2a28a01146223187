"""The levels on which questions can go together: between conditions, between stimuli, and within people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from beholder.analyse.items import Items
from beholder.dimensions.joined import Joined
from beholder.stats.centring import centred
from beholder.stats.clustered import Floats

Level: TypeAlias = Literal["condition", "stimulus", "answer", "within"]
LEVELS: tuple[Level, ...] = ("condition", "stimulus", "within")
MEANING = {
    "condition": "means of conditions",
    "stimulus": "means of stimuli",
    "answer": "what one participant said of one stimulus",
    "within": "what one participant said of one stimulus, without what is common to that stimulus or that participant",
}
NAMES = {"condition": "conditions", "stimulus": "stimuli", "answer": "answers", "within": "answers"}
"""What the rows of a level are."""
_SMALLEST = 1e-9


class Rows(NamedTuple):
    """Values of questions that stand in the same rows, without their means, or without more than these."""

    value: Floats
    taken: int
    """Degrees of freedom that went with what was taken off: 1 for the mean."""

    @property
    def worth(self) -> int:
        """As how many independent rows they count."""
        return len(self.value) - self.taken + 1

    @property
    def covariance(self) -> Floats:
        return np.asarray(self.value.T @ self.value / max(1, len(self.value) - self.taken), np.float64)

    @property
    def correlation(self) -> Floats:
        """Correlations; NaN for what does not vary."""
        sd = np.sqrt(np.diagonal(self.covariance))
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(np.clip(self.covariance / np.outer(sd, sd), -1.0, 1.0), np.float64)

    @property
    def varies(self) -> list[bool]:
        """Whether each column holds more than one value."""
        return [bool(one) for one in np.abs(self.value).max(axis=0, initial=0.0) > _SMALLEST]


def rows_of(joined: Joined, questions: Sequence[str], level: Level) -> Rows:
    """Return the rows of a level in which all of these questions have a value; none where nothing is known of it."""
    if level in ("condition", "stimulus"):
        frame = joined.by_condition if level == "condition" else joined.by_stimulus
        value = frame.to_numpy(float)[:, [joined.questions.index(name) for name in questions]]
        return _less_mean(value[~np.isnan(value).any(axis=1)])
    part = joined.part_of(questions)
    if part is None or part.items is None:
        return Rows(np.empty((0, len(questions))), 1)
    return _answers(part.items, questions, is_within=level == "within")


def _answers(items: Items, questions: Sequence[str], *, is_within: bool) -> Rows:
    value = items.value[:, [items.questions.index(name) for name in questions]]
    is_whole = ~np.isnan(value).any(axis=1)
    if not is_within:
        return _less_mean(value[is_whole])
    return Rows(*centred(value[is_whole], items.participant[is_whole], items.stimulus[is_whole]))


def _less_mean(value: Floats) -> Rows:
    return Rows(value - value.mean(axis=0) if len(value) else value, 1)
