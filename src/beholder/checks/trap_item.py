"""trap_item: statements that are obviously true or false are answered so (reference: checks 7)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from beholder.checks.trust import MEDIA_ERROR, Seen, TrialCheck
from beholder.checks.verdict import Verdict
from beholder.study.checks import TrapItem as Rule
from beholder.types import Json


class TrapItem(TrialCheck[Rule]):
    """Passes on the right side of the middle; the middle itself says nothing."""

    name: ClassVar[str] = "trap_item"

    def judge_trial(self, seen: Seen, before: Sequence[Seen] = ()) -> Verdict | None:
        asked = {asked.id: asked for asked in seen.trial.asked if asked.purpose == "trap"}
        wanted: dict[str, Json] = {}
        wrong: dict[str, Json] = {}
        right = neutral = 0
        for where, target in seen.trial.targets.items():
            item = asked.get(where.partition(".")[0])
            if item is None:
                continue
            wanted[where] = target.value
            value, middle = seen.given.get(where), (item.scale.min + item.scale.max) / 2
            if value is None:
                continue
            side = (value - middle) * (target.value - middle)
            right, neutral = right + (side > 0), neutral + (side == 0)
            if side < 0:
                wrong[where] = value
        if not wanted:
            return None
        if wrong:
            return self.verdict("fail", "wrong", measured=wrong, needed=wanted)
        if not right:
            return self.verdict("unknown", "neutral" if neutral else MEDIA_ERROR, needed=wanted)
        return self.verdict("pass", needed=wanted)

    def failures(self, verdict: Verdict) -> int:
        """Return how many statements of a trial were answered wrongly."""
        return len(verdict.measured) if isinstance(verdict.measured, dict) else 1
