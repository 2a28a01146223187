"""Contrasts: every two conditions of a question, from all its ratings or from votes between the two."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from beholder.analysis.means import average_by, codes_of, scale_ends
from beholder.analysis.ratings import COMPARISONS, Ratings
from beholder.analysis.result import scoring
from beholder.stats.additive import AdditiveContrasts, ContrastEstimates, DirectContrasts
from beholder.stats.clustered import Cells, Codes, Estimate, Floats, mean_of
from beholder.stats.contrast_errors import ContrastError
from beholder.stats.intervals import SHARE_RANGES, unanimous_bounds

Comparison: TypeAlias = Literal["within", "between", "direct"]
"""Rated by the same people, or by people who are linked by others; by different people; or compared in one vote."""
Pair: TypeAlias = tuple[str, str]
_MIN_DF = 4
_NO_VALUES = Cells(np.zeros(0), np.zeros(0, np.intp), np.zeros(0, np.intp))
# Means are sums of fractions: what is equal on paper may differ in the last bits.
_EQUAL = 1e-9


class Contrast(NamedTuple):
    """Two conditions in one question; above zero the first is better."""

    question: str
    condition: str
    other_condition: str
    comparison: Comparison
    pages: Cells
    """The difference on every page (one participant and one content) that has both."""
    by_participant: Floats
    """Each participant's own mean difference."""
    estimate: Estimate
    """The difference, for people and contents like these."""
    these: Estimate
    """The same for people like these and these contents."""
    is_named: bool
    note: str


class RatedPages(NamedTuple):
    """The means of one condition by page, and the numbers of these pages among all of the question."""

    cells: Cells
    number: Codes


class _Judged(NamedTuple):
    """What a question says of two conditions."""

    comparison: Comparison
    pages: Cells
    by_participant: Floats
    estimate: Estimate
    these: Estimate
    note: str

    def turned(self) -> _Judged:
        """Return the same of the second against the first."""
        return self._replace(
            pages=self.pages._replace(value=-self.pages.value),
            by_participant=-self.by_participant,
            estimate=_turned(self.estimate),
            these=_turned(self.these),
        )


def contrasts_of(ratings: Ratings, named: Sequence[Pair] = (), *, has_pages: bool = True) -> Iterator[Contrast]:
    """Yield the named contrasts of every question as they are written, then all other pairs of its conditions.

    Correct answers are compared with chance, not with each other, and have none. Without `has_pages` differences by
    page and participant, and what is noted of them, are left out where they are not known yet.
    """
    named_pairs = {*named, *(pair[::-1] for pair in named)}
    rest = [pair for pair in combinations(ratings.conditions, 2) if pair not in named_pairs]
    for question in ratings.questions:
        if ratings.kinds[question] == "correct":
            continue
        key = ("contrasts", question)
        if not has_pages and not ratings.is_cached(key):
            key = ("contrasts without pages", question)
        judged = ratings.cached(key, partial(_judged, ratings, question, has_pages=has_pages))
        for pair in (*named, *rest):
            is_named = pair in named_pairs
            if pair in judged or pair[::-1] in judged:
                one = judged[pair] if pair in judged else judged[pair[::-1]].turned()
                yield Contrast(
                    question, *pair, one.comparison, one.pages, one.by_participant, one.estimate, one.these, is_named,
                    one.note,
                )  # fmt: skip
            elif is_named:
                yield _empty_contrast(ratings, question, pair)


def _judged(ratings: Ratings, question: str, *, has_pages: bool) -> dict[Pair, _Judged]:
    """Return all pairs that a question compares: by votes between the two, else by their ratings."""
    is_comparison = ratings.kinds[question] in COMPARISONS
    part = ratings.table[ratings.table["question"] == question]
    is_rated = not (is_comparison and ratings.is_mirrored(question))
    judged = _rated(ratings, question, part, has_pages=has_pages) if is_rated else {}
    return judged | (_direct(ratings, question) if is_comparison else {})


def _rated(ratings: Ratings, question: str, part: pd.DataFrame, *, has_pages: bool) -> dict[Pair, _Judged]:
    """Return the contrasts of conditions that were rated one by one, or against the same reference."""
    against = _references(part) if ratings.kinds[question] == "diff" else {}
    rated = set(part["condition"].unique())
    names = [name for name in ratings.conditions if name in rated]
    return _additive(ratings, question, part, names, against, has_pages=has_pages)


def known_references(ratings: Ratings, question: str) -> frozenset[str]:
    """Return the hidden references that people are to recognise in a question, as in MUSHRA."""
    method = ratings.methods.get(question)
    return ratings.references if method is not None and scoring(method).controls_reference else frozenset()


def level_contrasts(ratings: Ratings, question: str, part: pd.DataFrame) -> Iterator[Contrast]:
    """Yield every two levels of a factor; `part` has the column `level` beside those of ratings."""
    names = sorted(part["level"].unique())
    for pair, one in _additive(ratings, question, part.assign(condition=part["level"]), names, {}).items():
        yield Contrast(
            question, *pair, one.comparison, one.pages, one.by_participant, one.estimate, one.these, True, one.note
        )


