"""The page of a power analysis."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from beholder.analyse.plots.numbers import number, percent, plain
from beholder.analyse.plots.theme import DOUBLE, Layout
from beholder.analyse.result import records
from beholder.power.charts import methods_chart, power_chart
from beholder.power.finding import told_rows
from beholder.power.found import Found
from beholder.power.needed import GOALS
from beholder.power.words import notes, told
from beholder.report.beside import headline
from beholder.report.figures import Figure
from beholder.report.markup import Child, Markup, tag
from beholder.report.outcome import Outcome
from beholder.report.panel import panel
from beholder.report.sheets import Sheet
from beholder.report.tables import table
from beholder.report.words import NONE, count
from beholder.report.words import plain as short

KIND = "Power"
_SIMULATED = "Every number on this page comes from a simulation, not from people."
_MOST_QUESTIONS = 4
_POWER = (
    "In brackets: the 95 % interval that so many repetitions leave. A difference is found where it is clear after "
    "Holm’s correction, as in the report, and points the right way."
)


def outcome(found: Found) -> Outcome:
    """Return the power analysis as it is written."""
    study = found.world.study
    return Outcome(
        kind=KIND,
        title=study.title,
        lead=[headline(told(found)), tag("ul", [tag("li", note) for note in notes(found)], class_="notice")],
        tables=found.results,
        figures=_figures(found),
        sections=lambda drawn: _sections(found, drawn),
        notes=_notes(found),
        simulated=_SIMULATED,
    )


def _notes(found: Found) -> dict[str, Any]:
    asking = found.asking
    return {
        "participants": list(asking.sizes),
        "repetitions": asking.repetitions,
        "seed": asking.seed,
        "contents": asking.contents,
        "quality": dict(found.world.quality),
        "people": {row["what"]: [row["value"], row["from"]] for row in found.source.rows()},
        "remains": None if found.remains != found.remains else found.remains,
        "words": list(told(found)),
        "notes": list(notes(found)),
    }


def _figures(found: Found) -> list[Figure]:
    made = [_curve(found, place, question) for place, question in enumerate(found.world.questions, 1)]
    methods = found.table("methods")
    if methods["hours"].notna().sum() > 1:
        words = "Hours of all participants that each method takes for the same power. The numbers are in methods.csv."
        made.append(Figure("methods", "Hours by method", words, lambda layout: methods_chart(methods, layout=layout)))
    return made


def _curve(found: Found, place: int, question: str) -> Figure:
    power, sizes = found.of("power", question), found.of("sizes", question)

    def draw(layout: Layout) -> Any:
        return power_chart(power, sizes, remains=found.remains, layout=layout)

    words = (
        "The chance to find each difference, and the width of intervals, over the number of participants. The numbers "
        "are in power.csv and sizes.csv."
    )
    name = "power" if len(found.world.questions) == 1 else f"power-{place}"
    return Figure(name, question, words, draw, is_wide=True, paper=DOUBLE, in_page=place <= _MOST_QUESTIONS)


def _sections(found: Found, drawn: Mapping[str, Markup]) -> list[Child]:
    questions = found.world.questions
    sections: list[Child] = []
    for place, question in enumerate(questions[:_MOST_QUESTIONS], 1):
        name = "power" if len(questions) == 1 else f"power-{place}"
        title = "Chance to find a difference" if len(questions) == 1 else f"Chance to find a difference: {question}"
        foot = "Dashed: a chance of 80 %" + _at_best(found) + ". Bars: 95 % intervals of the simulation."
        sections.append(panel(name, title, drawn[name], foot=foot, is_wide=True))
        chances = table("Chance to find a difference", chance_sheet(found.of("power", question)))
        sections.append(panel(f"chances-{place}", "By number of participants", chances, foot=_POWER, is_wide=True))
        sizes = table("What so many participants give and take", size_sheet(found.of("sizes", question)))
        sections.append(panel(f"sizes-{place}", "What it gives, what it takes", sizes, foot=_SIZES, is_wide=True))
    methods = found.table("methods")
    if len(methods):
        content = table("The same power by other methods", method_sheet(methods))
        parts = [drawn["methods"], content] if "methods" in drawn else [content]
        sections.append(panel("methods", "Which method", tag("div", parts), foot=_METHODS, is_wide=True))
    return sections


def _at_best(found: Found) -> str:
    return ", and the interval that no number of participants gets below" if found.remains > 0 else ""


_SIZES = (
    "Rank agreement: Kendall’s τ between the order found and the true one. Best called best: how often the condition "
    "that is truly best comes out first. False alarms: something called clear although all conditions are equally good."
)
_METHODS = (
    "The same stimuli and the same people, each method with its usual options and a session about as long. That "
    "differences are easier to see side by side, for which HEMVIP argues, is not in the model."
)


def chance_sheet(power: pd.DataFrame) -> Sheet:
    """Return the chances, a row for each target and a column for each number of participants."""
    sizes = sorted(set(power["participants"]))
    rows: dict[tuple[str, ...], dict[int, str]] = {}
    for row in records(told_rows(power)):
        chance = f"{percent(row['power'])} ({percent(row['power_low'])} to {percent(row['power_high'])})"
        rows.setdefault((_what(row), f"{row['pairs']}"), {})[row["participants"]] = chance
    heads = ("Difference", "Pairs", *(count(size, "participant") for size in sizes))
    return Sheet(heads, [(*key, *(cells.get(size, NONE) for size in sizes)) for key, cells in rows.items()], names=1)


def _what(row: Mapping[str, Any]) -> str:
    if row["target"] == "all":
        return "all at once"
    pair = f"{row['condition']} and {row['other_condition']}: " if row["target"] == "contrast" else ""
    points = round(abs(row["difference"]), 2)
    return f"{pair}{plain(points)} point{'s' * (points != 1)}"


def size_sheet(sizes: pd.DataFrame) -> Sheet:
    """Return intervals, ranks, false alarms, minutes and cost, a row for each number of participants."""
    has_cost = bool((sizes["currency"] != "").any())
    rows = []
    for row in records(sizes):
        low, high = row["ratings_low"], row["ratings_high"]
        cost = (f"{row['cost']:,.2f} {row['currency']}",) if has_cost else ()
        rows.append((
            f"{row['participants']:,}", short(low) if low == high else f"{low} to {high}",
            f"±{number(row['mean_half_width'], 2)}", f"±{number(row['difference_half_width'], 2)}",
            number(row["tau"], 2), percent(row["best"]), percent(row["false_alarms"]), number(row["minutes"], 1),
            number(row["hours"], 1), *cost,
        ))  # fmt: skip
    heads = (
        "Participants", "Ratings per stimulus", "Interval of a mean", "Interval of a difference", "Rank agreement",
        "Best called best", "False alarms", "Minutes each", "Hours in all", *(("Cost",) if has_cost else ()),
    )  # fmt: skip
    return Sheet(heads, rows, names=1)


def method_sheet(methods: pd.DataFrame) -> Sheet:
    """Return what each method takes."""
    has_cost = bool((methods["currency"] != "").any())
    rows = []
    for row in records(methods):
        cost = (f"{row['cost']:,.2f} {row['currency']}" if row["currency"] else NONE,) if has_cost else ()
        rows.append((
            row["method"], number(row["participants"], 0), number(row["trials"], 0), number(row["minutes"], 1),
            number(row["hours"], 1), *cost, row["note"] or NONE,
        ))  # fmt: skip
    goal = percent(GOALS[0])
    heads = (
        "Method", f"Participants for {goal}", "Trials", "Minutes each", "Hours in all",
        *(("Cost",) if has_cost else ()), "Note",
    )  # fmt: skip
    return Sheet(heads, rows, names=1)
