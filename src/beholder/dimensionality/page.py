"""The page of dimensions: the finding, the figures and the tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd

from beholder.analysis.result import records
from beholder.dimensionality.figures import BETWEEN, figures
from beholder.dimensionality.text import Dimensions
from beholder.formats import NONE, count, join_names, number, p_value, percent, plural
from beholder.reporting.figures import Figure
from beholder.reporting.html import Child, Markup, folded, panel, render, table, tag
from beholder.reporting.result_page import Outcome, headline, simulated
from beholder.reporting.sheets import TextTable

_MOST_PAIRS = 200
"""Correlations that the page lists; the file has all."""
_LEVELS = {**BETWEEN, "answer": "Single answers"}


def outcome(dimensions: Dimensions) -> Outcome:
    """Return the page, its figures and its tables."""
    drawn = figures(dimensions)
    names = [part.side.name for part in dimensions.joined.parts if part.side.name]
    return Outcome(
        kind="Dimensions",
        title="What the questions measure" + (f": {' and '.join(names)}" if names else ""),
        lead=_lead(dimensions),
        tables=dimensions.results,
        figures=drawn,
        sections=lambda inline: _sections(dimensions, drawn, inline),
        notes={
            "questions": list(dimensions.joined.questions),
            "ids": {name: asked for part in dimensions.joined.parts for asked, name in part.names.items()},
            "turned": list(dimensions.joined.turned),
            "conditions": list(dimensions.joined.conditions),
            "of": dimensions.of,
            "words": list(dimensions.words),
        },
        simulated=simulated([part.side for part in dimensions.joined.parts]),
    )


def _lead(dimensions: Dimensions) -> list[Child]:
    turned = dimensions.joined.turned
    if not turned:
        return [headline(dimensions.words)]
    of = plural(len(turned), "is of a reversed question", "are of reversed questions")
    note = f"{join_names(turned)} {of}, whose scores are turned round here, so that all point the same way."
    return [headline(dimensions.words), tag("p", note, class_="notice")]


def _sections(dimensions: Dimensions, drawn: Sequence[Figure], inline: Mapping[str, Markup]) -> list[Child]:
    tables = {**dimensions.tables, **_above_chance(dimensions.tables)}
    panels = [
        _panel("components", "How many things", tables, _components, _COMPONENTS_FOOT),
        _panel("loadings", "Which question belongs to which", tables, _loadings, _LOADINGS_FOOT),
        _panel("shorter", "A shorter survey", tables, _shorter, _SHORTER_FOOT),
        _panel("consistency", "May they be averaged?", tables, _consistency, _CONSISTENCY_FOOT),
        _panel("split_means", "Above and below the threshold", tables, _split, _SPLIT_FOOT),
        _panel("correlations", "Every two questions", tables, _correlations, _CORRELATIONS_FOOT),
        _panel(
            "table", "All conditions", tables, _wide, "Reversed questions are turned. Intervals are in profile.csv."
        ),
    ]
    return [*_pictures(drawn, inline), *(one for one in panels if one is not None)]


def _above_chance(tables: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Return the loadings of levels with a component above chance: those of noise tell nothing."""
    if "loadings" not in tables or "components" not in tables:
        return {}
    kept = tables["components"]
    levels = set(kept["level"][kept["kept"].astype(bool)])
    return {"loadings": tables["loadings"][tables["loadings"]["level"].isin(levels)]}


def _pictures(drawn: Sequence[Figure], inline: Mapping[str, Markup]) -> list[Child]:
    """Return the figures as panels, those of one column beside each other."""
    panels: list[Child] = []
    beside: list[Child] = []
    for figure in (one for one in drawn if one.name in inline):
        shown = panel(figure.name, figure.title, inline[figure.name], foot=figure.words, is_wide=figure.is_wide)
        if not figure.is_wide:
            beside.append(shown)
            continue
        panels += [tag("div", beside, class_="beside")] if beside else []
        panels, beside = [*panels, shown], []
    return [*panels, *([tag("div", beside, class_="beside")] if beside else [])]


_COMPONENTS_FOOT = (
    "Chance: what the same eigenvalue of pure noise exceeds in one case of twenty. Repeats: how far two halves of the "
    "people agree on the component."
)
_LOADINGS_FOOT = (
    "Correlation of each question with each component, after varimax. Communality: the share in all of them."
)
_SHORTER_FOOT = (
    "For each number of questions the best set. Tells: how much of the means of all questions follows from it. With "
    "other people: how much it tells of all questions as the other half of the people answers them, where asking "
    "everything is 100 %. ✓ would do; the smallest is the suggestion."
)
_CONSISTENCY_FOOT = (
    "Alpha and omega near 1: the questions measure one thing, and their average is steady. Means over many people have "
    "a high alpha in any case; single answers are what questionnaires report. Without: alpha when that one is left out."
)
_SPLIT_FOOT = (
    "Means over conditions. Together: the mean correlation of the question with the others, of four conditions or more."
)
_CORRELATIONS_FOOT = (
    "Between conditions nearly everything goes together, because good ones are good at everything. Within: the same "
    "person about the same stimulus, without what all say of it and without how high this person rates."
)


def _panel(name: str, title: str, tables: Mapping[str, pd.DataFrame], content: Any, foot: str) -> Markup | None:
    if name not in tables or tables[name].empty:
        return None
    return panel(name.replace("_", "-"), title, content(tables[name]), foot=foot, is_wide=True)


