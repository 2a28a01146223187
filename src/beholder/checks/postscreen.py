"""postscreen: the hidden reference is found, and anchors are not taken for it (ITU-R BS.1534; reference: checks 7)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from beholder.checks.trust import NOT_MET, Seen, TrustCheck
from beholder.checks.verdict import Evidence, Verdict
from beholder.study.checks import Postscreen as Rule
from beholder.types import Json

REFERENCE, ANCHOR = "reference", "anchor"
Page = tuple[str, str]
"""A content, and the question about it."""


class Postscreen(TrustCheck[Rule]):
    """Fails where the hidden reference was rated low, or an anchor high, on too many pages. Values are on 0 to 100.

    A content whose anchors fool many people says nothing about one of them, and is spared for everybody.
    """

    name: ClassVar[str] = "postscreen"
    version: ClassVar[int] = 2

    def judge(self, evidence: Evidence) -> Verdict:
        low, lows = self.rule.hidden_reference
        high, highs = self.rule.anchor
        references = [min(values) for _, values in _pages(evidence, "hidden_reference")]
        anchors = [max(values) for page, values in _pages(evidence, "anchor") if page not in evidence.spared]
        missed = _share(value < low for value in references)
        taken = _share(value > high for value in anchors)
        kept: dict[str, Json] = {"references": len(references), "anchors": len(anchors)}
        if evidence.spared:
            kept["spared"] = sum(page in evidence.spared for page, _ in _pages(evidence, "anchor"))
        measured, needed = {REFERENCE: missed, ANCHOR: taken}, {REFERENCE: [low, lows], ANCHOR: [high, highs]}
        if missed is None and taken is None:
            return self.verdict("unknown", NOT_MET, needed=needed, **kept)
        reason = REFERENCE if (missed or 0) > lows else ANCHOR if (taken or 0) > highs else ""
        return self.found(reason, measured=measured, needed=needed, **kept)


def fooled(rule: Rule, evidence: Evidence) -> dict[Page, bool]:
    """Return of each page with an anchor whether one was rated as high as the reference should be."""
    return {page: max(values) > rule.anchor[0] for page, values in _pages(evidence, "anchor")}


def _pages(evidence: Evidence, role: str) -> Iterator[tuple[Page, list[float]]]:
    """Yield each page and question with slots of a role, and their values."""
    for seen in evidence.seen:
        for asked in seen.trial.asked:
            values = list(_values(seen, asked.question, role)) if asked.purpose == "ask" else []
            if values:
                yield (seen.trial.content, asked.question), values


def _values(seen: Seen, question: str, role: str) -> Iterator[float]:
    slots = {slot.id for slot in seen.trial.slots if slot.role == role and slot.rated}
    for one in seen.judgements:
        if one.kind == "score" and one.question == question and one.slot in slots and one.keyed is not None:
            yield 100 * (one.keyed - one.scale_min) / (one.scale_max - one.scale_min)


def _share(found: Iterator[bool]) -> float | None:
    said = list(found)
    return round(sum(said) / len(said), 4) if said else None
