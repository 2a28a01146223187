"""Where the differences between ratings come from, and whether the runs of a study agree."""

from __future__ import annotations

from typing import Any

import pandas as pd

from beholder.analyse.mixed import SOURCES
from beholder.analyse.plots.numbers import interval, percent
from beholder.analyse.result import records
from beholder.report.gallery import Figures
from beholder.report.markup import Child, Markup, render, tag
from beholder.report.material import Material
from beholder.report.part import Part
from beholder.report.sheets import Sheet
from beholder.report.tables import table
from beholder.report.words import count, number, p_value, signed

FOOT = (
    "A mixed model: conditions fixed, participants and contents random. Participants: some give higher scores than "
    "others, whatever they see. Contents: some get higher scores, whatever was done to them. The rest: what one person "
    "thinks of one stimulus, what people and contents favour, and chance."
)
RUNS_FOOT = (
    "Differences on the same stimuli, from a model with stimulus and run fixed and participant random. A difference "
    "that is not clear may still be there; equivalent are two runs only if the difference is sure to be below the "
    "margin (two one-sided tests at 5 %)."
)
_EQUIVALENT = {"yes": "✓", "no": "no", "undecided": "undecided"}


def variance(material: Material, figures: Figures) -> Markup | None:
    """Return how much conditions, participants and contents add to what ratings differ by; None without a model."""
    found = material.results.also.get("variances")
    if found is None or found.empty:
        return None
    shares = found.pivot(index="question", columns="source", values="share").reindex(columns=list(SOURCES))
    said = _of_one(shares.iloc[0]) if len(shares) == 1 else _of_many(shares)
    return render([tag("p", said), figures.get("variances")])


def _of_one(share: pd.Series) -> list[Child]:
    """Return one question in words."""
    told = {
        "condition": "is between conditions",
        "participant": "is that some participants score higher than others",
        "content": "is that some contents get higher scores",
        "residual": "is left to single ratings",
    }
    known = [f"{percent(share[source])} {words}" for source, words in told.items() if share[source] == share[source]]
    return ["Of all that ratings differ by, ", tag("b", known[0]), "".join(f", {words}" for words in known[1:]), "."]


def _of_many(share: pd.DataFrame) -> list[Child]:
    """Return the range over all questions in words."""

    def ends(source: str) -> str:
        known = share[source].dropna()
        low, high = percent(known.min()), percent(known.max())
        return low if low == high else f"{low.removesuffix(' %')} to {high}"

    words = {"condition": "between conditions", "participant": "between participants", "content": "between contents"}
    known = [f"{ends(source)} is {told}" for source, told in words.items() if share[source].notna().any()]
    begun = f"Of all that ratings differ by, over {count(len(share), 'question')}, "
    return [begun, tag("b", known[0]), "".join(f", {one}" for one in known[1:]), "."]


def run_effects(material: Material) -> Markup | None:
    """Return whether runs differ, and whether they are equivalent; None with one run."""
    found = material.results.also.get("runs")
    if found is None or found.empty:
        return None
    parts: list[Child] = []
    several = found["question"].nunique() > 1
    for part in material.parts:
        own = found[found["question"] == part.id]
        if own.empty:
            continue
        pairs = own[own["run"] != ""]
        colon = "" if part.name.endswith(("?", ".", "!", ":")) else ":"
        named = [tag("b", f"{part.name}{colon}"), " "] if several else None
        parts.append(tag("p", named, told_runs(records(own)[0], pairs)))
        if len(pairs):
            caption = f"Every two runs{f': {part.id}' if several else ''}"
            parts.append(table(caption, _sheet(pairs, part)))
    return render(parts)


def told_runs(whole: dict[str, Any], pairs: pd.DataFrame) -> str:
    """Return what the test of all runs and the equivalence of every two say together."""
    if whole["note"]:
        return f"No test: {whole['note']}."
    tested = f"χ²({whole['df']:.0f}) = {number(whole['statistic'], 2)}, p {_equals(p_value(whole['p']))}"
    begun = f"The runs {'differ' if whole['p'] < 0.05 else 'do not differ clearly'} ({tested})"
    same = int((pairs["equivalent"] == "yes").sum())
    margin = f"±{pairs['margin'].iloc[0]:.3g} points"
    if same == len(pairs):
        return f"{begun}, and {'every two' if same > 1 else 'they'} are equivalent within {margin}."
    if whole["p"] < 0.05:
        verb = "is" if same == 1 else "are"
        return f"{begun}; {same} of {count(len(pairs), 'pair')} {verb} equivalent within {margin}."
    called = f"{same} of {count(len(pairs), 'pair')} can be called equivalent within {margin}"
    return f"{begun}. That does not make them the same: {called}."


def _equals(p: str) -> str:
    return p if p.startswith("<") else f"= {p}"


def _sheet(pairs: pd.DataFrame, part: Part) -> Sheet:
    d = part.decimals + 1
    rows = [
        (
            row["run"], row["other_run"], signed(row["difference"], d), interval(row["ci_low"], row["ci_high"], d),
            p_value(row["p"]), _EQUIVALENT[row["equivalent"]],
        )
        for row in records(pairs)
    ]  # fmt: skip
    margin = f"Equivalent within ±{pairs['margin'].iloc[0]:.3g}"
    return Sheet(("Run", "minus", "Difference", "95 % interval", "p", margin), rows, names=2)