def _components(components: pd.DataFrame) -> Markup:
    rows = [
        (
            _LEVELS[row["level"]], str(row["component"]), number(row["eigenvalue"], 2), number(row["chance"], 2),
            "✓" if row["kept"] else NONE, percent(row["share"]), percent(row["cumulative"]),
            number(row["repeats"], 2),
        )
        for row in records(components)
        if row["kept"] or row["component"] <= _shown(components, row["level"])
    ]  # fmt: skip
    heads = ("Level", "Component", "Eigenvalue", "Chance", "Kept", "Share", "Together", "Repeats")
    return table("Components, by level", TextTable(heads, rows))


def _shown(components: pd.DataFrame, level: str) -> int:
    """Return up to which component the page goes: two more than are kept."""
    return int(components["kept"][components["level"] == level].sum()) + 2


def _loadings(loadings: pd.DataFrame) -> Markup:
    parts = []
    for level, mine in loadings.groupby("level", sort=False):
        wide = mine.pivot(index="question", columns="component", values="loading")
        communality = mine.drop_duplicates("question").set_index("question")["communality"]
        rows = [
            (str(name), *(number(one, 2) for one in wide.loc[name]), number(communality[name], 2))
            for name in communality.index
        ]
        heads = ("Question", *(f"Component {place}" for place in wide.columns), "Communality")
        parts.append(table(f"Loadings {_LEVELS[str(level)].lower()}", TextTable(heads, rows)))
    return render(parts)


def _shorter(shorter: pd.DataFrame) -> Markup:
    columns: dict[str, Callable[[Mapping[str, Any]], str]] = {
        "Would do": lambda row: "✓ suggested" if row["suggested"] else "✓" if row["passes"] else NONE,
        "Tells": lambda row: percent(row["explained"]),
        "With other people": lambda row: percent(row["fresh"]),
        "r over conditions": lambda row: number(row["pearson_condition"], 3),
        "r over stimuli": lambda row: number(row["pearson_stimulus"], 3),
        "Alpha": lambda row: number(row["alpha"], 2),
        "Minutes saved": lambda row: number(row["minutes_saved"], 1),
    }
    forms = records(shorter)
    cells = {name: [of(row) for row in forms] for name, of in columns.items()}
    known = {name: column for name, column in cells.items() if set(column) != {NONE}}
    rows = [
        (str(row["size"]), str(row["questions"]).replace("; ", ", "), *(column[place] for column in known.values()))
        for place, row in enumerate(forms)
    ]
    return table("The best set of every size", TextTable(("Number", "Questions", *known), rows, names=2))


def _consistency(consistency: pd.DataFrame) -> Markup:
    shown = [row for row in records(consistency) if row["level"] == "answer" or not row["without"]]
    has_notes = any(row["note"] for row in shown)
    rows = [
        (
            row["of"], _LEVELS[row["level"]], row["without"] or NONE, str(row["questions"]), f"{row['n']:,}",
            _with_ends(row, "alpha"), number(row["omega"], 2), *((row["note"],) if has_notes else ()),
        )
        for row in shown
    ]  # fmt: skip
    heads = ("Of", "Level", "Without", "Questions", "n", "Alpha", "Omega", *(("Note",) if has_notes else ()))
    return table("Alpha and omega", TextTable(heads, rows, names=3))


def _split(means: pd.DataFrame) -> Markup:
    parts = list(dict.fromkeys(means["part"]))
    cells = {(row["part"], row["question"]): row for row in records(means)}
    related = [part for part in parts if means["mean_pearson"][means["part"] == part].notna().any()]
    rows = [
        (
            name,
            *(number(cells[part, name]["mean"], 2) for part in parts),
            *(number(cells[part, name]["mean_pearson"], 2) for part in related),
        )
        for name in dict.fromkeys(means["question"])
    ]
    most = means.groupby("part", sort=False)["conditions"].max()
    heads = (
        *(f"{part}: mean of {count(int(most[part]), 'condition')}" for part in parts),
        *(f"{part}: together" for part in related),
    )
    return table("Means above and below", TextTable(("Question", *heads), rows))


def _correlations(correlations: pd.DataFrame) -> Markup:
    rows = [
        (
            _LEVELS[row["level"]], row["question"], row["other_question"], f"{row['n']:,}", _with_ends(row, "pearson"),
            p_value(row["pearson_p"]),
        )
        for row in records(correlations.head(_MOST_PAIRS))
    ]  # fmt: skip
    more = tag("p", f"The first {_MOST_PAIRS} of {len(correlations):,}; correlations.csv has all.")
    heads = ("Level", "Question", "and", "n", "Pearson", "p")
    shown = table("Correlations of every two questions", TextTable(heads, rows, names=3))
    whole = [shown, more if len(correlations) > _MOST_PAIRS else None]
    return folded("All correlations with their intervals", whole)


def _wide(wide: pd.DataFrame) -> Markup:
    names = [name for name in ("condition", "label") if name in wide]
    numbers = [name for name in wide.columns if name not in names]
    rows = [(*(str(row[name]) for name in names), *(number(row[name], 2) for name in numbers)) for row in records(wide)]
    heads = (*(name.capitalize() for name in names), *map(str, numbers))
    return table("Means of all conditions", TextTable(heads, rows, names=len(names)))


def _with_ends(row: Mapping[str, Any], name: str) -> str:
    value, low, high = (number(row[key], 2) for key in (name, f"{name}_low", f"{name}_high"))
    return value if NONE in (value, low) else f"{value} ({low} to {high})"
