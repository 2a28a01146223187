"""Rules over patterns of answers: `repeat`, `variance`, `speed`, `complete` and `quota` (reference: checks 7 and 8)."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from math import fsum
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

from pydantic import Field

from beholder.checks.contract import (
    MEDIA_ERROR,
    NOT_MET,
    OFTEN,
    AnsweredTrial,
    RatingRule,
    Rule,
    SessionEvidence,
    SessionRule,
    ShareOfTrials,
    TrialRule,
    TrialVerdicts,
    Verdict,
    evidence_number,
    own_scores,
    trial_evidence,
)
from beholder.checks.playback import LAST_MS, WHOLE, gap_ms, play_order, slot_playback
from beholder.formats import plain_count, precise_percent
from beholder.methods.contract import Asked
from beholder.study.checks import After, Share
from beholder.study.design import MOST_SESSIONS
from beholder.study.questions import Scale
from beholder.types import UNRATED_ROLES, CheckRole, Json, Outcome

FEWEST_REPEATS = 3
"""A session with fewer repeats is not judged."""
_QUARTER = 0.25
_NEAR = 1e-9


class _RepeatedAnswer(NamedTuple):
    """Both answers to a repeated question."""

    where: str
    first: float | None
    second: float | None
    scale: Scale


class Repeat(TrialRule):
    """repeat: repeated items and trials get about the same answer. The first answer is the rating."""

    name: ClassVar[str] = "repeat"
    title: ClassVar[str] = "Repeats"
    order: ClassVar[int] = 50
    role: ClassVar[CheckRole] = "repeat"
    trial_words: ClassVar[tuple[str, str]] = ("repeat", "repeats")
    purpose: ClassVar[Literal["trap", "repeat"]] = "repeat"
    statement_words: ClassVar[tuple[str, str]] = ("repeated statement", "repeated statements")
    is_planned: ClassVar[bool] = True
    summary: ClassVar[str] = "Items or trials that come again."
    reasons: ClassVar[Mapping[str, str]] = {"differs": "Repeats answered differently"}

    class Options(TrialRule.Options):
        """Repeats: the same item or stimulus again, with about the same answer."""

        items_per_trial: int = Field(
            default=0,
            ge=0,
            le=5,
            description="Items of a survey that come again in a trial; where each item comes in a trial of its own, "
            "how many for each stimulus.",
        )
        per_session: int | None = Field(
            default=None, ge=0, le=50, description="Trials that come again; 3 when no items are repeated."
        )
        tolerance: Annotated[float | None, After("How far an answer may be off.")] = Field(
            default=None, ge=0, description="How far apart two answers may be; a quarter of the scale when left out."
        )
        share: Annotated[Share, After("The largest share of repeats that may disagree.")] = Field(
            default=1 / 3, description="The session fails when more of at least 3 repeats disagree."
        )

        @property
        def trials(self) -> int:
            """Number of repeated trials in a session."""
            return (0 if self.items_per_trial else 3) if self.per_session is None else self.per_session

    options: Options

    def sentence(self) -> str:
        near = self.options.tolerance
        within = "a quarter of the scale" if near is None else f"{near:g} of the first"
        return (
            f"What comes again gets an answer within {within}; of three repeats or more, at most "
            f"{precise_percent(self.options.share)} may not."
        )

    def judge_trial(self, answered: AnsweredTrial, earlier: Sequence[AnsweredTrial] = ()) -> Verdict | None:
        repeats = [*_items(answered), *_trials(answered, earlier)]
        if not repeats:
            return None
        off: dict[str, Json] = {}
        compared, near = 0, 0.0
        for repeat in repeats:
            if repeat.first is None or repeat.second is None:
                continue
            near = quarter_of_scale(repeat.scale) if self.options.tolerance is None else self.options.tolerance
            compared += 1
            if abs(repeat.first - repeat.second) > near + _NEAR:
                off[repeat.where] = [repeat.first, repeat.second]
        if not compared:
            return self.verdict("unknown", MEDIA_ERROR)
        return self.pass_or_fail("differs" if off else "", measured=off or None, needed=near, compared=compared)

    def conclude(self, verdicts: TrialVerdicts) -> Verdict:
        """Return the verdict on a session from the share of repeats that differ."""
        evidence, most = trial_evidence(verdicts), self.options.share
        compared = sum(_count(verdict) for _, verdict in verdicts)
        differ = sum(len(verdict.measured) for _, verdict in verdicts if isinstance(verdict.measured, dict))
        whole: dict[str, Json] = {"compared": compared, "differ": differ, **evidence}
        if compared < FEWEST_REPEATS:
            return self.verdict("unknown", "too_few_repeats" if verdicts else NOT_MET, needed=round(most, 4), **whole)
        is_over = differ > most * compared + _NEAR and differ > self.options.max_failed
        share = round(differ / compared, 4)
        return self.pass_or_fail("differs" if is_over else "", measured=share, needed=round(most, 4), **whole)


def quarter_of_scale(scale: Scale) -> float:
    """Return a quarter of a scale, rounded down to a whole step."""
    return math.floor(_QUARTER * (scale.max - scale.min) / scale.step + _NEAR) * scale.step


def _items(answered: AnsweredTrial) -> Iterator[_RepeatedAnswer]:
    """Yield the repeated items of a page."""
    first = {asked.question: asked.id for asked in answered.trial.asked if asked.purpose == "ask"}
    for asked in answered.trial.asked:
        _, _, again = asked.question.partition(":")
        if asked.purpose != Repeat.purpose or again not in first:
            continue
        for slot in answered.trial.slots:
            if slot.rated:
                one, two = f"{first[again]}.{slot.id}", f"{asked.id}.{slot.id}"
                yield _RepeatedAnswer(two, answered.values.get(one), answered.values.get(two), asked.scale)


def _trials(answered: AnsweredTrial, earlier: Sequence[AnsweredTrial]) -> Iterator[_RepeatedAnswer]:
    """Yield the answers to a repeated trial, matched by stimulus: slots may have changed places."""
    if not _is_repeat(answered):
        return
    asked = {one.question: one for one in answered.trial.asked if one.purpose == "ask"}
    for original in earlier:
        first = {one.question: one for one in original.trial.asked if one.purpose == "ask"}
        if set(first) == set(asked) and _is_same(answered, original):
            for question, one in asked.items():
                yield from _answers(answered, one, original, first[question])
            return


def _answers(answered: AnsweredTrial, asked: Asked, earlier: AnsweredTrial, first: Asked) -> Iterator[_RepeatedAnswer]:
    """Yield both answers to one question about each stimulus; a comparison is one answer, from either side."""
    places = {slot.stimulus: slot.id for slot in earlier.trial.slots}
    for slot in answered.trial.slots:
        where, at_first = f"{asked.id}.{slot.id}", f"{first.id}.{places.get(slot.stimulus)}"
        if where in answered.values and at_first in earlier.values:
            yield _RepeatedAnswer(where, earlier.values[at_first], answered.values[where], asked.scale)
            if _is_compared(answered):
                return


def _is_same(answered: AnsweredTrial, earlier: AnsweredTrial) -> bool:
    """Return whether a trial repeats an earlier one; on a board, an attention check may have replaced one stimulus."""
    stimuli = sorted(slot.stimulus for slot in answered.trial.slots)
    if sorted(slot.stimulus for slot in earlier.trial.slots) == stimuli:
        return not _is_repeat(earlier)
    rated = {slot.stimulus for slot in earlier.trial.slots if slot.rated and slot.role not in UNRATED_ROLES}
    is_board = len(earlier.trial.slots) == len(stimuli) and not _is_compared(answered)
    return is_board and bool(rated) and rated <= set(stimuli)


def _is_compared(answered: AnsweredTrial) -> bool:
    """Return whether one answer is about two stimuli."""
    return own_scores(answered.answer) is None and all(one.kind != "score" for one in answered.judgements)


def _is_repeat(answered: AnsweredTrial) -> bool:
    return any(slot.role == Repeat.role for slot in answered.trial.slots)


def _count(verdict: Verdict) -> int:
    compared = verdict.evidence.get("compared", 0)
    return compared if isinstance(compared, int) else 0


# Variance

FEWEST_ANSWERS: Mapping[str, int] = {"score": 4, "diff": 4, "choice": 12}
"""Least number of answers by kind. With two choices, honest people often choose the same side a few times.

