"""What would be tested in a study: every pair of conditions of every question, as `analyse` does it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from beholder.analysis.contrasts import RatedPages, direct_pages, pair_pages, rated_pages
from beholder.analysis.tests import UNNAMED, Family, are_clear, why_uncorrected
from beholder.simulation.rating_sheet import RatingSheet
from beholder.stats.clustered import Cells, Estimates, Floats, Over, differences_of, means_of
from beholder.stats.intervals import bounds_for
from beholder.stats.tests import holm

Contents: TypeAlias = Literal["random", "fixed"]
"""Whether contents stand for all that there could be, or are the only ones that matter."""
OVER: Mapping[Contents, Over] = {"random": "both", "fixed": "participants"}


class Difference(NamedTuple):
    """Two conditions in one question, by their numbers."""

    question: int
    one: int
    other: int
    is_named: bool
    outside: str
    """Why it is not corrected for; empty where it is."""


class ContrastRules(NamedTuple):
    """What decides which tests are made and how they are corrected."""

    questions: int
    named: tuple[tuple[int, int], ...]
    family: Family
    anchors: frozenset[int]
    hidden: frozenset[int]
    """References that are corrected apart."""
    references: frozenset[int]
    contents: Contents


class ContrastOutcomes(NamedTuple):
    """What many data sets of one design say, a row for each of them."""

    tests: tuple[Difference, ...]
    estimate: Floats
    half: Floats
    """Half the width of the interval of each difference."""
    p: Floats
    p_holm: Floats
    clear: Floats
    """1 where the difference is clear, 0 where it is not, NaN where it is not judged."""
    groups: tuple[tuple[int, int], ...]
    """Question and condition of each mean."""
    mean: Floats
    mean_half: Floats


class _QuestionPages(NamedTuple):
    """What one question has on its conditions."""

    direct: Mapping[tuple[int, int], Cells]
    rated: Mapping[int, RatedPages]
    against: Mapping[int, int]
    means: Mapping[int, tuple[Cells, int]]
    """The cells of each condition, and how many votes are in them."""


def contrast_outcomes(sheet: RatingSheet, values: Floats, rules: ContrastRules) -> ContrastOutcomes:
    """Return estimates, tests and decisions of every row of values, one value for each entry of the sheet."""
    over = OVER[rules.contents]
    tests: list[Difference] = []
    found: list[Estimates] = []
    groups: list[tuple[int, int]] = []
    means: list[tuple[Floats, Floats]] = []
    for question in range(rules.questions):
        compared = _question_pages(sheet, values, question, rules)
        for test, estimates in _contrasts(compared, question, rules, over):
            tests.append(test)
            found.append(estimates)
        for condition, (cells, votes) in compared.means.items():
            groups.append((question, condition))
            means.append(_mean(cells, votes, sheet.kind, over))
    p = _column([np.full(len(values), np.nan) if one.over == "contents" else one.p for one in found], values)
    p_holm = holm_adjusted(p, tests, rules.family)
    estimate = _column([one.mean for one in found], values)
    clear = are_clear(p, p_holm, estimate, [test.outside for test in tests])
    half = _column([(one.high - one.low) / 2 for one in found], values)
    mean, mean_half = (_column([pair[place] for pair in means], values) for place in (0, 1))
    return ContrastOutcomes(tuple(tests), estimate, half, p, p_holm, clear, tuple(groups), mean, mean_half)


def holm_adjusted(p: Floats, tests: Sequence[Difference], family: Family) -> Floats:
    """Return the p-values after Holm's correction, within each question or over the whole study."""
    adjusted = np.full(p.shape, np.nan)
    counts = np.array([not test.outside for test in tests], dtype=bool)
    question = np.array([0 if family == "study" else test.question for test in tests], dtype=np.intp)
    for one in np.unique(question):
        mine = counts & (question == one)
        if mine.any():
            adjusted[:, mine] = holm(p[:, mine])
    return adjusted


