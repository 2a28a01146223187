"""How far people came: step by step, where they are, where they left, and where their sessions ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from beholder.clean.facts import Facts, Visit
from beholder.clean.titles import title_of_check
from beholder.plan.model import PlannedList
from beholder.recruit.monitoring.found import At
from beholder.serve.script import make_script, place_key
from beholder.study.model import Study

_TITLES: Mapping[str, str] = {
    "consent": "Consent", "questions:before": "Questions before", "questions:after": "Questions after",
    "volume": "Volume", "text:instructions": "Instructions",
}  # fmt: skip
_ONCE = ("questions:", "text:")
"""Steps that a later session of the same person does not have."""
RATING, END = "trials", "end"


class Whereabouts(NamedTuple):
    """Where a session is: the key of the step that has not been answered, `end` after the last."""

    visit: Visit
    key: str
    is_here: bool


def whereabouts(study: Study, facts: Facts, here: Iterable[str]) -> tuple[list[str], list[Whereabouts]]:
    """Return the keys of all steps in order, and where each session is; those `here` may still go on."""
    keys = _keys(study, facts)
    places = {key: place for place, key in enumerate(keys)}
    there, found, seen = set(here), [], Counter[str]()
    for visit in facts.visits:
        is_again = seen[visit.participant] > 0
        seen[visit.participant] += visit.outcome == "completed"
        furthest = max((places[place_key(key)] for key in visit.answers if place_key(key) in places), default=-1)
        key = END if visit.outcome == "completed" else _next(keys, furthest, visit, is_again)
        found.append(Whereabouts(visit, key, visit.session in there))
    return keys, found


def _next(keys: Sequence[str], furthest: int, visit: Visit, is_again: bool) -> str:
    """Return the step after the furthest that was answered; where an answer ended the session, that step."""
    if visit.outcome not in (None, "withdrawn", "no_consent") and furthest >= 0:
        return keys[furthest]
    own = len(visit.trials)
    for key in keys[furthest + 1 :]:
        is_beyond = key.startswith("trial:") and own and int(key[6:]) > own
        if not is_beyond and not (is_again and key.startswith(_ONCE)):
            return key
    return keys[-1]


def _keys(study: Study, facts: Facts) -> list[str]:
    """Return the steps of the longest list in order, with pages that only others have met."""
    longest = max(facts.planned.values(), key=_length, default=None)
    script = make_script(study, longest.entries if longest is not None else ())
    keys = [step.key for step in script.steps]
    met = dict.fromkeys(place_key(key) for visit in facts.visits for key in visit.answers)
    for key in met:
        if key not in keys:
            # Pages of examples follow the instructions, and the volume comes beside them.
            at = next((place for place, other in enumerate(keys) if other.startswith(("training:", "trial:"))), 1)
            keys.insert(at, key)
    return keys


def _length(planned: PlannedList) -> int:
    return len(planned.entries)


def steps(keys: Sequence[str], sessions: Sequence[Whereabouts]) -> tuple[tuple[At, ...], tuple[At, ...]]:
    """Return the steps with all trials as one, and the trials one by one."""
    place = {key: number for number, key in enumerate([*keys, END])}
    reached = Counter(place[one.key] for one in sessions)
    many = [sum(n for at, n in reached.items() if at >= number) for number in range(len(place))]
    rows = [
        At(
            key,
            _title(key),
            many[place[key]],
            sum(one.key == key and one.visit.outcome is None and one.is_here for one in sessions),
            sum(one.key == key and one.visit.outcome is None and not one.is_here for one in sessions),
            sum(one.key == key and one.visit.outcome is not None for one in sessions),
        )
        for key in keys
    ]
    trials = [row for row in rows if row.key.startswith("trial:")]
    breaks = [row for row in rows if row.key.startswith("break:")]
    found: list[At] = []
    for row in rows:
        if row in breaks or row in trials[1:]:
            continue
        found.append(_together(row, [*trials, *breaks]) if row in trials else row)
    completed = sum(one.key == END for one in sessions)
    return (*_lessons(found), At(END, "Finished", completed, 0, 0, 0)), tuple(trials)


def _lessons(rows: Sequence[At]) -> list[At]:
    """Return the steps with all training examples as one, and all pages of the instructions."""
    found = list(rows)
    for title, begins in (("Training", "training:"), ("Instructions", "text:")):
        some = [row for row in found if row.key.startswith(begins)]
        if some:
            first = found.index(some[0])
            one = At(begins[:-1], title, some[0].reached, *_sums(some))
            found = [*found[:first], one, *(row for row in found[first:] if row not in some)]
    return found


def _together(first: At, every: Sequence[At]) -> At:
    return At(RATING, f"Rating, {_many(sum(row.key[:6] == 'trial:' for row in every))}", first.reached, *_sums(every))


def _many(trials: int) -> str:
    return f"{trials} trial{'s' * (trials != 1)}"


def _sums(rows: Sequence[At]) -> tuple[int, int, int]:
    return sum(row.here for row in rows), sum(row.left for row in rows), sum(row.ended for row in rows)


def _title(key: str) -> str:
    kind, _, name = key.partition(":")
    if kind == "check":
        return title_of_check(name)
    if kind in ("trial", "training"):
        return f"{kind.capitalize()} {name}"
    if kind == "text":
        return _TITLES["text:instructions"]
    return _TITLES.get(key, key)