def _additive(
    ratings: Ratings, question: str, part: pd.DataFrame, names: Sequence[str], against: Mapping[str, str],
    *, has_pages: bool = True,
) -> dict[Pair, _Judged]:  # fmt: skip
    """Return the contrasts of what is named in the column `condition`, where both were held against the same."""
    pairs = [
        (one, other) for one, other in combinations(range(len(names)), 2)
        if against.get(names[one]) == against.get(names[other])
    ]  # fmt: skip
    if not pairs:
        return {}
    place = codes_of(part["condition"], names)
    value, (place, participant, content) = average_by(part["value"].to_numpy(float), place, *_codes(part))
    known = ratings.anchors | known_references(ratings, question)
    controls = frozenset(code for code, name in enumerate(names) if name in known)
    design = AdditiveContrasts(participant, content, place, pairs, controls)
    estimates = _at_look(ratings, design.estimate(value[np.newaxis], level=ratings.level))
    pages = rated_pages(value, place, participant, content) if has_pages else {}
    judged = {}
    for column, (one, other) in enumerate(pairs):
        comparison: Comparison = "within" if design.is_within[column] else "between"
        both, own = _NO_VALUES, _NO_VALUES.value
        if has_pages:
            both, own = _page_differences(pages[one], pages[other]), _participant_differences(pages[one], pages[other])
        through = f"both compared with {against[names[one]]}" if against.get(names[one]) else ""
        limit = difference_limits(ratings, question, is_direct=False)
        judged[names[one], names[other]] = _judgement(comparison, both, own, (estimates, column), limit, through)
    return judged


def _direct(ratings: Ratings, question: str) -> dict[Pair, _Judged]:
    """Return the contrasts of conditions that were compared with each other; above zero the earlier one is better."""
    part = ratings.votes[(ratings.votes["question"] == question) & (ratings.votes["other_condition"] != "")]
    if part.empty:
        return {}
    names = ratings.conditions
    one, other = (codes_of(part[column], names) for column in ("condition", "other_condition"))
    pages = direct_pages(part["value"].to_numpy(float), one, other, *_codes(part))
    design = DirectContrasts(pages, choice=1.0 if ratings.kinds[question] == "choice" else None)
    votes = {pair: cells.value[np.newaxis] for pair, cells in pages.items()}
    estimates = _at_look(ratings, design.estimate(votes, level=ratings.level))
    limit = difference_limits(ratings, question, is_direct=True)
    return {
        (names[first], names[second]): _judgement(
            "direct", cells, _participant_means(cells), (estimates, column), limit, ""
        )
        for column, ((first, second), cells) in enumerate(pages.items())
    }


class VoteMean(NamedTuple):
    """The mean of votes between two, every content weighing the same, with the errors of a direct contrast."""

    estimate: Estimate
    """For people and contents like these."""
    these: Estimate
    """For people with these contents."""


def vote_mean(ratings: Ratings, votes: Cells, limits: tuple[float, float], choice: float | None) -> VoteMean:
    """Return the mean of votes; `choice` is the vote for the one where all are for one of the two, or for none."""
    design = DirectContrasts({(0, 1): votes}, choice=choice)
    estimates = _at_look(ratings, design.estimate({(0, 1): votes.value[np.newaxis]}, level=ratings.level))
    return VoteMean(*(_estimate(estimates, claim, 0, limits) for claim in (estimates.beyond, estimates.these)))


def _at_look(ratings: Ratings, estimates: ContrastEstimates) -> ContrastEstimates:
    """Return the estimates with p-values that hold for all looks at the study together, as their intervals do."""
    look = ratings.look
    if look is None:
        return estimates
    beyond, these = (claim._replace(p=look.p(claim.p)) for claim in (estimates.beyond, estimates.these))
    return estimates._replace(beyond=beyond, these=these)


def _judgement(
    comparison: Comparison, pages: Cells, own: Floats, fitted: tuple[ContrastEstimates, int],
    limits: tuple[float, float], note: str,
) -> _Judged:  # fmt: skip
    """Return what a fit says of the pair in one of its columns, with notes on its test."""
    estimates, column = fitted
    beyond, these = (_estimate(estimates, claim, column, limits) for claim in (estimates.beyond, estimates.these))
    notes = [note] if note else []
    if estimates.refused[column]:
        notes.append("one participant: no test" if beyond.participants < 2 else estimates.refused[column])
    elif beyond.over == "participants":
        notes.append("one content: over participants only")
    elif beyond.df < min(_MIN_DF, beyond.participants - 1):
        notes.append(f"few contents ({beyond.contents}): few degrees of freedom beyond them")
    if (
        not estimates.refused[column]
        and len(pages.value) > 1
        and np.ptp(pages.value) < _EQUAL
        and abs(beyond.mean) > _EQUAL
    ):
        notes.append("all pages agree: the error is that of one page without a difference")
    return _Judged(comparison, pages, own, beyond, these, "; ".join(notes))


