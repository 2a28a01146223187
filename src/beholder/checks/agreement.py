"""agreement: votes go up and down with those of the others (reference: checks 7)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from operator import mul
from statistics import fmean
from typing import ClassVar

from beholder.checks.contract import CHECK_ROLES, NOT_MET, AnsweredTrial, SessionEvidence, SessionRule, Verdict
from beholder.study.checks import Agreement, Consistency, Postscreen
from beholder.types import Json

Vote = tuple[str, str]
"""What was judged, and by which question."""


class AgreementRule(SessionRule[Agreement]):
    """Fails where the rank correlation with the mean of the others, without one's own votes, is low."""

    name: ClassVar[str] = "agreement"

    def judge(self, evidence: SessionEvidence) -> Verdict:
        if not evidence.others:
            reason = "too_few_shared" if any(votes_of(seen) for seen in evidence.trials) else NOT_MET
            return self.verdict("unknown", reason, needed=self.rule.min, stimuli=0)
        own = _means([vote for seen in evidence.trials for vote in votes_of(seen)])
        shared = [vote for vote in own if vote in evidence.others]
        stimuli = len({stimulus for stimulus, _ in shared})
        if stimuli < self.rule.stimuli:
            reason = "too_few_shared" if own else NOT_MET
            return self.verdict("unknown", reason, needed=self.rule.min, stimuli=stimuli)
        r = spearman([own[vote] for vote in shared], [evidence.others[vote] for vote in shared])
        if r is None:
            return self.verdict("unknown", "same_answer", needed=self.rule.min, stimuli=stimuli)
        reason = "disagrees" if r < self.rule.min else ""
        return self.pass_or_fail(reason, measured=round(r, 4), needed=self.rule.min, stimuli=stimuli)


def votes_of(seen: AnsweredTrial) -> list[tuple[Vote, float]]:
    """Return the votes of a trial that are ratings: of a stimulus or, in a comparison, of a pair."""
    slots, asked = seen.trial.slot_by_id, seen.trial.rated_questions
    found = []
    for one in seen.judgements:
        slot, other = slots[one.slot], slots.get(one.other_slot or "")
        if one.value is None or one.question not in asked or slot.role in CHECK_ROLES:
            continue
        if other is not None and other.role in CHECK_ROLES:
            continue
        judged = vote_subject(one.kind, slot.stimulus, other.stimulus if other else None)
        if judged is not None:
            found.append(((judged, one.question), one.value))
    return found


def vote_subject(kind: str, stimulus: str, other: str | None) -> str | None:
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


# --- consistency: votes do not scatter round those of the others more than is usual (reference: statistics 3.5) ---


FEWEST_RATERS = 10
"""What is usual cannot be told from fewer."""
NORMAL_SCATTER = 0.1
"""Scatter, in widths of the scale, that is nobody's fault, however much less the others have: 0.4 points of five."""


class ConsistencyRule(SessionRule[Consistency]):
    """Fails where a person's inconsistency, bias apart, lies far above what is usual among all raters."""

    name: ClassVar[str] = "consistency"

    def judge(self, evidence: SessionEvidence) -> Verdict:
        found = evidence.scatter
        if found is None:
            return self.verdict("unknown", NOT_MET, needed=self.rule.z)
        kept = {"ratings": found.ratings, "raters": found.raters, "scatter": round(found.width, 4)}
        if found.ratings < self.rule.ratings:
            return self.verdict("unknown", "too_few_ratings", needed=self.rule.z, **kept)
        if found.raters < FEWEST_RATERS:
            return self.verdict("unknown", "too_few_raters", needed=self.rule.z, **kept)
        if found.z is None:
            return self.verdict("unknown", "all_alike", needed=self.rule.z, **kept)
        reason = "inconsistent" if found.z > self.rule.z and found.width > NORMAL_SCATTER else ""
        return self.pass_or_fail(reason, measured=round(found.z, 4), needed=self.rule.z, **kept)


# --- postscreen: the hidden reference is found, and anchors are not taken for it (ITU-R BS.1534; reference: checks 7).


REFERENCE, ANCHOR = "reference", "anchor"
PageQuestion = tuple[str, str]
"""A content, and the question about it."""


class PostscreenRule(SessionRule[Postscreen]):
    """Fails where the hidden reference was rated low, or an anchor high, on too many pages. Values are on 0 to 100.

    A content whose anchors fool many people says nothing about one of them, and is spared for everybody.
    """

    name: ClassVar[str] = "postscreen"
    version: ClassVar[int] = 2

    def judge(self, evidence: SessionEvidence) -> Verdict:
        low, lows = self.rule.hidden_reference
        high, highs = self.rule.anchor
        references = [min(values) for _, values in _pages(evidence, "hidden_reference")]
        anchors = [max(values) for page, values in _pages(evidence, "anchor") if page not in evidence.ignored_pages]
        missed = _share(value < low for value in references)
        taken = _share(value > high for value in anchors)
        kept: dict[str, Json] = {"references": len(references), "anchors": len(anchors)}
        if evidence.ignored_pages:
            kept["spared"] = sum(page in evidence.ignored_pages for page, _ in _pages(evidence, "anchor"))
        measured, needed = {REFERENCE: missed, ANCHOR: taken}, {REFERENCE: [low, lows], ANCHOR: [high, highs]}
        if missed is None and taken is None:
            return self.verdict("unknown", NOT_MET, needed=needed, **kept)
        reason = REFERENCE if (missed or 0) > lows else ANCHOR if (taken or 0) > highs else ""
        return self.pass_or_fail(reason, measured=measured, needed=needed, **kept)


def high_anchors(rule: Postscreen, evidence: SessionEvidence) -> dict[PageQuestion, bool]:
    """Return of each page with an anchor whether one was rated as high as the reference should be."""
    return {page: max(values) > rule.anchor[0] for page, values in _pages(evidence, "anchor")}


def _pages(evidence: SessionEvidence, role: str) -> Iterator[tuple[PageQuestion, list[float]]]:
    """Yield each page and question with slots of a role, and their values."""
    for seen in evidence.trials:
        for asked in seen.trial.asked:
            values = list(_values(seen, asked.question, role)) if asked.purpose == "ask" else []
            if values:
                yield (seen.trial.content, asked.question), values


def _values(seen: AnsweredTrial, question: str, role: str) -> Iterator[float]:
    slots = {slot.id for slot in seen.trial.slots if slot.role == role and slot.rated}
    for one in seen.judgements:
        if one.kind == "score" and one.question == question and one.slot in slots and one.keyed is not None:
            yield 100 * (one.keyed - one.scale_min) / (one.scale_max - one.scale_min)


def _share(found: Iterator[bool]) -> float | None:
    said = list(found)
    return round(sum(said) / len(said), 4) if said else None
