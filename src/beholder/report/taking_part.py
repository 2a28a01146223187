"""Who could take part: the way from arriving to the first rating, check by check."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from beholder.report.markup import Child, Markup, render, tag
from beholder.report.material import Material
from beholder.report.tables import scrolling
from beholder.report.words import NONE, count, listed, number

_WIDTH, _HEIGHT = 96, 14
_HEADS = ("Sessions", "Passed at once", "Passed later", "Failed", "Unknown", "Turned away", "Attempts", "Seconds")


def taking_part(material: Material) -> Markup | None:
    """Return how many met each check and how it went; None where the study has no checks."""
    funnel = material.account.get("qualification")
    if not funnel:
        return None
    caption = "Sessions on their way to the first rating"
    head = tag("tr", tag("th", "Step", scope="col"), [tag("th", word, scope="col") for word in _HEADS])
    rows = [
        _plain_row("Came", funnel["arrived"], funnel),
        _plain_row("Agreed", funnel["agreed"], funnel),
        *(_check_row(check, funnel) for check in funnel["checks"]),
        _plain_row("Began to rate", funnel["rated"], funnel),
    ]
    grid = tag(
        "table",
        tag("caption", caption, class_="unseen"),
        tag("thead", head),
        tag("tbody", rows),
        class_="table funnel",
    )
    return render([tag("p", " ".join(_sentences(funnel))), scrolling(caption, grid)])


FOOT = (
    "Bar: sessions that met the step; who passed a check in an earlier session does not meet it again. "
    "Passed, failed and unknown: judged again from the evidence, by the rules of the study as it is now. "
    "Unknown costs nobody anything. Attempts: mean. Seconds: median of one attempt."
)


def _sentences(funnel: Mapping[str, Any]) -> list[str]:
    """Return the numbers that matter, in words."""
    began = f"{count(funnel['rated'], 'session')} of {funnel['arrived']:,} began to rate."
    away = [(check["title"], check["turned_away"]) for check in funnel["checks"] if check["turned_away"]]
    if funnel["by_questions"]:
        away.insert(0, ("Questions before", funnel["by_questions"]))
    whole = sum(n for _, n in away)
    turned = f"{count(whole, 'was', 'were')} turned away at a check"
    told = f"{turned}: {listed([f'{title} ({n:,})' for title, n in away])}." if away else "Nobody was turned away."
    minutes = funnel["minutes_before_rating"]
    took = [] if minutes is None else [f"The pages before the first rating took {minutes:.1f} minutes (median)."]
    return [began, told, *took]


def _plain_row(name: str, n: int, funnel: Mapping[str, Any]) -> Markup:
    return tag("tr", tag("th", name, scope="row"), _bar(n, funnel), [tag("td") for _ in _HEADS[1:]])


def _check_row(check: Mapping[str, Any], funnel: Mapping[str, Any]) -> Markup:
    cells: list[Child] = [
        check["passed_at_once"], check["passed"] - check["passed_at_once"], check["failed"], check["unknown"],
        check["turned_away"], _number(check["attempts"], 1), _number(check["seconds"], 0),
    ]  # fmt: skip
    name = tag("th", check["title"], scope="row")
    return tag("tr", name, _bar(check["met"], funnel), [tag("td", cell) for cell in cells])


def _number(value: float | None, decimals: int) -> str:
    return NONE if value is None else number(value, decimals)


def _bar(n: int, funnel: Mapping[str, Any]) -> Markup:
    """Return a bar as long as the share of all sessions, and the number, which says the same."""
    width = _WIDTH * n / max(1, funnel["arrived"])
    bar = tag(
        "svg",
        tag("rect", x="0", y="1", width=f"{width:.1f}", height=_HEIGHT - 2, rx="2"),
        class_="strip",
        viewBox=f"0 0 {_WIDTH} {_HEIGHT}",
        aria_hidden="true",
    )
    return tag("td", tag("span", bar, tag("b", f"{n:,}"), class_="funnel__cell"))
