"""repeat: what comes again gets about the same answer (reference: checks 7)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import ClassVar, NamedTuple

from beholder.checks.trust import CHECK_ROLES, MEDIA_ERROR, NOT_MET, Judged, Seen, TrialCheck, of_trials
from beholder.checks.verdict import Verdict
from beholder.methods.contract import Asked
from beholder.study.checks import Repeat as Rule
from beholder.study.scale import Scale
from beholder.types import Json

FEWEST = 3
"""Fewer repeats in a session tell nothing."""
_QUARTER = 0.25
_NEAR = 1e-9


class _Again(NamedTuple):
    """One answer that was given twice."""

    where: str
    first: float | None
    second: float | None
    scale: Scale


class Repeat(TrialCheck[Rule]):
    """Compares items that stand twice on a page, and trials that come twice. The first answer is the rating."""

    name: ClassVar[str] = "repeat"

    def judge_trial(self, seen: Seen, before: Sequence[Seen] = ()) -> Verdict | None:
        found = [*_items(seen), *_trials(seen, before)]
        if not found:
            return None
        off: dict[str, Json] = {}
        compared, near = 0, 0.0
        for again in found:
            if again.first is None or again.second is None:
                continue
            near = quarter(again.scale) if self.rule.tolerance is None else self.rule.tolerance
            compared += 1
            if abs(again.first - again.second) > near + _NEAR:
                off[again.where] = [again.first, again.second]
        if not compared:
            return self.verdict("unknown", MEDIA_ERROR)
        return self.found("differs" if off else "", measured=off or None, needed=near, compared=compared)

    def conclude(self, found: Judged) -> Verdict:
        """Return the verdict on a session: how large a share of all repeats differs."""
        kept, most = of_trials(found), self.rule.share
        compared = sum(_count(verdict) for _, verdict in found)
        differ = sum(len(verdict.measured) for _, verdict in found if isinstance(verdict.measured, dict))
        whole: dict[str, Json] = {"compared": compared, "differ": differ, **kept}
        if compared < FEWEST:
            return self.verdict("unknown", "too_few_repeats" if found else NOT_MET, needed=round(most, 4), **whole)
        is_over = differ > most * compared + _NEAR and differ > self.rule.max_failed
        share = round(differ / compared, 4)
        return self.found("differs" if is_over else "", measured=share, needed=round(most, 4), **whole)


def quarter(scale: Scale) -> float:
    """Return a quarter of a scale, down to a whole step."""
    return math.floor(_QUARTER * (scale.max - scale.min) / scale.step + _NEAR) * scale.step


def _items(seen: Seen) -> Iterator[_Again]:
    """Yield the items of a page that stand on it twice."""
    first = {asked.question: asked.id for asked in seen.trial.asked if asked.purpose == "ask"}
    for asked in seen.trial.asked:
        _, _, again = asked.question.partition(":")
        if asked.purpose != "repeat" or again not in first:
            continue
        for slot in seen.trial.slots:
            if slot.rated:
                one, two = f"{first[again]}.{slot.id}", f"{asked.id}.{slot.id}"
                yield _Again(two, seen.given.get(one), seen.given.get(two), asked.scale)


def _trials(seen: Seen, before: Sequence[Seen]) -> Iterator[_Again]:
    """Yield the answers to a trial that came before, by stimulus: slots may have changed places."""
    if not _is_again(seen):
        return
    asked = {one.question: one for one in seen.trial.asked if one.purpose == "ask"}
    for earlier in before:
        first = {one.question: one for one in earlier.trial.asked if one.purpose == "ask"}
        if set(first) == set(asked) and _is_same(seen, earlier):
            for question, one in asked.items():
                yield from _answers(seen, one, earlier, first[question])
            return


def _answers(seen: Seen, asked: Asked, earlier: Seen, first: Asked) -> Iterator[_Again]:
    """Yield both answers to one question about each stimulus. A comparison is one answer, from either side."""
    places = {slot.stimulus: slot.id for slot in earlier.trial.slots}
    for slot in seen.trial.slots:
        where, at_first = f"{asked.id}.{slot.id}", f"{first.id}.{places.get(slot.stimulus)}"
        if where in seen.given and at_first in earlier.given:
            yield _Again(where, earlier.given[at_first], seen.given[where], asked.scale)
            if _is_compared(seen):
                return


def _is_same(seen: Seen, earlier: Seen) -> bool:
    """Return whether a trial is the one that comes again; on a board a check may have stood in for one stimulus."""
    stimuli = sorted(slot.stimulus for slot in seen.trial.slots)
    if sorted(slot.stimulus for slot in earlier.trial.slots) == stimuli:
        return not _is_again(earlier)
    rated = {slot.stimulus for slot in earlier.trial.slots if slot.rated and slot.role not in CHECK_ROLES}
    is_board = len(earlier.trial.slots) == len(stimuli) and not _is_compared(seen)
    return is_board and bool(rated) and rated <= set(stimuli)


def _is_compared(seen: Seen) -> bool:
    return all(one.kind != "score" for one in seen.judgements)


def _is_again(seen: Seen) -> bool:
    return any(slot.role == "repeat" for slot in seen.trial.slots)


def _count(verdict: Verdict) -> int:
    compared = verdict.evidence.get("compared", 0)
    return compared if isinstance(compared, int) else 0
