"""What a power analysis says in words."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from beholder.analyse.plots.numbers import number, percent, plain
from beholder.analyse.result import records
from beholder.power.cost import Pay
from beholder.power.found import Found
from beholder.power.limits import contents_for
from beholder.power.needed import GOALS
from beholder.report.words import count, listed
from beholder.study.money import Sum

_EDGE = 0.1
"""Nearer to the ends of the scale than this, ratings have no room to spread."""
_NOTHING = 1e-4
"""Less of the scale than this nobody would print."""


def told(found: Found) -> tuple[str, ...]:
    """Return the finding and the advice: participants, contents, method, and whether all this holds water."""
    question = found.world.questions[0]
    if found.of("power", question).empty:
        most = count(found.asking.sizes[-1], "participant")
        return (f"With {most} no difference can be tested: too few of them rate the same conditions.",)
    lines = [*_needed(found, question), _contents(found), *_methods(found), _alarms(found, question)]
    return tuple(filter(None, lines))


def points_told(found: Found, points: float) -> str:
    """Return `5 points`, or of comparisons, which have no scale, `5 points of 100`."""
    of = " of 100" if found.is_compared else ""
    return f"{plain(round(points, 2))} point{'s' * (points != 1)}{of}"


def _needed(found: Found, question: str) -> Iterator[str]:
    """Yield how many participants the smallest difference, and every named one, takes."""
    rows = records(found.of("needed", question))
    pairs = [row for row in rows if row["target"] == "contrast"] if found.world.study.analyse.contrasts else []
    single = [row for row in rows if row["target"] == "difference"]
    smallest = min((row["difference"] for row in single), default=math.nan)
    for about in _grouped(pairs) if pairs else _grouped([row for row in single if row["difference"] == smallest]):
        yield _participants(found, question, about)
    for about in _grouped([row for row in rows if row["target"] == "all"]):
        if len(single) > len(GOALS):
            yield _participants(found, question, about)


def _grouped(rows: list[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Yield the rows of one target, one for each chance that is asked for."""
    for begin in range(0, len(rows), len(GOALS)):
        yield rows[begin : begin + len(GOALS)]


def _participants(found: Found, question: str, about: list[dict[str, Any]]) -> str:
    row, careful = about
    what = _target(found, row)
    if math.isnan(row["participants"]):
        table = found.of("power", question)
        same = table[(table["target"] == row["target"]) & (table["difference"] == row["difference"])]
        same = same[(same["condition"] == row["condition"]) & (same["other_condition"] == row["other_condition"])]
        last = records(same)[-1]
        chance = f"{percent(last['power'])} ({percent(last['power_low'])} to {percent(last['power_high'])})"
        return f"{what}: with {count(last['participants'], 'participant')} the chance is {chance}, below 80 %."
    spent = f"{_people(row)}, {number(row['hours'], 1)} hours in all{_cost(row)}"
    more = careful["participants"]
    careful_told = f"; for 90 % it takes {_people(careful)}" if not math.isnan(more) else "; 90 % are not reached"
    careful_told = "" if more == row["participants"] else careful_told
    return f"{what}: a chance of 80 % takes {spent}{careful_told}."


def _target(found: Found, row: Mapping[str, Any]) -> str:
    apart = points_told(found, abs(row["difference"]))
    if row["target"] == "contrast":
        return f"{row['condition']} and {row['other_condition']}, {apart} apart"
    return f"Two conditions {apart} apart" if row["target"] == "difference" else "All differences at once"


def _people(row: Mapping[str, Any]) -> str:
    fewer = " or fewer" if row["note"].endswith("or fewer") else ""
    return f"{row['participants']:.0f}{fewer} participants"


def _cost(row: Mapping[str, Any]) -> str:
    return f" and {Sum(round(100 * row['cost']), row['currency'])}" if row["currency"] else ""


