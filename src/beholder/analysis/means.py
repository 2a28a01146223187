"""conditions, contents and questions: means of groups of votes with their intervals.

Also what other tables share: averages by codes, the ends of a scale, and the notes on intervals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from beholder.analysis.columns import (
    CI_HIGH,
    CI_LOW,
    CONDITION,
    CONTENT,
    CONTENTS,
    INTERVAL,
    MEDIAN,
    METRIC,
    NOTE,
    PARTICIPANTS,
    Q1,
    Q3,
    QUESTION,
    RATINGS_N,
    SD,
    STIMULI,
    THESE_HIGH,
    THESE_LOW,
    bounds,
)
from beholder.analysis.contract import Analysis, Column
from beholder.analysis.figures.scores import scores_chart
from beholder.analysis.ratings import COMPARISONS, Ratings, as_ratings, is_word
from beholder.analysis.result import Result, metric
from beholder.stats.clustered import CITATION as CLUSTERED
from beholder.stats.clustered import Cells, Codes, Estimate, Floats, Over, mean_of, sums_by
from beholder.stats.intervals import SHARE_CITATION, STUDENT_CITATION, bounds_for, is_share, unanimous_bounds

if TYPE_CHECKING:
    from beholder.analysis.contrasts import Contrast

_INTERVALS: Mapping[Over, str] = {
    "both": "clustered t over participants and contents",
    "participants": "t over participants",
    "contents": "t over contents",
    "ratings": "t over ratings",
}
"""What the interval of a mean is called, by what it generalises over."""
EXACT_INTERVAL = "Korn-Graubard"
"""How the names of intervals of shares and preferences begin."""
PAIR_INTERVAL = "as the pair has it"
"""How the names of intervals of means that are differences of two conditions end."""


MEANS = (
    Column("mean", "number", "Mean of the means of stimuli, so that none weighs more for being rated more often."),
    SD, MEDIAN, Q1, Q3, CI_LOW, CI_HIGH, INTERVAL,
)  # fmt: skip
_RATINGS_BOUNDS = bounds("ratings", "the interval as if no two ratings shared a person or a content: too narrow")
NARROWER_BOUNDS = (
    THESE_LOW,
    THESE_HIGH,
    *bounds("contents", "the interval over contents: the same people, other contents"),
    *_RATINGS_BOUNDS,
)
MEAN_CITATION = f"{STUDENT_CITATION}; {SHARE_CITATION}; {CLUSTERED}"


class MeanGroups(NamedTuple):
    """The groups, what has equal weight in the mean of each, and what intervals generalise over."""

    columns: Sequence[str]
    """Of the table that is made."""
    column: str
    names: Sequence[str]
    """In the order of the rows."""
    equal: str = "stimulus"
    """The column whose values weigh the same within a group."""
    over: Over = "both"
    """What the interval of the mean generalises over."""
    narrower: Sequence[Over] = ("participants", "contents", "ratings")
    """What further intervals generalise over."""


def codes_of(column: pd.Series, names: Sequence[str] | None = None) -> Codes:
    """Return the values of a column as numbers from 0, those of `names` by their place there and others as -1."""
    codes, uniques = pd.factorize(column)
    if names is not None:
        codes = pd.Index(list(names), dtype=object).get_indexer(pd.Index(uniques).astype(object))[codes]
    return np.asarray(codes, np.intp)


def average_by(value: Floats, *codes: Codes) -> tuple[Floats, tuple[Codes, ...]]:
    """Return the means of the values that share all codes, with these codes, sorted by them.

    `value` may have a row for each of several data sets.
    """
    joint = np.zeros(value.shape[-1], np.int64)
    for code in codes:
        joint = joint * (int(code.max(initial=0)) + 1) + code
    _, first, place = np.unique(joint, return_index=True, return_inverse=True)
    if len(first) == len(joint):
        return np.asarray(value[..., first], np.float64), tuple(code[first] for code in codes)
    means = sums_by(place, np.atleast_2d(value), len(first)) / np.bincount(place, minlength=len(first))
    return means.reshape(*value.shape[:-1], len(first)), tuple(code[first] for code in codes)


def group_means(ratings: Ratings, table: pd.DataFrame, groups: MeanGroups) -> pd.DataFrame:
    """Return one row per question and group of these votes: counts, mean, sd, median, quartiles and intervals.

    The mean is taken over each participant's own mean of a stimulus, so that n, sd, median and quartiles are of votes.
    """
    names = list(groups.names)
    place = codes_of(table["question"], ratings.questions) * len(names) + codes_of(table[groups.column], names)
    spread = _spread(place, table["value"].to_numpy(float))
    codes = (place, codes_of(table["participant"]), codes_of(table["content"]), codes_of(table["stimulus"]))
    value, (place, participant, content, stimulus) = average_by(table["value"].to_numpy(float), *codes)
    equal = content if groups.equal == "content" else stimulus
    metrics = {name: metric(ratings.methods[name], kind).name for name, kind in ratings.kinds.items()}
    level = ratings.level
    scales = {name: _Scale(kind, *scale_ends(ratings, name)[:2], level) for name, kind in ratings.kinds.items()}
    rows = []
    for number in spread.index:
        mine = slice(*np.searchsorted(place, [number, number + 1]))
        cells = Cells(value[mine], participant[mine], content[mine])
        question = ratings.questions[number // len(names)]
        rows.append(
            {
                "question": question,
                groups.column: names[number % len(names)],
                "metric": metrics[question],
                **spread.loc[number].to_dict(),
                "stimuli": len(np.unique(stimulus[mine])),
                **_means(cells, equal[mine], scales[question], int(spread.loc[number, "n"]), groups),
            }
        )
    return pd.DataFrame(rows, columns=list(groups.columns)).astype({"n": int})


def _spread(place: Codes, value: Floats) -> pd.DataFrame:
    """Return n, sd, median and quartiles of the votes of every group that has any, by its number."""
    groups = pd.Series(value).groupby(place)
    return pd.DataFrame(
        {
            "n": groups.size(),
            "sd": groups.std(),
            "median": groups.median(),
            "q1": groups.quantile(0.25),
            "q3": groups.quantile(0.75),
        }
    )


class _Scale(NamedTuple):
    """What kind of rating a question has, the ends of its scale, and the level of its intervals."""

    kind: str
    low: float
    high: float
    level: float


def _means(cells: Cells, equal: Codes, scale: _Scale, votes: int, groups: MeanGroups) -> dict[str, Any]:
    """Return the mean of one group with all its intervals."""
    estimate = mean_of(cells, groups.over, equal=equal)
    low, high = _ends(estimate, scale, votes)
    has_none = estimate.participants == 1 or np.isnan(low)
    row: dict[str, Any] = {
        "participants": estimate.participants,
        "contents": estimate.contents,
        "mean": estimate.mean,
        "ci_low": np.nan if has_none else low,
        "ci_high": np.nan if has_none else high,
        "interval": "" if has_none else interval_name(scale.kind, estimate.over),
        "note": _note(estimate, groups.over, is_score=not is_share(scale.kind)),
    }
    for over in groups.narrower:
        ends = _ends(mean_of(cells, over, equal=equal), scale, votes)
        name = "these" if over == "participants" else over
        row |= dict(zip((f"{name}_low", f"{name}_high"), ends, strict=True))
    return row


def _ends(estimate: Estimate, scale: _Scale, votes: int) -> tuple[float, float]:
    """Return the ends of an interval, which never leaves its scale; of a unanimous answer, how far others may be."""
    units = {"contents": estimate.contents, "ratings": estimate.n}.get(estimate.over, estimate.participants)
    if estimate.se == 0 and not is_share(scale.kind):
        ends = unanimous_bounds(estimate.mean, units, scale.low, scale.high, scale.level)
        return float(ends.low), float(ends.high)
    bounds = bounds_for(
        scale.kind, estimate.mean, estimate.se, estimate.df, ratings=max(votes, estimate.n), level=scale.level
    )
    low, high = float(bounds.low[0]), float(bounds.high[0])
    return (low, high) if is_share(scale.kind) else (max(low, scale.low), min(high, scale.high))


def interval_name(kind: str, over: Over) -> str:
    """Return what the interval of this kind of rating is called."""
    name = _INTERVALS[over]
    return f"{EXACT_INTERVAL} {name[name.index('over') :]}" if is_share(kind) else name


def _note(estimate: Estimate, over: Over, *, is_score: bool) -> str:
    if estimate.participants == 1:
        return "one participant: no interval"
    if estimate.se == 0 and is_score:
        return "all participants agree: how far others may differ"
    return "one content: interval over participants only" if over == "both" and estimate.contents == 1 else ""


# conditions (reference: statistics 2.2)


def conditions(data: pd.DataFrame | Ratings) -> Result:
    """Return n, mean, sd, median, quartiles and intervals of every condition, per question.

    Every content weighs the same. The interval generalises over participants and contents; the other kinds of interval
    generalise over one of the two, or (too narrow, for comparison with others only) over single ratings.
    """
    ratings = as_ratings(data)
    groups = MeanGroups(CONDITIONS.names, "condition", ratings.conditions, equal="content")
    table = group_means(ratings, ratings.table, groups)
    in_pairs = _in_pairs(ratings)
    note = unit_note(ratings, "content", "both") + kind_note(ratings) + (_PAIR_NOTE if in_pairs else "")
    return CONDITIONS.result(_with_pair_intervals(table, in_pairs), note, interval_citation(ratings, "both"))


_PAIR_NOTE = (
    " The mean of a condition that was compared with one other only is their difference in pairs.csv, and has the "
    "intervals of that."
)


def _in_pairs(ratings: Ratings) -> dict[tuple[str, str], Contrast]:
    """Return the contrast of each condition that was compared with one other only, by question and condition.

    One quantity has one interval: that of the test which says whether the difference is clear.
    """
    # What contrasts share with this table is here.
    from beholder.analysis.contrasts import contrasts_of

    compared = ratings.table[ratings.table["question"].map(ratings.kinds).isin(COMPARISONS)]
    met = dict.fromkeys(zip(*(compared[name] for name in ("question", "condition", "other_condition")), strict=True))
    others: dict[tuple[str, str], list[str]] = {}
    for question, condition, other in met:
        others.setdefault((question, condition), []).append(other)
    rivals = {key: names[0] for key, names in others.items() if len(names) == 1 and names[0]}
    if not rivals:
        return {}
    named = dict.fromkeys((condition, rival) for (_, condition), rival in rivals.items())
    return {
        key: one
        for one in contrasts_of(ratings, tuple(named))
        if rivals.get(key := (one.question, one.condition)) == one.other_condition
        and one.comparison == "direct"
        and not np.isnan(one.estimate.mean)
    }


def _with_pair_intervals(table: pd.DataFrame, in_pairs: Mapping[tuple[str, str], Contrast]) -> pd.DataFrame:
    """Return means of conditions with the intervals of contrasts, where the two are the same."""
    changed = table.copy()
    for row, key in enumerate(zip(table["question"], table["condition"], strict=True)):
        if (one := in_pairs.get(key)) is None:
            continue
        columns = ["ci_low", "ci_high", "these_low", "these_high"]
        ends = [one.estimate.low, one.estimate.high, one.these.low, one.these.high]
        changed.loc[changed.index[row], columns] = ends
        name = "" if np.isnan(one.estimate.low) else f"{_INTERVALS[one.estimate.over]}, {PAIR_INTERVAL}"
        changed.loc[changed.index[row], "interval"] = name
    return changed


CONDITIONS = Analysis(
    "conditions",
    conditions,
    (
        QUESTION, CONDITION, METRIC, RATINGS_N, PARTICIPANTS, CONTENTS,
        Column("mean", "number", "Mean over contents of the means of stimuli."),
        *MEANS[1:], *NARROWER_BOUNDS, NOTE,
    ),
    row="condition and question",
    holds="mean with every content weighing the same, and intervals of several kinds",
    citation=MEAN_CITATION,
    draw=scores_chart,
    order=2,
    holds_at_looks=True,
)  # fmt: skip


# contents


def contents(data: pd.DataFrame | Ratings) -> Result:
    """Return n, mean, sd, median, quartiles and intervals of every content over all its conditions, per question."""
    ratings = as_ratings(data)
    names = sorted(ratings.votes["content"].unique())
    groups = MeanGroups(CONTENT_MEANS.names, "content", names, over="participants", narrower=["ratings"])
    table = group_means(ratings, ratings.votes, groups)
    note = (
        f"Each content over all its conditions. {unit_note(ratings, 'stimulus', 'participants')}{_sign_note(ratings)}"
    )
    return CONTENT_MEANS.result(table, note, interval_citation(ratings, "participants"))


CONTENT_MEANS = Analysis(
    "contents",
    contents,
    (QUESTION, CONTENT, METRIC, RATINGS_N, PARTICIPANTS, STIMULI, *MEANS, *_RATINGS_BOUNDS, NOTE),
    row="content and question",
    holds="mean over all its stimuli, with intervals",
    citation=MEAN_CITATION,
    draw=scores_chart,
    order=3,
    holds_at_looks=True,
)


# questions


def questions(data: pd.DataFrame | Ratings) -> Result:
    """Return n, mean, sd, median, quartiles and intervals of every question over all its stimuli."""
    ratings = as_ratings(data)
    table = group_means(ratings, ratings.votes.assign(all=""), MeanGroups(QUESTIONS.names, "all", [""]))
    note = f"Each question over all stimuli. {unit_note(ratings, 'stimulus', 'both')}{_sign_note(ratings)}"
    return QUESTIONS.result(table, note, interval_citation(ratings, "both"))


QUESTIONS = Analysis(
    "questions",
    questions,
    (QUESTION, METRIC, RATINGS_N, PARTICIPANTS, CONTENTS, STIMULI, *MEANS, *NARROWER_BOUNDS, NOTE),
    row="question",
    holds="mean over everything, with intervals",
    citation=MEAN_CITATION,
    order=7,
    holds_at_looks=True,
)


# Scales


_USUAL = ((1.0, 5.0), (1.0, 9.0), (0.0, 10.0), (0.0, 100.0))


class ScaleEnds(NamedTuple):
    """Lowest and highest value of a scale, and whether the ratings declare them."""

    low: float
    high: float
    is_declared: bool


def scale_ends(ratings: Ratings, question: str) -> ScaleEnds:
    """Return the ends of a question's scale; if the table does not declare them, those of the nearest usual one."""
    return ratings.cached(("scale_ends", question), lambda: _scale_ends(ratings.used, question))


