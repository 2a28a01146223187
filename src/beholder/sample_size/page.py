"""The page of a power analysis: its result class, its tables and figures as HTML, and its findings in words."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from beholder.analysis.figures.theme import DOUBLE, Layout
from beholder.analysis.result import records
from beholder.formats import NONE, count, join_names, number, percent, plain, plural
from beholder.reporting.figures import Figure
from beholder.reporting.html import Child, Markup, panel, table, tag
from beholder.reporting.result_page import Outcome, headline
from beholder.reporting.sheets import TextTable
from beholder.result_view import PagedResult, ResultView, offline_chart
from beholder.sample_size.design import Pay
from beholder.sample_size.estimates import PowerTables
from beholder.sample_size.figures import methods_chart, power_chart
from beholder.sample_size.request import contents_for
from beholder.sample_size.simulation import GOALS
from beholder.study.recruitment import Sum

if TYPE_CHECKING:
    from collections.abc import Callable

    from pandas import DataFrame


KIND = "Power"

_SIMULATED = "Every number on this page comes from a simulation, not from people."

_MOST_QUESTIONS = 4

_POWER = (
    "In brackets: the 95 % interval that so many repetitions leave. A difference is found where it is clear after "
    "Holm’s correction, as in the report (beyond these contents; on them with --contents fixed), and points the right "
    "way."
)


_SIZES = (
    "Rank agreement: Kendall’s τ between the order found and the true one. Best called best: how often the condition "
    "that is truly best comes out first. False alarms: something called clear although all conditions are equally good."
)


_METHODS = (
    "The same stimuli and the same people, each method with its usual options and a session about as long; so many on "
    "a page with as many pages as its group of the study has, or as fit. How tiring a page is, and that differences "
    "are easier to see side by side, for which HEMVIP argues, are not in the model."
)


_LOOKS = (
    "Of all simulated studies. Found: a difference that the study is about is clear by then; where all conditions are "
    "equally good that is a false alarm, and all looks together have 5 %."
)


_EDGE = 0.1
"""Distance from the ends of the scale below which ratings are compressed."""

_NOTHING = 1e-4
"""Share of the scale that counts as zero."""

_MOST_ROWS = 60


@dataclass(frozen=True, repr=False)
class Power(PagedResult):
    """How many participants a study needs; the tables are named as their files in power/."""

    power: DataFrame
    """The chance to find a difference, by participants, question and what is to be found."""
    sizes: DataFrame
    """What so many participants give, and what they take."""
    needed: DataFrame
    """How many participants a chance of 80 and of 90 % takes."""
    methods: DataFrame
    """The same by other methods; empty where none was asked for."""
    looks: DataFrame
    """At which of its looks the study stops; empty where it is looked at once, at its end."""
    words: tuple[str, ...]
    """The finding and the advice."""
    page: Path
    shown: DataFrame
    """The power for the first question by the labels of conditions, a column for each number of participants."""
    notes: Mapping[str, Any] = field(default_factory=dict)
    draw: Callable[[str | None], Any] | None = field(default=None, repr=False, compare=False)

    def plot(self, question: str | None = None) -> Any:
        """Return the figure of a question, by its name or its label, as an Altair chart; by default of the first."""
        assert self.draw is not None
        return offline_chart(self.draw(question))

    def _view(self) -> ResultView:
        more = {name: getattr(self, name) for name in ("power", "sizes", "needed", "methods", "looks")}
        return ResultView(self.words, self.shown if len(self.power) else None, more, self.page)


def chance_table(power: DataFrame) -> DataFrame:
    """Return the power for one question, a row for each target and a column for each number of participants."""
    rows = main_rows(power)
    labels = [_target_row(row) for row in records(rows)]
    named = rows.assign(difference=labels, power=[percent(share) for share in rows["power"]])
    wide = named.pivot(index="difference", columns="participants", values="power").reindex(list(dict.fromkeys(labels)))
    return wide.rename_axis(columns=None).reset_index()


def main_rows(table: DataFrame) -> DataFrame:
    """Return the rows to show: named pairs if there are any, else differences by size."""
    return table[table["target"] != "difference"] if (table["target"] == "contrast").any() else table


def _target_row(row: Mapping[str, Any]) -> str:
    """Return a target in words."""
    if row["target"] == "all":
        return "all at once"
    pair = f"{row['condition']} and {row['other_condition']}: " if row["condition"] else ""
    points = abs(round(row["difference"], 2))
    return f"{pair}{points:g} {plural(points, 'point')}"


# Page


def outcome(tables: PowerTables) -> Outcome:
    """Return the power analysis as it is written to its folder."""
    study = tables.world.study
    return Outcome(
        kind=KIND,
        title=study.title,
        lead=[headline(finding_words(tables)), tag("ul", [tag("li", note) for note in notes(tables)], class_="notice")],
        tables=tables.results,
        figures=_figures(tables),
        sections=lambda drawn: _sections(tables, drawn),
        notes=_notes(tables),
        simulated=_SIMULATED,
    )


def _notes(tables: PowerTables) -> dict[str, Any]:
    request = tables.request
    return {
        "participants": list(request.sizes),
        "repetitions": request.repetitions,
        "seed": request.seed,
        "contents": request.contents,
        "quality": dict(tables.world.quality),
        "people": {row["what"]: [row["value"], row["from"]] for row in tables.source.rows()},
        "remains": None if tables.limit != tables.limit else tables.limit,
        "words": list(finding_words(tables)),
        "notes": list(notes(tables)),
    }


def _figures(tables: PowerTables) -> list[Figure]:
    figures = [_curve(tables, place, question) for place, question in enumerate(tables.world.questions, 1)]
    methods = tables.table("methods")
    if methods["hours"].notna().sum() > 1:
        words = "Hours of all participants that each method takes for the same power. The numbers are in methods.csv."
        figures.append(
            Figure("methods", "Hours by method", words, lambda layout: methods_chart(methods, layout=layout))
        )
    return figures


def _curve(tables: PowerTables, place: int, question: str) -> Figure:
    power, sizes = tables.of("power", question), tables.of("sizes", question)

    def draw(layout: Layout) -> Any:
        return power_chart(power, sizes, limit=tables.limit, layout=layout)

    words = (
        "The chance to find each difference, and the width of intervals, over the number of participants. The numbers "
        "are in power.csv and sizes.csv."
    )
    name = "power" if len(tables.world.questions) == 1 else f"power-{place}"
    title = tables.world.question_names[question]
    return Figure(name, title, words, draw, is_wide=True, paper=DOUBLE, in_page=place <= _MOST_QUESTIONS)


def _sections(tables: PowerTables, drawn: Mapping[str, Markup]) -> list[Child]:
    questions, names = tables.world.questions, tables.world.question_names
    sections: list[Child] = []
    for place, question in enumerate(questions[:_MOST_QUESTIONS], 1):
        name = "power" if len(questions) == 1 else f"power-{place}"
        title = "Chance to find a difference" + (f": {names[question]}" if len(questions) > 1 else "")
        foot = "Dashed: a chance of 80 %" + _at_best(tables) + ". Bars: 95 % intervals of the simulation."
        sections.append(panel(name, title, drawn[name], foot=foot, is_wide=True))
        chances = table("Chance to find a difference", chance_sheet(tables.of("power", question)))
        sections.append(panel(f"chances-{place}", "By number of participants", chances, foot=_POWER, is_wide=True))
        sizes = table("What so many participants give and take", size_sheet(tables.of("sizes", question)))
        sections.append(panel(f"sizes-{place}", "What it gives, what it takes", sizes, foot=_SIZES, is_wide=True))
    looks = tables.table("looks")
    if len(looks):
        sections.append(panel("looks", "Looks", table("Where the study stops", look_sheet(looks)), foot=_LOOKS))
    methods = tables.table("methods")
    if len(methods):
        has_pages = bool(methods["per_trial"].notna().any())
        title = "Which method, and how many on a page" if has_pages else "Which method"
        content = table("The same power in other ways", method_sheet(methods))
        parts = [drawn["methods"], content] if "methods" in drawn else [content]
        sections.append(panel("methods", title, tag("div", parts), foot=_METHODS, is_wide=True))
    return sections


def _at_best(tables: PowerTables) -> str:
    return ", and the interval that no number of participants gets below" if tables.limit > 0 else ""


def chance_sheet(power: pd.DataFrame) -> TextTable:
    """Return the power, a row for each target and a column for each number of participants."""
    sizes = sorted(set(power["participants"]))
    rows: dict[tuple[str, ...], dict[int, str]] = {}
    for row in records(main_rows(power)):
        chance = f"{percent(row['power'])} ({percent(row['power_low'])} to {percent(row['power_high'])})"
        rows.setdefault((_what(row), f"{row['pairs']}"), {})[row["participants"]] = chance
    heads = ("Difference", "Pairs", *(count(size, "participant") for size in sizes))
    return TextTable(
        heads, [(*key, *(cells.get(size, NONE) for size in sizes)) for key, cells in rows.items()], names=1
    )


def _what(row: Mapping[str, Any]) -> str:
    if row["target"] == "all":
        return "all at once"
    pair = f"{row['condition']} and {row['other_condition']}: " if row["target"] == "contrast" else ""
    points = round(abs(row["difference"]), 2)
    return f"{pair}{plain(points)} {plural(points, 'point')}"


def size_sheet(sizes: pd.DataFrame) -> TextTable:
    """Return intervals, ranks, false alarms, minutes and cost, a row for each number of participants."""
    has_cost = bool((sizes["currency"] != "").any())
    rows = []
    for row in records(sizes):
        low, high = row["ratings_low"], row["ratings_high"]
        cost = (f"{row['cost']:,.2f} {row['currency']}",) if has_cost else ()
        rows.append((
            f"{row['participants']:,}", plain(low) if low == high else f"{low} to {high}",
            f"±{number(row['mean_half_width'], 2)}", f"±{number(row['difference_half_width'], 2)}",
            number(row["tau"], 2), percent(row["best"]), percent(row["false_alarms"]), number(row["minutes"], 1),
            number(row["hours"], 1), *cost,
        ))  # fmt: skip
    heads = (
        "Participants", "Ratings per stimulus", "Interval of a mean", "Interval of a difference", "Rank agreement",
        "Best called best", "False alarms", "Minutes each", "Hours in all", *(("Cost",) if has_cost else ()),
    )  # fmt: skip
    return TextTable(heads, rows, names=1)


def look_sheet(looks: pd.DataFrame) -> TextTable:
    """Return where the study stops, a row for each look."""
    truths = {"imagined": "as imagined", "equal": "all equally good"}
    heads = ("Conditions", "Look", "Participants", "Get so far", "Stop there", "Found by then")
    rows = [
        (truths[row["truth"]], f"{row['look']}", f"{row['participants']:,}", percent(row["reached"]),
         percent(row["stops"]), percent(row["found"]))
        for row in records(looks)
    ]  # fmt: skip
    return TextTable(heads, rows, names=1)


def method_sheet(methods: pd.DataFrame) -> TextTable:
    """Return what each method needs."""
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
    return TextTable(heads, rows, names=1)


# Findings


def finding_words(tables: PowerTables) -> tuple[str, ...]:
    """Return the finding and the advice: participants, contents, methods, and the rate of false alarms."""
    question = tables.world.questions[0]
    if tables.of("power", question).empty:
        most = count(tables.request.sizes[-1], "participant")
        return (f"With {most} no difference can be tested: too few of them rate the same conditions.",)
    looks = tables.looks.words if tables.looks is not None else ""
    lines = [*_needed(tables, question), looks, _contents(tables), *_methods(tables), _alarms(tables, question)]
    return tuple(filter(None, lines))


def points_text(tables: PowerTables, points: float) -> str:
    """Return `5 points`, or `5 points of 100` for comparisons, which have no scale."""
    of = " of 100" if tables.is_compared else ""
    return f"{plain(round(points, 2))} {plural(points, 'point')}{of}"


def _needed(tables: PowerTables, question: str) -> Iterator[str]:
    """Yield how many participants the smallest difference, and every named one, needs."""
    rows = records(tables.of("needed", question))
    pairs = [row for row in rows if row["target"] == "contrast"] if tables.world.study.analyse.contrasts else []
    single = [row for row in rows if row["target"] == "difference"]
    smallest = min((row["difference"] for row in single), default=math.nan)
    for about in _grouped(pairs) if pairs else _grouped([row for row in single if row["difference"] == smallest]):
        yield _participants(tables, question, about)
    for about in _grouped([row for row in rows if row["target"] == "all"]):
        if len(single) > len(GOALS):
            yield _participants(tables, question, about)


def _grouped(rows: list[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Yield the rows of one target, one for each requested power."""
    for begin in range(0, len(rows), len(GOALS)):
        yield rows[begin : begin + len(GOALS)]