Whether an answer is correct, and what was ticked, does not have to vary.
"""
FEWEST_ON_PAGE = 4
"""Least number of answers on a page that is judged by itself."""
FEWEST_PAGES = 3
"""With fewer pages, one flat page, which honest people have now and then, would be half of them."""
SAME_ANSWER, ONE_COLUMN, LEVEL = "same_answer", "one_column", "level_sliders"
_LEVEL = 0.02
"""Sliders within this share of the scale are level."""
_FIVE_POINT_RANGE = 4


class Variance(SessionRule):
    """variance: no straight-lining.

    Fails when the sample variance of the raw clicks stays below `min` in every question.

    A comparison is taken as it was clicked, second against first: always the same side is the same answer.

    `min` is meant for five points; on another scale it grows with the square of the range. Clicks are brought to
    five points instead, which is the same rule and lets questions with different scales be compared.

    Texts that people typed do not have to vary in how right they are: they fail where they are all the same.

    Fails as well when `share` of the pages have one answer only: all sliders level, or one column of a survey
    although one of its statements is reversed.
    """

    name: ClassVar[str] = "variance"
    version: ClassVar[int] = 3
    title: ClassVar[str] = "Spread of the answers"
    order: ClassVar[int] = 60
    is_default: ClassVar[bool] = True
    summary: ClassVar[str] = "Not nearly the same answer throughout."
    reasons: ClassVar[Mapping[str, str]] = {
        SAME_ANSWER: "Nearly the same answer throughout",
        ONE_COLUMN: "One column only on many pages",
        LEVEL: "All sliders level on many pages",
    }

    class Options(SessionRule.Options):
        """Straight-lining: nearly the same answer throughout."""

        min: Annotated[float, After("Least variance of the answers.")] = Field(
            default=0.15, ge=0, description="Least variance of the answers, as on five points."
        )
        share: Annotated[Share, After("Share of pages with one answer only.")] = Field(
            default=0.5, description="So many pages with one answer only are straight-lining as well."
        )

    options: Options

    def sentence(self) -> str:
        return (
            f"Answers vary by {self.options.min:g} or more (variance, as on five points), and on fewer than "
            f"{precise_percent(self.options.share)} of the pages they are all the same."
        )

    def judge(self, evidence: SessionEvidence) -> Verdict:
        clicks: dict[str, list[float]] = defaultdict(list)
        fewest: dict[str, int] = {}
        texts = [click.text for click in evidence.clicks if click.text is not None]
        if len(texts) >= FEWEST_ANSWERS["score"]:
            reason = SAME_ANSWER if len(set(texts)) == 1 else ""
            return self.pass_or_fail(reason, measured=len(set(texts)), needed=2, texts=len(texts))
        for click in evidence.clicks:
            if click.kind not in FEWEST_ANSWERS or click.text is not None:
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
        pages = [page for answered in evidence.trials for page in _pages(answered)]
        flat = [reason for reason, is_flat in pages if is_flat]
        if pages:
            counted |= {"pages": len(pages), "flat_pages": len(flat)}
        if spread:
            counted |= {"variance": dict(sorted(spread.items()))}
        widest, least = max(spread.values(), default=None), self.options.min
        if widest is not None and widest < least:
            return self.pass_or_fail(SAME_ANSWER, measured=widest, needed=least, **counted)
        if len(pages) >= FEWEST_PAGES and len(flat) >= self.options.share * len(pages):
            measured = round(len(flat) / len(pages), 4)
            return self.pass_or_fail(flat[0], measured=measured, needed=self.options.share, **counted)
        if widest is None and not pages:
            return self.verdict("unknown", "too_few_answers", needed=least, **counted)
        return self.pass_or_fail("", measured=widest, needed=least, **counted)


def variance(values: Sequence[float]) -> float:
    """Return the sample variance of two values or more."""
    mean = fsum(values) / len(values)
    return fsum([(value - mean) ** 2 for value in values]) / (len(values) - 1)


def _pages(answered: AnsweredTrial) -> Iterator[tuple[str, bool]]:
    """Yield how a page could be flat, and whether it is; nothing where that cannot be judged."""
    if len(answered.trial.slots) * len(answered.trial.asked) < FEWEST_ON_PAGE:
        return
    rated = {slot.id for slot in answered.trial.slots if slot.rated and slot.role not in UNRATED_ROLES}
    asked = [asked for asked in answered.trial.asked if asked.purpose == "ask" and not asked.ticks]
    if len(rated) >= FEWEST_ON_PAGE:
        for one in asked:
            values = [value for slot in rated if (value := answered.values.get(f"{one.id}.{slot}")) is not None]
            if len(values) >= FEWEST_ON_PAGE and one.scale.look == "slider":
                yield LEVEL, max(values) - min(values) <= _LEVEL * (one.scale.max - one.scale.min)
    elif len(rated) == 1 and len(asked) >= FEWEST_ON_PAGE and {one.keyed for one in asked} == {"+", "-"}:
        (slot,) = rated
        values = [value for one in asked if (value := answered.values.get(f"{one.id}.{slot}")) is not None]
        alike = {(one.scale.min, one.scale.max) for one in asked}
        if len(values) == len(asked) and len(alike) == 1:
            yield ONE_COLUMN, len(set(values)) == 1


# Speed

TOO_FAST, SESSION = "too_fast", "session"
_SLACK_MS = 1000
"""Largest difference between the clocks of log and page; with more, one of them jumped."""


class Speed(RatingRule):
    """speed: answers took the time that people need. Never a reason not to pay.

    A trial is timed from when it could be answered, a session by the length of its stimuli and its judgements. On a
    board each slider opens when its stimulus was watched, so only the last one is timed.
    """

    name: ClassVar[str] = "speed"
    title: ClassVar[str] = "Time to answer"
    order: ClassVar[int] = 100
    summary: ClassVar[str] = "Answers took time."
    reasons: ClassVar[Mapping[str, str]] = {
        TOO_FAST: "Trial answered faster than people can",
        OFTEN: "Many trials answered faster than people can",
        SESSION: "Session shorter than what it shows and asks",
    }

    class Options(RatingRule.Options):
        """Answered faster than people can. Never a reason not to pay."""

        click_s: Annotated[float, After()] = Field(
            default=0.3, ge=0, description="Seconds that each click takes at least."
        )
        slider_s: Annotated[float, After()] = Field(
            default=0.5, ge=0, description="Seconds that each slider takes at least."
        )
        judgement_s: Annotated[float, After("Seconds a judgement, of a session.")] = Field(
            default=1.0, ge=0, description="Seconds a judgement that a session takes at least."
        )
        share: ShareOfTrials = Field(default=0.2, description="A session with a larger share of such trials fails.")

    options: Options

    def sentence(self) -> str:
        return (
            f"A click took {self.options.click_s:g} s and a slider {self.options.slider_s:g} s at least, and a session "
            f"no less than its stimuli and {self.options.judgement_s:g} s a judgement."
        )

    def judge_trial(self, answered: AnsweredTrial, earlier: Sequence[AnsweredTrial] = ()) -> Verdict | None:
        needed = 0.0
        for asked in answered.trial.asked:
            if not asked.ticks:
                needed += self.options.slider_s if asked.scale.look == "slider" else self.options.click_s
        if not needed or not answered.slots:
            return None
        spent = answered.sent_ms - answered.shown_ms
        opened = self._opened_ms(answered)
        if opened is None:
            return self.verdict("unknown", "not_timed", needed=round(needed, 3))
        if spent < 0 or opened > spent + _SLACK_MS:
            return self.verdict("unknown", "clock", needed=round(needed, 3))
        took = max(0.0, spent - opened) / 1000
        whole = {"spent_s": round(spent / 1000, 3), "least_s": round(self._least_ms(answered) / 1000, 3)}
        reason = TOO_FAST if took < needed else ""
        return self.pass_or_fail(reason, measured=round(took, 3), needed=round(needed, 3), **whole)

    def conclude(self, verdicts: TrialVerdicts) -> Verdict:
        """Return the verdict on a session: too many fast trials, or a total time that is too short."""
        often = self.by_share(verdicts, self.options.share)
        spent, least = (
            sum([evidence_number(verdict.evidence, name) for _, verdict in verdicts]) for name in ("spent_s", "least_s")
        )
        if often.verdict == "unknown" or spent >= least:
            return often
        evidence = {"share": often.measured, **often.evidence}
        return self.verdict("fail", SESSION, measured=round(spent, 1), needed=round(least, 1), **evidence)

    def _opened_ms(self, answered: AnsweredTrial) -> float | None:
        """Return the time from which on the answer was possible: 0 where nothing has to be watched to its end."""
        if self.watch != "whole":
            return 0.0
        ends = {slot: slot_playback(answered, slot).get("ended_ms") for slot in answered.slots}
        known = [float(end) - self._early_ms(answered, slot) for slot, end in ends.items() if end is not None]
        return max(known, default=None)

    def _early_ms(self, answered: AnsweredTrial, slot: str) -> float:
        """Return how long before its end a stimulus counted, where the answers are on its page."""
        if play_order(answered) != "free" and not answered.stills:
            return 0.0  # the question comes after the end
        return min((1 - WHOLE) * (answered.lengths_ms.get(slot) or 0), LAST_MS)

    def _least_ms(self, answered: AnsweredTrial) -> float:
        """Return the least time of a trial: its stimuli, as far as they were watched, and its judgements."""
        watched = []
        for slot in answered.slots:
            length, seconds = answered.lengths_ms.get(slot) or 0, slot_playback(answered, slot).get("watched_ms")
            watched.append(0.0 if seconds is None else float(min(length, seconds)))
        media = max(watched, default=0.0) if play_order(answered) == "together" else sum(watched) + gap_ms(answered)
        if len(answered.slots) > 1 and play_order(answered) == "free":
            return media  # one slider can be set while the next stimulus plays
        judged = len([one for one in answered.judgements if one.value is not None and one.kind != "pick"])
        return media + 1000 * self.options.judgement_s * judged


# Completeness and quota

MOST_MISSING = 0.5
"""With a larger share of slots without a rating a session fails; its ratings are still used."""


class CompleteRule(Rule):
    """complete: the session has every planned answer, which the server stored as the outcome `completed`.

    Slots that did not play count as answered. A session with nothing else holds no rating, and fails.
    """

    name: ClassVar[str] = "complete"
    version: ClassVar[int] = 2
    reasons: ClassVar[Mapping[str, str]] = {
        "not_finished": "Did not finish",
        "screened_out": "Screened out before the trials",
        "wrong_device": "Device did not fit",
        "no_consent": "Did not agree to take part",
        "failed_checks": "Ended early by failed checks",
        "technical": "Ended by a technical fault",
        "withdrawn": "Withdrew; answers erased",
        "nothing_rated": "Nothing could be rated",
        "mostly_missing": "More than half could not be rated",
        "nothing_left": "Every rating left out by itself",
    }

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


ENDED: frozenset[Outcome] = frozenset({"completed", "failed_checks"})
"""Outcomes that count towards the quota: participants who failed checks may not simply start again."""


class Quota(SessionRule):
    """quota: only so many sessions of one participant count."""

    name: ClassVar[str] = "quota"
    title: ClassVar[str] = "Sessions of one person"
    order: ClassVar[int] = 140
    is_default: ClassVar[bool] = True
    summary: ClassVar[str] = "One person counts once."
    threshold_summary: ClassVar[str] = "One person counts so often."
    reasons: ClassVar[Mapping[str, str]] = {"over": "More sessions than one person may have"}

    class Options(SessionRule.Options):
        """How many sessions of one person count."""

        sessions: Annotated[int, After("How many of one person count.")] = Field(
            default=1, ge=1, le=1000, description="Later ones are not used."
        )

    options: Options

    @classmethod
    def implied(cls, study: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Return that all sessions count which a participant may take."""
        design = study.get("design")
        if not isinstance(design, Mapping):
            return None
        # What an arena has where it is not written; the server keeps to its quota a day.
        usual = MOST_SESSIONS if design.get("arena") is not None else None
        sessions = design.get("sessions_per_participant", usual)
        return {"sessions": sessions} if type(sessions) is int and sessions > 1 else None

    def sentence(self) -> str:
        return f"{plain_count(self.options.sessions, 'session')} of one person may be used."

    def judge(self, evidence: SessionEvidence) -> Verdict:
        if evidence.outcome not in ENDED:
            return self.verdict("unknown", NOT_MET, needed=self.options.sessions)
        is_over = evidence.number > self.options.sessions
        return self.pass_or_fail("over" if is_over else "", measured=evidence.number, needed=self.options.sessions)