def _scale_ends(used: pd.DataFrame, question: str) -> ScaleEnds:
    is_mine = (used["question"] == question).to_numpy()
    if {"scale_min", "scale_max"} <= set(used.columns):
        low, high = used["scale_min"][is_mine], used["scale_max"][is_mine]
        if low.notna().all() and high.notna().all():
            return ScaleEnds(float(low.min()), float(high.max()), is_declared=True)
    values = used["value"][is_mine]
    least, most = float(values.min()), float(values.max())
    usual = next((ends for ends in _USUAL if ends[0] <= least and most <= ends[1]), (least, most))
    return ScaleEnds(*usual, is_declared=False)


# Notes and citations of the tables of means


_ERRORS: Mapping[str, str] = {
    "both": (
        "with an error clustered by participant and by content, so that it generalises over both (t with the smaller "
        "number of the two minus one degrees of freedom; over participants only where there is one content)"
    ),
    "participants": "with an error over participants (their number minus one degrees of freedom), all else fixed",
}
_NARROWER: Mapping[str, str] = {
    "both": (
        " Other kinds are named by what they generalise over: these_ (other people, these contents), contents_ "
        "(participants fixed), ratings_ (as if no two ratings shared a participant or a content: too narrow, for "
        "comparison only)."
    ),
    "participants": (
        " ratings_ is the interval as if no two ratings shared a participant: too narrow, for comparison only."
    ),
}


