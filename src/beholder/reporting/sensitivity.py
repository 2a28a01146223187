"""Whether other choices of cleaning would have led elsewhere, and what those would have said who failed a rule."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd

from beholder.analyse.criteria import PASSED
from beholder.analyse.result import records
from beholder.analyse.sensitivity import AS_CLEANED, NOBODY_OUT, UNMARKED
from beholder.clean.sayings import RULE_TITLES
from beholder.clean.titles import TITLES
from beholder.report.markup import Markup, render, tag
from beholder.report.material import Material
from beholder.report.part import Part
from beholder.report.sheets import Sheet
from beholder.report.tables import table
from beholder.report.words import count, listed, number

FOOT = (
    "Gained, lost, turned: pairs of conditions whose difference is clear under this choice only, as cleaned only, or "
    "under both but the other way round; same test, same correction. Largest shift: of a condition's mean. "
    "Agreement with what is used: over the means of stimuli; in brackets what as many used participants, drawn at "
    "random, reach against the rest."
)
_WORDS = {
    AS_CLEANED: "As cleaned",
    NOBODY_OUT: "Nobody left out",
    UNMARKED: "Only sessions that no rule says anything of",
}
_OWN = {"complete": "Whole session", "watched": "Stimuli watched", "rater": "Most sessions of a person used"}


def sensitive(material: Material) -> Markup | None:
    """Return the conclusions under other choices of cleaning; None where nothing was left out and nobody is marked."""
    choices = material.results.also.get("sensitivity")
    if choices is None or choices.empty:
        return None
    parts: list[Markup] = [tag("p", tag("b", verdict(choices)), " ", _shifted(material, choices))]
    several = len(material.parts) > 1
    for part in material.parts:
        own = choices[choices["question"] == part.id]
        if len(own):
            parts.append(table(f"Other choices of cleaning{_of(part, several)}", _choice_sheet(own, part.decimals)))
    criteria = material.results.also.get("criteria")
    for part in material.parts if criteria is not None else ():
        own = criteria[criteria["question"] == part.id] if criteria is not None else pd.DataFrame()
        if len(own) > 1:
            caption = f"Scores of those who failed a rule, held against the used ones{_of(part, several)}"
            parts.append(table(caption, _criteria_sheet(own, part.decimals)))
            parts.append(table(f"Means by those who failed a rule{_of(part, several)}", _means_sheet(material, part)))
    return render(parts)


def _of(part: Part, several: bool) -> str:
    return f": {part.id}" if several else ""


def verdict(choices: pd.DataFrame) -> str:
    """Return whether any conclusion depends on the cleaning."""
    others = choices[choices["choice"] != AS_CLEANED]
    names = list(dict.fromkeys(others["choice"]))
    changing = [name for name in names if (others[others["choice"] == name]["changed"] == "yes").any()]
    if not changing:
        return f"No conclusion changes under {count(len(names), 'other choice')} of cleaning."
    told = listed([_choice(name)[:1].lower() + _choice(name)[1:] for name in changing])
    return f"Some conclusions depend on the cleaning: they change with {told}."


def _shifted(material: Material, choices: pd.DataFrame) -> str:
    """Return by how much means move at most, and whether their order stays."""
    others = choices[choices["choice"] != AS_CLEANED]
    shift = float(others["shift"].max())
    if shift != shift:
        return ""
    places = max((part.decimals for part in material.parts), default=1)
    order = (
        "the order of the conditions stays the same"
        if (others["order"] != "changed").all()
        else ("the order of the conditions changes under some of them")
    )
    unit = " points" if all(part.kind in ("score", "diff") for part in material.parts) else ""
    return f"Means of conditions move by {number(shift, places)}{unit} at most, and {order}."


def _choice(name: str) -> str:
    """Return a choice as one reads it."""
    return _WORDS.get(name) or f"Without the rule “{_title(name.removeprefix('without '))}”"


def _title(rule: str) -> str:
    return _OWN.get(rule) or RULE_TITLES.get(rule) or TITLES.get(rule) or rule


def _choice_sheet(choices: pd.DataFrame, decimals: int) -> Sheet:
    heads = ("Choice", "Participants", "Ratings", "Clear pairs", "Gained", "Lost", "Turned", "Largest shift", "Order",
             "A conclusion changes")  # fmt: skip
    rows = [
        (
            _choice(row["choice"]), *(f"{row[name]:,.0f}" for name in ("participants", "ratings")),
            f"{row['clear']:.0f} of {row['tested']:.0f}",
            *(f"{row[name]:.0f}" for name in ("gained", "lost", "turned")),
            number(row["shift"], decimals), row["order"] or row["note"], row["changed"],
        )
        for row in records(choices)
    ]  # fmt: skip
    return Sheet(heads, rows)


def _criteria_sheet(criteria: pd.DataFrame, decimals: int) -> Sheet:
    heads = ("Failed", "Sessions", "Ratings", "Per stimulus", "Pearson r", "Spearman ρ", "RMSE", "RMSE, mapped")
    rows: Sequence[tuple[str, ...]] = [
        (
            "Nothing: used" if row["criterion"] == PASSED else _title(row["criterion"]),
            *(f"{row[name]:,.0f}" for name in ("sessions", "ratings")),
            number(row["per_stimulus"], 1),
            _beside(row["pearson"], row["expected_pearson"], 2), number(row["spearman"], 2),
            _beside(row["rmse"], row["expected_rmse"], decimals), number(row["rmse_mapped"], decimals),
        )
        for row in records(criteria)
    ]  # fmt: skip
    return Sheet(heads, rows)


def _means_sheet(material: Material, part: Part) -> Sheet:
    """Return the mean of every condition by those who failed each rule, beside the used one."""
    found = material.results.also["criteria_scores"]
    own = found[found["question"] == part.id]
    means = {(row["condition"], row["criterion"]): row["mean"] for row in records(own)}
    rules = list(dict.fromkeys(own["criterion"]))
    rows = [
        (material.labels.get(name, name), *(number(means.get((name, rule), math.nan), part.decimals) for rule in rules))
        for name in part.conditions["condition"]
    ]
    return Sheet(("Condition", *("Used" if rule == PASSED else _title(rule) for rule in rules)), rows)


def _beside(found: float, expected: float, decimals: int) -> str:
    shown = number(found, decimals)
    return shown if expected != expected else f"{shown} ({number(expected, decimals)})"