def _question_pages(sheet: RatingSheet, values: Floats, question: int, rules: ContrastRules) -> _QuestionPages:
    """Return the pages of one question, as `analyse.contrasts` and `analyse.conditions` take them."""
    mine = np.flatnonzero(sheet.question == question)
    value, one, other = values[:, mine], sheet.condition[mine], sheet.other_condition[mine]
    participant, content = sheet.list[mine], sheet.content[mine]
    if sheet.kind == "score":
        rated = rated_pages(value, one, participant, content)
        return _QuestionPages({}, rated, {}, {code: (pages.cells, len(pages.number)) for code, pages in rated.items()})
    is_between = ~np.isin(other, list(rules.references)) if sheet.kind == "diff" else np.ones(len(one), bool)
    direct = direct_pages(value, one, other, participant, content)
    both = np.concatenate([np.arange(len(mine)), np.flatnonzero(is_between)])
    sign = np.where(np.arange(len(both)) < len(mine), 1.0, -1.0)
    conditions = np.concatenate([one, other[is_between]])
    mirrored = rated_pages(sign * value[:, both], conditions, participant[both], content[both])
    votes = np.bincount(conditions, minlength=len(sheet.conditions))
    means = {code: (pages.cells, int(votes[code])) for code, pages in mirrored.items()}
    if is_between.any():
        return _QuestionPages(direct, {}, {}, means)
    against = {int(code): set(other[one == code].tolist()) for code in np.unique(one)}
    # What was compared with several is like no other.
    single = {code: found.pop() if len(found) == 1 else -1 - code for code, found in against.items()}
    return _QuestionPages(direct, mirrored, single, means)


def _contrasts(
    compared: _QuestionPages, question: int, rules: ContrastRules, over: Over
) -> Iterator[tuple[Difference, Estimates]]:
    """Yield the named contrasts as they are written, then all other pairs, with their estimates."""
    present = sorted({*compared.rated, *(code for pair in compared.direct for code in pair)})
    told = {*rules.named, *(pair[::-1] for pair in rules.named)}
    rest = [pair for pair in combinations(present, 2) if pair not in told]
    for one, other in (*rules.named, *rest):
        is_named = (one, other) in told
        estimates = _difference(compared, one, other, over)
        if estimates is not None:
            yield Difference(question, one, other, is_named, _outside(one, other, is_named, rules)), estimates


def _outside(one: int, other: int, is_named: bool, rules: ContrastRules) -> str:
    if rules.named:
        return "" if is_named else UNNAMED
    return why_uncorrected(
        (str(one), str(other)), *(frozenset(map(str, codes)) for codes in (rules.anchors, rules.hidden))
    )


def _difference(compared: _QuestionPages, one: int, other: int, over: Over) -> Estimates | None:
    """Return how far two conditions are apart; None where nothing was compared."""
    low, high = min(one, other), max(one, other)
    if (low, high) in compared.direct:
        pages = compared.direct[low, high]
        return means_of(pages if one < other else pages._replace(value=-pages.value), over)
    if not {one, other} <= compared.rated.keys() or compared.against.get(one) != compared.against.get(other):
        return None
    how = pair_pages(compared.rated[one], compared.rated[other])
    if how.comparison == "paired":
        return means_of(how.pages, over)
    return differences_of(compared.rated[one].cells, compared.rated[other].cells, over)


def _mean(cells: Cells, votes: int, kind: str, over: Over) -> tuple[Floats, Floats]:
    """Return the mean of a condition, and half the width of its interval."""
    found = means_of(cells, over)
    units = found.contents if found.over == "contents" else found.participants
    ends = bounds_for(kind, found.mean, found.se, found.df, units=units, ratings=max(votes, found.n))
    return found.mean, (ends.high - ends.low) / 2


def _column(parts: Sequence[Floats], values: Floats) -> Floats:
    return np.stack(parts, axis=1) if parts else np.zeros((len(values), 0))


def concatenate(parts: Sequence[ContrastOutcomes]) -> ContrastOutcomes:
    """Return what several sets of rows of the same design say."""

    def column(name: str) -> Floats:
        return np.concatenate([getattr(part, name) for part in parts])

    return parts[0]._replace(
        estimate=column("estimate"), half=column("half"), p=column("p"), p_holm=column("p_holm"), clear=column("clear"),
        mean=column("mean"), mean_half=column("mean_half"),
    )  # fmt: skip