def unit_note(ratings: Ratings, equal: str, over: Over) -> str:
    """Return the note on n, mean and intervals, where every `equal` has the same weight."""
    return (
        f"n counts ratings. In the mean every {equal} weighs the same, and within it every participant. The interval "
        f"is {_interval(ratings)} {_ERRORS[over]}.{_NARROWER[over]} sd, median and quartiles are over ratings. With "
        f"one participant there is no interval.{ratings.look_note}"
    )


def _interval(ratings: Ratings) -> str:
    """Return which interval the means have."""
    t = "95 % Student t"
    shares = (
        "Korn and Graubard's (Clopper and Pearson's exact 95 % interval with the number of ratings cut to what they "
        "are worth, as the ratings of one participant, and of one content, are alike)"
    )
    kinds = {is_share(kind) for kind in ratings.kinds.values()}
    return f"{t}, and for shares and preferences {shares}," if len(kinds) == 2 else shares if True in kinds else t


def interval_citation(ratings: Ratings, over: Over) -> str:
    """Return where the intervals come from."""
    kinds = {is_share(kind) for kind in ratings.kinds.values()}
    clustered = [CLUSTERED] * (over == "both" and bool(kinds))
    return "; ".join([STUDENT_CITATION] * (False in kinds) + [SHARE_CITATION] * (True in kinds) + clustered)


