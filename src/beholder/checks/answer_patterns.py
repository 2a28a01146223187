"""repeat: what comes again gets about the same answer (reference: checks 7)."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from math import fsum
from typing import ClassVar, NamedTuple

from beholder.checks.contract import (
    CHECK_ROLES,
    MEDIA_ERROR,
    NOT_MET,
    AnsweredTrial,
    RatingRule,
    Rule,
    SessionEvidence,
    SessionRule,
    TrialRule,
    TrialVerdicts,
    Verdict,
    evidence_number,
    trial_evidence,
)
from beholder.checks.playback import gap_ms, play_order, slot_playback
from beholder.methods.contract import Asked
from beholder.study.checks import Quota, Repeat, Speed, Variance
from beholder.study.questions import Scale
from beholder.types import Json, Outcome

FEWEST_REPEATS = 3
"""Fewer repeats in a session tell nothing."""
_QUARTER = 0.25
_NEAR = 1e-9


class _RepeatedAnswer(NamedTuple):
    """One answer that was given twice."""

    where: str
    first: float | None
    second: float | None
    scale: Scale


class RepeatRule(TrialRule[Repeat]):
    """Compares items that stand twice on a page, and trials that come twice. The first answer is the rating."""

    name: ClassVar[str] = "repeat"

    def judge_trial(self, seen: AnsweredTrial, before: Sequence[AnsweredTrial] = ()) -> Verdict | None:
        found = [*_items(seen), *_trials(seen, before)]
        if not found:
            return None
        off: dict[str, Json] = {}
        compared, near = 0, 0.0
        for again in found:
            if again.first is None or again.second is None:
                continue
            near = quarter_of_scale(again.scale) if self.rule.tolerance is None else self.rule.tolerance
            compared += 1
            if abs(again.first - again.second) > near + _NEAR:
                off[again.where] = [again.first, again.second]
        if not compared:
            return self.verdict("unknown", MEDIA_ERROR)
        return self.pass_or_fail("differs" if off else "", measured=off or None, needed=near, compared=compared)

    def conclude(self, found: TrialVerdicts) -> Verdict:
        """Return the verdict on a session: how large a share of all repeats differs."""
        kept, most = trial_evidence(found), self.rule.share
        compared = sum(_count(verdict) for _, verdict in found)
        differ = sum(len(verdict.measured) for _, verdict in found if isinstance(verdict.measured, dict))
        whole: dict[str, Json] = {"compared": compared, "differ": differ, **kept}
        if compared < FEWEST_REPEATS:
            return self.verdict("unknown", "too_few_repeats" if found else NOT_MET, needed=round(most, 4), **whole)
        is_over = differ > most * compared + _NEAR and differ > self.rule.max_failed
        share = round(differ / compared, 4)
        return self.pass_or_fail("differs" if is_over else "", measured=share, needed=round(most, 4), **whole)


def quarter_of_scale(scale: Scale) -> float:
    """Return a quarter of a scale, down to a whole step."""
    return math.floor(_QUARTER * (scale.max - scale.min) / scale.step + _NEAR) * scale.step


def _items(seen: AnsweredTrial) -> Iterator[_RepeatedAnswer]:
    """Yield the items of a page that stand on it twice."""
    first = {asked.question: asked.id for asked in seen.trial.asked if asked.purpose == "ask"}
    for asked in seen.trial.asked:
        _, _, again = asked.question.partition(":")
        if asked.purpose != "repeat" or again not in first:
            continue
        for slot in seen.trial.slots:
            if slot.rated:
                one, two = f"{first[again]}.{slot.id}", f"{asked.id}.{slot.id}"
                yield _RepeatedAnswer(two, seen.values.get(one), seen.values.get(two), asked.scale)


def _trials(seen: AnsweredTrial, before: Sequence[AnsweredTrial]) -> Iterator[_RepeatedAnswer]:
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


def _answers(seen: AnsweredTrial, asked: Asked, earlier: AnsweredTrial, first: Asked) -> Iterator[_RepeatedAnswer]:
    """Yield both answers to one question about each stimulus. A comparison is one answer, from either side."""
    places = {slot.stimulus: slot.id for slot in earlier.trial.slots}
    for slot in seen.trial.slots:
        where, at_first = f"{asked.id}.{slot.id}", f"{first.id}.{places.get(slot.stimulus)}"
        if where in seen.values and at_first in earlier.values:
            yield _RepeatedAnswer(where, earlier.values[at_first], seen.values[where], asked.scale)
            if _is_compared(seen):
                return


def _is_same(seen: AnsweredTrial, earlier: AnsweredTrial) -> bool:
    """Return whether a trial is the one that comes again; on a board a check may have stood in for one stimulus."""
    stimuli = sorted(slot.stimulus for slot in seen.trial.slots)
    if sorted(slot.stimulus for slot in earlier.trial.slots) == stimuli:
        return not _is_again(earlier)
    rated = {slot.stimulus for slot in earlier.trial.slots if slot.rated and slot.role not in CHECK_ROLES}
    is_board = len(earlier.trial.slots) == len(stimuli) and not _is_compared(seen)
    return is_board and bool(rated) and rated <= set(stimuli)


def _is_compared(seen: AnsweredTrial) -> bool:
    return all(one.kind != "score" for one in seen.judgements)


def _is_again(seen: AnsweredTrial) -> bool:
    return any(slot.role == "repeat" for slot in seen.trial.slots)


def _count(verdict: Verdict) -> int:
    compared = verdict.evidence.get("compared", 0)
    return compared if isinstance(compared, int) else 0


# --- variance: the answers are not all the same (straight-lining; reference: checks 7) ---


FEWEST_ANSWERS: Mapping[str, int] = {"score": 4, "diff": 4, "choice": 12}
"""How many answers of a kind it takes. With two to choose from, honest people often choose the same side a few times.

