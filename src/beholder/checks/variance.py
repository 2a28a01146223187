"""variance: the answers are not all the same (straight-lining; reference: checks 7)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from math import fsum
from typing import ClassVar

from beholder.checks.trust import CHECK_ROLES, Seen, TrustCheck
from beholder.checks.verdict import Evidence, Verdict
from beholder.study.checks import Variance as Rule
from beholder.types import Json

FEWEST: Mapping[str, int] = {"score": 4, "diff": 4, "choice": 12}
"""How many answers of a kind it takes. With two to choose from, honest people often choose the same side a few times.

Whether an answer is correct, and what was ticked, does not have to vary.
"""
FEWEST_ON_PAGE = 4
"""How many answers a page has by which straight-lining can be seen on it alone."""
FEWEST_PAGES = 3
"""With fewer pages one that is flat, which honest people have now and then, would be half of them."""
SAME_ANSWER, ONE_COLUMN, LEVEL = "same_answer", "one_column", "level_sliders"
_LEVEL = 0.02
"""Sliders within this share of the scale are level."""
_FIVE_POINT_RANGE = 4


class Variance(TrustCheck[Rule]):
    """Fails when the sample variance of the raw clicks stays below `min` in every question.

    A comparison is taken as it was clicked, second against first: always the same side is the same answer.

    `min` is meant for five points; on another scale it grows with the square of the range. Clicks are brought to
    five points instead, which is the same rule and lets questions with different scales be compared.

    Fails as well when `share` of the pages have one answer only: all sliders level, or one column of a survey
    although one of its statements is turned round.
    """

    name: ClassVar[str] = "variance"
    version: ClassVar[int] = 3

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
        pages = [page for seen in evidence.seen for page in _pages(seen)]
        flat = [reason for reason, is_flat in pages if is_flat]
        if pages:
            counted |= {"pages": len(pages), "flat_pages": len(flat)}
        if spread:
            counted |= {"variance": dict(sorted(spread.items()))}
        widest, least = max(spread.values(), default=None), self.rule.min
        if widest is not None and widest < least:
            return self.found(SAME_ANSWER, measured=widest, needed=least, **counted)
        if len(pages) >= FEWEST_PAGES and len(flat) >= self.rule.share * len(pages):
            measured = round(len(flat) / len(pages), 4)
            return self.found(flat[0], measured=measured, needed=self.rule.share, **counted)
        if widest is None and not pages:
            return self.verdict("unknown", "too_few_answers", needed=least, **counted)
        return self.found("", measured=widest, needed=least, **counted)


def variance(values: Sequence[float]) -> float:
    """Return the sample variance of two values or more."""
    mean = fsum(values) / len(values)
    return fsum([(value - mean) ** 2 for value in values]) / (len(values) - 1)


def _pages(seen: Seen) -> Iterator[tuple[str, bool]]:
    """Yield how a page would be flat, and whether it is; nothing of pages by which it cannot be seen."""
    if len(seen.trial.slots) * len(seen.trial.asked) < FEWEST_ON_PAGE:
        return
    rated = {slot.id for slot in seen.trial.slots if slot.rated and slot.role not in CHECK_ROLES}
    asked = [asked for asked in seen.trial.asked if asked.purpose == "ask" and not asked.ticks]
    if len(rated) >= FEWEST_ON_PAGE:
        for one in asked:
            values = [value for slot in rated if (value := seen.given.get(f"{one.id}.{slot}")) is not None]
            if len(values) >= FEWEST_ON_PAGE and one.scale.look == "slider":
                yield LEVEL, max(values) - min(values) <= _LEVEL * (one.scale.max - one.scale.min)
    elif len(rated) == 1 and len(asked) >= FEWEST_ON_PAGE and {one.keyed for one in asked} == {"+", "-"}:
        (slot,) = rated
        values = [value for one in asked if (value := seen.given.get(f"{one.id}.{slot}")) is not None]
        alike = {(one.scale.min, one.scale.max) for one in asked}
        if len(values) == len(asked) and len(alike) == 1:
            yield ONE_COLUMN, len(set(values)) == 1