def _estimate(estimates: ContrastEstimates, claim: ContrastError, column: int, limits: tuple[float, float]) -> Estimate:
    """Return the estimate of one column, its interval cut where no difference can be."""
    se, df, low, high, statistic, p = (float(numbers[0, column]) for numbers in claim)
    mean, contents = float(estimates.difference[0, column]), int(estimates.contents[column])
    if se == 0:
        low, high = (float(end) for end in unanimous_bounds(mean, estimates.n[column], *limits))
    return Estimate(
        mean, se, df, max(low, limits[0]), min(high, limits[1]), statistic, p,
        int(estimates.n[column]), int(estimates.participants[column]), contents,
        "both" if contents > 1 else "participants",
    )  # fmt: skip


def _turned(one: Estimate) -> Estimate:
    return one._replace(mean=-one.mean, low=-one.high, high=-one.low, statistic=-one.statistic)


def difference_limits(ratings: Ratings, question: str, *, is_direct: bool) -> tuple[float, float]:
    """Return between which values a difference can be."""
    low, high = SHARE_RANGES.get(ratings.kinds[question]) or scale_ends(ratings, question)[:2]
    return (low, high) if is_direct else (low - high, high - low)


def rated_pages(value: Floats, condition: Codes, participant: Codes, content: Codes) -> dict[int, RatedPages]:
    """Return the pages of every condition by its number; `value` may have a row for each of several data sets."""
    value, (condition, participant, content) = average_by(value, condition, participant, content)
    joint = participant.astype(np.int64) * (int(content.max(initial=0)) + 1) + content
    number = np.unique(joint, return_inverse=True)[1]
    pages_by_code = {}
    for code in np.unique(condition):
        rows = slice(*np.searchsorted(condition, [code, code + 1]))
        pages_by_code[int(code)] = RatedPages(Cells(value[..., rows], participant[rows], content[rows]), number[rows])
    return pages_by_code


def direct_pages(
    value: Floats, one: Codes, other: Codes, participant: Codes, content: Codes
) -> dict[tuple[int, int], Cells]:
    """Return the votes between every two conditions by their numbers, above zero for the one with the lower number.

    `value` may have a row for each of several data sets.
    """
    count = 1 + int(max(one.max(initial=0), other.max(initial=0)))
    signed = np.where(one > other, -1.0, 1.0) * value
    pair = np.minimum(one, other) * count + np.maximum(one, other)
    value, (pair, participant, content) = average_by(signed, pair, participant, content)
    pages_by_pair = {}
    for number in np.unique(pair):
        rows = slice(*np.searchsorted(pair, [number, number + 1]))
        pages = Cells(value[..., rows], participant[rows], content[rows])
        pages_by_pair[int(number) // count, int(number) % count] = pages
    return pages_by_pair


def _codes(part: pd.DataFrame) -> tuple[Codes, Codes]:
    return codes_of(part["participant"]), codes_of(part["content"])


def _references(part: pd.DataFrame) -> Mapping[str, str]:
    """Return what each condition was compared with; one that was compared with several is like no other."""
    others = part.groupby("condition", sort=False)["other_condition"].unique()
    return {
        str(name): str(references[0]) if len(references) == 1 else f"several by {name}"
        for name, references in others.items()
    }


def _empty_contrast(ratings: Ratings, question: str, pair: Pair) -> Contrast:
    part = ratings.table[ratings.table["question"] == question]
    present = {*part["condition"], *part["other_condition"]}
    absent = [name for name in pair if name not in present]
    note = f"no rating of {' and '.join(absent)}" if absent else "never compared"
    kind: Comparison = "direct" if ratings.kinds[question] in COMPARISONS else "within"
    nothing = mean_of(_NO_VALUES)
    return Contrast(question, *pair, kind, _NO_VALUES, np.zeros(0), nothing, nothing, True, note)


def _page_differences(one: RatedPages, other: RatedPages) -> Cells:
    """Return the differences on pages that have both."""
    place = np.full(1 + max(int(one.number.max()), int(other.number.max())), -1, np.intp)
    place[one.number] = np.arange(len(one.number))
    at = place[other.number]
    has_both = at >= 0
    value = one.cells.value[at[has_both]] - other.cells.value[has_both]
    return Cells(value, other.cells.participant[has_both], other.cells.content[has_both])


def _participant_means(pages: Cells) -> Floats:
    """Return each participant's mean over their pages."""
    counts = np.bincount(pages.participant)
    sums = np.bincount(pages.participant, weights=pages.value)
    return np.asarray(sums[counts > 0] / counts[counts > 0], np.float64)


def _participant_differences(one_pages: RatedPages, other_pages: RatedPages) -> Floats:
    """Return the difference of the two means of every participant who rated both."""
    one, other = one_pages.cells, other_pages.cells
    people = 1 + int(max(one.participant.max(), other.participant.max()))
    counts = [np.bincount(cells.participant, minlength=people) for cells in (one, other)]
    has_both = (counts[0] > 0) & (counts[1] > 0)
    means = [
        np.bincount(cells.participant, weights=cells.value, minlength=people)[has_both] / count[has_both]
        for cells, count in zip((one, other), counts, strict=True)
    ]
    return np.asarray(means[0] - means[1], np.float64)
