"""reliability: agreement of participants on the same stimuli (reference: statistics 2.7, 6)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from beholder.analysis.columns import HIGH, LOW, QUESTION, RATINGS_N, THEIR_STIMULI
from beholder.analysis.contract import Analysis, Column
from beholder.analysis.means import scale_ends
from beholder.analysis.models import question_votes, scale_questions
from beholder.analysis.participants import MIN_SHARED_RATINGS
from beholder.analysis.ratings import Ratings, as_ratings
from beholder.analysis.result import Result
from beholder.stats.correlation import DRAWS, SEED, bootstrap_counts
from beholder.stats.crossed import variance_components
from beholder.stats.intervals import t_interval
from beholder.stats.rater_models import Floats, RaterVotes
from beholder.stats.reliability import (
    Icc,
    ValueCounts,
    icc_complete,
    icc_sparse,
    kendall_w,
    krippendorff_alpha,
    leave_one_out,
    moment_components,
    sos,
    sos_terms,
)

# The measures of one question


ALPHAS = ("alpha, ordinal", "alpha, interval")
LEAVE_ONE_OUT, KENDALL, SOS = "leave-one-out agreement", "Kendall's W", "SOS a"
_MAX_REML_VOTES, _MAX_REML_LEVELS = 100_000, 300
"""With more ratings, or more of both participants and stimuli, REML takes long, and moments are nearly as good."""
_MAX_DRAWN = 10_000_000
"""Numbers that are drawn for one interval: with very many stimuli the draws are fewer, down to the minimum."""
_MIN_DRAWS = 200
_DRAWN_PER_BLOCK = 2_000_000
_Measure = Callable[[Floats | None], Floats]
"""From how often each stimulus is drawn, or once each, to the measure of every draw."""


class _ReliabilityRow(NamedTuple):
    """One measure of one question, with what it rests on."""

    measure: str
    value: float
    low: float
    high: float
    p: float
    n: int
    participants: int
    stimuli: int
    note: str = ""


class _MissingMeasure(NamedTuple):
    """A measure that cannot be had, and why."""

    measure: str
    why: str


def _measures(votes: RaterVotes, low: float, high: float) -> Iterator[_ReliabilityRow | _MissingMeasure]:
    """Yield every measure of these votes on a scale with these ends, or why it cannot be had."""
    yield from _correlations(votes)
    yield from _by_stimuli(votes, low, high)
    yield from _agreement(votes)
    yield from _concordance(votes)


def _correlations(votes: RaterVotes) -> Iterator[_ReliabilityRow | _MissingMeasure]:
    """Yield the intraclass correlations."""
    sizes = (len(votes.value), votes.raters, votes.stimuli)
    if votes.raters < 2 or votes.stimuli < 2:
        yield _MissingMeasure("ICC", f"there is only one {'participant' if votes.raters < 2 else 'stimulus'}")
        return
    if np.ptp(votes.value) == 0:
        yield _MissingMeasure("ICC", "all ratings are the same")
        return
    is_whole = len(votes.value) == votes.raters * votes.stimuli
    iccs = icc_complete(_square(votes)) if is_whole else _sparse(votes)
    if not iccs:
        yield _MissingMeasure("ICC", "no stimulus has two ratings")
    elif len(iccs) < 6:
        yield _MissingMeasure("ICC(A,·) and ICC(C,·)", "participants and stimuli cannot be told apart")
    gaps = "" if is_whole else "not everybody rated everything: from variance components, without an interval"
    k = _ratings_each(votes)
    for name, icc in iccs.items():
        if math.isnan(icc.value):
            yield _MissingMeasure(name, "the stimuli do not differ")
        else:
            note = "; ".join(filter(None, (f"k = {k:.4g}" if name.endswith("k)") else "", gaps)))
            yield _ReliabilityRow(name, *icc, math.nan, *sizes, note)


def _sparse(votes: RaterVotes) -> dict[str, Icc]:
    if len(votes.value) == votes.stimuli:
        return {}
    is_many = len(votes.value) > _MAX_REML_VOTES or min(votes.raters, votes.stimuli) > _MAX_REML_LEVELS
    components = moment_components(votes) if is_many else variance_components(votes.value, votes.stimulus, votes.rater)
    return icc_sparse(votes, components)


def _ratings_each(votes: RaterVotes) -> float:
    """Return the harmonic mean of the ratings of a stimulus."""
    return float(votes.stimuli / (1 / np.bincount(votes.stimulus)).sum())


def _square(votes: RaterVotes) -> Floats:
    """Return votes without gaps as a table of stimuli by participants."""
    table = np.empty((votes.stimuli, votes.raters))
    table[votes.stimulus, votes.rater] = votes.value
    return table


def _by_stimuli(votes: RaterVotes, low: float, high: float) -> Iterator[_ReliabilityRow | _MissingMeasure]:
    """Yield what is bootstrapped over stimuli: both alphas, and the parameter of the SOS hypothesis."""
    table, terms = ValueCounts(votes), sos_terms(votes, low, high)
    if not table.things:
        yield from (_MissingMeasure(name, "no stimulus has two ratings") for name in (*ALPHAS, SOS))
        return
    measures_by_name: Mapping[str, _Measure] = {
        ALPHAS[0]: lambda drawn: krippendorff_alpha(table, drawn, is_ordinal=True),
        ALPHAS[1]: lambda drawn: krippendorff_alpha(table, drawn, is_ordinal=False),
        SOS: lambda drawn: sos(terms, drawn),
    }
    is_paired = (votes.sum_by_stimulus() > 1)[votes.stimulus]
    sizes = (int(is_paired.sum()), len(np.unique(votes.rater[is_paired])), table.things)
    ends = _bootstrap(measures_by_name, table.things, max(table.things, table.counts.nnz))
    for name, measure in measures_by_name.items():
        value = float(measure(None)[0])
        if math.isnan(value):
            yield _MissingMeasure(
                name, "every mean is at an end of the scale" if name == SOS else "all ratings are the same"
            )
        else:
            yield _ReliabilityRow(name, value, *ends[name], math.nan, *sizes)


def _bootstrap(measures_by_name: Mapping[str, _Measure], things: int, cost: int) -> dict[str, tuple[float, float]]:
    """Return the 95 % interval of each measure over draws of the stimuli; NaN with too few of them."""
    draws = int(np.clip(_MAX_DRAWN // cost, _MIN_DRAWS, DRAWS))
    step = max(1, _DRAWN_PER_BLOCK // cost)
    drawn: dict[str, list[Floats]] = {name: [] for name in measures_by_name}
    for start in range(0, draws, step):
        times = bootstrap_counts(things, SEED + start, min(step, draws - start))
        for name, measure in measures_by_name.items():
            drawn[name].append(measure(times))
    ends = {}
    for name, some in drawn.items():
        known = np.concatenate(some)
        known = known[np.isfinite(known)]
        has_enough = things > 1 and len(known) >= draws / 2
        low, high = np.quantile(known, [0.025, 0.975]) if has_enough else (math.nan, math.nan)
        ends[name] = (float(low), float(high))
    return ends


def _agreement(votes: RaterVotes) -> Iterator[_ReliabilityRow | _MissingMeasure]:
    """Yield the mean rank correlation of a participant with the others."""
    each = leave_one_out(votes, MIN_SHARED_RATINGS)
    known = np.isfinite(each)
    if not known.any():
        yield _MissingMeasure(LEAVE_ONE_OUT, f"nobody shares {MIN_SHARED_RATINGS} ratings that vary with others")
        return
    mean = t_interval(each[known])
    mine = known[votes.rater]
    stimuli = len(np.unique(votes.stimulus[mine]))
    low, high = max(mean.low, -1.0), min(mean.high, 1.0)
    note = "one participant: no interval" if mean.n == 1 else ""
    ends = (math.nan, math.nan) if mean.n == 1 else (low, high)
    yield _ReliabilityRow(LEAVE_ONE_OUT, mean.mean, *ends, math.nan, int(mine.sum()), mean.n, stimuli, note)


def _concordance(votes: RaterVotes) -> Iterator[_ReliabilityRow | _MissingMeasure]:
    """Yield Kendall's W of the participants who rated everything."""
    whole = np.bincount(votes.rater, minlength=votes.raters) == votes.stimuli
    people = int(whole.sum())
    if votes.stimuli < 2 or people < 2:
        why = "there is only one stimulus" if votes.stimuli < 2 else "no two participants rated everything"
        yield _MissingMeasure(KENDALL, why)
        return
    mine = whole[votes.rater]
    rater = (np.cumsum(whole) - 1)[votes.rater[mine]]
    concordance = kendall_w(_square(RaterVotes(votes.value[mine], rater, votes.stimulus[mine], people, votes.stimuli)))
    if concordance is None:
        yield _MissingMeasure(KENDALL, "nobody tells the stimuli apart")
        return
    note = f"chi-square({concordance.df}) = {concordance.chi2:.4g}"
    if people < votes.raters:
        note += f"; {people} of {votes.raters} participants rated everything"
    yield _ReliabilityRow(
        KENDALL, concordance.w, math.nan, math.nan, concordance.p, int(mine.sum()), people, votes.stimuli, note
    )


