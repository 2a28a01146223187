"""smooth: few frames were dropped, and nothing stood still for long (reference: checks 7)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from beholder.checks.playing import moving_slots, played
from beholder.checks.trust import MEDIA_ERROR, Judged, RatingCheck, Seen
from beholder.checks.verdict import Verdict
from beholder.study.checks import Smooth as Rule

DROPPED, STALLED = "dropped", "stalled"


class Smooth(RatingCheck[Rule]):
    """Passes where every slot was drawn nearly whole. What a browser does not count is unknown."""

    name: ClassVar[str] = "smooth"

    def judge_trial(self, seen: Seen, before: Sequence[Seen] = ()) -> Verdict | None:
        if len(seen.stills) == len(seen.trial.slots):
            return None
        dropped: dict[str, float] = {}
        stalled: dict[str, float] = {}
        slots = moving_slots(seen)
        for slot in slots:
            one = played(seen, slot)
            if one.get("frames"):
                dropped[slot] = round(one.get("dropped", 0) / (one["frames"] + one.get("dropped", 0)), 4)
            if one.get("stalled_ms") is not None:
                stalled[slot] = one["stalled_ms"] / 1000
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

    def conclude(self, found: Judged) -> Verdict:
        return self.by_share(found, self.rule.share)
