"""The page of a comparison."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from beholder.analyse.correction import ALPHA
from beholder.compare.figures import (
    difference_name,
    drawn_pairs,
    figures,
    matrices_of,
    matrix_name,
    scatter_name,
)
from beholder.compare.found import Found
from beholder.compare.matching import Matched
from beholder.compare.sheets import (
    agreement_sheet,
    contrast_sheet,
    correlation_sheet,
    count_sheet,
    difference_sheet,
    effect_sheet,
)
from beholder.compare.words import told
from beholder.report.beside import headline, simulated
from beholder.report.markup import Child, Markup, render, tag
from beholder.report.outcome import Outcome
from beholder.report.panel import panel
from beholder.report.tables import table
from beholder.report.words import count, listed

_MOST_TESTS = 6
_MOST_TOLD = 6
"""Sentences at the head of the page; of more, the table tells."""


def outcome(found: Found) -> Outcome:
    """Return the comparison as it is written."""
    names = found.names
    return Outcome(
        kind="Comparison",
        title=listed(names) if len(names) <= 3 else f"{names[0]} and {len(names) - 1} others",
        lead=_lead(found),
        tables=found.results,
        figures=figures(found),
        sections=lambda drawn: _sections(found, drawn),
        notes=_notes(found),
        simulated=simulated(found.sides.sides),
    )


def _notes(found: Found) -> dict[str, Any]:
    return {
        "sides": [
            {"name": side.name, "ratings": side.ratings is not None, "stimuli": int(side.stimuli["stimulus"].nunique()),
             "conditions": int(side.conditions["condition"].nunique())}
            for side in found.sides.sides
        ],
        "questions": list(found.sides.questions),
        "notes": list(found.sides.notes),
        "words": list(told(found)),
    }  # fmt: skip


def _lead(found: Found) -> Child:
    lines = told(found)
    foot = f"The table below has all {len(lines)}." if len(lines) > _MOST_TOLD else ""
    notes = [tag("p", note, class_="notice") for note in found.sides.notes]
    return [headline(lines[:_MOST_TOLD], foot), *notes]


def _sections(found: Found, drawn: Mapping[str, Markup]) -> list[Child]:
    sections: list[Child] = [_agreement(found), _matrices(found, drawn), _scatters(found, drawn)]
    for name, title, caption, sheet, foot in (
        ("contrast_counts", "The same findings?", "Differences between conditions", count_sheet, _CONTRASTS),
        ("effects", "Does one side rate higher as a whole?", "Effect of the side", effect_sheet, _EFFECTS),
    ):
        rows = found.table(name)
        if len(rows):
            sections.append(panel(name, title, table(caption, sheet(rows)), foot=foot, is_wide=True))
    sections.append(_correlations(found))
    for name, title in (("stimuli", "Stimuli that differ clearly"), ("conditions", "Conditions that differ clearly")):
        rows = found.table(name)
        clear = rows[rows["clear"] == 1] if len(rows) else rows
        if len(clear):
            foot = f"All of them, clear or not, are in {name}.csv."
            content = table("Differences of two sides, largest first", difference_sheet(clear, found.labels))
            sections.append(panel(name, title, content, foot=foot, is_wide=True))
    split = found.table("contrasts")
    split = (
        split[~split["verdict"].isin(("clear in both", "clear in neither", "same direction"))] if len(split) else split
    )
    if len(split):
        title = "Where sides do not agree"
        sections.append(
            panel(
                "contrasts",
                title,
                table("Differences between conditions", contrast_sheet(split, found.labels)),
                is_wide=True,
            )
        )
    return [section for section in sections if section]


_CONTRASTS = "Every two conditions that both sides have; clear means after Holm's correction on each side."
_CORRELATIONS = (
    "Both correlations share a side and its stimuli, so they are tested as dependent. p is two-sided; papers that test "
    "one-sided print half of it."
)
_EFFECTS = (
    "Beside stimulus and participant. No clear difference is not equivalence: sides are called equivalent where the "
    "difference is surely within the margin."
)


def _correlations(found: Found) -> Markup | None:
    """Return the tests between two correlations: all where they are few, else the clear ones."""
    rows = found.table("correlations")
    if rows.empty:
        return None
    clear = rows[rows["p_holm"] < ALPHA]
    shown = rows if len(rows) <= _MOST_TESTS else clear
    told = f"{len(clear) or 'None'} of {count(len(rows), 'test')} {'is' if len(clear) < 2 else 'are'} clear."
    content = [tag("p", told)]
    if len(shown):
        content.append(table("Tests between two correlations", correlation_sheet(shown)))
    title = "Does a side agree better with one than with another?"
    foot = _CORRELATIONS if len(shown) == len(rows) else f"{_CORRELATIONS} All are in correlations.csv."
    return panel("correlations", title, render(content), foot=foot, is_wide=True)


def _agreement(found: Found) -> Markup:
    rows = found.table("agreement")
    title = "How well they agree"
    foot = (
        "In brackets: 95 % intervals. RMSE mapped: after the straight line that maps the second side to the first, "
        "over n; agreement.csv also has it over n − 2."
    )
    return panel(
        "agreement",
        title,
        table("Correlations and errors of every two sides", agreement_sheet(rows)),
        foot=foot,
        is_wide=True,
    )


def _read(found: Found, one: Matched) -> str:
    """Return how to read a scatter plot."""
    told = f"Dashed: both equal. Line: maps {one.other_side} to {one.side}. Bars: 95 % intervals."
    has_clear = bool((found.differing(one)["clear"] == 1).any())
    return f"{told} Orange: differs clearly after Holm's correction." if has_clear else told


def _matrices(found: Found, drawn: Mapping[str, Markup]) -> Markup | None:
    panels = [
        panel(
            name,
            f"Correlations of {'stimuli' if level == 'stimulus' else 'conditions'}: {question or 'mean'}",
            drawn[name],
        )
        for level, question in matrices_of(found)
        if (name := matrix_name(found, level, question)) in drawn
    ]
    return tag("div", panels, class_="beside") if panels else None


def _scatters(found: Found, drawn: Mapping[str, Markup]) -> Markup | None:
    panels = []
    for one in drawn_pairs(found):
        things = "stimuli" if one.level == "stimulus" else "conditions"
        head = (
            f"{one.question}, {things}"
            if len(found.names) == 2
            else f"{one.side} and {one.other_side}, {one.question}, {things}"
        )
        if (name := scatter_name(found, one)) in drawn:
            panels.append(panel(name, head, drawn[name], foot=_read(found, one)))
        if (name := difference_name(found, one)) in drawn:
            foot = "Lines: the mean difference, and the limits of 95 % of the differences (Bland and Altman)."
            panels.append(panel(name, f"Differences, {things}", drawn[name], foot=foot))
    return tag("div", render(panels), class_="beside") if panels else None
