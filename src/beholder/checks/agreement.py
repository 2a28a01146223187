"""Rules that compare a participant with the others or with references: `agreement`, `consistency`, `postscreen`."""

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
    """agreement: votes correlate by rank with the mean of all other participants (reference: checks 7)."""

    name: ClassVar[str] = "agreement"

    def judge(self, evidence: SessionEvidence) -> Verdict:
        if not evidence.others:
            reason = "too_few_shared" if any(votes_of(answered) for answered in evidence.trials) else NOT_MET
            return self.verdict("unknown", reason, needed=self.rule.min, stimuli=0)
        own = _means([vote for answered in evidence.trials for vote in votes_of(answered)])
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


def votes_of(answered: AnsweredTrial) -> list[tuple[Vote, float]]:
    """Return the ratings of a trial: of a stimulus or, in a comparison, of a pair."""
    slots, asked = answered.trial.slot_by_id, answered.trial.rated_questions
    votes = []
    for one in answered.judgements:
        slot, other = slots[one.slot], slots.get(one.other_slot or "")
        if one.value is None or one.question not in asked or slot.role in CHECK_ROLES:
            continue
        if other is not None and other.role in CHECK_ROLES:
            continue
        subject = vote_subject(one.kind, slot.stimulus, other.stimulus if other else None)
        if subject is not None:
            votes.append(((subject, one.question), one.value))
    return votes


def vote_subject(kind: str, stimulus: str, other: str | None) -> str | None:
    """Return what a vote is about: a stimulus or a pair; None for kinds that have a right answer."""
    if kind == "score":
        return stimulus
    return f"{stimulus} {other}" if kind in ("diff", "choice") else None


def spearman(one: Sequence[float], two: Sequence[float]) -> float | None:
    """Return Spearman's rank correlation, with mean ranks for ties; None where one side does not vary."""
    first, second = _ranks(one), _ranks(two)
    # Twice the ranks are whole numbers, whose sums are exact: a value at a limit is there on every machine.
    whole = sum(map(mul, first, first)) * sum(map(mul, second, second))
    return sum(map(mul, first, second)) / math.sqrt(whole) if whole else None


def _ranks(values: Sequence[float]) -> list[int]:
    """Return twice the rank of each value minus the mean rank: below zero for the lower half."""
    counts = Counter(values)
    ranks: dict[float, int] = {}
    below = 0
    for value in sorted(counts):
        ranks[value] = 2 * below + counts[value] - len(values)
        below += counts[value]
    return [ranks[value] for value in values]


def _means(votes: Sequence[tuple[Vote, float]]) -> dict[Vote, float]:
    by_vote: dict[Vote, list[float]] = {}
    for vote, value in votes:
        by_vote.setdefault(vote, []).append(value)
    return {vote: values[0] if len(values) == 1 else fmean(values) for vote, values in by_vote.items()}


# Consistency

FEWEST_RATERS = 10
"""The usual scatter cannot be estimated from fewer."""
NORMAL_SCATTER = 0.1
"""Scatter, in widths of the scale, that never fails, however little the others have: 0.4 points of five."""


class ConsistencyRule(SessionRule[Consistency]):
    """consistency: votes scatter around those of the others as is usual, bias apart (reference: statistics 3.5)."""

    name: ClassVar[str] = "consistency"

    def judge(self, evidence: SessionEvidence) -> Verdict:
        scatter = evidence.scatter
        if scatter is None:
            return self.verdict("unknown", NOT_MET, needed=self.rule.z)
        details = {"ratings": scatter.ratings, "raters": scatter.raters, "scatter": round(scatter.width, 4)}
        if scatter.ratings < self.rule.ratings:
            return self.verdict("unknown", "too_few_ratings", needed=self.rule.z, **details)
        if scatter.raters < FEWEST_RATERS:
            return self.verdict("unknown", "too_few_raters", needed=self.rule.z, **details)
        if scatter.z is None:
            return self.verdict("unknown", "all_alike", needed=self.rule.z, **details)
        reason = "inconsistent" if scatter.z > self.rule.z and scatter.width > NORMAL_SCATTER else ""
        return self.pass_or_fail(reason, measured=round(scatter.z, 4), needed=self.rule.z, **details)


# Post-screening

REFERENCE, ANCHOR = "reference", "anchor"
PageQuestion = tuple[str, str]
"""A content, and the question about it."""


class PostscreenRule(SessionRule[Postscreen]):
    """postscreen: the hidden reference is rated low, or an anchor high, on few pages (ITU-R BS.1534, checks 7).

    Values are on 0 to 100. A content whose anchors many people rate high is ignored for everybody.
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
        details: dict[str, Json] = {"references": len(references), "anchors": len(anchors)}
        if evidence.ignored_pages:
            details["spared"] = sum(page in evidence.ignored_pages for page, _ in _pages(evidence, "anchor"))
        measured, needed = {REFERENCE: missed, ANCHOR: taken}, {REFERENCE: [low, lows], ANCHOR: [high, highs]}
        if missed is None and taken is None:
            return self.verdict("unknown", NOT_MET, needed=needed, **details)
        reason = REFERENCE if (missed or 0) > lows else ANCHOR if (taken or 0) > highs else ""
        return self.pass_or_fail(reason, measured=measured, needed=needed, **details)


def high_anchors(rule: Postscreen, evidence: SessionEvidence) -> dict[PageQuestion, bool]:
    """Return whether an anchor was rated as high as the reference should be, for each page with anchors."""
    return {page: max(values) > rule.anchor[0] for page, values in _pages(evidence, "anchor")}


def _pages(evidence: SessionEvidence, role: str) -> Iterator[tuple[PageQuestion, list[float]]]:
    """Yield each page and question with slots of a role, and their values."""
    for answered in evidence.trials:
        for asked in answered.trial.asked:
            values = list(_values(answered, asked.question, role)) if asked.purpose == "ask" else []
            if values:
                yield (answered.trial.content, asked.question), values


def _values(answered: AnsweredTrial, question: str, role: str) -> Iterator[float]:
    slots = {slot.id for slot in answered.trial.slots if slot.role == role and slot.rated}
    for one in answered.judgements:
        if one.kind == "score" and one.question == question and one.slot in slots and one.keyed is not None:
            yield 100 * (one.keyed - one.scale_min) / (one.scale_max - one.scale_min)


def _share(flags: Iterator[bool]) -> float | None:
    counted = list(flags)
    return round(sum(counted) / len(counted), 4) if counted else None
