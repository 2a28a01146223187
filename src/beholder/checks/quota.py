"""quota: no more sessions of one person count than are wanted (reference: checks 8)."""

from __future__ import annotations

from typing import ClassVar

from beholder.checks.trust import NOT_MET, TrustCheck
from beholder.checks.verdict import Evidence, Verdict
from beholder.study.checks import Quota as Rule
from beholder.types import Outcome

ENDED: frozenset[Outcome] = frozenset({"completed", "failed_checks"})
"""How a session ends that uses up one: who was sent home for what they did may not simply begin anew."""


class Quota(TrustCheck[Rule]):
    """Fails for every session after the last one that counts."""

    name: ClassVar[str] = "quota"

    def judge(self, evidence: Evidence) -> Verdict:
        if evidence.outcome not in ENDED:
            return self.verdict("unknown", NOT_MET, needed=self.rule.sessions)
        is_over = evidence.number > self.rule.sessions
        return self.found("over" if is_over else "", measured=evidence.number, needed=self.rule.sessions)
