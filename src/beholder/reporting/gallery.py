"""The figures beside scores and pairs, each with the line that says how to read it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import pandas as pd

from beholder.analysis.distributions import MAX_VALUES
from beholder.analysis.figures.raters import MAX_DOTS, vertical_measure
from beholder.analysis.result import records
from beholder.analysis.tests import TESTS
from beholder.formats import count, number, p_value
from beholder.reporting.html import Child, Markup, panel, render, table, tag
from beholder.reporting.material import Material
from beholder.reporting.question_results import QuestionResults
from beholder.reporting.sheets import TextTable

Figures = Mapping[str, Markup]


class _Text(NamedTuple):
    """A figure of one question in the page."""

    kind: str
    title: str
    foot: str


_METHOD_FIGURES = (
    _Text("medians", "Medians", "Dot: median. Dark bar: its exact 95 % interval. Pale box: quartile to quartile."),
    _Text("preferences", "Choices of every pair", "The one that was chosen more often stands at the left."),
    _Text(
        "strengths", "Strengths (Bradley-Terry)",
        "One unit apart, the better one is chosen 73 times in a hundred. Bar: 95 % interval, participants as clusters.",
    ),
    _Text("ranks", "How sure is the order?", "The probability of each rank, in percent; below 2 % it is left blank."),
)  # fmt: skip


def distribution_panel(part: QuestionResults, figures: Figures) -> Markup | None:
    """Return how the ratings of each condition spread."""
    figure = figures.get(f"distributions-{part.slug}")
    if figure is None:
        return None
    foot = "Every rating counts, repetitions too."
    if part.scale.max - part.scale.min > MAX_VALUES - 1:
        foot += " The tallest bar of each condition fills its row. Line and dot below: quartiles and median."
    return panel(f"distributions-{part.slug}", "How the ratings spread", figure, foot=foot, is_wide=True)


def method_panels(part: QuestionResults, figures: Figures) -> Markup | None:
    """Return the further figures of the method, two beside each other."""
    panels = [
        panel(f"{shown.kind}-{part.slug}", shown.title, figure, foot=shown.foot)
        for shown in _METHOD_FIGURES
        if (figure := figures.get(f"{shown.kind}-{part.slug}")) is not None
    ]
    return _side_by_side(panels)


def participant_panels(material: Material, figures: Figures) -> Markup | None:
    """Return the rater map and the time per page."""
    panels = []
    if "raters" in figures:
        panels.append(panel("raters", "Rater map", figures["raters"], foot=_raters_foot(material)))
    if "times" in figures:
        panels.append(panel("times", "Time per page", figures["times"], foot=_times_foot(material)))
    return _side_by_side(panels)


def _raters_foot(material: Material) -> Child:
    table = material.results.also["raters"]
    shown = vertical_measure(table)
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
    if len(table) > MAX_DOTS:
        told += f" Of {len(table):,}, about {MAX_DOTS:,} are drawn."
    return told


def _times_foot(material: Material) -> Child:
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


def _side_by_side(panels: list[Markup]) -> Markup | None:
    return tag("div", panels, class_="beside") if panels else None


# --- Whether the tests agree, as in HEMVIP's Table 1 ---


TESTS_FOOT = (
    "✓ clear, – not, after correction within each test. We go by the clustered t. The other three take all pages as "
    "independent, although one person's are alike, and one content's; they are here to compare with other papers."
)


def agreement_of_tests(material: Material, part: QuestionResults) -> Markup | None:
    """Return on how many pairs all tests agree, and those on which they do not; None where fewer than two were made."""
    tests = material.results.also.get("tests")
    if tests is None:
        return None
    made = tests[(tests["question"] == part.id) & tests["clear"].notna()]
    pairs = _tests_by_pair(made)
    if not pairs:
        return None
    split = {pair: found for pair, found in pairs.items() if len({row["clear"] for row in found.values()}) > 1}
    agree = f"The tests agree on {len(pairs) - len(split)} of {count(len(pairs), 'pair')}."
    parts = [tag("p", tag("b", agree), " ", _directions_sentence(pairs))]
    if split:
        caption = f"Pairs on which the tests do not agree, with p: {part.id}"
        parts.append(table(caption, _tests_sheet(split, material.labels)))
    return render(parts)


def _tests_by_pair(tests: pd.DataFrame) -> dict[tuple[str, str], dict[str, dict[str, Any]]]:
    """Return the tests of each pair by name, of the pairs with more than one."""
    found: dict[tuple[str, str], dict[str, dict[str, Any]]] = {}
    for row in records(tests):
        found.setdefault((row["condition"], row["other_condition"]), {})[row["test"]] = row
    return {pair: some for pair, some in found.items() if len(some) > 1}


def _directions_sentence(pairs: Mapping[tuple[str, str], Mapping[str, Mapping[str, Any]]]) -> str:
    """Return whether all tests see the same side ahead; a share is ahead above one half."""
    turned = 0
    for tests in pairs.values():
        signs = {(row["estimate"] > middle) - (row["estimate"] < middle)
                 for name, row in tests.items() for middle in (0.5 if name == "sign" else 0,)}  # fmt: skip
        turned += {1, -1} <= signs
    if not turned:
        return "They see the same condition ahead in every one."
    return f"In {count(turned, 'pair')} they do not see the same condition ahead."


def _tests_sheet(
    split: Mapping[tuple[str, str], Mapping[str, Mapping[str, Any]]], labels: Mapping[str, str]
) -> TextTable:
    rows = [
        (labels.get(one, one), labels.get(other, other), *(_test_cell(tests.get(name)) for name in TESTS))
        for (one, other), tests in split.items()
    ]
    return TextTable(("Condition", "and", *TESTS), rows, names=2)


def _test_cell(test: Mapping[str, Any] | None) -> str:
    if test is None:
        return ""
    p = test["p_holm"] if test["p_holm"] == test["p_holm"] else test["p"]
    return f"{'✓' if test['clear'] == 1 else '–'} {p_value(p)}"
