"""What the questions measure together, where three or more were answered by numbers."""

from __future__ import annotations

import pandas as pd

from beholder.report.markup import Markup, render, tag
from beholder.report.material import Material
from beholder.report.words import count, number

FOOT = (
    "Alpha and omega near 1: the answers of one person go together, and may be averaged. They also do where one "
    "impression colours all answers on a page."
)


def together(material: Material) -> Markup | None:
    """Return alpha and the number of components in words, and where more is told; None where there are too few."""
    table = material.results.also.get("together")
    if table is None or table.empty:
        return None
    row = table.iloc[0]
    asked = int(row["questions"])
    told = [_measured(int(row["components"]), float(row["share"]), asked, int(row["stimuli"])), _alike(row)]
    command = tag("code", "beholder dimensions")
    more = tag("p", "Which question belongs to which, and which few would do: ", command, ".")
    return render([tag("p", " ".join(line for line in told if line)), more])


def _measured(components: int, share: float, asked: int, stimuli: int) -> str:
    if share != share:
        return f"{count(asked, 'question')} about too few stimuli to say how many things they measure."
    over = f"over {count(stimuli, 'stimulus', 'stimuli')}"
    if not components:
        return f"The {asked} questions share nothing that stands above chance {over}."
    what = "one thing" if components == 1 else f"{components} things"
    hold = "it holds" if components == 1 else "they hold"
    return f"The {asked} questions measure {what} above chance: {hold} {100 * share:.0f} % of their variance {over}."


def _alike(row: pd.Series) -> str:
    alpha, low, high, omega = (float(row[name]) for name in ("alpha", "alpha_low", "alpha_high", "omega"))
    if alpha != alpha:
        return ""
    ends = f" ({number(low, 2)} to {number(high, 2)})" if low == low else ""
    also = f", omega {number(omega, 2)}" if omega == omega else ""
    return f"Of one person’s answers about one stimulus, alpha is {number(alpha, 2)}{ends}{also}."
