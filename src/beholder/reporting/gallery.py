"""The figures beside scores and pairs, each with the line that says how to read it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import pandas as pd

from beholder.analyse.distributions import MOST_VALUES
from beholder.analyse.plots.raters import MOST_DOTS, measure
from beholder.report.markup import Child, Markup, tag
from beholder.report.material import Material
from beholder.report.panel import panel
from beholder.report.part import Part
from beholder.report.words import number

Figures = Mapping[str, Markup]


class _Shown(NamedTuple):
    """A figure of one question in the page."""

    kind: str
    title: str
    foot: str


_OF_METHOD = (
    _Shown("medians", "Medians", "Dot: median. Dark bar: its exact 95 % interval. Pale box: quartile to quartile."),
    _Shown("preferences", "Choices of every pair", "The one that was chosen more often stands at the left."),
    _Shown(
        "strengths", "Strengths (Bradley-Terry)",
        "One unit apart, the better one is chosen 73 times in a hundred. Bar: 95 % interval, participants as clusters.",
    ),
    _Shown("ranks", "How sure is the order?", "The probability of each rank, in percent; below 2 % it is left blank."),
)  # fmt: skip


def distribution(part: Part, figures: Figures) -> Markup | None:
    """Return how the ratings of each condition spread."""
    figure = figures.get(f"distributions-{part.slug}")
    if figure is None:
        return None
    foot = "Every rating counts, repetitions too."
    if part.scale.max - part.scale.min > MOST_VALUES - 1:
        foot += " The tallest bar of each condition fills its row. Line and dot below: quartiles and median."
    return panel(f"distributions-{part.slug}", "How the ratings spread", figure, foot=foot, is_wide=True)


def method_figures(part: Part, figures: Figures) -> Markup | None:
    """Return the further figures of the method, two beside each other."""
    panels = [
        panel(f"{shown.kind}-{part.slug}", shown.title, figure, foot=shown.foot)
        for shown in _OF_METHOD
        if (figure := figures.get(f"{shown.kind}-{part.slug}")) is not None
    ]
    return _beside(panels)


def people_figures(material: Material, figures: Figures) -> Markup | None:
    """Return the rater map and the time per page."""
    panels = []
    if "raters" in figures:
        panels.append(panel("raters", "Rater map", figures["raters"], foot=_about_raters(material)))
    if "times" in figures:
        panels.append(panel("times", "Time per page", figures["times"], foot=_about_times(material)))
    return _beside(panels)


def _about_raters(material: Material) -> Child:
    table = material.results.also["raters"]
    shown = measure(table)
    unplaced = int(table[shown].isna().sum())
    top = {
        "agreement": "those who order the stimuli as the others do",
        "spread": "those whose distance from the others varies least",
    }
    told = f"Each dot is a participant, at the top {top[shown]}, at the right those who give higher scores."
    if not table["use"].all():
        told += " Crosses: not used."
    if unplaced:
        told += f" {unplaced} with too few shared ratings, or always the same answer, have no place."
    if len(table) > MOST_DOTS:
        told += f" Of {len(table):,}, about {MOST_DOTS:,} are drawn."
    return told


def _about_times(material: Material) -> Child:
    rows = material.results.also["times"].set_index("of")
    page = rows.loc[["page"]].iloc[0]
    rating = rows.loc[["rating"]].iloc[0]
    return (
        f"Dot: median; bar: quartiles. Over all pages {_seconds(page)}; per rating {_seconds(rating)}. "
        "Watching and listening are included."
    )


def _seconds(row: pd.Series) -> str:
    low, high = number(row["q1_s"], 1), number(row["q3_s"], 1)
    return f"{number(row['median_s'], 1)} s (half of them {low} to {high} s)"


def _beside(panels: list[Markup]) -> Markup | None:
    return tag("div", panels, class_="beside") if panels else None
