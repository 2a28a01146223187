"""agreement: votes go up and down with those of the others (reference: checks 7)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, ClassVar

from beholder.checks.trust import CHECK_ROLES, NOT_MET, Seen, TrustCheck
from beholder.checks.verdict import Evidence, Verdict
from beholder.study.checks import Agreement as Rule

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Vote = tuple[str, str]
"""What was judged, and by which question."""


class Agreement(TrustCheck[Rule]):
    """Fails where the rank correlation with the mean of the others, without one's own votes, is low."""

    name: ClassVar[str] = "agreement"

    def judge(self, evidence: Evidence) -> Verdict:
        own = _means(vote for seen in evidence.seen for vote in votes_of(seen))
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


def votes_of(seen: Seen) -> Iterator[tuple[Vote, float]]:
    """Yield the votes of a trial that are ratings: of a stimulus or, in a comparison, of a pair."""
    slots = {slot.id: slot for slot in seen.trial.slots}
    asked = {asked.question for asked in seen.trial.asked if asked.purpose == "ask"}
    for one in seen.judgements:
        slot, other = slots[one.slot], slots.get(one.other_slot or "")
        if one.value is None or one.question not in asked or slot.role in CHECK_ROLES:
            continue
        if other is not None and other.role in CHECK_ROLES:
            continue
        judged = voted(one.kind, slot.stimulus, other.stimulus if other else None)
        if judged is not None:
            yield (judged, one.question), one.value


def voted(kind: str, stimulus: str, other: str | None) -> str | None:
    """Return what a vote is about: a stimulus, or a pair of them; None where it is no matter of taste."""
    if kind == "score":
        return stimulus
    return f"{stimulus} {other}" if kind in ("diff", "choice") else None


def spearman(one: Sequence[float], two: Sequence[float]) -> float | None:
    """Return the rank correlation, ties in the middle; None where one of them does not vary."""
    import numpy as np

    first, second = (_ranks(np.asarray(values, dtype=float)) for values in (one, two))
    if not first.std() or not second.std():
        return None
    return float(np.corrcoef(first, second)[0, 1])


def _ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    import numpy as np

    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[places]


def _means(votes: Iterator[tuple[Vote, float]]) -> dict[Vote, float]:
    found: dict[Vote, list[float]] = {}
    for vote, value in votes:
        found.setdefault(vote, []).append(value)
    return {vote: fmean(values) for vote, values in found.items()}
