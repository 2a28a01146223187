"""Rules over the hidden reference, to screen people afterwards: `postscreen` (BS.1534) and `expertise` (BS.1116)."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import fmean, stdev
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from beholder.checks.contract import (
    NOT_MET,
    AnsweredTrial,
    ComparedSession,
    RuleResult,
    SessionEvidence,
    SessionRule,
    Verdict,
)
from beholder.formats import plain_count, precise_percent
from beholder.study.checks import After, Share
from beholder.study.value_kinds import Allowed
from beholder.types import UNRATED_ROLES, Json

REFERENCE, ANCHOR = "reference", "anchor"
_SHARES = "a value and a share, such as [90, 0.15]"
_MIN_FOOLED = 2
"""One person alone spares nobody, however few there are."""
PageQuestion = tuple[str, str]
"""A content, and the question about it."""


class Postscreen(SessionRule):
    """postscreen: the hidden reference is rated low, or an anchor high, on few pages (ITU-R BS.1534, checks 7).

    Values are on 0 to 100. A content whose anchors many people rate high is ignored for everybody.
    """

    name: ClassVar[str] = "postscreen"
    version: ClassVar[int] = 2
    title: ClassVar[str] = "Reference and anchors"
    order: ClassVar[int] = 130
    compared: ClassVar[int | None] = 10
    summary: ClassVar[str] = "References and anchors are told apart."
    threshold_summary: ClassVar[str] = "References and anchors told apart."
    reasons: ClassVar[Mapping[str, str]] = {
        REFERENCE: "Hidden reference rated low too often",
        ANCHOR: "Anchor rated high too often",
    }

    class Options(SessionRule.Options):
        """Post-screening (BS.1534): the hidden reference rated low, or an anchor rated high, too often."""

        hidden_reference: Annotated[
            tuple[float, Share], Allowed(_SHARES), After("Below this value on so many pages.")
        ] = Field(
            default=(90, 0.15), description="Rated below this value, on 0 to 100, in more than this share of the pages."
        )
        anchor: Annotated[tuple[float, Share], Allowed(_SHARES), After("Above this value on so many pages.")] = Field(
            default=(90, 0.15), description="Rated above this value, on 0 to 100, in more than this share of the pages."
        )
        spare: Annotated[Share, After("Contents whose anchor fools more spare everybody.")] = Field(
            default=0.25,
            description="Where more than this share of the people rate an anchor of a content so high, nobody is "
            "judged by it.",
        )

    options: Options

    def sentence(self) -> str:
        (low, lows), (high, highs) = self.options.hidden_reference, self.options.anchor
        return (
            f"The hidden reference is below {low:g} on at most {precise_percent(lows)} of the pages, and an anchor "
            f"above {high:g} on at most {precise_percent(highs)}; contents whose anchor fools more than "
            f"{precise_percent(self.options.spare)} of the people do not count for that."
        )

    def prepare(self, sessions: Sequence[ComparedSession]) -> Sequence[SessionEvidence] | None:
        """Return the evidence with the pages whose anchors fool many (ITU-R BS.1534; reference: statistics 4.1)."""
        people: dict[PageQuestion, dict[str, bool]] = defaultdict(dict)
        for one in sessions:
            for page, is_fooled in self.high_anchors(one.evidence).items():
                people[page].setdefault(one.participant, is_fooled)
        ignored = frozenset(
            page
            for page, fooled in people.items()
            if (n := sum(fooled.values())) >= _MIN_FOOLED and n > self.options.spare * len(fooled)
        )
        return [replace(one.evidence, ignored_pages=ignored) for one in sessions] if ignored else None

    def account(self, results: Sequence[RuleResult]) -> dict[str, Json]:
        """Return what was found in a sentence: how many fail, and why."""
        judged = [one.verdict for one in results if one.verdict.verdict != "unknown"]
        reasons = Counter(verdict.reason for verdict in judged if verdict.verdict == "fail")
        (low, lows), (high, highs) = self.options.hidden_reference, self.options.anchor
        whys = {
            REFERENCE: f"the hidden reference below {low:g} on more than {precise_percent(lows)} of the pages",
            ANCHOR: f"an anchor above {high:g} on more than {precise_percent(highs)} of the pages",
        }
        failed = reasons.total()
        does = "leaves out" if self.is_costly else "notes"
        found = f"Post-screening (ITU-R BS.1534) {does} {failed or 'none'} of {plain_count(len(judged), 'session')}"
        why = "; ".join(f"{n} rated {whys[reason]}" for reason, n in sorted(reasons.items(), reverse=True))
        return {"found": f"{found}: {why}." if why else f"{found}."} if judged else {}

    def high_anchors(self, evidence: SessionEvidence) -> dict[PageQuestion, bool]:
        """Return whether an anchor was rated as high as the reference should be, for each page with anchors."""
        return {page: max(values) > self.options.anchor[0] for page, values in _pages(evidence, "anchor")}

    def judge(self, evidence: SessionEvidence) -> Verdict:
        low, lows = self.options.hidden_reference
        high, highs = self.options.anchor
        references = [min(values) for _, values in _pages(evidence, "hidden_reference")]
        anchors = [max(values) for page, values in _pages(evidence, "anchor") if page not in evidence.ignored_pages]
        missed = _share(value < low for value in references)
        taken = _share(value > high for value in anchors)
        details: dict[str, Json] = {"references": len(references), "anchors": len(anchors)}
        if evidence.ignored_pages:
            details["spared"] = sum(page in evidence.ignored_pages for page, _ in _pages(evidence, "anchor"))
        measured, needed = {REFERENCE: missed, ANCHOR: taken}, {REFERENCE: [low, lows], ANCHOR: [high, highs]}
        if missed is None and taken is None:
            return self.verdict("unknown", NOT_MET, needed=needed, **details)
        reason = REFERENCE if (missed or 0) > lows else ANCHOR if (taken or 0) > highs else ""
        return self.pass_or_fail(reason, measured=measured, needed=needed, **details)


def _pages(evidence: SessionEvidence, role: str) -> Iterator[tuple[PageQuestion, list[float]]]:
    """Yield each page and question with slots of a role, and their values."""
    for answered in evidence.trials:
        for asked in answered.trial.asked:
            values = list(_values(answered, asked.question, role)) if asked.purpose == "ask" else []
            if values:
                yield (answered.trial.content, asked.question), values


def _values(answered: AnsweredTrial, question: str, role: str) -> Iterator[float]:
    slots = {slot.id for slot in answered.trial.slots if slot.role == role and slot.rated}
    for one in answered.judgements:
        if one.kind == "score" and one.question == question and one.slot in slots and one.keyed is not None:
            yield 100 * (one.keyed - one.scale_min) / (one.scale_max - one.scale_min)


def _share(flags: Iterator[bool]) -> float | None:
    counted = list(flags)
    return round(sum(counted) / len(counted), 4) if counted else None


# Expertise: whether a person hears what is to be heard

_LEVEL = "The level of the test."
_FEWEST = "Fewer grades tell nothing."


class Expertise(SessionRule):
    """expertise: versions are graded below their hidden reference, by a one-sided t test (ITU-R BS.1116).

    All grades of a person count, of all sessions. Who guesses has differences around zero. It judges people by how they
    rate what is tested, and is therefore only noted unless a study asks for more.
    """

    name: ClassVar[str] = "expertise"
    title: ClassVar[str] = "Expertise"
    order: ClassVar[int] = 135
    compared: ClassVar[int | None] = 15
    compares_ratings: ClassVar[bool] = True
    summary: ClassVar[str] = "Versions are told from their hidden reference."
    threshold_summary: ClassVar[str] = "Versions told from the hidden reference."
    reasons: ClassVar[Mapping[str, str]] = {"chance": "Versions not told from their hidden reference"}

    class Options(SessionRule.Options):
        """Expertise (BS.1116): by a one-sided t test, versions are graded below their hidden reference."""

        action: Literal["flag", "record"] = Field(
            default="record", description="`flag`: silent, cleaning decides; `record`: only noted, and costs nothing."
        )
        level: Annotated[float, After(_LEVEL)] = Field(
            default=0.05, gt=0, lt=0.5, description="The level of the test: so many of those who guess pass it."
        )
        grades: Annotated[int, After(_FEWEST)] = Field(
            default=6, ge=3, description="Fewer difference grades of a person, over all sessions, tell nothing."
        )

    options: Options

    def sentence(self) -> str:
        return (
            "A person's grades of versions are below those of the hidden reference, by a one-sided t test at "
            f"{precise_percent(self.options.level)} over {self.options.grades} differences or more."
        )

    def prepare(self, sessions: Sequence[ComparedSession]) -> Sequence[SessionEvidence]:
        """Return the evidence with the difference grades of each person, over all sessions."""
        grades: dict[str, list[float]] = defaultdict(list)
        for one in sessions:
            grades[one.participant] += difference_grades(one.evidence)
        return [
            replace(one.evidence, prepared={**one.evidence.prepared, self.name: tuple(grades[one.participant])})
            for one in sessions
        ]

    def account(self, results: Sequence[RuleResult]) -> dict[str, Json]:
        """Return what was found in a sentence."""
        judged = [one.verdict.verdict for one in results if one.verdict.verdict != "unknown"]
        failed = judged.count("fail")
        does = "leaves out" if self.is_costly else "notes"
        found = f"Post-screening (ITU-R BS.1116) {does} {failed or 'none'} of {plain_count(len(judged), 'session')}"
        why = ": their difference grades are not clearly below zero" if failed else ""
        return {"found": f"{found}{why}."} if judged else {}

    def judge(self, evidence: SessionEvidence) -> Verdict:
        grades: Sequence[float] = evidence.prepared.get(self.name) or difference_grades(evidence)
        level = self.options.level
        if not grades:
            return self.verdict("unknown", NOT_MET, needed=level)
        details: dict[str, Json] = {
            "grades": len(grades),
            "mean": round(fmean(grades), 4),
            "told_apart": round(sum(grade < 0 for grade in grades) / len(grades), 4),
        }
        if len(grades) < self.options.grades:
            return self.verdict("unknown", "too_few_grades", needed=level, **details)
        p = below_zero(grades)
        return self.pass_or_fail("" if p < level else "chance", measured=round(p, 6), needed=level, **details)


def difference_grades(evidence: SessionEvidence) -> list[float]:
    """Return how far each version under test was graded above its hidden reference, in the order of the trials."""
    grades = []
    for answered in evidence.trials:
        slots, asked = answered.trial.slot_by_id, answered.trial.rated_questions
        for one in answered.judgements:
            other = slots.get(one.other_slot or "")
            if one.kind != "diff" or one.value is None or one.question not in asked or other is None:
                continue
            if other.role == "hidden_reference" and slots[one.slot].role not in UNRATED_ROLES:
                grades.append(one.value)
    return grades


def below_zero(values: Sequence[float]) -> float:
    """Return the p-value of a one-sided t test that the mean of two values or more is below zero."""
    mean, spread = fmean(values), stdev(values)
    if spread == 0:
        return 0.0 if mean < 0 else 1.0
    from scipy.special import stdtr

    return float(stdtr(len(values) - 1, mean / (spread / math.sqrt(len(values)))))
