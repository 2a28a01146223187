"""attention: a stimulus among others said to which number its slider is to be set (HEMVIP; reference: checks 7)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from beholder.checks.targets import asked_for, hold, targets_of
from beholder.checks.trust import Seen, TrialCheck
from beholder.checks.verdict import Verdict
from beholder.study.checks import Attention as Rule


class Attention(TrialCheck[Rule]):
    """Passes where the answer to every stimulus that asked for one is what it asked for."""

    name: ClassVar[str] = "attention"

    def judge_trial(self, seen: Seen, before: Sequence[Seen] = ()) -> Verdict | None:
        targets = targets_of(seen, "attention", self.rule.tolerance)
        if not targets:
            return None
        say, reason, off = hold(seen, targets)
        return self.verdict(say, reason, measured=off or None, needed=asked_for(targets))