Whether an answer is correct, and what was ticked, does not have to vary.
"""
FEWEST_ON_PAGE = 4
"""How many answers a page has by which straight-lining can be seen on it alone."""
FEWEST_PAGES = 3
"""With fewer pages one that is flat, which honest people have now and then, would be half of them."""
SAME_ANSWER, ONE_COLUMN, LEVEL = "same_answer", "one_column", "level_sliders"
_LEVEL = 0.02
"""Sliders within this share of the scale are level."""
_FIVE_POINT_RANGE = 4


class VarianceRule(SessionRule[Variance]):
    """Fails when the sample variance of the raw clicks stays below `min` in every question.

    A comparison is taken as it was clicked, second against first: always the same side is the same answer.

    `min` is meant for five points; on another scale it grows with the square of the range. Clicks are brought to
    five points instead, which is the same rule and lets questions with different scales be compared.

    Fails as well when `share` of the pages have one answer only: all sliders level, or one column of a survey
    although one of its statements is turned round.
    """

    name: ClassVar[str] = "variance"
    version: ClassVar[int] = 3

    def judge(self, evidence: SessionEvidence) -> Verdict:
        clicks: dict[str, list[float]] = defaultdict(list)
        fewest: dict[str, int] = {}
        for click in evidence.clicks:
            if click.kind not in FEWEST_ANSWERS:
                continue
            fewest[click.question] = FEWEST_ANSWERS[click.kind]
            share = (click.raw_value - click.scale_min) / (click.scale_max - click.scale_min)
            clicks[click.question].append(_FIVE_POINT_RANGE * share)
        spread = {
            question: round(variance(values), 6)
            for question, values in clicks.items()
            if len(values) >= fewest[question]
        }
        counted: dict[str, Json] = {"clicks": {question: len(values) for question, values in sorted(clicks.items())}}
        pages = [page for seen in evidence.trials for page in _pages(seen)]
        flat = [reason for reason, is_flat in pages if is_flat]
        if pages:
            counted |= {"pages": len(pages), "flat_pages": len(flat)}
        if spread:
            counted |= {"variance": dict(sorted(spread.items()))}
        widest, least = max(spread.values(), default=None), self.rule.min
        if widest is not None and widest < least:
            return self.pass_or_fail(SAME_ANSWER, measured=widest, needed=least, **counted)
        if len(pages) >= FEWEST_PAGES and len(flat) >= self.rule.share * len(pages):
            measured = round(len(flat) / len(pages), 4)
            return self.pass_or_fail(flat[0], measured=measured, needed=self.rule.share, **counted)
        if widest is None and not pages:
            return self.verdict("unknown", "too_few_answers", needed=least, **counted)
        return self.pass_or_fail("", measured=widest, needed=least, **counted)


def variance(values: Sequence[float]) -> float:
    """Return the sample variance of two values or more."""
    mean = fsum(values) / len(values)
    return fsum([(value - mean) ** 2 for value in values]) / (len(values) - 1)


def _pages(seen: AnsweredTrial) -> Iterator[tuple[str, bool]]:
    """Yield how a page would be flat, and whether it is; nothing of pages by which it cannot be seen."""
    if len(seen.trial.slots) * len(seen.trial.asked) < FEWEST_ON_PAGE:
        return
    rated = {slot.id for slot in seen.trial.slots if slot.rated and slot.role not in CHECK_ROLES}
    asked = [asked for asked in seen.trial.asked if asked.purpose == "ask" and not asked.ticks]
    if len(rated) >= FEWEST_ON_PAGE:
        for one in asked:
            values = [value for slot in rated if (value := seen.values.get(f"{one.id}.{slot}")) is not None]
            if len(values) >= FEWEST_ON_PAGE and one.scale.look == "slider":
                yield LEVEL, max(values) - min(values) <= _LEVEL * (one.scale.max - one.scale.min)
    elif len(rated) == 1 and len(asked) >= FEWEST_ON_PAGE and {one.keyed for one in asked} == {"+", "-"}:
        (slot,) = rated
        values = [value for one in asked if (value := seen.values.get(f"{one.id}.{slot}")) is not None]
        alike = {(one.scale.min, one.scale.max) for one in asked}
        if len(values) == len(asked) and len(alike) == 1:
            yield ONE_COLUMN, len(set(values)) == 1


# --- speed: answers took the time that people need (reference: checks 7). Never a reason not to pay ---


TOO_FAST, SESSION = "too_fast", "session"
_SLACK_MS = 1000
"""How far the clock of the log may be from that of the page; further apart, one of them jumped."""


class SpeedRule(RatingRule[Speed]):
    """Times a trial from when it could be answered to the answer, and a session by what it shows and asks.

    On a board each slider opens when its stimulus has been watched, so that the last one alone is timed.
    """

    name: ClassVar[str] = "speed"

    def judge_trial(self, seen: AnsweredTrial, before: Sequence[AnsweredTrial] = ()) -> Verdict | None:
        needed = 0.0
        for asked in seen.trial.asked:
            if not asked.ticks:
                needed += self.rule.slider_s if asked.scale.look == "slider" else self.rule.click_s
        if not needed or not seen.slots:
            return None
        spent = seen.sent_ms - seen.shown_ms
        opened = self._opened_ms(seen)
        if opened is None:
            return self.verdict("unknown", "not_timed", needed=round(needed, 3))
        if spent < 0 or opened > spent + _SLACK_MS:
            return self.verdict("unknown", "clock", needed=round(needed, 3))
        took = max(0.0, spent - opened) / 1000
        whole = {"spent_s": round(spent / 1000, 3), "least_s": round(self._least_ms(seen) / 1000, 3)}
        reason = TOO_FAST if took < needed else ""
        return self.pass_or_fail(reason, measured=round(took, 3), needed=round(needed, 3), **whole)

    def conclude(self, found: TrialVerdicts) -> Verdict:
        """Return the verdict on a session: too many such trials, or all of them together shorter than they can be."""
        often = self.by_share(found, self.rule.share)
        spent, least = (
            sum([evidence_number(verdict.evidence, name) for _, verdict in found]) for name in ("spent_s", "least_s")
        )
        if often.verdict == "unknown" or spent >= least:
            return often
        kept = {"share": often.measured, **often.evidence}
        return self.verdict("fail", SESSION, measured=round(spent, 1), needed=round(least, 1), **kept)

    def _opened_ms(self, seen: AnsweredTrial) -> float | None:
        """Return when the answer could be given; at once, where nothing has to be watched to its end before."""
        if self.watch != "whole":
            return 0.0
        ends = [slot_playback(seen, slot).get("ended_ms") for slot in seen.slots]
        return max([float(end) for end in ends if end is not None], default=None)

    def _least_ms(self, seen: AnsweredTrial) -> float:
        """Return how long a trial takes at least: what was watched of its stimuli, once, and the judgements."""
        watched = []
        for slot in seen.slots:
            length, seconds = seen.lengths_ms.get(slot) or 0, slot_playback(seen, slot).get("watched_ms")
            watched.append(0.0 if seconds is None else float(min(length, seconds)))
        media = max(watched, default=0.0) if play_order(seen) == "together" else sum(watched) + gap_ms(seen)
        if len(seen.slots) > 1 and play_order(seen) == "free":
            return media  # one slider can be set while the next stimulus plays
        judged = len([one for one in seen.judgements if one.value is not None and one.kind != "pick"])
        return media + 1000 * self.rule.judgement_s * judged


# --- complete: the session has every planned answer, and something was rated (reference: checks 8) ---


MOST_MISSING = 0.5
"""The share of slots without a rating above which a session is named; what was rated is still used."""


class CompleteRule(Rule):
    """Passes when the ledger is whole, which the server wrote down as the outcome `completed`.

    Slots that would not play are part of a whole ledger. A session of nothing else holds no rating, and fails.
    """

    name: ClassVar[str] = "complete"
    version: ClassVar[int] = 2

    def judge(self, evidence: SessionEvidence) -> Verdict:
        if evidence.outcome != "completed":
            reason = evidence.outcome or "not_finished"
            return Verdict(self.name, self.version, "fail", reason, evidence.outcome, "completed")
        missing = len([viewing for viewing in evidence.viewings if viewing.missing is not None])
        slots: dict[str, Json] = {"slots": len(evidence.viewings), "missing": missing}
        if not evidence.clicks:
            return Verdict(self.name, self.version, "fail", "nothing_rated", 0, 1, slots)
        if missing > MOST_MISSING * len(evidence.viewings):
            share = round(missing / len(evidence.viewings), 4)
            return Verdict(self.name, self.version, "fail", "mostly_missing", share, MOST_MISSING, slots)
        return Verdict(self.name, self.version, "pass", "", "completed", "completed", slots)


# --- quota: no more sessions of one person count than are wanted (reference: checks 8) ---


ENDED: frozenset[Outcome] = frozenset({"completed", "failed_checks"})
"""How a session ends that uses up one: who was sent home for what they did may not simply begin anew."""


class QuotaRule(SessionRule[Quota]):
    """Fails for every session after the last one that counts."""

    name: ClassVar[str] = "quota"

    def judge(self, evidence: SessionEvidence) -> Verdict:
        if evidence.outcome not in ENDED:
            return self.verdict("unknown", NOT_MET, needed=self.rule.sessions)
        is_over = evidence.number > self.rule.sessions
        return self.pass_or_fail("over" if is_over else "", measured=evidence.number, needed=self.rule.sessions)
