"""The contrasts that a study tests: every pair of conditions of every question, as the analysis does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from beholder.analysis.contrasts import direct_pages, rated_pages
from beholder.analysis.means import average_by
from beholder.analysis.tests import UNNAMED, Family, are_clear, why_uncorrected
from beholder.simulation.rating_sheet import RatingSheet
from beholder.stats.additive import AdditiveContrasts, ContrastEstimates, DirectContrasts
from beholder.stats.clustered import Cells, Codes, Floats, Over, means_of
from beholder.stats.contrast_errors import ContrastError
from beholder.stats.intervals import bounds_for
from beholder.stats.tests import holm

Contents: TypeAlias = Literal["random", "fixed"]
"""Whether contents are a sample of all possible contents, or the only ones of interest."""
OVER: Mapping[Contents, Over] = {"random": "both", "fixed": "participants"}


class Difference(NamedTuple):
    """Two conditions in one question, by index."""

    question: int
    one: int
    other: int
    is_named: bool
    outside: str
    """Why it is left out of the correction; empty if it is not."""


class ContrastRules(NamedTuple):
    """Which contrasts are tested, and how they are corrected."""

    questions: int
    named: tuple[tuple[int, int], ...]
    family: Family
    anchors: frozenset[int]
    hidden: frozenset[int]
    """Hidden references, which are corrected separately."""
    references: frozenset[int]
    contents: Contents


class ContrastOutcomes(NamedTuple):
    """The contrasts of many data sets of one design, a row for each."""

    tests: tuple[Difference, ...]
    estimate: Floats
    half: Floats
    """Half width of the interval of each difference."""
    p: Floats
    p_holm: Floats
    clear: Floats
    """1 if the difference is clear, 0 if not, NaN if it is not tested."""
    groups: tuple[tuple[int, int], ...]
    """Question and condition of each mean."""
    mean: Floats
    mean_half: Floats


class _QuestionPages(NamedTuple):
    """What is known of one question: its contrasts, and the votes of each condition."""

    direct: Estimated
    """Pairs that were compared with each other."""
    rated: Estimated
    """Pairs of conditions that were rated one by one, or against the same reference."""
    means: Mapping[int, tuple[Cells, int]]
    """The cells of each condition, and their number of votes."""


Estimated: TypeAlias = tuple[Sequence[tuple[int, int]], ContrastEstimates | None]
"""Pairs of conditions, and their contrasts in this order."""


def contrast_outcomes(sheet: RatingSheet, values: Floats, rules: ContrastRules) -> ContrastOutcomes:
    """Return estimates, tests and decisions for every row of values, one value for each entry of the sheet."""
    over = OVER[rules.contents]
    tests: list[Difference] = []
    columns: list[tuple[Floats, Floats, Floats]] = []
    groups: list[tuple[int, int]] = []
    means: list[tuple[Floats, Floats]] = []
    for question in range(rules.questions):
        question_pages = _question_pages(sheet, values, question, rules)
        estimates = _estimates(question_pages, rules)
        for test, column in _contrasts(estimates, question, rules):
            tests.append(test)
            columns.append(column)
        in_pairs = _in_pairs(question_pages.direct[0])
        for condition, (cells, votes) in question_pages.means.items():
            groups.append((question, condition))
            mean, mean_half = _mean(cells, votes, sheet.kind, over)
            means.append((mean, estimates[in_pairs[condition]][1] if condition in in_pairs else mean_half))
    estimate, half, p = (_column([column[place] for column in columns], values) for place in range(3))
    p_holm = holm_adjusted(p, tests, rules.family)
    clear = are_clear(p, p_holm, estimate, [test.outside for test in tests])
    mean, mean_half = (_column([pair[place] for pair in means], values) for place in (0, 1))
    return ContrastOutcomes(tuple(tests), estimate, half, p, p_holm, clear, tuple(groups), mean, mean_half)


def holm_adjusted(p: Floats, tests: Sequence[Difference], family: Family) -> Floats:
    """Return the p-values after Holm's correction, within each question or over the whole study."""
    adjusted = np.full(p.shape, np.nan)
    counts = np.array([not test.outside for test in tests], dtype=bool)
    question = np.array([0 if family == "study" else test.question for test in tests], dtype=np.intp)
    for one in np.unique(question):
        corrected = counts & (question == one)
        if corrected.any():
            adjusted[:, corrected] = holm(p[:, corrected])
    return adjusted


