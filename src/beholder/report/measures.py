"""Numbers of single methods and studies beside the means: DMOS, the pull of a place, and manifest factors."""

from __future__ import annotations

import pandas as pd

from beholder.analyse.result import records
from beholder.report.gaps import p_words
from beholder.report.markup import Markup, render, tag
from beholder.report.material import Material
from beholder.report.part import Part
from beholder.report.sheets import Sheet
from beholder.report.tables import table
from beholder.report.words import NONE, number, span

_FEW = 5
_HEADS = ("Ratings", "Participants", "Mean", "95 % interval", "SD")


def few_contents(part: Part) -> Markup | None:
    """Return a warning where so few contents were rated that an interval over contents says little."""
    contents = int(part.conditions["contents"].min()) if len(part.conditions) else 0
    if part.is_share or not 1 <= contents < _FEW:
        return None
    if contents == 1:
        told = "One content was rated: the intervals are over participants, and say nothing of other contents."
    else:
        told = (
            f"{contents} contents were rated: intervals and tests that are to hold for other contents too rest on "
            f"{contents - 1} degrees of freedom, and are wide. More contents help more than more people; "
            "conditions.csv also has intervals for just these contents."
        )
    return tag("p", tag("b", "Few contents. "), told, class_="notice")


def dmos(material: Material, part: Part) -> Markup | None:
    """Return the differential scores of every condition; None where the method has none."""
    own = _of(material, "dmos", part)
    own = own[own["level"] == "condition"] if len(own) else own
    if own.empty:
        return None
    rows = [
        (material.labels.get(row["condition"], row["condition"]), *_cells(row, part.decimals)) for row in records(own)
    ]
    paired = "from each participant's own vote on the reference"
    note = paired if set(own["pairing"]) == {"paired"} else f"{paired} where there is one, else from the mean"
    caption = f"{own['metric'].iloc[0]}, {note}: {part.id}"
    return table(caption, Sheet(("Condition", *_HEADS), rows))


def position(material: Material, part: Part) -> Markup | None:
    """Return whether the second, or right, one was preferred for its place; None where nothing was compared."""
    own = _of(material, "position", part)
    if own.empty:
        return None
    row = records(own)[0]
    share, low, high = (100 * row[name] for name in ("second_share", "second_low", "second_high"))
    if share != share:
        return None
    interval = "" if low != low else f" (95 % interval {span(round(low), round(high))} %)"
    clear = row["p"] == row["p"] and row["p"] < part.alpha
    told = "The place pulls: this is more than chance." if clear else "No pull of the place is shown."
    words = f" The second, or right, one was called better in {share:.0f} %{interval} of the comparisons without a tie"
    return tag("p", tag("b", told), words, f", {p_words(row['p'])}." if row["p"] == row["p"] else ".")


def factors(material: Material, part: Part) -> Markup | None:
    """Return the means by every factor of stimuli or participants; None where there is none.

    Where a question is itself the factor, all who were asked it have one level, and there is nothing to tell.
    """
    own = _of(material, "factors", part)
    if own.empty:
        return None
    tables = []
    for factor in dict.fromkeys(own["factor"]):
        if factor in material.study.design.between and (own["factor"] == factor).sum() == 1:
            continue
        rows = [(row["level"] or NONE, *_cells(row, part.decimals)) for row in records(own[own["factor"] == factor])]
        tables.append(table(f"By {str(factor).removeprefix('factor_')}: {part.id}", Sheet(("Level", *_HEADS), rows)))
    return render(tables) if tables else None


def _of(material: Material, name: str, part: Part) -> pd.DataFrame:
    found = material.results.also.get(name)
    return pd.DataFrame() if found is None else found[found["question"] == part.id]


def _cells(row: dict[str, float], decimals: int) -> tuple[str, ...]:
    low, high = (number(row[name], decimals) for name in ("ci_low", "ci_high"))
    return (
        f"{row['n']:,.0f}", f"{row['participants']:,.0f}", number(row["mean"], decimals),
        NONE if low == NONE else f"{low} to {high}", number(row["sd"], decimals),
    )  # fmt: skip
