"""The account: how many there were, how many are used, and what each rule cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from beholder.clean import Lost
from beholder.clean.decide import in_words
from beholder.clean.facts import Facts
from beholder.clean.qualification import NOT_MET
from beholder.clean.raters import FEW_USED, MOSTLY_UNUSED
from beholder.clean.sessions import Judged

_FIRST = ("complete", "watched")
"""Rules that every study has."""
_LAST = ("outliers",)
"""Rules over votes, which have no verdict on a session."""


def counts(facts: Facts, judged: Sequence[Judged]) -> dict[str, int]:
    """Return the numbers of participants, sessions and ratings, in all and in use."""
    used = [one for one in judged if one.decision.use]
    ratings = [rating for one in judged for rating in one.ratings]
    return {
        "participants": len({one.visit.participant for one in judged}),
        "sessions": len(judged),
        "completed": sum(one.visit.outcome == "completed" for one in judged),
        "completed_participants": len({one.visit.participant for one in judged if one.visit.outcome == "completed"}),
        "used_participants": len({one.visit.participant for one in used}),
        "used_sessions": len(used),
        "ratings": len(ratings),
        "used_ratings": sum(rating.use for rating in ratings),
        "missing_ratings": sum(rating.value is None for rating in ratings),
        "other_plans": facts.other_plans,
        "accepted_sessions": sum(one.decision.accept is True for one in judged),
        "rejected_sessions": sum(one.decision.accept is False for one in judged),
        "look_sessions": sum(one.decision.accept is None for one in judged),
        "few_used_raters": _raters(judged, FEW_USED),
        "mostly_unused_raters": _raters(judged, MOSTLY_UNUSED),
        "taken_in_sessions": sum(one.decision.use and one.visit.act is not None for one in judged),
    }


def groups(facts: Facts, judged: Sequence[Judged]) -> list[dict[str, Any]]:
    """Return each group of participants with how many of it came, finished and are used; none without groups.

    Who left before a list was theirs is in no group.
    """
    keys = {planned.group_key: planned.group for planned in facts.planned.values() if planned.group}
    rows = []
    for key, levels in keys.items():
        theirs = [one for one in judged if tuple(sorted(one.visit.group.items())) == key]
        finished = [one for one in theirs if one.visit.outcome == "completed"]
        used = [one for one in theirs if one.decision.use]
        people = [len({one.visit.participant for one in some}) for some in (theirs, finished, used)]
        rows.append({"levels": dict(levels), **dict(zip(("began", "finished", "used"), people, strict=True))})
    return rows


def lost(judged: Sequence[Judged]) -> tuple[Lost, ...]:
    """Return what each rule cost, in the order of the checks."""
    sessions: Counter[str] = Counter()
    only: Counter[str] = Counter()
    kept: Counter[str] = Counter()
    ratings: Counter[str] = Counter()
    for one in judged:
        of_ratings = [rating.reasons.split("; ") for rating in one.ratings if rating.reasons]
        reasons = dict.fromkeys((*one.decision.reasons, *(reason for some in of_ratings for reason in some)))
        sessions.update(reasons.keys())
        # What is only noted takes nobody out of use, and so does not share in it.
        costly = [reason for reason in reasons if reason in one.decision.costly] or list(reasons)
        if len(costly) == 1:
            only.update(costly)
        if one.decision.use:
            kept.update(reasons.keys())
        for some in of_ratings:
            ratings.update(some)
    order = [*_names(judged), *_LAST]
    costs = {reason for one in judged for reason in one.decision.costly}
    found = sorted(sessions, key=lambda reason: (order.index(reason.partition(":")[0]), reason))
    return tuple(
        Lost(
            reason.partition(":")[0],
            reason.partition(":")[2],
            in_words(reason),
            sessions[reason],
            only[reason],
            kept[reason],
            ratings[reason],
            reason in costs,
        )
        for reason in found
    )


def together(judged: Sequence[Judged]) -> list[dict[str, Any]]:
    """Return which reasons cost sessions their use together, the most frequent first."""
    found = Counter(one.decision.costly for one in judged if len(one.decision.costly) > 1)
    return [
        {"reasons": list(reasons), "words": [in_words(reason) for reason in reasons], "sessions": sessions}
        for reasons, sessions in sorted(found.items(), key=lambda item: (-item[1], item[0]))
    ]


def _raters(judged: Sequence[Judged], reason: str) -> int:
    return len({one.visit.participant for one in judged if reason in one.decision.reasons})


def _names(judged: Sequence[Judged]) -> list[str]:
    """Return the names of all rules and checks, in the order in which they are told."""
    asked = (verdict.check for one in judged for verdict in one.verdicts)
    return list(dict.fromkeys((*_FIRST, *asked)))


def verdict_counts(judged: Sequence[Judged]) -> dict[str, dict[str, int]]:
    """Return for each check how often it passed, failed and was unknown, among those who met it."""
    table = {name: {"pass": 0, "fail": 0, "unknown": 0} for name in _names(judged)}
    for one in judged:
        for verdict in one.verdicts:
            table[verdict.check][verdict.verdict] += verdict.reason != NOT_MET
    return table