def _participants(tables: PowerTables, question: str, about: list[dict[str, Any]]) -> str:
    row, careful = about
    what = _target_words(tables, row)
    if math.isnan(row["participants"]):
        table = tables.of("power", question)
        same = table[(table["target"] == row["target"]) & (table["difference"] == row["difference"])]
        same = same[(same["condition"] == row["condition"]) & (same["other_condition"] == row["other_condition"])]
        last = records(same)[-1]
        chance = f"{percent(last['power'])} ({percent(last['power_low'])} to {percent(last['power_high'])})"
        return f"{what}: with {count(last['participants'], 'participant')} the chance is {chance}, below 80 %."
    spent = f"{_participants_text(row)}, {number(row['hours'], 1)} hours in all{_cost(row)}"
    more = careful["participants"]
    careful_text = (
        f"; for 90 % it takes {_participants_text(careful)}" if not math.isnan(more) else "; 90 % are not reached"
    )
    careful_text = "" if more == row["participants"] else careful_text
    return f"{what}: a chance of 80 % takes {spent}{careful_text}."


def _target_words(tables: PowerTables, row: Mapping[str, Any]) -> str:
    apart = points_text(tables, abs(row["difference"]))
    if row["target"] == "contrast":
        return f"{row['condition']} and {row['other_condition']}, {apart} apart"
    return f"Two conditions {apart} apart" if row["target"] == "difference" else "All differences at once"