def kind_note(ratings: Ratings) -> str:
    """Return what the mean is where ratings are not plain scores."""
    kinds = set(ratings.kinds.values())
    mirrored = any(ratings.is_mirrored(question) for question in ratings.questions)
    graded = [name for name, kind in ratings.kinds.items() if kind == "diff" and not ratings.is_mirrored(name)]
    matched = [name for name in graded if ratings.is_matched(name)]
    has_words = bool(is_word(ratings.used).any())
    notes = {
        " Grades against the reference are signed so that above zero the condition is better than the reference, "
        "which itself has no row.": len(graded) > len(matched),
        " Grades of what fits are signed so that above zero the stimulus with its own companion was called more "
        "fitting than the one with a foreign companion; chance is 0.": bool(matched),
        " A comparison of two conditions counts once for each of them, with opposite signs, so that the means order "
        "them; they depend on which others each was compared with, and n counts comparisons.": mirrored,
        " Of correct answers the mean is the share, and chance is 0.5.": "correct" in kinds,
        " Of what was ticked the mean is the share in which it was; each tick is told as a question of its own.": (
            "pick" in kinds and not has_words
        ),
        " Of the words of a transcript the value of a participant is the share that they marked.": has_words,
    }
    return "".join(note for note, applies in notes.items() if applies)


def _sign_note(ratings: Ratings) -> str:
    """Return what the sign of a comparison means where it counts once."""
    if not any(ratings.is_mirrored(question) for question in ratings.questions):
        return ""
    return (
        " A comparison of two conditions counts once, with the sign of the condition that stands first in the study: "
        "above zero the earlier ones were preferred."
    )