# The table


_NOTE = (
    "Of all stimuli that were rated, references and anchors too; repetitions averaged; n: ratings it rests on. "
    "ICC(A,1): share of the variance of single ratings that is the stimuli's; ICC(C,1): the same, differences in the "
    "participants' mean level taken away; ICC(1,1): as if every rating came from somebody else; ICC(·,k): of the "
    "mean of k ratings, from the same by Spearman and Brown. Where everybody rated everything they come from mean "
    "squares, with the 95 % intervals of F (of ICC(A,·) after Satterthwaite); else from variance components, "
    f"participants and stimuli crossed, by REML (with more than {_MAX_REML_VOTES:,} ratings, or more than "
    f"{_MAX_REML_LEVELS} of both, by moments), without intervals, k being the harmonic mean of the ratings of a "
    "stimulus. alpha: Krippendorff's, of stimuli with two ratings or more; SOS a: of SD² = a (mean - lowest) (highest "
    "- mean), SD over n - 1; both with a 95 % bootstrap over stimuli (percentiles). leave-one-out agreement: mean over "
    f"participants of Spearman's correlation with the mean of the others, {MIN_SHARED_RATINGS} shared ratings or more, "
    "with 95 % Student t. Kendall's W: of participants who rated everything, corrected for ties, p by "
    "Friedman's chi-square."
)
_CITATION = (
    "McGraw and Wong (1996), Psychological Methods 1; Henderson (1953), Biometrics 9, and Yates (1934), "
    "Journal of the American Statistical Association 29 (moments); Krippendorff (2011), Computing "
    "Krippendorff's Alpha-Reliability; Hossfeld, Schatz and Egger (2011), QoMEX; Spearman (1904), American Journal of "
    "Psychology 15; Kendall and Babington Smith (1939), Annals of Mathematical Statistics 10"
)