def _participants_text(row: Mapping[str, Any]) -> str:
    fewer = " or fewer" if row["note"].endswith("or fewer") else ""
    return f"{row['participants']:.0f}{fewer} participants"


def _cost(row: Mapping[str, Any]) -> str:
    return f" and {Sum(round(100 * row['cost']), row['currency'])}" if row["currency"] else ""


def _contents(tables: PowerTables) -> str:
    world = tables.world
    contents = count(len(world.catalogue.contents), "content")
    if len(world.catalogue.contents) < 2:
        return "There is one content: what is found holds for it, and says nothing about others."
    if world.contents == "fixed":
        return f"Contents are fixed: what is found holds for these {contents}, and says nothing about others."
    if math.isnan(tables.limit):
        return (
            f"Contents are random: what is found is to hold beyond these {contents}, which no participant can add to."
        )
    if tables.limit < _NOTHING * world.spans[0]:
        return "Contents are random, and none of them favours a condition in this model: participants set the limit."
    half = number(tables.limit, 1 if world.spans[0] >= 20 else 2)
    text = f"Contents are random: with {contents} no number of participants gets a difference known better than ±{half}"
    smallest = min((row["difference"] for row in records(tables.table("needed")) if row["target"] == "difference"),
                   default=math.nan)  # fmt: skip
    if tables.limit >= smallest and (more := contents_for(world, smallest, tables.limit)) is not None:
        text += f"; ±{plain(round(smallest, 2))} takes {more:,} contents. --contents fixed asks about these alone"
    return f"{text}."


