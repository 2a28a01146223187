"""gold: a trial whose right answer is known (reference: checks 7)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from beholder.checks.targets import asked_for, hold, targets_of
from beholder.checks.trust import Seen, TrialCheck
from beholder.checks.verdict import Verdict
from beholder.study.checks import Gold as Rule


class Gold(TrialCheck[Rule]):
    """Passes where every answer with a key is near enough to it."""

    name: ClassVar[str] = "gold"

    def judge_trial(self, seen: Seen, before: Sequence[Seen] = ()) -> Verdict | None:
        if "gold" not in seen.trial.roles:
            return None
        targets = targets_of(seen, "gold", self.rule.within)
        if not targets:
            return None
        say, reason, off = hold(seen, targets)
        return self.verdict(say, reason, measured=off or None, needed=asked_for(targets))