def reliability(data: pd.DataFrame | Ratings) -> Result | None:
    """Return every measure of reliability by question; None where none can be had."""
    ratings = as_ratings(data)
    rows, missing = [], []
    for question in scale_questions(ratings):
        ends = scale_ends(ratings, question)
        measured = list(_measures(question_votes(ratings, question).votes, ends.low, ends.high))
        rows += [(question, *one) for one in measured if isinstance(one, _ReliabilityRow)]
        missing += [
            f" {question}: no {one.measure}, as {one.why}." for one in measured if isinstance(one, _MissingMeasure)
        ]
    return RELIABILITY.result(pd.DataFrame(rows, columns=RELIABILITY.names), _NOTE + "".join(missing)) if rows else None


RELIABILITY = Analysis(
    "reliability",
    reliability,
    (
        QUESTION,
        Column("measure", "text", "Name of the measure, such as `ICC(A,1)` or `alpha, ordinal`."),
        Column("value", "number", "The measure."),
        LOW, HIGH,
        Column("p", "number", "Of Kendall's W against no common order."),
        RATINGS_N,
        Column("participants", "integer", "How many people these are of."),
        THEIR_STIMULI,
        Column("note", "text", "How many ratings a mean has (`k`), and what was left out."),
    ),
    row="question and measure",
    holds="how far people say the same of the same stimuli",
    citation=_CITATION,
    order=23,
)  # fmt: skip
