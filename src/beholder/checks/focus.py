"""focus: the window, or full screen, was not left while something played (reference: checks 7)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from beholder.checks.playing import played
from beholder.checks.trust import MEDIA_ERROR, Judged, RatingCheck, Seen, remembered
from beholder.checks.verdict import Verdict
from beholder.study.checks import Focus as Rule


class Focus(RatingCheck[Rule]):
    """Passes where each slot was played whole without the window being left, or the window never was."""

    name: ClassVar[str] = "focus"

    def judge_trial(self, seen: Seen, before: Sequence[Seen] = ()) -> Verdict | None:
        return self._left(tuple([(slot, played(seen, slot).get("away")) for slot in seen.slots]))

    @remembered
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

    def conclude(self, found: Judged) -> Verdict:
        return self.by_share(found, self.rule.share)
