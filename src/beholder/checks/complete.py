"""complete: the session has every planned answer, and something was rated (reference: checks 8)."""

from __future__ import annotations

from typing import ClassVar

from beholder.checks.verdict import Check, Evidence, Verdict
from beholder.types import Json

MOST_MISSING = 0.5
"""The share of slots without a rating above which a session is named; what was rated is still used."""


class Complete(Check):
    """Passes when the ledger is whole, which the server wrote down as the outcome `completed`.

    Slots that would not play are part of a whole ledger. A session of nothing else holds no rating, and fails.
    """

    name: ClassVar[str] = "complete"
    version: ClassVar[int] = 2

    def judge(self, evidence: Evidence) -> Verdict:
        if evidence.outcome != "completed":
            reason = evidence.outcome or "not_finished"
            return Verdict(self.name, self.version, "fail", reason, evidence.outcome, "completed")
        missing = len([viewing for viewing in evidence.viewings if viewing.missing is not None])
        slots: dict[str, Json] = {"slots": len(evidence.viewings), "missing": missing}
        if not evidence.clicks:
            return Verdict(self.name, self.version, "fail", "nothing_rated", 0, 1, slots)
        if missing > MOST_MISSING * len(evidence.viewings):
            share = round(missing / len(evidence.viewings), 4)
            return Verdict(self.name, self.version, "fail", "mostly_missing", share, MOST_MISSING, slots)
        return Verdict(self.name, self.version, "pass", "", "completed", "completed", slots)
