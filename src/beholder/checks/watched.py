"""watched: every rated stimulus was seen as the study asks, recomputed from the stored evidence."""

from __future__ import annotations

from typing import ClassVar

from beholder.checks.verdict import Check, Evidence, Looked, Loss, Say, Verdict, Viewing, Watch
from beholder.types import Json

WHOLE = 0.97
"""The share of a stimulus that counts as all of it, together with its last half second."""
_LAST_MS = 500


class Watched(Check):
    """Fails when a slot was rated without having been watched. Only the ratings of that slot are lost."""

    name: ClassVar[str] = "watched"
    version: ClassVar[int] = 1

    @property
    def is_costly(self) -> bool:
        return False

    def judge(self, evidence: Evidence) -> Verdict:
        return self.look(evidence).verdict

    def look(self, evidence: Evidence) -> Looked:
        slots = [(viewing, judge_viewing(viewing, evidence.watch)) for viewing in evidence.viewings]
        failed = [viewing for viewing, one in slots if one == "fail"]
        known = len([one for _, one in slots if one != "unknown"])
        say: Say = "fail" if failed else "pass" if known else "unknown"
        reason = {"fail": "not_watched", "pass": "", "unknown": "no_evidence"}[say]
        share = round((known - len(failed)) / known, 4) if known else None
        named = [f"{viewing.trial}.{viewing.slot}" for viewing in failed]
        kept: dict[str, Json] = {"watch": evidence.watch, "slots": len(slots), "failed": named}
        verdict = Verdict(self.name, self.version, say, reason, share, 1, kept)
        gone = f"{self.name}:{verdict.reason}"
        return Looked(verdict, (), tuple(Loss(one.trial, gone, frozenset({one.slot})) for one in failed))


def judge_viewing(viewing: Viewing, watch: Watch) -> Say:
    """Return whether one slot was watched. A slot that would not play has no rating to lose."""
    if watch == "none" or viewing.missing:
        return "pass"
    if viewing.plays is None:
        return "unknown"
    # A browser that cannot draw a codec still reports the end of the clip; no frame drawn means nothing was seen.
    if viewing.plays == 0 or viewing.frames == 0:
        return "fail"
    if watch == "start":
        return "pass"
    if viewing.coverage is None:
        return "unknown"
    if viewing.coverage < WHOLE:
        return "fail"
    if viewing.furthest_ms is None or viewing.length_ms is None:
        return "unknown"
    return "pass" if viewing.furthest_ms >= viewing.length_ms - _LAST_MS else "fail"
