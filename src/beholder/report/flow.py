"""The flow of participants: from coming to being used, and who went no further for what (CONSORT)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from beholder.report.asked import people_words
from beholder.report.markup import Markup, tag
from beholder.report.material import Material
from beholder.report.tallies import percent
from beholder.report.words import count

_STEPS = {
    "came": "came", "agreed": "agreed to take part", "qualified": "qualified", "rated": "began to rate",
    "finished": "finished", "accepted": "accepted", "used": "used",
}  # fmt: skip


def flow(material: Material) -> Markup | None:
    """Return a box for each step, and beside the way down those who were lost there; None where nobody was followed."""
    steps: Sequence[Mapping[str, Any]] = material.account.get("flow") or ()
    if not steps or not steps[0]["sessions"]:
        return None
    came = steps[0]["people"]
    return tag("ol", [_step(step, came, people_words(material)) for step in steps], class_="flow")


def flow_foot(material: Material) -> str:
    """Return how to read the numbers."""
    steps: Sequence[Mapping[str, Any]] = material.account["flow"]
    told = ["Everybody who went no further is counted once, under the first reason."]
    if any(step["people"] != step["sessions"] for step in steps):
        told.append("Of several sessions of one person the furthest counts.")
    if any(step["step"] == "accepted" for step in steps):
        told.append("Accepted: is paid. Used: is analysed.")
    if any(lost["reason"] == "complete:withdrawn" for step in steps for lost in step["lost"]):
        told.append("Of whoever withdrew nothing is kept that would tell how far they came.")
    return " ".join(told)


def _step(step: Mapping[str, Any], came: int, words: tuple[str, str]) -> Markup:
    n, sessions = step["people"], step["sessions"]
    share = None if step["step"] == "came" else tag("span", percent(n / came) if came else None, class_="flow__share")
    more = tag("span", count(sessions, "session"), class_="flow__more") if sessions != n else None
    told = f" {words[0] if n == 1 else words[1]} {_STEPS[step['step']]} "
    return tag("li", tag("p", tag("b", f"{n:,}"), told, share, more, class_="flow__box"), _lost(step["lost"]))


def _lost(lost: Sequence[Mapping[str, Any]]) -> Markup | None:
    if not lost:
        return None
    whole = {kind: sum(one[kind] for one in lost) for kind in ("people", "sessions")}
    title = tag("p", "No further: ", tag("b", _both(whole)))
    reasons = [tag("li", one["words"], " ", tag("b", _both(one))) for one in lost]
    return tag("div", title, tag("ul", reasons), class_="flow__lost")


def _both(one: Mapping[str, Any]) -> str:
    """Return the number of people, and of sessions where it differs; somebody may have come again and got further."""
    people, sessions = one["people"], count(one["sessions"], "session")
    return f"{people:,}" if people == one["sessions"] else f"{people:,} ({sessions})"
