"""consistency: votes do not scatter round those of the others more than is usual (reference: statistics 3.5)."""

from __future__ import annotations

from typing import ClassVar

from beholder.checks.trust import NOT_MET, TrustCheck
from beholder.checks.verdict import Evidence, Verdict
from beholder.study.checks import Consistency as Rule

FEWEST_RATERS = 10
"""What is usual cannot be told from fewer."""
STEADY = 0.1
"""Scatter, in widths of the scale, that is nobody's fault, however much less the others have: 0.4 points of five."""


class Consistency(TrustCheck[Rule]):
    """Fails where a person's inconsistency, bias apart, lies far above what is usual among all raters."""

    name: ClassVar[str] = "consistency"

    def judge(self, evidence: Evidence) -> Verdict:
        found = evidence.scatter
        if found is None:
            return self.verdict("unknown", NOT_MET, needed=self.rule.z)
        kept = {"ratings": found.ratings, "raters": found.raters, "scatter": round(found.width, 4)}
        if found.ratings < self.rule.ratings:
            return self.verdict("unknown", "too_few_ratings", needed=self.rule.z, **kept)
        if found.raters < FEWEST_RATERS:
            return self.verdict("unknown", "too_few_raters", needed=self.rule.z, **kept)
        if found.z is None:
            return self.verdict("unknown", "all_alike", needed=self.rule.z, **kept)
        reason = "inconsistent" if found.z > self.rule.z and found.width > STEADY else ""
        return self.found(reason, measured=round(found.z, 4), needed=self.rule.z, **kept)
