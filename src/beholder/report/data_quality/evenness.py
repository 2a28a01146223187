"""How even the used ratings are: per stimulus, over the places of a page, and over the session."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import NamedTuple

import pandas as pd

from beholder.report.data_quality.line import Line
from beholder.report.material import Material
from beholder.report.words import count, number

_FEW = 0.5
"""A stimulus with less than this share of what was planned, a place with less than this share of its part."""
_FEWEST = 10
"""Expected ratings below which chance alone makes places uneven."""
_APART = 0.15
"""Of the session, by which the mean positions of two conditions may differ."""


class _Planned(NamedTuple):
    stimuli: int
    least: int
    most: int


def evenness(material: Material) -> Iterator[Line]:
    """Yield how even the ratings are; nothing where none is used."""
    if material.used.empty:
        return
    yield from _votes(material)
    yield from _places(material)
    yield from _positions(material)


def _votes(material: Material) -> Iterator[Line]:
    """Yield the ratings of each stimulus beside what the plan has for it."""
    n = material.results.scores["n"]
    if n.empty:
        return
    least, middle, most = (number(float(value), 0) for value in (n.min(), n.median(), n.max()))
    what = "comparisons" if all(part.is_compared for part in material.parts) else "ratings"
    planned = _planned(material)
    said = f"Fewest, median and most {what} of a stimulus and question."
    warning = ""
    if planned is not None:
        goal = f"{planned.least:,}" if planned.least == planned.most else f"{planned.least:,} to {planned.most:,}"
        said = f"Fewest, median and most {what} of a stimulus and question; planned were {goal}."
        if n.min() < _FEW * planned.least:
            warning = f"A stimulus has {least} {what}, less than half of what was planned. Let more people in."
        none = planned.stimuli - material.results.scores["stimulus"].nunique()
        if what == "ratings" and none > 0:
            warning = f"{count(none, 'stimulus has', 'stimuli have')} no rating that can be used."
    yield Line(f"{what.capitalize()} per stimulus", f"{least} / {middle} / {most}", said, warning)


def _planned(material: Material) -> _Planned | None:
    """Return what the plan gives each stimulus when every list is finished once; None where no plan is at hand."""
    path = material.study.folder / "plan" / "balance.csv"
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = {row["count"]: row for row in csv.DictReader(file)}
        row = rows.get("ratings per stimulus") or rows["comparisons per stimulus"]
        return _Planned(int(row["cells"]), int(row["least"]), int(row["most"]))
    except (OSError, KeyError, ValueError):
        return None


def _places(material: Material) -> Iterator[Line]:
    """Yield how evenly each condition stood in the places of a page."""
    used = material.used
    first = used[used["question"] == used["question"].iloc[0]]
    table = pd.crosstab(first["condition"], first["slot"])
    if table.shape[1] < 2:
        return
    expected = table.sum(axis=1) / table.shape[1]
    low, high = int(table.to_numpy().min()), int(table.to_numpy().max())
    short = (table.min(axis=1) < _FEW * expected) & (expected >= _FEWEST)
    said = f"Fewest and most ratings of a condition in one of {table.shape[1]} places of the page."
    names = [material.names.get(name, name) for name in table.index[short]]
    warning = f"Not in every place equally often: {', '.join(names)}. An effect of the place would look like quality."
    yield Line("Places on the page", f"{low:,} to {high:,}", said, warning if names else "")


def _positions(material: Material) -> Iterator[Line]:
    """Yield whether some conditions came later in the session than others."""
    used = material.used
    last = float(used["position"].max())
    means = used.groupby("condition")["position"].mean()
    if last < 2 or len(means) < 2:
        return
    low, high = float(means.min()), float(means.max())
    said = f"Lowest and highest mean position of a condition among the {last:.0f} trials of a session."
    counts = used.groupby("condition").size()
    is_bad = (high - low) > _APART * last and counts.min() >= _FEWEST
    warning = f"Conditions did not come equally early: {number(low, 1)} to {number(high, 1)} on average."
    yield Line("Positions in the session", f"{number(low, 1)} to {number(high, 1)}", said, warning if is_bad else "")
