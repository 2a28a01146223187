"""Whom we trusted: each rule over what people did while they rated, and what it cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from beholder.report.markup import Child, Markup, render, tag
from beholder.report.material import Material
from beholder.report.tables import scrolling
from beholder.report.words import NONE, count, listed, number

_HEADS = ("Sessions", "Passed", "Failed", "Unknown", "Right", "Ratings left out", "Lost for this alone")
FOOT = (
    "Sessions: those that the rule looked at. Unknown: too little evidence to judge. Right: share of the answers that "
    "are known beforehand and were given. Ratings left out: also those of sessions that are lost as a whole. Lost for "
    "this alone: sessions that would be used without the rule. All is judged from the evidence, by the rules of the "
    "study as it is now; unknown costs nobody anything, and no rule refuses anybody their pay by itself."
)


def trusting(material: Material) -> Markup | None:
    """Return how sessions did by each rule; None where there are no rules."""
    rules: Sequence[Mapping[str, Any]] = material.account.get("trust") or ()
    if not rules:
        return None
    caption = "Rules over what people did while they rated"
    head = tag("tr", tag("th", "Rule", scope="col"), [tag("th", word, scope="col") for word in _HEADS])
    grid = tag(
        "table",
        tag("caption", caption, class_="unseen"),
        tag("thead", head),
        tag("tbody", [_row(rule) for rule in rules]),
        class_="table rules",
    )
    return render([tag("p", " ".join(_sentences(rules))), _notice(rules), scrolling(caption, grid)])


def _sentences(rules: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the numbers that matter, in words."""
    costly = [(rule["title"].lower(), rule["alone"]) for rule in rules if rule["alone"]]
    whole = sum(n for _, n in costly)
    if not costly:
        return ["No session is lost for one of these rules alone."]
    told = listed([f"{title} ({n:,})" for title, n in costly])
    return [f"{count(whole, 'session is', 'sessions are')} lost for one of these rules alone: {told}."]


def _notice(rules: Sequence[Mapping[str, Any]]) -> Markup | None:
    """Return that people hardly agree, where they do not."""
    for rule in rules:
        middle = rule.get("median")
        if middle is not None and middle < rule["warn"]:
            low = f"The median agreement with the others is {number(middle, 2)}, below {rule['warn']:g}."
            why = " Stimuli may be too much alike, the question unclear, or many people careless."
            return tag("p", tag("b", low), why, class_="notice")
    return None


def _row(rule: Mapping[str, Any]) -> Markup:
    name = tag("th", rule["title"], tag("span", rule["words"]), scope="row")
    cells: list[Child] = [
        _count(rule["met"]), _count(rule["passed"]), _count(rule["failed"]), _count(rule["unknown"]), _right(rule),
        _count(rule["ratings"]), _count(rule["alone"]),
    ]  # fmt: skip
    return tag("tr", name, [tag("td", cell) for cell in cells])


def _right(rule: Mapping[str, Any]) -> str:
    return f"{100 * rule['right'] / rule['asked']:.0f} %" if rule.get("asked") else NONE


def _count(n: int) -> str:
    return f"{n:,}"
