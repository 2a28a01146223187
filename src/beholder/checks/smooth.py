"""smooth: few frames were dropped, and nothing stood still for long (reference: checks 7)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from beholder.checks.playing import moving_slots, played
from beholder.checks.trust import MEDIA_ERROR, Judged, RatingCheck, Seen, remembered
from beholder.checks.verdict import Verdict
from beholder.study.checks import Smooth as Rule

DROPPED, STALLED = "dropped", "stalled"


class Smooth(RatingCheck[Rule]):
    """Passes where every slot was drawn nearly whole. What a browser does not count is unknown."""

    name: ClassVar[str] = "smooth"

    def judge_trial(self, seen: Seen, before: Sequence[Seen] = ()) -> Verdict | None:
        if len(seen.stills) == len(seen.trial.slots):
            return None
        counted = []
        for slot in moving_slots(seen):
            one = played(seen, slot)
            counted.append((slot, one.get("frames"), one.get("dropped", 0), one.get("stalled_ms")))
        return self._counted(tuple(counted))

    @remembered
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

    def conclude(self, found: Judged) -> Verdict:
        return self.by_share(found, self.rule.share)