def _contents(found: Found) -> str:
    world = found.world
    contents = count(len(world.catalogue.contents), "content")
    if len(world.catalogue.contents) < 2:
        return "There is one content: what is found holds for it, and says nothing about others."
    if world.contents == "fixed":
        return f"Contents are fixed: what is found holds for these {contents}, and says nothing about others."
    if math.isnan(found.remains):
        return (
            f"Contents are random: what is found is to hold beyond these {contents}, which no participant can add to."
        )
    if found.remains < _NOTHING * world.spans[0]:
        return "Contents are random, and none of them favours a condition in this model: participants set the limit."
    half = number(found.remains, 1 if world.spans[0] >= 20 else 2)
    said = f"Contents are random: with {contents} no number of participants gets a difference known better than ±{half}"
    smallest = min((row["difference"] for row in records(found.table("needed")) if row["target"] == "difference"),
                   default=math.nan)  # fmt: skip
    if found.remains >= smallest and (more := contents_for(world, smallest, found.remains)) is not None:
        said += f"; ±{plain(round(smallest, 2))} takes {more:,} contents. --contents fixed asks about these alone"
    return f"{said}."


def _methods(found: Found) -> Iterator[str]:
    """Yield which method needs the fewest hours for the same power, and which cannot be had."""
    rows = records(found.table("methods"))
    reached = sorted((row for row in rows if not math.isnan(row["hours"])), key=lambda row: float(row["hours"]))
    if len(reached) > 1:
        best, *rest = [
            f"{row['method']} ({number(row['hours'], 1)} hours of {row['participants']:.0f} participants)"
            for row in reached
        ]
        apart = points_told(found, reached[0]["difference"])
        were = ", were contents fixed," if reached[0]["contents"] != found.asking.contents else ""
        yield f"For a chance of 80 % at {apart}{were} {best} takes the fewest hours; then {listed(rest)}."
    short = [row["method"] for row in rows if math.isnan(row["hours"]) and not math.isnan(row["minutes"])]
    if short and reached:
        yield f"Not reached by {listed(short)} with the numbers that were tried."
    for row in rows:
        if math.isnan(row["minutes"]):
            yield f"{row['method']} {row['note']}."


def _alarms(found: Found, question: str) -> str:
    last = records(found.of("sizes", question))[-1]
    low, high = percent(last["false_alarms_low"]), percent(last["false_alarms_high"])
    people = count(last["participants"], "participant")
    return (
        f"Where all conditions are equally good, {people} find something in {percent(last['false_alarms'])} of the "
        f"studies ({low} to {high}); 5 % are promised."
    )


def notes(found: Found) -> tuple[str, ...]:
    """Return what the numbers rest on, and what they do not know."""
    return tuple(filter(None, [_truth(found), _who(found), _pay(found.pay), *_ends(found), *_left(found)]))


def _truth(found: Found) -> str:
    names = list(found.world.quality)
    if not found.is_ladder:
        return "How good conditions are is taken from the pilot."
    shares = sorted(found.world.quality.values())
    step = points_told(found, (shares[1] - shares[0]) * found.world.spans[0])
    return (
        f"Imagined: {len(names)} conditions from {names[0]} to {names[-1]}, each {step} worse than the one before, "
        "around the middle of the scale."
    )


def _who(found: Found) -> str:
    said = list(dict.fromkeys(found.source.said.values()))
    own = f"People as in {listed(said)}" if said else "People as usual"
    people = found.world.people
    spread = (
        f"bias {percent(people.bias)} of the scale, inconsistency {percent(people.inconsistency)}, taste "
        f"{percent(people.taste)}, contents {percent(people.content)}, condition by content "
        f"{percent(people.content_condition)}"
    )
    more = "" if found.source.means else " --from takes those of a pilot."
    return f"{own}: {spread} (standard deviations). A rehearsal is only as good as its model.{more}"


def _pay(pay: Pay | None) -> str:
    if pay is None:
        return "No pay rate: write recruit.reward, or give --rate, and cost is told as well."
    return f"Pay: {pay.amount} for {'an hour' if pay.per == 'hour' else 'a session'}."


def _ends(found: Found) -> Iterator[str]:
    shares = found.world.quality.values()
    if min(shares) < _EDGE or max(shares) > 1 - _EDGE:
        yield (
            "The outermost conditions lie near the ends of the scale, where ratings have no room to spread: "
            "differences are estimated smaller there than they are."
        )


def _left(found: Found) -> Iterator[str]:
    first = records(found.table("sizes"))[0]
    if first["starting"] > first["participants"]:
        yield (
            f"Some leave before the end: for {first['participants']} who finish about {first['starting']} have to "
            "begin. Their lists go to others, and only those who finish are counted and paid here."
        )