def _methods(tables: PowerTables) -> Iterator[str]:
    """Yield which method needs the fewest hours for the same power, and which are not possible."""
    rows = records(tables.table("methods"))
    reached = sorted((row for row in rows if not math.isnan(row["hours"])), key=lambda row: float(row["hours"]))
    if len(reached) > 1:
        best, *rest = [
            f"{row['method']} ({number(row['hours'], 1)} hours of {row['participants']:.0f} participants)"
            for row in reached
        ]
        apart = points_text(tables, reached[0]["difference"])
        were = ", were contents fixed," if reached[0]["contents"] != tables.request.contents else ""
        yield f"For a chance of 80 % at {apart}{were} {best} takes the fewest hours; then {join_names(rest)}."
    short = [row["method"] for row in rows if math.isnan(row["hours"]) and not math.isnan(row["minutes"])]
    if short and reached:
        yield f"Not reached by {join_names(short)} with the numbers that were tried."
    for row in rows:
        if math.isnan(row["minutes"]):
            yield f"{row['method']} {row['note']}."


def _alarms(tables: PowerTables, question: str) -> str:
    last = records(tables.of("sizes", question))[-1]
    low, high = percent(last["false_alarms_low"]), percent(last["false_alarms_high"])
    people = count(last["participants"], "participant")
    return (
        f"Where all conditions are equally good, {people} find something in {percent(last['false_alarms'])} of the "
        f"studies ({low} to {high}); 5 % are promised."
    )


