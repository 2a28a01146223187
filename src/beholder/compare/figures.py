"""The figures of a comparison: which there are and what they are called."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pandas as pd

from beholder.analyse.plots.theme import Layout
from beholder.analyse.result import records
from beholder.compare.found import Found
from beholder.compare.matching import Matched
from beholder.compare.plots.difference import difference_chart
from beholder.compare.plots.matrix import matrix_chart
from beholder.compare.plots.scatter import scatter_chart
from beholder.compare.words import headlines
from beholder.report.figures import Figure

MOST = 30
"""More figures nobody looks at; the tables have all of it."""
_MOST_SHOWN = 6
"""Of more scatter plots the page has those that the words tell of; the others are files beside it."""
_FEWEST = 3
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,40}")


def drawn_pairs(found: Found) -> list[Matched]:
    """Return what is drawn against each other: of few sides every two, of many each against the first."""
    few = len(found.names) <= 3
    drawn = [one for one in found.matched if len(one.table) >= _FEWEST and (few or one.side == found.names[0])]
    return drawn[:MOST]


def scatter_name(found: Found, one: Matched) -> str:
    """Return what the files of a scatter plot are called."""
    return f"scatter-{_place(found, one)}"


def matrix_name(found: Found, level: str, question: str) -> str:
    """Return what the files of a matrix are called."""
    return f"matrix-{level}-{_slug(found, question)}"


def matrices_of(found: Found) -> list[tuple[str, str]]:
    """Return level and question of every matrix that is drawn."""
    table = found.table("matrices")
    if table.empty:
        return []
    pairs = dict.fromkeys(zip(table["level"], table["question"], strict=True))
    return [(level, question) for level, question in pairs if _known(_matrix(found, level, question), found.names)]


def figures(found: Found) -> list[Figure]:
    """Return the matrices, the scatter plots, and for paper the plots of differences."""
    made = [_of_matrix(found, level, question) for level, question in matrices_of(found)]
    pairs = drawn_pairs(found)
    shown = {scatter_name(found, one) for one in (pairs if len(pairs) <= _MOST_SHOWN else headlines(pairs))}
    made += [one._replace(in_page=one.name in shown) for one in (_scatter(found, pair) for pair in pairs)]
    return made + [_difference(found, one) for one in pairs if one.level == "stimulus"]


def _scatter(found: Found, one: Matched) -> Figure:
    row = records(found.rows("agreement", one))[0]
    clear = (found.differing(one)["clear"] == 1).tolist()
    labels = found.labels

    def draw(layout: Layout) -> Any:
        return scatter_chart(one, row, clear, labels=labels, layout=layout)

    words = (
        f"Scores of {one.other_side} against those of {one.side}, a dot for each {one.level}. The numbers are in "
        f"{'stimuli' if one.level == 'stimulus' else 'conditions'}.csv."
    )
    return Figure(scatter_name(found, one), f"{one.side} and {one.other_side}: {one.question}", words, draw)


def _difference(found: Found, one: Matched) -> Figure:
    clear = (found.differing(one)["clear"] == 1).tolist()
    words = f"The difference of {one.side} and {one.other_side} against their mean. The numbers are in stimuli.csv."
    return Figure(
        f"difference-{_place(found, one)}", f"{one.side} minus {one.other_side}: {one.question}", words,
        lambda layout: difference_chart(one, clear, layout=layout), in_page=len(found.matched) <= 2,
    )  # fmt: skip


def difference_name(found: Found, one: Matched) -> str:
    """Return what the files of a plot of differences are called."""
    return f"difference-{_place(found, one)}"


def _of_matrix(found: Found, level: str, question: str) -> Figure:
    table, names = _matrix(found, level, question), found.names
    words = "Pearson's correlation of every two sides. The numbers are in matrices.csv."
    return Figure(
        matrix_name(found, level, question), f"Correlations between sides: {question or 'mean'}", words,
        lambda layout: matrix_chart(table, names, layout=layout),
    )  # fmt: skip


def _matrix(found: Found, level: str, question: str) -> pd.DataFrame:
    table = found.table("matrices")
    return table[(table["level"] == level) & (table["question"] == question) & (table["measure"] == "pearson")]


def _known(table: pd.DataFrame, names: Sequence[str]) -> bool:
    """Return whether a matrix holds more than its diagonal."""
    return int(table[list(names)].notna().to_numpy().sum()) > len(names)


def _place(found: Found, one: Matched) -> str:
    numbers = "-".join(str(found.names.index(name) + 1) for name in (one.side, one.other_side))
    return f"{one.level}-{_slug(found, one.question)}-{numbers}"


def _slug(found: Found, question: str) -> str:
    if not question:
        return "mean"
    return question if _PLAIN.fullmatch(question) else f"question-{found.sides.questions.index(question) + 1}"
