"""The studies and tables that are joined: read all at once, named apart, with every problem of all of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from beholder.analysis.items import KINDS, ItemMatrix, items_of
from beholder.analysis.ratings import Ratings, as_ratings
from beholder.analysis.sides import Side, read_side, side_from_ratings, with_unique_names
from beholder.errors import Problem, UserError
from beholder.stats.clustered import Floats, two_way_residuals
from beholder.study.model import Study

Source: TypeAlias = "str | Path | Study | Side"
_FEWEST = 2


def open_joined(sources: Sequence[Source]) -> Joined:
    """Return the sources joined by condition, or raise UserError with every problem."""
    sides: list[Side] = []
    problems: list[Problem] = []
    for source in sources:
        try:
            sides.append(source if isinstance(source, Side) else read_side(source, command="dimensions"))
        except UserError as error:
            problems += error.problems
    if problems:
        raise UserError(problems)
    joined = join(with_unique_names(sides))
    if problems := [*_without_numbers(joined), *_alone(joined)]:
        raise UserError(problems)
    if len(joined.questions) < _FEWEST:
        fix = "Add a study with other questions about the same conditions."
        what = f"asks only {joined.questions[0]} for a number"
        raise UserError(Problem(_place(joined.parts[0].side), what, "two questions or more", fix))
    return joined


def _without_numbers(joined: Joined) -> list[Problem]:
    return [
        Problem(_place(part.side), "has no question that was answered by numbers", "scores, or graded comparisons")
        for part in joined.parts
        if not part.questions
    ]


def _alone(joined: Joined) -> list[Problem]:
    """Return a problem for each source of whose conditions no other source has any."""
    if len(joined.parts) < 2:
        return []
    own = [set(part.side.conditions["condition"]) for part in joined.parts]
    problems = []
    for place, (part, mine) in enumerate(zip(joined.parts, own, strict=True)):
        others = [name for number, names in enumerate(own) if number != place for name in sorted(names)]
        if mine and not mine & set(others):
            what = f"shares no condition with the others, as {min(mine)}"
            fix = "Conditions are joined by their names: give them the same in all."
            problems.append(Problem(_place(part.side), what, f"such as {others[0]}" if others else "", fix))
    return problems


def _place(side: Side) -> str:
    return side.name or "dimensions"


# Studies joined by condition, with reversed items turned


MEANS = ["question", "condition", "n", "mean", "ci_low", "ci_high"]


@dataclass(frozen=True)
class JoinedStudy:
    """One of the studies that are joined, with its questions as the whole calls them."""

    side: Side
    names: Mapping[str, str]
    """What the whole calls each of its questions: its label, of a reversed one that of its turned scores, or its id."""
    items: ItemMatrix | None
    """None where only scores are known. Its questions are named as in `questions`."""
    source: Side
    """The side before its questions were named."""

    @property
    def questions(self) -> tuple[str, ...]:
        return tuple(self.names.values())


@dataclass(frozen=True)
class Joined:
    """Everything that is known of the questions, by condition and by stimulus."""

    parts: tuple[JoinedStudy, ...]
    means: pd.DataFrame
    """MEANS, reversed questions turned round, as everywhere."""
    by_condition: pd.DataFrame
    """A row for each condition, a column for each question."""
    by_stimulus: pd.DataFrame
    """A row for each stimulus; studies with different stimuli have different rows."""
    condition_of: Mapping[str, str]
    """The condition of each stimulus."""
    labels: Mapping[str, str]
    """What people read in place of a condition's name."""
    turned: tuple[str, ...]

    @property
    def questions(self) -> tuple[str, ...]:
        return tuple(name for part in self.parts for name in part.questions)

    @property
    def conditions(self) -> tuple[str, ...]:
        return tuple(self.by_condition.index)

    def name_of(self, question: str) -> str:
        """Return what the whole calls a question that may be given by its id; what is not asked stays as it is."""
        if question in self.questions:
            return question
        named = [part.names[question] for part in self.parts if question in part.names]
        return named[0] if len(named) == 1 else question

    def part_of(self, questions: Iterable[str]) -> JoinedStudy | None:
        """Return the study that asked all of these."""
        wanted = set(questions)
        return next((part for part in self.parts if wanted <= set(part.questions)), None)


Data: TypeAlias = "Joined | Side | Ratings | Study | pd.DataFrame | str | Path"


def join(data: Data | Sequence[Data]) -> Joined:
    """Return one source, or several, with every question beside the others.

    A source is a study or its file, a table of ratings or of scores, or what was read of these. Questions have their
    labels. Those of the same name in two sources are two questions, with the name of their source behind.
    """
    if isinstance(data, Joined):
        return data
    sources = list(data) if isinstance(data, Sequence) and not isinstance(data, str) else [data]
    sides = [side for source in sources for side in _sides(source)]
    asked = [side.question_labels.get(name, name) for side in sides for name in _asked(side)]
    twice = {name for name in asked if asked.count(name) > 1}
    return _joined([_part(side, twice) for side in sides])


