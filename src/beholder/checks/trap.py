"""trap: a trial whose stimulus asks for a certain answer (P.910; reference: checks 7)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from beholder.checks.targets import asked_for, hold, targets_of
from beholder.checks.trust import Seen, TrialCheck
from beholder.checks.verdict import Verdict
from beholder.study.checks import Trap as Rule


class Trap(TrialCheck[Rule]):
    """Passes where every answer on such a page is what it asked for."""

    name: ClassVar[str] = "trap"

    def judge_trial(self, seen: Seen, before: Sequence[Seen] = ()) -> Verdict | None:
        targets = targets_of(seen, "trap", self.rule.tolerance)
        if not targets:
            return None
        say, reason, off = hold(seen, targets)
        return self.verdict(say, reason, measured=off or None, needed=asked_for(targets))
