"""agreement: votes go up and down with those of the others (reference: checks 7)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from operator import mul
from statistics import fmean
from typing import ClassVar

from beholder.checks.trust import CHECK_ROLES, NOT_MET, Seen, TrustCheck
from beholder.checks.verdict import Evidence, Verdict
from beholder.study.checks import Agreement as Rule

Vote = tuple[str, str]
"""What was judged, and by which question."""


class Agreement(TrustCheck[Rule]):
    """Fails where the rank correlation with the mean of the others, without one's own votes, is low."""

    name: ClassVar[str] = "agreement"

    def judge(self, evidence: Evidence) -> Verdict:
        if not evidence.others:
            reason = "too_few_shared" if any(votes_of(seen) for seen in evidence.seen) else NOT_MET
            return self.verdict("unknown", reason, needed=self.rule.min, stimuli=0)
        own = _means([vote for seen in evidence.seen for vote in votes_of(seen)])
        shared = [vote for vote in own if vote in evidence.others]
        stimuli = len({stimulus for stimulus, _ in shared})
        if stimuli < self.rule.stimuli:
            reason = "too_few_shared" if own else NOT_MET
            return self.verdict("unknown", reason, needed=self.rule.min, stimuli=stimuli)
        r = spearman([own[vote] for vote in shared], [evidence.others[vote] for vote in shared])
        if r is None:
            return self.verdict("unknown", "same_answer", needed=self.rule.min, stimuli=stimuli)
        reason = "disagrees" if r < self.rule.min else ""
        return self.found(reason, measured=round(r, 4), needed=self.rule.min, stimuli=stimuli)


def votes_of(seen: Seen) -> list[tuple[Vote, float]]:
    """Return the votes of a trial that are ratings: of a stimulus or, in a comparison, of a pair."""
    slots, asked = seen.trial.slot_by_id, seen.trial.rated_questions
    found = []
    for one in seen.judgements:
        slot, other = slots[one.slot], slots.get(one.other_slot or "")
        if one.value is None or one.question not in asked or slot.role in CHECK_ROLES:
            continue
        if other is not None and other.role in CHECK_ROLES:
            continue
        judged = voted(one.kind, slot.stimulus, other.stimulus if other else None)
        if judged is not None:
            found.append(((judged, one.question), one.value))
    return found


def voted(kind: str, stimulus: str, other: str | None) -> str | None:
    """Return what a vote is about: a stimulus, or a pair of them; None where it is no matter of taste."""
    if kind == "score":
        return stimulus
    return f"{stimulus} {other}" if kind in ("diff", "choice") else None


def spearman(one: Sequence[float], two: Sequence[float]) -> float | None:
    """Return the rank correlation, ties in the middle; None where one of them does not vary."""
    first, second = _ranks(one), _ranks(two)
    # Twice the ranks are whole numbers, whose sums are exact: who is just at a limit is so on every machine.
    whole = sum(map(mul, first, first)) * sum(map(mul, second, second))
    return sum(map(mul, first, second)) / math.sqrt(whole) if whole else None


def _ranks(values: Sequence[float]) -> list[int]:
    """Return twice the rank of each value, less the mean of all: below zero for the lower half."""
    counts = Counter(values)
    ranks: dict[float, int] = {}
    below = 0
    for value in sorted(counts):
        ranks[value] = 2 * below + counts[value] - len(values)
        below += counts[value]
    return [ranks[value] for value in values]


def _means(votes: Sequence[tuple[Vote, float]]) -> dict[Vote, float]:
    found: dict[Vote, list[float]] = {}
    for vote, value in votes:
        found.setdefault(vote, []).append(value)
    return {vote: values[0] if len(values) == 1 else fmean(values) for vote, values in found.items()}
