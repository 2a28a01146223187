"""Contrasts: every two conditions of a question, compared on pages (one participant, one content) or by their means."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from beholder.analysis.means import average_by, codes_of
from beholder.analysis.ratings import COMPARISONS, Ratings
from beholder.stats.clustered import Cells, Codes, Estimate, Floats, difference_of, mean_of
from beholder.stats.intervals import bounds_for

Comparison: TypeAlias = Literal["paired", "unpaired", "direct"]
"""Differences on the same pages, of two means, or votes in which the two were compared with each other."""
Pair: TypeAlias = tuple[str, str]
_MIN_PAIRED_PAGES = 10
"""Pages with both conditions that make a paired comparison, if they are half of those that could have both."""
_MIN_DF = 4


class Contrast(NamedTuple):
    """Two conditions in one question; above zero the first is better."""

    question: str
    condition: str
    other_condition: str
    comparison: Comparison
    pages: Cells
    """The difference on every page that has both."""
    by_participant: Floats
    """Each participant's own mean difference."""
    estimate: Estimate
    """The difference of the two, its error clustered by participant and content."""
    is_named: bool
    note: str


class RatedPages(NamedTuple):
    """The means of one condition by page, and the numbers of these pages among all of the question."""

    cells: Cells
    number: Codes


class PairedDifferences(NamedTuple):
    """How two conditions are compared, and the differences on the pages that have both."""

    comparison: Comparison
    pages: Cells
    fewer: int
    """How many pages the condition with the fewer of them has."""


def contrasts_of(ratings: Ratings, named: Sequence[Pair] = ()) -> Iterator[Contrast]:
    """Yield the named contrasts of every question as they are written, then all other pairs of its conditions.

    Correct answers are compared with chance, not with each other, and have none.
    """
    for question in ratings.questions:
        kind = ratings.kinds[question]
        if kind == "correct":
            continue
        part = ratings.table[ratings.table["question"] == question]
        direct = _direct(ratings, question) if kind in COMPARISONS else {}
        rated = {} if kind in COMPARISONS and ratings.is_mirrored(question) else _rated(ratings, part)
        against = _references(part) if kind == "diff" else {}
        named_pairs = {*named, *(pair[::-1] for pair in named)}
        rest = [pair for pair in combinations(ratings.conditions, 2) if pair not in named_pairs]
        for one, other in (*named, *rest):
            is_named = (one, other) in named_pairs
            if (one, other) in direct or (other, one) in direct:
                yield _direct_contrast(question, (one, other), direct, kind, is_named)
            elif {one, other} <= rated.keys() and against.get(one) == against.get(other):
                reference_note = f"both compared with {against[one]}" if against.get(one) else ""
                yield _separate_contrast(question, (one, other), rated, kind, is_named, reference_note)
            elif is_named:
                yield _empty_contrast(question, (one, other), ratings, part)


def _rated(ratings: Ratings, part: pd.DataFrame) -> dict[str, RatedPages]:
    """Return the pages of every condition, in the order of the study."""
    place = codes_of(part["condition"], ratings.conditions)
    by_code = rated_pages(part["value"].to_numpy(float), place, *_codes(part))
    return {ratings.conditions[code]: pages for code, pages in by_code.items()}


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


def _direct(ratings: Ratings, question: str) -> dict[Pair, Cells]:
    """Return the votes between every two conditions; above zero the earlier one in the study is better."""
    part = ratings.votes[(ratings.votes["question"] == question) & (ratings.votes["other_condition"] != "")]
    names = ratings.conditions
    one, other = (codes_of(part[column], names) for column in ("condition", "other_condition"))
    by_codes = direct_pages(part["value"].to_numpy(float), one, other, *_codes(part))
    return {(names[first], names[second]): pages for (first, second), pages in by_codes.items()}


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


def _direct_contrast(question: str, pair: Pair, direct: Mapping[Pair, Cells], kind: str, is_named: bool) -> Contrast:
    cells = direct[pair] if pair in direct else direct[pair[::-1]]
    pages = cells if pair in direct else cells._replace(value=-cells.value)
    return _with_note(
        Contrast(question, *pair, "direct", pages, _participant_means(pages), mean_of(pages), is_named, ""), kind
    )


