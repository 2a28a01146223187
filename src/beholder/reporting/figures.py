"""The figures of a report: which there are, the panels that show them, and drawing them as SVG for the page and as
files for a paper.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from typing import Any, NamedTuple

import pandas as pd

from beholder.analysis.distributions import MAX_VALUES
from beholder.analysis.figures.distributions import distributions_chart, times_chart
from beholder.analysis.figures.pairs import pairs_chart, preferences_chart, ranks_chart
from beholder.analysis.figures.raters import MAX_DOTS, biases_chart, raters_chart, variances_chart, vertical_measure
from beholder.analysis.figures.scores import (
    has_nested_interval,
    medians_chart,
    scores_chart,
    strengths_chart,
    worths_chart,
)
from beholder.analysis.figures.theme import COLUMN, DOUBLE, WIDE, Layout, axis_of_scale
from beholder.analysis.figures.votes_needed import main_curve, votes_needed_chart
from beholder.analysis.result import records
from beholder.formats import join_names, number
from beholder.reporting.html import Child, Markup, tag
from beholder.reporting.material import Material
from beholder.reporting.question_results import QuestionResults
from beholder.reporting.questionnaire import short_names
from beholder.reporting.rater_models import MAX_TABLES
from beholder.reporting.relations import draw_relations
from beholder.reporting.section import QuestionSection, Section


class Figure(NamedTuple):
    """A figure before it is drawn."""

    name: str
    """Of its files, and of its place in the page."""
    title: str
    words: str
    """The description for screen readers."""
    draw: Callable[[Layout], Any]
    is_wide: bool = False
    """Whether the page shows it over its whole width."""
    paper: Layout = COLUMN
    in_page: bool = True


class DrawnFigure(NamedTuple):
    """A figure as the page has it, and as files by their endings."""

    inline: Markup | None
    files: Mapping[str, bytes]


_MAX_NAME = 22
"""Letters of a name that fit into one column of a paper."""


def figures(material: Material) -> list[Figure]:
    """Return every figure for which there are results."""
    entries = [figure for part in material.parts if part.order for figure in _question_figures(part, material)]
    entries += _biases(material)
    entries += _variances(material)
    raters = material.results.also.get("raters")
    if raters is not None and raters[vertical_measure(raters)].notna().sum() > 1:
        words = "Each participant by likeness to the others and by offset from them. The numbers are in raters.csv."
        entries.append(Figure("raters", "Rater map", words, lambda layout: raters_chart(raters, layout=layout)))
    times = material.results.also.get("times")
    if times is not None and times["position"].notna().sum() > 1:
        words = "Median time of a page by its place in the session, with quartiles. The numbers are in times.csv."
        entries.append(Figure("times", "Time per page", words, lambda layout: times_chart(times, layout=layout)))
    votes = material.results.also.get("votes_needed")
    if votes is not None and main_curve(votes)["pearson"].notna().any():
        words = "How agreement with an equal study grows with the votes per stimulus, in votes_needed.csv."
        names = short_names(material)
        entries.append(
            Figure(
                "votes_needed", "Votes needed", words,
                lambda layout: votes_needed_chart(votes, labels=names, layout=layout), is_wide=True,
            )
        )  # fmt: skip
    return entries


def _question_figures(part: QuestionResults, material: Material) -> list[Figure]:
    labels = material.labels
    paper = DOUBLE if max(len(labels[name]) for name in part.order) > _MAX_NAME else COLUMN
    entries = [_scores(part, material, paper)]
    spread = _rows_of(part, material, "distributions")
    if len(spread):
        entries.append(_distributions(part, material, spread, paper))
    pairs = part.inner_pairs
    if pairs["mean_difference"].notna().sum() > 1:
        words = "Every difference of two conditions with its interval. The numbers are in the table of pairs."
        entries.append(
            Figure(
                f"pairs-{part.slug}", f"Differences: {part.name}", words,
                lambda layout: pairs_chart(pairs, labels=labels, layout=layout),
                paper=DOUBLE if paper is DOUBLE or max(map(len, labels.values())) > _MAX_NAME / 2 else COLUMN,
                in_page=False,
            )
        )  # fmt: skip
    if len(_rows_of(part, material, "relations")):
        words = (
            "Mean of each condition by what the stimuli are to those who rated them. The numbers are in relations.csv."
        )
        draw = partial(draw_relations, material, part)
        entries.append(Figure(f"relations-{part.slug}", f"By relation: {part.name}", words, draw, True, DOUBLE))
    further = (section.figure(material, part, paper) for section in (MEDIANS, PREFERENCES, STRENGTHS, WORTHS, RANKS))
    return [*entries, *(figure for figure in further if figure is not None)]


def _rows_of(part: QuestionResults, material: Material, name: str) -> pd.DataFrame:
    """Return the rows of a question in a table of results; none if there is no such table."""
    table = material.results.also.get(name)
    return table[table["question"] == part.id] if table is not None else pd.DataFrame()


def _scores(part: QuestionResults, material: Material, paper: Layout) -> Figure:
    means = [
        f"{material.labels[row['condition']]} {number(row['mean'], part.decimals)}" for row in records(part.best_first)
    ]
    words = f"{part.heading}: {join_names(means)}. The intervals are in the table of scores."

    def draw(layout: Layout) -> Any:
        thick = " (thick: these contents)" if any(map(has_nested_interval, records(part.conditions))) else ""
        title = "" if layout is WIDE else f"{part.metric}, mean and 95 % interval{thick}"
        return scores_chart(
            part.conditions.drop(columns="question"), axis=axis_of_scale(part.scale, part.zero), labels=material.labels,
            layout=layout, title=title, is_share=part.is_share,
        )  # fmt: skip

    return Figure(f"scores-{part.slug}", f"{part.metric}: {part.name}", words, draw, is_wide=True, paper=paper)


def _distributions(part: QuestionResults, material: Material, table: pd.DataFrame, paper: Layout) -> Figure:
    rows = records(part.conditions) if {"q1", "q3"} <= set(part.conditions) else []
    quartiles = {
        row["condition"]: (row["q1"], row["median"], row["q3"])
        for row in rows
        if row["q1"] == row["q1"] and row["q3"] == row["q3"]
    }

    def draw(layout: Layout) -> Any:
        return distributions_chart(
            table, labels=material.labels, words=dict(part.scale.labels), order=part.order, quartiles=quartiles,
            layout=layout, title="" if layout is WIDE else "Ratings",
        )  # fmt: skip

    words = "How often each value was given, per condition. The numbers are in distributions.csv."
    return Figure(
        f"distributions-{part.slug}", f"Distribution: {part.name}", words, draw, is_wide=True, paper=paper
    )  # fmt: skip


def _biases(material: Material) -> list[Figure]:
    """Return a figure of bias and inconsistency of the participants for each question, if there are few questions."""
    table = material.results.also.get("model_raters", pd.DataFrame())
    known = table[table["inconsistency"].notna()] if len(table) else table
    parts = [part for part in material.parts if len(known) and (known["question"] == part.id).sum() > 1]
    words = "Each participant by bias and inconsistency, as the shrunken model finds them, in model_raters.csv."
    return [
        Figure(
            f"biases-{part.slug}", f"Bias and inconsistency: {part.name}", words,
            _bound(lambda table, layout: biases_chart(table, layout=layout), table[table["question"] == part.id]),
        )
        for part in parts
        if len(parts) <= MAX_TABLES
    ]  # fmt: skip


def _variances(material: Material) -> list[Figure]:
    """Return the figure of variance components, a bar for each question."""
    table = material.results.also.get("variances", pd.DataFrame())
    if table.empty:
        return []
    names = short_names(material)
    words = "How much conditions, participants and contents add to what ratings differ by, as in variances.csv."
    return [
        Figure(
            "variances", "Where the differences come from", words,
            lambda layout: variances_chart(table, labels=names, layout=layout), is_wide=True,
        )
    ]  # fmt: skip


def _bound(draw: Callable[[pd.DataFrame, Layout], Any], table: pd.DataFrame) -> Callable[[Layout], Any]:
    return lambda layout: draw(table, layout)


# Sections


def _question_figure(name: str) -> Callable[[Material, QuestionResults], Markup | None]:
    return lambda material, part: material.figures.get(f"{name}-{part.slug}")


def _distributions_foot(_material: Material, part: QuestionResults) -> str:
    foot = "Every rating counts, repetitions too."
    if part.scale.max - part.scale.min > MAX_VALUES - 1:
        foot += " The tallest bar of each condition fills its row. Line and dot below: quartiles and median."
    return foot


DISTRIBUTIONS = QuestionSection(
    "distributions", "How the ratings spread", _question_figure("distributions"), foot=_distributions_foot
)


@dataclass(frozen=True, kw_only=True)
class TableFigureSection(QuestionSection):
    """A section of a question that shows the table of results of its name as a figure."""

    figure_title: str
    words: str
    """The description for screen readers."""
    draw: Callable[[pd.DataFrame, QuestionResults, Mapping[str, str], Layout], Any]
    """Gets the rows of the question, the question, the labels of conditions and the layout."""

    def figure(self, material: Material, part: QuestionResults, paper: Layout) -> Figure | None:
        """Return the figure before it is drawn; None without results."""
        table = _rows_of(part, material, self.id)
        if table.empty:
            return None
        words = f"{self.words} The numbers are in {self.id}.csv."
        return Figure(
            self.anchor(material, part), f"{self.figure_title}: {part.name}", words,
            lambda layout: self.draw(table, part, material.labels, layout), paper=paper,
        )  # fmt: skip


MEDIANS = TableFigureSection(
    "medians", "Medians", _question_figure("medians"), is_wide=False, figure_title="Medians",
    words="Median of each condition with its exact interval, and the quartiles.",
    draw=lambda table, part, labels, layout: medians_chart(
        table, axis=axis_of_scale(part.scale), labels=labels, layout=layout
    ),
    foot="Dot: median. Dark bar: its exact 95 % interval. Pale box: quartile to quartile.",
)  # fmt: skip
PREFERENCES = TableFigureSection(
    "preferences", "Choices of every pair", _question_figure("preferences"), is_wide=False,
    figure_title="Choices of every pair",
    words="Of every pair, how often each of the two was chosen.",
    draw=lambda table, _, labels, layout: preferences_chart(table, labels=labels, layout=layout),
    foot="The one that was chosen more often stands at the left.",
)  # fmt: skip
STRENGTHS = TableFigureSection(
    "strengths", "Strengths (Bradley-Terry)", _question_figure("strengths"), is_wide=False, figure_title="Strengths",
    words="Strength of each condition under the Bradley-Terry model, with its interval.",
    draw=lambda table, _, labels, layout: strengths_chart(table, labels=labels, layout=layout),
    foot=(
        "One unit apart, the better one is chosen 73 times in a hundred. "
        "Thick bar: 95 % interval with these contents; thin bar: for people and contents like these."
    ),
)  # fmt: skip
WORTHS = TableFigureSection(
    "plackett_luce", "Worths (Plackett-Luce)", _question_figure("plackett_luce"), is_wide=False, figure_title="Worths",
    words="Worth of each condition under the Plackett-Luce model, with its interval.",
    draw=lambda table, _, labels, layout: worths_chart(table, labels=labels, layout=layout),
    foot=(
        "One unit apart, the better one is put before the other 73 times in a hundred. "
        "Thick bar: 95 % interval with these contents; thin bar: for people and contents like these."
    ),
)  # fmt: skip
RANKS = TableFigureSection(
    "ranks", "How sure is the order?", _question_figure("ranks"), is_wide=False, figure_title="Ranks",
    words="How probable each rank is for each condition.",
    draw=lambda table, _, labels, layout: ranks_chart(table, labels=labels, layout=layout),
    foot=(
        "The probability of each rank, in percent, for people and contents like these; below 2 % it is left blank. "
        "Where conditions hardly differ in truth it is too high: go by the pairs that are clear."
    ),
)  # fmt: skip


def _raters_foot(material: Material) -> Child:
    table = material.results.also["raters"]
    shown = vertical_measure(table)
    unplaced = int(table[shown].isna().sum())
    top = {
        "agreement": "those who order the stimuli as the others do",
        "spread": "those whose distance from the others varies least",
    }
    right = "give higher scores"
    if all(part.is_among_equals for part in material.parts):
        right = "favour conditions that the study names first more than the others do"
    foot = f"Each dot is a participant, at the top {top[shown]}, at the right those who {right}."
    if not table["use"].all():
        foot += " Crosses: not used."
    if unplaced:
        foot += f" {unplaced} with too few shared ratings, or always the same answer, have no place."
    if len(table) > MAX_DOTS:
        foot += f" Of {len(table):,}, about {MAX_DOTS:,} are drawn."
    return foot


def _times_foot(material: Material) -> Child:
    table = material.results.also["times"]
    first = {of: rows.iloc[0] for of, rows in table[table["group"] == ""].groupby("of")}
    parts = [f"Dot: median; bar: quartiles. Over all pages {_seconds(first['page'])}"]
    parts.append(f"per rating {_seconds(first['rating'])}")
    compared = first.get("comparison")
    if compared is not None and not material.parts[0].is_compared:
        parts.append(f"per pair of conditions on a page {_seconds(compared)}")
    pages = table[(table["of"] == "page") & (table["group"] != "")]
    by_group = [f"{row['group']} {number(row['mean_s'], 1)} s" for row in records(pages)]
    groups = f" Mean of a page by group: {', '.join(by_group)}." if by_group else ""
    return f"{'; '.join(parts)}.{groups} Watching and listening are included."


def _seconds(row: pd.Series) -> str:
    low, high = number(row["q1_s"], 1), number(row["q3_s"], 1)
    return f"{number(row['median_s'], 1)} s (half of them {low} to {high} s; mean {number(row['mean_s'], 1)} s)"


RATERS = Section(
    "raters", "Rater map", lambda material: material.figures.get("raters"), foot=_raters_foot, is_wide=False
)
TIMES = Section(
    "times", "Time per page", lambda material: material.figures.get("times"), foot=_times_foot, is_wide=False
)


# Drawing


_COLUMN_MM, _DOUBLE_MM = 88, 180
_PPI = 300
_CACHE_SIZE = 64
"""Figures in memory, a tenth of a megabyte each."""
_POINTS_PER_MM = 72 / 25.4
"""Of a millimetre."""
_ARIA_LABEL = re.compile(r' aria-label="([^"]*)" role="graphics-symbol" aria-roledescription="[^"]*"')
_ROLES = re.compile(r' role="graphics-(?:object|symbol)"| aria-roledescription="[^"]*"| aria-label="[^"]*"')


def to_svg(draw: Callable[[Layout], Any], layout: Layout) -> str:
    """Return a chart as SVG, without a browser."""
    import altair as alt
    from altair.utils.schemapi import debug_mode

    version = "_".join(alt.SCHEMA_VERSION.split(".")[:2])
    # Our own charts need no validation, which would take longer than the drawing.
    with debug_mode(False):
        chart = draw(layout).to_dict(validate=False)
    return _converted(json.dumps(chart), version)


# Most figures of a repeated report are unchanged, and drawing is most of its work.
@lru_cache(maxsize=_CACHE_SIZE)
def _converted(chart: str, version: str) -> str:
    import vl_convert

    # Taken apart again, as the converter takes no text with NaN in it.
    return str(vl_convert.vegalite_to_svg(json.loads(chart), vl_version=version))


def _described(svg: str, name: str, title: str, description: str) -> Markup:
    """Return the SVG for a page: it scales, and has a title and a description for screen readers.

    The page's script shows the tooltip of each mark.
    """
    start, rest = _split_opening(svg)
    words = tag("title", title, id=f"{name}-t") + tag("desc", description, id=f"{name}-d")
    opening = f'<svg class="plot" role="img" aria-labelledby="{name}-t {name}-d" {_box(start)}>'
    return Markup(opening + words + _ROLES.sub("", _ARIA_LABEL.sub(r' data-tip="\1"', rest)))


@lru_cache(maxsize=_CACHE_SIZE)
def paper_files(svg: str, layout: Layout) -> Mapping[str, bytes]:
    """Return a figure as SVG, PDF and PNG, as wide as one column of a paper or as two."""
    import vl_convert

    width = _COLUMN_MM if layout == COLUMN else _DOUBLE_MM
    start, rest = _split_opening(svg)
    _, _, across, down = (float(part) for part in _box(start).split('"')[1].split())
    height = width * down / across
    bare = f'<svg xmlns="http://www.w3.org/2000/svg" {_box(start)} width="{{}}" height="{{}}">' + _ROLES.sub("", rest)

    def sized(unit: str, scale: float) -> str:
        return bare.replace(
            'width="{}" height="{}"', f'width="{width * scale:.2f}{unit}" height="{height * scale:.2f}{unit}"', 1
        )

    # The converter takes a pixel for a point.
    points = sized("", _POINTS_PER_MM)
    return {
        "svg": sized("mm", 1).encode(),
        "pdf": pdf_of(points),
        "png": vl_convert.svg_to_png(points, scale=1, ppi=_PPI),
    }


_NAMED_OBJECTS = re.compile(rb"<<\n((?:[ ]+/\w+ \d+ \d+ R\n){2,})[ ]*>>")
_FONTS = re.compile(rb"\n(\d+) 0 obj\n<<\n  /Type /Font\n  /Subtype /Type0\n")
_MOST_TRIES = 60
"""With three fonts one in six has them in order."""


def pdf_of(svg: str) -> bytes:
    """Return a drawing as PDF, with the same bytes each time.

    The converter writes fonts and the names of objects in another order each time. Names are sorted where they stand,
    which moves no other byte; the fonts are drawn again until they are in the order of their numbers.
    """
    import vl_convert

    pdf = b""
    for _ in range(_MOST_TRIES):
        pdf = bytes(vl_convert.svg_to_pdf(svg))
        numbers = [int(one) for one in _FONTS.findall(pdf)]
        if numbers == sorted(numbers):
            break
    return _NAMED_OBJECTS.sub(_sorted_names, pdf)


def _sorted_names(match: re.Match[bytes]) -> bytes:
    return match[0].replace(match[1], b"".join(sorted(match[1].splitlines(keepends=True))))


def _split_opening(svg: str) -> tuple[str, str]:
    opening = re.match(r"<svg[^>]*>", svg)
    assert opening is not None
    return opening.group(), svg[opening.end() :]


def _box(opening: str) -> str:
    box = re.search(r'viewBox="[^"]*"', opening)
    assert box is not None
    return box.group()


def draw_figure(figure: Figure) -> DrawnFigure:
    """Return a figure drawn once for wide screens and once for phones; one of these is what a paper gets."""
    svg_of = cache(partial(to_svg, figure.draw))
    return DrawnFigure(drawn_inline(figure, svg_of), paper_files(svg_of(figure.paper), figure.paper))


def drawn_inline(figure: Figure, svg_of: Callable[[Layout], str] | None = None) -> Markup | None:
    """Return a figure as the page has it, from its drawing by layout; None where the page has none."""
    if not figure.in_page:
        return None
    svg_of = svg_of or partial(to_svg, figure.draw)
    narrow = _described(svg_of(COLUMN), f"narrow-{figure.name}", figure.title, figure.words)
    if not figure.is_wide:
        return tag("div", narrow, class_="figure figure--column")
    wide = _described(svg_of(WIDE), f"wide-{figure.name}", figure.title, figure.words)
    return Markup(tag("div", wide, class_="figure figure--wide") + tag("div", narrow, class_="figure figure--narrow"))
