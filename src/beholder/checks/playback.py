"""ratio: playing took as long as it should, neither stalled nor skipped (reference: checks 7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

from beholder.checks.contract import (
    MEDIA_ERROR,
    AnsweredTrial,
    Exclusion,
    RatingRule,
    Rule,
    RuleResult,
    SessionEvidence,
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
from beholder.study.checks import Focus, Ratio, Smooth
from beholder.types import Json

SHORT, LONG = "short", "long"
"""Reasons of a trial."""
TOO_SHORT, TOO_LONG = "too_short", "too_long"
"""Reasons of a session."""


class RatioRule(RatingRule[Ratio]):
    """Compares the time of the first whole play of every stimulus with its length; plays after it do not count.

    Where people go back and forth between many there is no such play: how much of each was played has to do, and
    nothing can take too long.
    """

    name: ClassVar[str] = "ratio"

    def judge_trial(self, seen: AnsweredTrial, before: Sequence[AnsweredTrial] = ()) -> Verdict | None:
        if self.watch != "whole":
            return None
        if seen.stills:
            return self.verdict("unknown", "still")
        return self._covered(seen) if play_order(seen) == "free" else self._timed(seen)

    def _timed(self, seen: AnsweredTrial) -> Verdict:
        """Return the verdict on what plays by itself, in turns or together."""
        slots = [slot.id for slot in seen.trial.slots]
        if seen.missing:
            return self.verdict("unknown", MEDIA_ERROR)
        lengths = tuple([seen.lengths_ms.get(slot) or 0 for slot in slots])
        times = tuple([slot_playback(seen, slot).get("whole_ms") for slot in slots])
        return self._taken(lengths, times, None if seen.trial.together else gap_ms(seen))

    @memoised
    def _taken(self, lengths: tuple[int, ...], times: tuple[float | None, ...], gap: float | None) -> Verdict:
        """Return the verdict from how long slots last and took; `gap` is between them, None where all play at once."""
        if not all(lengths):
            return self.verdict("unknown", "not_timed")
        planned = float(max(lengths)) if gap is None else sum(lengths) + gap
        if None in times:
            return self.verdict("unknown", "not_timed", planned_ms=round(planned))
        whole = [float(time) for time in times if time is not None]
        taken = max(whole) if gap is None else sum(whole) + gap
        low, high = self.rule.trial
        ratio = taken / planned
        reason = SHORT if ratio < low else LONG if ratio > high else ""
        kept: dict[str, Json] = {"taken_ms": round(taken), "planned_ms": round(planned), "is_timed": True}
        return self.pass_or_fail(reason, measured=round(ratio, 4), needed=[low, high], **kept)

    def _covered(self, seen: AnsweredTrial) -> Verdict:
        """Return the verdict on slots of which some were perhaps not played to the end."""
        low = self.rule.trial[0]
        covered, planned, short = 0.0, 0.0, []
        for slot in moving_slots(seen):
            length, coverage = seen.lengths_ms.get(slot), slot_playback(seen, slot).get("coverage")
            if not length or coverage is None:
                continue
            covered, planned = covered + coverage * length, planned + length
            if coverage < low:
                short.append(slot)
        if not planned:
            return self.verdict("unknown", MEDIA_ERROR if seen.missing else "not_timed")
        kept: dict[str, Json] = {"taken_ms": round(covered), "planned_ms": round(planned), "slots": short}
        return self.pass_or_fail(SHORT if short else "", measured=round(covered / planned, 4), needed=low, **kept)

    def conclude(self, found: TrialVerdicts) -> Verdict:
        """Return the verdict on a session: the sum over its trials within the range, above it where it was timed.

        A trial that nobody could time counts as played as planned, so that it does not make another one weigh more.
        """
        low, high = self.rule.range
        if not known_count(found):
            return self.verdict("unknown", unknown_reason(found), needed=[low, high], **trial_evidence(found))
        judged = [verdict.evidence for _, verdict in found if verdict.verdict != "unknown"]
        untimed = [verdict.evidence for _, verdict in found if verdict.verdict == "unknown"]
        ratio = _ratio(judged, untimed)
        timed = [one for one in judged if one.get("is_timed")]
        reason = TOO_SHORT if ratio < low else TOO_LONG if timed and _ratio(timed, untimed) > high else ""
        return self.pass_or_fail(reason, measured=round(ratio, 4), needed=[low, high], **trial_evidence(found))


def _ratio(timed: Sequence[Mapping[str, Json]], untimed: Sequence[Mapping[str, Json]]) -> float:
    """Return the time that was taken over the time that was planned."""
    as_planned = sum([evidence_number(one, "planned_ms") for one in untimed])
    taken, planned = (sum([evidence_number(one, name) for one in timed]) for name in ("taken_ms", "planned_ms"))
    return (taken + as_planned) / (planned + as_planned)


# --- smooth: few frames were dropped, and nothing stood still for long (reference: checks 7) ---


DROPPED, STALLED = "dropped", "stalled"


class SmoothRule(RatingRule[Smooth]):
    """Passes where every slot was drawn nearly whole. What a browser does not count is unknown."""

    name: ClassVar[str] = "smooth"

    def judge_trial(self, seen: AnsweredTrial, before: Sequence[AnsweredTrial] = ()) -> Verdict | None:
        if len(seen.stills) == len(seen.trial.slots):
            return None
        counted = []
        for slot in moving_slots(seen):
            one = slot_playback(seen, slot)
            counted.append((slot, one.get("frames"), one.get("dropped", 0), one.get("stalled_ms")))
        return self._counted(tuple(counted))

    @memoised
    def _counted(self, counted: tuple[tuple[str, int | None, int, float | None], ...]) -> Verdict:
        """Return the verdict from each slot with its frames drawn and dropped, and how long it stood still."""
        slots = [slot for slot, *_ in counted]
        dropped = {slot: round(lost / (frames + lost), 4) for slot, frames, lost, _ in counted if frames}
        stalled = {slot: ms / 1000 for slot, _, _, ms in counted if ms is not None}
        jerky = [slot for slot, share in dropped.items() if share > self.rule.dropped]
        stuck = [slot for slot, seconds in stalled.items() if seconds > self.rule.stall_s]
        measured = [max(dropped.values(), default=None), max(stalled.values(), default=None)]
        needed = [self.rule.dropped, self.rule.stall_s]
        if jerky or stuck:
            bad = [slot for slot in slots if slot in {*jerky, *stuck}]
            return self.verdict("fail", STALLED if stuck else DROPPED, measured=measured, needed=needed, slots=bad)
        if len(dropped) < len(slots) or len(stalled) < len(slots) or not slots:
            reason = "not_counted" if slots else MEDIA_ERROR
            return self.verdict("unknown", reason, measured=measured, needed=needed)
        return self.verdict("pass", measured=measured, needed=needed)

    def conclude(self, found: TrialVerdicts) -> Verdict:
        return self.by_share(found, self.rule.share)


# --- focus: the window, or full screen, was not left while something played (reference: checks 7) ---


class FocusRule(RatingRule[Focus]):
    """Passes where each slot was played whole without the window being left, or the window never was."""

    name: ClassVar[str] = "focus"

    def judge_trial(self, seen: AnsweredTrial, before: Sequence[AnsweredTrial] = ()) -> Verdict | None:
        return self._left(tuple([(slot, slot_playback(seen, slot).get("away")) for slot in seen.slots]))

    @memoised
    def _left(self, counted: tuple[tuple[str, int | None], ...]) -> Verdict:
        """Return the verdict from each slot with how often the window was left while it played."""
        away = dict(counted)
        slots = list(away)
        left = [slot for slot in slots if away[slot]]
        times = sum(away[slot] or 0 for slot in left)
        if left:
            return self.verdict("fail", "left", measured=times, needed=0, slots=left)
        if not slots or None in away.values():
            return self.verdict("unknown", "no_evidence" if slots else MEDIA_ERROR, needed=0)
        return self.verdict("pass", measured=0, needed=0)

    def conclude(self, found: TrialVerdicts) -> Verdict:
        return self.by_share(found, self.rule.share)


# --- watched: every rated stimulus was seen as the study asks, recomputed from the stored evidence ---


WHOLE = 0.97
"""The share of a stimulus that counts as all of it, together with its last half second."""
_LAST_MS = 500


class WatchedRule(Rule):
    """Fails when a slot was rated without having been watched. Only the ratings of that slot are lost."""

    name: ClassVar[str] = "watched"
    version: ClassVar[int] = 1

    @property
    def is_costly(self) -> bool:
        return False

    def judge(self, evidence: SessionEvidence) -> Verdict:
        return self.evaluate(evidence).verdict

    def evaluate(self, evidence: SessionEvidence) -> RuleResult:
        slots = [(viewing, judge_viewing(viewing, evidence.watch)) for viewing in evidence.viewings]
        failed = [viewing for viewing, one in slots if one == "fail"]
        known = len([one for _, one in slots if one != "unknown"])
        say: VerdictValue = "fail" if failed else "pass" if known else "unknown"
        reason = {"fail": "not_watched", "pass": "", "unknown": "no_evidence"}[say]
        share = round((known - len(failed)) / known, 4) if known else None
        named = [f"{viewing.trial}.{viewing.slot}" for viewing in failed]
        kept: dict[str, Json] = {"watch": evidence.watch, "slots": len(slots), "failed": named}
        verdict = Verdict(self.name, self.version, say, reason, share, 1, kept)
        gone = f"{self.name}:{verdict.reason}"
        return RuleResult(verdict, (), tuple(Exclusion(one.trial, gone, frozenset({one.slot})) for one in failed))


def judge_viewing(viewing: Viewing, watch: Watch) -> VerdictValue:
    """Return whether one slot was watched. A slot that would not play has no rating to lose."""
    if watch == "none" or viewing.missing:
        return "pass"
    if viewing.plays is None:
        return "unknown"
    # A browser that cannot draw a codec still reports the end of the clip; no frame drawn means nothing was seen.
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
    return "pass" if viewing.furthest_ms >= viewing.length_ms - _LAST_MS else "fail"


# --- How a trial was played: which of its slots count, one after the other or freely, and how long that takes ---


PlayOrder = Literal["turns", "together", "free"]


def play_order(seen: AnsweredTrial) -> PlayOrder:
    """Return how the slots of a trial follow each other; a single one is a turn by itself.

    On boards, and behind buttons, people go back and forth, and nothing plays by itself.
    """
    if seen.trial.together:
        return "together"
    is_led = len(seen.trial.slots) == 1 or seen.trial.draws.get("presentation") == "sequential"
    return "turns" if is_led else "free"


def moving_slots(seen: AnsweredTrial) -> list[str]:
    """Return the slots that did play and are neither images nor texts."""
    return [slot for slot in seen.slots if slot not in seen.stills]


def slot_playback(seen: AnsweredTrial, slot: str) -> Mapping[str, Any]:
    """Return what is known of the playing of a slot."""
    return seen.playback.get(slot) or {}


def gap_ms(seen: AnsweredTrial) -> float:
    """Return how long nothing is shown between the slots of a trial."""
    if len(seen.trial.slots) == 1:
        return 0.0
    gap = seen.trial.draws.get("gap", 0)
    is_waited = play_order(seen) == "turns" and isinstance(gap, int | float)
    return 1000 * float(gap) * (len(seen.trial.slots) - 1) if is_waited and isinstance(gap, int | float) else 0.0