def pair_pages(one: RatedPages, other: RatedPages) -> PairedDifferences:
    """Return how two conditions are compared: paired by page where sufficiently many have both, else by their means."""
    place = np.full(1 + max(int(one.number.max()), int(other.number.max())), -1, np.intp)
    place[one.number] = np.arange(len(one.number))
    at = place[other.number]
    has_both = at >= 0
    value = one.cells.value[..., at[has_both]] - other.cells.value[..., has_both]
    pages = Cells(value, other.cells.participant[has_both], other.cells.content[has_both])
    both, fewer = value.shape[-1], min(len(one.number), len(other.number))
    is_paired = 2 * both >= fewer and (both >= _MIN_PAIRED_PAGES or both == fewer)
    return PairedDifferences("paired" if is_paired else "unpaired", pages, fewer)


def _separate_contrast(
    question: str, pair: Pair, rated: Mapping[str, RatedPages], kind: str, is_named: bool, through: str
) -> Contrast:
    one, other = (rated[name] for name in pair)
    comparison, pages, fewer = pair_pages(one, other)
    if comparison == "paired":
        return _with_note(
            Contrast(question, *pair, "paired", pages, _participant_means(pages), mean_of(pages), is_named, through),
            kind,
        )
    few = f"unpaired, as few rated both on the same content: {len(pages.value)} of {fewer} pages"
    note = f"{through}; {few}" if through else few
    own, estimate = _participant_differences(one.cells, other.cells), difference_of(one.cells, other.cells)
    return _with_note(Contrast(question, *pair, "unpaired", pages, own, estimate, is_named, note), kind)


def _empty_contrast(question: str, pair: Pair, ratings: Ratings, part: pd.DataFrame) -> Contrast:
    present = {*part["condition"], *part["other_condition"]}
    absent = [name for name in pair if name not in present]
    note = f"no rating of {' and '.join(absent)}" if absent else "never compared"
    none = np.zeros(0, np.intp)
    pages = Cells(np.zeros(0), none, none)
    kind: Comparison = "direct" if ratings.kinds[question] in COMPARISONS else "paired"
    return Contrast(question, *pair, kind, pages, np.zeros(0), mean_of(pages), True, note)


def _participant_means(pages: Cells) -> Floats:
    """Return each participant's mean over their pages."""
    counts = np.bincount(pages.participant)
    sums = np.bincount(pages.participant, weights=pages.value)
    return np.asarray(sums[counts > 0] / counts[counts > 0], np.float64)


def _participant_differences(one: Cells, other: Cells) -> Floats:
    """Return the difference of the two means of every participant who rated both."""
    people = 1 + int(max(one.participant.max(), other.participant.max()))
    counts = [np.bincount(cells.participant, minlength=people) for cells in (one, other)]
    has_both = (counts[0] > 0) & (counts[1] > 0)
    means = [
        np.bincount(cells.participant, weights=cells.value, minlength=people)[has_both] / count[has_both]
        for cells, count in zip((one, other), counts, strict=True)
    ]
    return np.asarray(means[0] - means[1], np.float64)


def _with_note(contrast: Contrast, kind: str) -> Contrast:
    """Return the contrast with notes on its test; with one person on a side it has no test."""
    estimate, notes = _bounded(contrast.estimate, kind), [contrast.note] if contrast.note else []
    if estimate.over == "contents" or np.isnan(estimate.p):
        nan = np.nan
        estimate = estimate._replace(se=nan, df=nan, low=nan, high=nan, statistic=nan, p=nan)
        notes.append("one participant: no test" if estimate.participants < 2 else "one participant of one: no test")
    elif estimate.over == "participants":
        notes.append("one content: over participants only")
    elif estimate.df < min(_MIN_DF, estimate.participants - 1):
        few = "few participants or contents of one" if contrast.comparison == "unpaired" else "few contents"
        notes.append(f"{few} ({estimate.df + 1:.0f}): a wide interval")
    if estimate.se == 0 and estimate.p < 1:
        notes.append("all differences are equal: p of a sign test")
    return contrast._replace(estimate=estimate, note="; ".join(notes))


def _bounded(estimate: Estimate, kind: str) -> Estimate:
    """Return the difference with an interval that stays where it can be: shares, and preferences from -1 to 1."""
    if kind == "choice":
        ends = bounds_for(
            kind, estimate.mean, estimate.se, estimate.df, units=estimate.participants, ratings=estimate.n
        )
        return estimate._replace(low=float(ends.low[0]), high=float(ends.high[0]))
    return estimate._replace(low=max(-1.0, estimate.low), high=min(1.0, estimate.high)) if kind == "pick" else estimate
