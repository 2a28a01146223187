"""variance: the answers are not all the same (straight-lining; reference: checks 7)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import variance
from typing import ClassVar, Literal

from beholder.checks.verdict import Evidence, Verdict
from beholder.types import Json

FEWEST: Mapping[str, int] = {"score": 4, "diff": 4, "choice": 12}
"""How many answers of a kind it takes. With two to choose from, honest people often choose the same side a few times.

Whether an answer is correct, and what was ticked, does not have to vary.
"""
_FIVE_POINT_RANGE = 4


@dataclass(frozen=True)
class Variance:
    """Fails when the sample variance of the raw clicks stays below `least` in every question.

    A comparison is taken as it was clicked, second against first: always the same side is the same answer.

    `least` is meant for five points; on another scale it grows with the square of the range. Clicks are brought to
    five points instead, which is the same rule and lets questions with different scales be compared.
    """

    name: ClassVar[str] = "variance"
    version: ClassVar[int] = 2
    stage: ClassVar[Literal["rate"]] = "rate"
    action: ClassVar[Literal["flag"]] = "flag"
    least: float = 0.15

    def judge(self, evidence: Evidence) -> Verdict:
        clicks: dict[str, list[float]] = defaultdict(list)
        fewest: dict[str, int] = {}
        for click in evidence.clicks:
            if click.kind not in FEWEST:
                continue
            fewest[click.question] = FEWEST[click.kind]
            share = (click.raw_value - click.scale_min) / (click.scale_max - click.scale_min)
            clicks[click.question].append(_FIVE_POINT_RANGE * share)
        spread = {
            question: round(variance(values), 6)
            for question, values in clicks.items()
            if len(values) >= fewest[question]
        }
        counted: dict[str, Json] = {"clicks": {question: len(values) for question, values in sorted(clicks.items())}}
        if not spread:
            return Verdict(self.name, self.version, "unknown", "too_few_answers", None, self.least, counted)
        widest = max(spread.values())
        measured: dict[str, Json] = {**counted, "variance": dict(sorted(spread.items()))}
        if widest < self.least:
            return Verdict(self.name, self.version, "fail", "same_answer", widest, self.least, measured)
        return Verdict(self.name, self.version, "pass", "", widest, self.least, measured)
