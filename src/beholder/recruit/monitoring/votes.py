"""How full the plan is: lists, and votes by stimulus and condition."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from beholder.checks.trust import CHECK_ROLES
from beholder.clean.facts import Facts, Visit
from beholder.recruit.monitoring.found import Lists, Votes


def lists(facts: Facts, here: Sequence[Visit]) -> Lists:
    """Return how many lists somebody has finished, and how many others somebody is at."""
    finished = {visit.list for visit in facts.visits if visit.outcome == "completed"} - {None}
    coming = {visit.list for visit in here} - {None} - finished
    return Lists(len(facts.planned), len(finished), len(coming))


def stimuli(facts: Facts, here: Sequence[Visit]) -> tuple[Votes, ...]:
    """Return by stimulus how often it was, is and shall be rated in whole sessions; checks are not among them."""
    rated = {
        number: Counter(
            slot.stimulus for trial in trials for slot in trial.slots if slot.rated and slot.role not in CHECK_ROLES
        )
        for number, trials in facts.lists.items()
    }
    planned, finished, coming = Counter[str](), Counter[str](), Counter[str]()
    for counted in rated.values():
        planned.update(counted)
    for visit in facts.visits:
        if visit.outcome == "completed" and visit.list is not None:
            finished.update(rated[visit.list])
    for visit in here:
        if visit.list is not None:
            coming.update(rated[visit.list])
    return tuple(Votes(name, finished[name], coming[name], planned[name]) for name in sorted(planned))


def conditions(facts: Facts, votes: Sequence[Votes], order: Sequence[str]) -> tuple[Votes, ...]:
    """Return the same by condition, in the study's order."""
    of = {name: shown.condition for (_, name), shown in facts.stimuli.items()}
    known = dict.fromkeys(order) | {of[one.name]: None for one in votes if one.name in of}
    found = []
    for condition in known:
        own = [one for one in votes if of.get(one.name) == condition]
        if own:
            found.append(
                Votes(
                    condition,
                    sum(one.finished for one in own),
                    sum(one.coming for one in own),
                    sum(one.planned for one in own),
                )
            )
    return tuple(found)
