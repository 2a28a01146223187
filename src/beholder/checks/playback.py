"""Rules over playback: `ratio`, `smooth`, `focus` and `watched`, from the stored evidence (reference: checks 7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from beholder.checks.contract import (
    MEDIA_ERROR,
    OFTEN,
    AnsweredTrial,
    Exclusion,
    RatingRule,
    Rule,
    RuleResult,
    SessionEvidence,
    ShareOfTrials,
    TrialVerdicts,
    Verdict,
    VerdictValue,
    Viewing,
    Watch,
    evidence_number,
    known_count,
    memoised,
    trial_evidence,
    unknown_reason,
)
from beholder.formats import precise_percent
from beholder.study.checks import After, Share
from beholder.study.parts import Fault, raise_faults
from beholder.study.value_kinds import Allowed
from beholder.types import Json

SHORT, LONG = "short", "long"
"""Reasons of a trial."""
TOO_SHORT, TOO_LONG = "too_short", "too_long"
"""Reasons of a session."""


class Ratio(RatingRule):
    """ratio: playing took as long as it should, neither stalled nor skipped.

    Compares the time of the first whole play of every stimulus with its length; later plays do not count. Where people
    go back and forth between stimuli there is no such play: its coverage is judged instead, and nothing takes too long.
    """

    name: ClassVar[str] = "ratio"
    title: ClassVar[str] = "Time of playing"
    order: ClassVar[int] = 70
    summary: ClassVar[str] = "Playing took as long as it should."
    reasons: ClassVar[Mapping[str, str]] = {
        SHORT: "Trial played in less time than it lasts",
        LONG: "Trial played in much more time than it lasts",
        TOO_SHORT: "Session played in less time than it lasts",
        TOO_LONG: "Session played in more time than it lasts",
    }

    class Options(RatingRule.Options):
        """How long playing took, against how long it should take."""

        # The time of the whole session decides, however many trials failed: cleaning has no say in this one.
        max_failed: int = Field(default=0, ge=0, description="So many failures are allowed in a session that is used.")
        range: Annotated[tuple[float, float], Allowed("two numbers, such as [0.95, 1.15]"), After()] = Field(
            default=(0.95, 1.15), description="Of a whole session."
        )
        trial: Annotated[tuple[float, float], Allowed("two numbers, such as [0.95, 1.5]"), After("Of one trial.")] = (
            Field(default=(0.95, 1.5), description="Of one trial; outside, that trial alone is not used.")
        )

        @model_validator(mode="after")
        def _grow(self) -> Self:
            raise_faults(
                [
                    Fault(f"is {low:g}, {high:g}", "the lower number first", "", (key,))
                    for key, (low, high) in (("range", self.range), ("trial", self.trial))
                    if low >= high
                ]
            )
            return self

    options: Options

    def sentence(self) -> str:
        low, high = self.options.range
        return (
            f"Playing took {low:g} to {high:g} times as long as planned; a trial outside {self.options.trial[0]:g} to "
            f"{self.options.trial[1]:g} is left out."
        )

    def judge_trial(self, answered: AnsweredTrial, earlier: Sequence[AnsweredTrial] = ()) -> Verdict | None:
        if self.watch != "whole":
            return None
        if answered.stills:
            return self.verdict("unknown", "still")
        return self._judge_coverage(answered) if play_order(answered) == "free" else self._judge_timed(answered)

    def _judge_timed(self, answered: AnsweredTrial) -> Verdict:
        """Return the verdict on stimuli that play by themselves, in turns or together."""
        slots = [slot.id for slot in answered.trial.slots]
        if answered.missing:
            return self.verdict("unknown", MEDIA_ERROR)
        lengths = tuple([answered.lengths_ms.get(slot) or 0 for slot in slots])
        times = tuple([slot_playback(answered, slot).get("whole_ms") for slot in slots])
        return self._judge_times(lengths, times, None if answered.trial.together else gap_ms(answered))

    @memoised
    def _judge_times(self, lengths: tuple[int, ...], times: tuple[float | None, ...], gap: float | None) -> Verdict:
        """Return the verdict from lengths and times of slots; `gap` is between them, None where all play at once."""
        if not all(lengths):
            return self.verdict("unknown", "not_timed")
        planned = float(max(lengths)) if gap is None else sum(lengths) + gap
        if None in times:
            return self.verdict("unknown", "not_timed", planned_ms=round(planned))
        whole = [float(time) for time in times if time is not None]
        taken = max(whole) if gap is None else sum(whole) + gap
        low, high = self.options.trial
        ratio = taken / planned
        reason = SHORT if ratio < low else LONG if ratio > high else ""
        details: dict[str, Json] = {"taken_ms": round(taken), "planned_ms": round(planned), "is_timed": True}
        return self.pass_or_fail(reason, measured=round(ratio, 4), needed=[low, high], **details)

    def _judge_coverage(self, answered: AnsweredTrial) -> Verdict:
        """Return the verdict on slots that may not have been played to the end."""
        low = self.options.trial[0]
        covered, planned, short = 0.0, 0.0, []
        for slot in moving_slots(answered):
            length, coverage = answered.lengths_ms.get(slot), slot_playback(answered, slot).get("coverage")
            if not length or coverage is None:
                continue
            covered, planned = covered + coverage * length, planned + length
            if coverage < low:
                short.append(slot)
        if not planned:
            return self.verdict("unknown", MEDIA_ERROR if answered.missing else "not_timed")
        details: dict[str, Json] = {"taken_ms": round(covered), "planned_ms": round(planned), "slots": short}
        return self.pass_or_fail(SHORT if short else "", measured=round(covered / planned, 4), needed=low, **details)

    def conclude(self, verdicts: TrialVerdicts) -> Verdict:
        """Return the verdict on a session: the ratio over all of its trials, too long only where trials were timed.

        A trial that could not be timed counts as played as planned, so that the others do not weigh more.
        """
        low, high = self.options.range
        if not known_count(verdicts):
            return self.verdict("unknown", unknown_reason(verdicts), needed=[low, high], **trial_evidence(verdicts))
        judged = [verdict.evidence for _, verdict in verdicts if verdict.verdict != "unknown"]
        untimed = [verdict.evidence for _, verdict in verdicts if verdict.verdict == "unknown"]
        ratio = _ratio(judged, untimed)
        timed = [one for one in judged if one.get("is_timed")]
        reason = TOO_SHORT if ratio < low else TOO_LONG if timed and _ratio(timed, untimed) > high else ""
        return self.pass_or_fail(reason, measured=round(ratio, 4), needed=[low, high], **trial_evidence(verdicts))


def _ratio(timed: Sequence[Mapping[str, Json]], untimed: Sequence[Mapping[str, Json]]) -> float:
    """Return the time taken divided by the time planned."""
    as_planned = sum([evidence_number(one, "planned_ms") for one in untimed])
    taken, planned = (sum([evidence_number(one, name) for one in timed]) for name in ("taken_ms", "planned_ms"))
    return (taken + as_planned) / (planned + as_planned)


# Smooth playback and focus

DROPPED, STALLED = "dropped", "stalled"


class Smooth(RatingRule):
    """smooth: few frames were dropped, and nothing stalled for long. What a browser does not count is unknown."""

    name: ClassVar[str] = "smooth"
    title: ClassVar[str] = "Smooth playing"
    order: ClassVar[int] = 80
    summary: ClassVar[str] = "Playing was smooth."
    reasons: ClassVar[Mapping[str, str]] = {
        DROPPED: "Many frames dropped",
        STALLED: "Playing stood still",
        OFTEN: "Playing stuttered in many trials",
    }

    class Options(RatingRule.Options):
        """Dropped frames and stalls: such a trial is not used."""

        dropped: Annotated[Share, After()] = Field(default=0.1, description="Share of frames that may be dropped.")
        stall_s: Annotated[float, After()] = Field(
            default=0.5, ge=0, description="Seconds that playing may stand still."
        )
        share: ShareOfTrials = Field(default=0.2, description="A session with a larger share of such trials fails.")

    options: Options

    def sentence(self) -> str:
        return (
            f"At most {precise_percent(self.options.dropped)} of the frames were dropped and nothing stood still for "
            f"more than {self.options.stall_s:g} s; what did is left out, and the whole session with more than "
            f"{precise_percent(self.options.share)} of its trials."
        )

    def judge_trial(self, answered: AnsweredTrial, earlier: Sequence[AnsweredTrial] = ()) -> Verdict | None:
        if len(answered.stills) == len(answered.trial.slots):
            return None
        counted = []
        for slot in moving_slots(answered):
            one = slot_playback(answered, slot)
            counted.append((slot, one.get("frames"), one.get("dropped", 0), one.get("stalled_ms")))
        return self._judge_counts(tuple(counted))

    @memoised
    def _judge_counts(self, counted: tuple[tuple[str, int | None, int, float | None], ...]) -> Verdict:
        """Return the verdict from the frames drawn and dropped, and the longest stall, of each slot."""
        slots = [slot for slot, *_ in counted]
        dropped = {slot: round(lost / (frames + lost), 4) for slot, frames, lost, _ in counted if frames}
        stalled = {slot: ms / 1000 for slot, _, _, ms in counted if ms is not None}
        jerky = [slot for slot, share in dropped.items() if share > self.options.dropped]
        stuck = [slot for slot, seconds in stalled.items() if seconds > self.options.stall_s]
        measured = [max(dropped.values(), default=None), max(stalled.values(), default=None)]
        needed = [self.options.dropped, self.options.stall_s]
        if jerky or stuck:
            bad = [slot for slot in slots if slot in {*jerky, *stuck}]
            return self.verdict("fail", STALLED if stuck else DROPPED, measured=measured, needed=needed, slots=bad)
        if len(dropped) < len(slots) or len(stalled) < len(slots) or not slots:
            reason = "not_counted" if slots else MEDIA_ERROR
            return self.verdict("unknown", reason, measured=measured, needed=needed)
        return self.verdict("pass", measured=measured, needed=needed)

    def conclude(self, verdicts: TrialVerdicts) -> Verdict:
        return self.by_share(verdicts, self.options.share)


class Focus(RatingRule):
    """focus: window and full screen were not left while a slot played, or the slot was played again without that."""

    name: ClassVar[str] = "focus"
    title: ClassVar[str] = "Window in view"
    order: ClassVar[int] = 90
    summary: ClassVar[str] = "The window was not left while something played."
    threshold_summary: ClassVar[str] = "The window was not left."
    threshold_model: ClassVar[tuple[str, str]] = ("UseOften", "")
    reasons: ClassVar[Mapping[str, str]] = {
        "left": "Window left while a stimulus played",
        OFTEN: "Window left in many trials",
    }

    class Options(RatingRule.Options):
        """The window was left while something played: such a trial is not used."""

        share: ShareOfTrials = Field(default=0.2, description="A session with a larger share of such trials fails.")

    options: Options

    def sentence(self) -> str:
        return (
            "The window was not left while something played; where it was, that is left out, and the whole session "
            f"with more than {precise_percent(self.options.share)} of its trials."
        )

    def judge_trial(self, answered: AnsweredTrial, earlier: Sequence[AnsweredTrial] = ()) -> Verdict | None:
        return self._judge_departures(
            tuple([(slot, slot_playback(answered, slot).get("away")) for slot in answered.slots])
        )

    @memoised
    def _judge_departures(self, counted: tuple[tuple[str, int | None], ...]) -> Verdict:
        """Return the verdict from the number of times that the window was left during each slot."""
        away = dict(counted)
        slots = list(away)
        left = [slot for slot in slots if away[slot]]
        times = sum(away[slot] or 0 for slot in left)
        if left:
            return self.verdict("fail", "left", measured=times, needed=0, slots=left)
        if not slots or None in away.values():
            return self.verdict("unknown", "no_evidence" if slots else MEDIA_ERROR, needed=0)
        return self.verdict("pass", measured=0, needed=0)

    def conclude(self, verdicts: TrialVerdicts) -> Verdict:
        return self.by_share(verdicts, self.options.share)


# Watching

WHOLE, LAST_MS = 0.97, 500
"""The share of a stimulus that counts as all of it, together with its last half second (reference: P3)."""


def is_whole(coverage: float, furthest_ms: float, length_ms: float) -> bool:
    """Return whether so much of a stimulus counts as all of it."""
    return coverage >= WHOLE and furthest_ms >= length_ms - LAST_MS


class WatchedRule(Rule):
    """watched: every rated slot was watched as the study asks. Only the ratings of other slots are excluded."""

    name: ClassVar[str] = "watched"
    version: ClassVar[int] = 1
    reasons: ClassVar[Mapping[str, str]] = {"not_watched": "Stimulus not watched as asked"}

    @property
    def is_costly(self) -> bool:
        return False

    def judge(self, evidence: SessionEvidence) -> Verdict:
        return self.evaluate(evidence).verdict

    def evaluate(self, evidence: SessionEvidence) -> RuleResult:
        slots = [(viewing, judge_viewing(viewing, evidence.watch)) for viewing in evidence.viewings]
        failed = [viewing for viewing, one in slots if one == "fail"]
        judged = len([one for _, one in slots if one != "unknown"])
        say: VerdictValue = "fail" if failed else "pass" if judged else "unknown"
        reason = {"fail": "not_watched", "pass": "", "unknown": "no_evidence"}[say]
        share = round((judged - len(failed)) / judged, 4) if judged else None
        named = [f"{viewing.trial}.{viewing.slot}" for viewing in failed]
        details: dict[str, Json] = {"watch": evidence.watch, "slots": len(slots), "failed": named}
        verdict = Verdict(self.name, self.version, say, reason, share, 1, details)
        exclusion = f"{self.name}:{verdict.reason}"
        return RuleResult(verdict, (), tuple(Exclusion(one.trial, exclusion, frozenset({one.slot})) for one in failed))


def judge_viewing(viewing: Viewing, watch: Watch) -> VerdictValue:
    """Return whether one slot was watched. A slot that did not play has no rating to exclude."""
    if watch == "none" or viewing.missing:
        return "pass"
    if viewing.plays is None:
        return "unknown"
    # A browser that cannot draw a codec still reports the end of the clip; no frame drawn means nothing was answered.
    if viewing.plays == 0 or viewing.frames == 0:
        return "fail"
    if watch == "start":
        return "pass"
    if viewing.coverage is None:
        return "unknown"
    if viewing.coverage < WHOLE:
        return "fail"
    if viewing.furthest_ms is None or viewing.length_ms is None:
        return "unknown"
    return "pass" if is_whole(viewing.coverage, viewing.furthest_ms, viewing.length_ms) else "fail"


# Playback of one trial

PlayOrder = Literal["turns", "together", "free"]


def play_order(answered: AnsweredTrial) -> PlayOrder:
    """Return how the slots of a trial follow each other; a single slot plays in turns.

    On boards, and behind buttons, people choose what plays.
    """
    if answered.trial.together:
        return "together"
    is_led = len(answered.trial.slots) == 1 or answered.trial.draws.get("presentation") == "sequential"
    return "turns" if is_led else "free"


def moving_slots(answered: AnsweredTrial) -> list[str]:
    """Return the slots that did play and are neither images nor texts."""
    return [slot for slot in answered.slots if slot not in answered.stills]


def slot_playback(answered: AnsweredTrial, slot: str) -> Mapping[str, Any]:
    """Return the playback evidence of a slot."""
    return answered.playback.get(slot) or {}


def gap_ms(answered: AnsweredTrial) -> float:
    """Return the total pause between the slots of a trial."""
    if len(answered.trial.slots) == 1:
        return 0.0
    gap = answered.trial.draws.get("gap", 0)
    is_waited = play_order(answered) == "turns" and isinstance(gap, int | float)
    return 1000 * float(gap) * (len(answered.trial.slots) - 1) if is_waited and isinstance(gap, int | float) else 0.0