def _question_pages(sheet: RatingSheet, values: Floats, question: int, rules: ContrastRules) -> _QuestionPages:
    """Return the judgements of one question, as the analyses of contrasts and conditions take them."""
    rows = np.flatnonzero(sheet.question == question)
    value, one, other = values[:, rows], sheet.condition[rows], sheet.other_condition[rows]
    participant, content = sheet.list[rows], sheet.content[rows]
    if sheet.kind == "score" or (len(other) and (other < 0).all()):
        pages = rated_pages(value, one, participant, content)
        pairs = list(combinations(sorted(pages), 2))
        means = {code: (part.cells, len(part.number)) for code, part in pages.items()}
        return _QuestionPages(((), None), _rated(value, one, participant, content, pairs, rules), means)
    is_between = ~np.isin(other, list(rules.references)) if sheet.kind == "diff" else np.ones(len(one), bool)
    compared = direct_pages(value, one, other, participant, content)
    direct = DirectContrasts(compared, choice=1.0 if sheet.kind == "choice" else None)
    estimated = list(compared), direct.estimate({pair: cells.value for pair, cells in compared.items()})
    both = np.concatenate([np.arange(len(rows)), np.flatnonzero(is_between)])
    sign = np.where(np.arange(len(both)) < len(rows), 1.0, -1.0)
    conditions = np.concatenate([one, other[is_between]])
    mirrored = rated_pages(sign * value[:, both], conditions, participant[both], content[both])
    votes = np.bincount(conditions, minlength=len(sheet.conditions))
    means = {code: (pages.cells, int(votes[code])) for code, pages in mirrored.items()}
    if is_between.any():
        return _QuestionPages(estimated, ((), None), means)
    against = {int(code): set(other[one == code].tolist()) for code in np.unique(one)}
    # A condition that was compared with several others has a reference of its own.
    single = {code: others.pop() if len(others) == 1 else -1 - code for code, others in against.items()}
    alike = [pair for pair in combinations(sorted(mirrored), 2) if single[pair[0]] == single[pair[1]]]
    return _QuestionPages(estimated, _rated(value, one, participant, content, alike, rules), means)


def _rated(
    value: Floats, condition: Codes, participant: Codes, content: Codes, pairs: Sequence[tuple[int, int]],
    rules: ContrastRules,
) -> Estimated:  # fmt: skip
    """Return the contrasts of conditions from all ratings."""
    if not pairs:
        return (), None
    value, (condition, participant, content) = average_by(value, condition, participant, content)
    return pairs, AdditiveContrasts(participant, content, condition, pairs, rules.hidden | rules.anchors).estimate(
        value
    )


def _estimates(
    question_pages: _QuestionPages, rules: ContrastRules
) -> dict[tuple[int, int], tuple[Floats, Floats, Floats]]:
    """Return estimate, half of the interval, and p of every pair."""
    found: dict[tuple[int, int], tuple[Floats, Floats, Floats]] = {}
    for pairs, estimates in (question_pages.rated, question_pages.direct):
        if estimates is not None:
            claim: ContrastError = estimates.beyond if rules.contents == "random" else estimates.these
            for column, pair in enumerate(pairs):
                half = (claim.high[:, column] - claim.low[:, column]) / 2
                found[pair] = estimates.difference[:, column], half, claim.p[:, column]
    return found


def _in_pairs(pairs: Sequence[tuple[int, int]]) -> dict[int, tuple[int, int]]:
    """Return the pair of each condition that was compared with one other only: its mean has the interval of that."""
    met = Counter(condition for pair in pairs for condition in pair)
    return {condition: pair for pair in pairs for condition in pair if met[condition] == 1}


def _contrasts(
    found: Mapping[tuple[int, int], tuple[Floats, Floats, Floats]], question: int, rules: ContrastRules
) -> Iterator[tuple[Difference, tuple[Floats, Floats, Floats]]]:
    """Yield the named contrasts as they are written, then all other pairs: estimate, half of the interval, and p."""
    named = {*rules.named, *(pair[::-1] for pair in rules.named)}
    rest = [pair for pair in sorted(found) if pair not in named]
    for one, other in (*rules.named, *rest):
        is_named = (one, other) in named
        test = Difference(question, one, other, is_named, _outside(one, other, is_named, rules))
        if (one, other) in found:
            yield test, found[one, other]
        elif (other, one) in found:
            estimate, half, p = found[other, one]
            yield test, (-estimate, half, p)


def _outside(one: int, other: int, is_named: bool, rules: ContrastRules) -> str:
    if rules.named:
        return "" if is_named else UNNAMED
    return why_uncorrected(
        (str(one), str(other)), *(frozenset(map(str, codes)) for codes in (rules.anchors, rules.hidden | rules.anchors))
    )


def _mean(cells: Cells, votes: int, kind: str, over: Over) -> tuple[Floats, Floats]:
    """Return the mean of a condition, and the half width of its interval."""
    estimates = means_of(cells, over)
    ends = bounds_for(kind, estimates.mean, estimates.se, estimates.df, ratings=max(votes, estimates.n))
    return estimates.mean, (ends.high - ends.low) / 2


def _column(parts: Sequence[Floats], values: Floats) -> Floats:
    return np.stack(parts, axis=1) if parts else np.zeros((len(values), 0))


def concatenate(parts: Sequence[ContrastOutcomes]) -> ContrastOutcomes:
    """Return the outcomes of several batches of the same design."""

    def column(name: str) -> Floats:
        return np.concatenate([getattr(part, name) for part in parts])

    return parts[0]._replace(
        estimate=column("estimate"), half=column("half"), p=column("p"), p_holm=column("p_holm"), clear=column("clear"),
        mean=column("mean"), mean_half=column("mean_half"),
    )  # fmt: skip