# Notes


def notes(tables: PowerTables) -> tuple[str, ...]:
    """Return the assumptions and limits of the numbers."""
    return tuple(filter(None, [_truth(tables), _who(tables), _pay(tables.pay), *_ends(tables), *_left(tables)]))


def _truth(tables: PowerTables) -> str:
    names = list(tables.world.quality)
    if not tables.is_ladder:
        return "How good conditions are is taken from the pilot."
    shares = sorted(tables.world.quality.values())
    step = points_text(tables, (shares[1] - shares[0]) * tables.world.spans[0])
    return (
        f"Imagined: {len(names)} conditions from {names[0]} to {names[-1]}, each {step} worse than the one before, "
        "around the middle of the scale."
    )


def _who(tables: PowerTables) -> str:
    sources = list(dict.fromkeys(tables.source.origins.values()))
    own = f"People as in {join_names(sources)}" if sources else "People as usual"
    people = tables.world.people
    spread = (
        f"bias {percent(people.bias)} of the scale, inconsistency {percent(people.inconsistency)}, taste "
        f"{percent(people.taste)}, contents {percent(people.content)}, condition by content "
        f"{percent(people.content_condition)}"
    )
    more = "" if tables.source.means else " --from takes those of a pilot."
    return f"{own}: {spread} (standard deviations). A rehearsal is only as good as its model.{more}"


def _pay(pay: Pay | None) -> str:
    if pay is None:
        return "No pay rate: write recruit.reward, or give --rate, and cost is told as well."
    return f"Pay: {pay.amount} for {'an hour' if pay.per == 'hour' else 'a session'}."


def _ends(tables: PowerTables) -> Iterator[str]:
    shares = tables.world.quality.values()
    if min(shares) < _EDGE or max(shares) > 1 - _EDGE:
        yield (
            "The outermost conditions lie near the ends of the scale, where ratings have no room to spread: "
            "differences are estimated smaller there than they are."
        )


def _left(tables: PowerTables) -> Iterator[str]:
    first = records(tables.table("sizes"))[0]
    if first["starting"] > first["participants"]:
        yield (
            f"Some leave before the end: for {first['participants']} who finish about {first['starting']} have to "
            "begin. Their lists go to others, and only those who finish are counted and paid here."
        )
