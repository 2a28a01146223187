"""One study or several, joined by condition: every question side by side, all pointing the same way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

import pandas as pd

from beholder.analyse.items import KINDS, Items, items_of
from beholder.analyse.side import Side, read_side, side_of
from beholder.analyse.table import Ratings, as_ratings
from beholder.study.model import Study

MEANS = ["question", "condition", "n", "mean", "ci_low", "ci_high"]


@dataclass(frozen=True)
class Part:
    """One of the studies that are joined, with its questions as the whole calls them."""

    side: Side
    names: Mapping[str, str]
    """What the whole calls each of its questions."""
    items: Items | None
    """None where only scores are known. Its questions are named as in `questions`."""

    @property
    def questions(self) -> tuple[str, ...]:
        return tuple(self.names.values())


@dataclass(frozen=True)
class Joined:
    """Everything that is known of the questions, by condition and by stimulus."""

    parts: tuple[Part, ...]
    means: pd.DataFrame
    """MEANS, reversed questions turned."""
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

    def part_of(self, questions: Iterable[str]) -> Part | None:
        """Return the study that asked all of these."""
        wanted = set(questions)
        return next((part for part in self.parts if wanted <= set(part.questions)), None)


Data: TypeAlias = "Joined | Side | Ratings | Study | pd.DataFrame | str | Path"


def join(data: Data | Sequence[Data]) -> Joined:
    """Return one source, or several, with every question beside the others.

    A source is a study or its file, a table of ratings or of scores, or what was read of these. Questions of the same
    name in two of them are two questions, with the name of their source behind.
    """
    if isinstance(data, Joined):
        return data
    sources = list(data) if isinstance(data, Sequence) and not isinstance(data, str) else [data]
    sides = [side for source in sources for side in _sides(source)]
    asked = [name for side in sides for name in _asked(side)]
    twice = {name for name in asked if asked.count(name) > 1}
    return _joined([_part(side, twice) for side in sides])


def _sides(source: Data) -> list[Side]:
    if isinstance(source, Joined):
        return [part.side for part in source.parts]
    if isinstance(source, Side):
        return [source]
    if isinstance(source, Ratings | pd.DataFrame):
        return [side_of(as_ratings(source), "")]
    return [read_side(source)]


def _asked(side: Side) -> list[str]:
    """Return the questions of a side that are answered by numbers; a table of scores has no others."""
    kinds = side.ratings.kinds if side.ratings is not None else {}
    return [name for name in side.questions if kinds.get(name, "score") in KINDS]


def _part(side: Side, twice: set[str]) -> Part:
    called = {name: f"{name} ({side.name})" if name in twice else name for name in _asked(side)}
    items = items_of(side.ratings) if side.ratings is not None else None
    if items is not None:
        items = items._replace(
            questions=tuple(called[name] for name in items.questions),
            ends={called[name]: ends for name, ends in items.ends.items()},
            turned=tuple(called[name] for name in items.turned),
        )
    stimuli, conditions = (_called(table, called) for table in (side.stimuli, side.conditions))
    return Part(replace(side, stimuli=stimuli, conditions=conditions), called, items)


def _called(table: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
    mine = table[table["question"].isin(list(names))]
    return mine.assign(question=mine["question"].map(names))


def _joined(parts: Sequence[Part]) -> Joined:
    means = pd.concat([turned_means(part.side.conditions, part)[MEANS] for part in parts], ignore_index=True)
    stimuli = pd.concat([turned_means(part.side.stimuli, part) for part in parts], ignore_index=True)
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


def turned_means(table: pd.DataFrame, part: Part) -> pd.DataFrame:
    """Return means, and their intervals, with reversed questions turned within their scales."""
    if part.items is None or not part.items.turned:
        return table
    total = {name: part.items.ends[name].low + part.items.ends[name].high for name in part.items.turned}
    is_turned = table["question"].isin(part.items.turned)
    around = table["question"].map(total)
    turned = {"mean": table["mean"].where(~is_turned, around - table["mean"])}
    if "ci_low" in table:
        turned["ci_low"] = table["ci_low"].where(~is_turned, around - table["ci_high"])
        turned["ci_high"] = table["ci_high"].where(~is_turned, around - table["ci_low"])
    return table.assign(**turned)


def _wide(table: pd.DataFrame, row: str, rows: list[str], questions: list[str]) -> pd.DataFrame:
    grid = table.groupby([row, "question"], sort=False)["mean"].mean().unstack()
    return grid.reindex(index=rows, columns=questions).astype(float).rename_axis(index=row, columns=None)
