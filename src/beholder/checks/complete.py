"""complete: the session has every planned answer (reference: checks 8)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from beholder.checks.verdict import Evidence, Verdict


@dataclass(frozen=True)
class Complete:
    """Passes when the ledger is whole, which the server wrote down as the outcome `completed`."""

    name: ClassVar[str] = "complete"
    version: ClassVar[int] = 1
    stage: ClassVar[Literal["clean"]] = "clean"
    action: ClassVar[Literal["flag"]] = "flag"

    def judge(self, evidence: Evidence) -> Verdict:
        if evidence.outcome == "completed":
            return Verdict(self.name, self.version, "pass", "", "completed", "completed")
        reason = evidence.outcome or "not_finished"
        return Verdict(self.name, self.version, "fail", reason, evidence.outcome, "completed")
