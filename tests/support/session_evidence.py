"""Viewings, clicks and the evidence of a finished session, for tests of rules and decisions."""

from __future__ import annotations

from beholder.checks.contract import Click, SessionEvidence, Viewing

WATCHED = Viewing("trial:1", "s1", length_ms=4000, plays=1, coverage=1.0, furthest_ms=4000, frames=100)


def clicks(*values: float, low: float = 0, high: float = 100, question: str = "quality") -> tuple[Click, ...]:
    return tuple(Click(question, value, low, high) for value in values)


RATED = SessionEvidence("completed", "whole", (WATCHED,), clicks(50))


UNPLAYED = WATCHED._replace(plays=0, missing="media_error")