def _sides(source: Data) -> list[Side]:
    if isinstance(source, Joined):
        return [part.source for part in source.parts]
    if isinstance(source, Side):
        return [source]
    if isinstance(source, Ratings | pd.DataFrame):
        return [side_from_ratings(as_ratings(source), "")]
    return [read_side(source, command="dimensions")]


def _asked(side: Side) -> list[str]:
    """Return the questions of a side that are answered by numbers; a table of scores has no others."""
    kinds = side.ratings.kinds if side.ratings is not None else {}
    return [name for name in side.questions if kinds.get(name, "score") in KINDS]


def _part(side: Side, twice: set[str]) -> JoinedStudy:
    labels = {name: side.question_labels.get(name, name) for name in _asked(side)}
    called = {name: f"{label} ({side.name})" if label in twice else label for name, label in labels.items()}
    items = items_of(side.ratings) if side.ratings is not None else None
    if items is not None:
        items = items._replace(
            questions=tuple(called[name] for name in items.questions),
            ends={called[name]: ends for name, ends in items.ends.items()},
            turned=tuple(called[name] for name in items.turned),
        )
    stimuli, conditions = (_called(table, called) for table in (side.stimuli, side.conditions))
    return JoinedStudy(replace(side, stimuli=stimuli, conditions=conditions), called, items, side)


def _called(table: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
    mine = table[table["question"].isin(list(names))]
    return mine.assign(question=mine["question"].map(names))


def _joined(parts: Sequence[JoinedStudy]) -> Joined:
    means = pd.concat([part.side.conditions[MEANS] for part in parts], ignore_index=True)
    stimuli = pd.concat([part.side.stimuli for part in parts], ignore_index=True)
    questions = [name for part in parts for name in part.questions]
    conditions = list(dict.fromkeys(means["condition"]))
    labels: dict[str, str] = {}
    for part in parts:
        labels = {**part.side.labels, **labels}
    return Joined(
        tuple(parts),
        means,
        _wide(means, "condition", conditions, questions),
        _wide(stimuli, "stimulus", list(dict.fromkeys(stimuli["stimulus"])), questions),
        dict(zip(stimuli["stimulus"], stimuli["condition"], strict=True)),
        {name: labels.get(name, name) for name in conditions},
        tuple(name for part in parts if part.items is not None for name in part.items.turned),
    )


def _wide(table: pd.DataFrame, row: str, rows: list[str], questions: list[str]) -> pd.DataFrame:
    grid = table.groupby([row, "question"], sort=False)["mean"].mean().unstack()
    return grid.reindex(index=rows, columns=questions).astype(float).rename_axis(index=row, columns=None)


# Levels: between conditions, between stimuli, within participants


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


class LevelRows(NamedTuple):
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


def rows_of(joined: Joined, questions: Sequence[str], level: Level) -> LevelRows:
    """Return the rows of a level in which all of these questions have a value; none where nothing is known of it."""
    if level in ("condition", "stimulus"):
        frame = joined.by_condition if level == "condition" else joined.by_stimulus
        value = frame.to_numpy(float)[:, [joined.questions.index(name) for name in questions]]
        return _less_mean(value[~np.isnan(value).any(axis=1)])
    part = joined.part_of(questions)
    if part is None or part.items is None:
        return LevelRows(np.empty((0, len(questions))), 1)
    return _answers(part.items, questions, is_within=level == "within")


def _answers(items: ItemMatrix, questions: Sequence[str], *, is_within: bool) -> LevelRows:
    value = items.value[:, [items.questions.index(name) for name in questions]]
    is_whole = ~np.isnan(value).any(axis=1)
    if not is_within:
        return _less_mean(value[is_whole])
    return LevelRows(*two_way_residuals(value[is_whole], items.participant[is_whole], items.stimulus[is_whole]))


def _less_mean(value: Floats) -> LevelRows:
    return LevelRows(value - value.mean(axis=0) if len(value) else value, 1)


# Rescaling of questions on different scales


def factors(joined: Joined, questions: Sequence[str]) -> Floats:
    """Return by what each question is stretched so that all scales are as wide as the first; 1 where nobody tells."""
    widths = _widths(joined)
    first = next((widths[name] for name in joined.questions if name in widths), 1.0)
    return np.array([first / widths[name] if name in widths else 1.0 for name in questions])


def scaled(rows: LevelRows, joined: Joined, questions: Sequence[str]) -> LevelRows:
    """Return rows with all questions on scales of one width."""
    return rows._replace(value=rows.value * factors(joined, questions))


def scaling_note(joined: Joined) -> str:
    """Return what was done to scales of different widths."""
    if len(set(_widths(joined).values())) < 2:
        return ""
    return " Scales differ: before questions are averaged, each is stretched to the width of the first question's."


def _widths(joined: Joined) -> dict[str, float]:
    return {
        name: ends.high - ends.low
        for part in joined.parts
        if part.items is not None
        for name, ends in part.items.ends.items()
        if ends.high > ends.low
    }
