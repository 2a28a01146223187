"""dmos: votes minus each participant's own vote on the hidden reference (ACR-HR; reference: statistics 2.3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from beholder.analysis.columns import (
    CI_HIGH,
    CI_LOW,
    CONDITION,
    CONTENT_OR_NONE,
    CONTENTS,
    INTERVAL,
    METRIC,
    NOTE,
    PARTICIPANTS,
    QUESTION,
    ROW_LEVEL,
    STIMULUS_OR_NONE,
)
from beholder.analysis.contract import Analysis, Column
from beholder.analysis.means import ScaleEnds, average_by, codes_of, interval_name, scale_ends
from beholder.analysis.ratings import Ratings, as_ratings
from beholder.analysis.result import Result, has_analysis, scoring
from beholder.formats import plain_count
from beholder.stats.clustered import CITATION, Cells, Estimate, Floats, difference_of, mean_of
from beholder.stats.intervals import STUDENT_CITATION, t_bounds

_PAIRED, _UNPAIRED = "paired", "unpaired"
_METRIC = "DMOS(ACR-HR)"
"""What it is called in tables without methods, or whose method does not say."""
_NO_INTERVAL = "too few participants: no interval"
_NAMES = {"none": "", "crush": ", crushed", "clip": ", clipped"}
_GOOD_SOURCE = 0.75
"""How high on its scale a reference should score: 4 of 1 to 5."""


# Differential votes: each participant's votes minus their own vote on the reference (ACR-HR)


Crush: TypeAlias = Literal["none", "crush", "clip"]
"""What becomes of votes that are better than that on the reference."""
_KEYS = ["condition", "content", "stimulus"]


class _DifferentialVotes(NamedTuple):
    """The votes of one question on stimuli under test, and on references; people, contents and stimuli are numbers."""

    tests: pd.DataFrame
    """participant, stimulus, content, value, `reference` (the same participant's vote on it) and `dv`"""
    references: pd.DataFrame
    """participant, content, value"""
    stimuli: pd.DataFrame
    """By its number, the condition, content and stimulus as they are called, and the number of the content."""
    contents: Sequence[str]
    ends: ScaleEnds


def crush_votes(dv: ArrayLike, highest: float, crush: Crush = "crush") -> Floats:
    """Return differential votes with those above the highest vote drawn in: (M + 2) DV / (2 + DV), or cut at M."""
    votes = np.asarray(dv, dtype=float)
    if crush == "none":
        return votes
    above = np.maximum(votes, highest)
    drawn_in = highest if crush == "clip" else (highest + 2) * above / (2 + above)
    return np.where(votes > highest, drawn_in, votes)


def _differential_votes(ratings: Ratings, question: str, crush: Crush) -> _DifferentialVotes:
    """Return the votes of a question, each with the same participant's vote on the reference, if any."""
    votes = ratings.votes[ratings.votes["question"] == question].reset_index(drop=True)
    ends = scale_ends(ratings, question)
    people, value = codes_of(votes["participant"]), votes["value"].to_numpy(float)
    content, contents = pd.factorize(votes["content"])
    is_reference = votes["condition"].isin(ratings.references).to_numpy(bool)
    voted, (by, on) = average_by(value[is_reference], people[is_reference], content[is_reference])
    tests = votes[~is_reference]
    stimulus = np.asarray(tests.groupby(_KEYS, sort=False, observed=True).ngroup(), np.intp)
    people, content, value = people[~is_reference], content[~is_reference], value[~is_reference]
    own = pd.Series(voted, by * len(contents) + on).reindex(people * len(contents) + content).to_numpy(float)
    first = ~pd.Series(stimulus).duplicated().to_numpy()
    return _DifferentialVotes(
        pd.DataFrame(
            {
                "participant": people, "stimulus": stimulus, "content": content, "value": value, "reference": own,
                "dv": crush_votes(value - own + ends.high, ends.high, crush),
            }
        ),
        pd.DataFrame({"participant": by, "content": on, "value": voted}),
        tests[_KEYS].astype(object)[first].reset_index(drop=True).assign(number=content[first]),
        [str(name) for name in contents],
        ends,
    )  # fmt: skip


# The table


def dmos(
    data: pd.DataFrame | Ratings, *, crush: Crush | None = None, questions: Sequence[str] | None = None
) -> Result | None:
    """Return DMOS of every stimulus and condition with its interval; None where no hidden reference was rated.

    A differential vote is a participant's vote minus their vote on the reference plus the highest vote of the scale.
    Where fewer than half of those who rated a stimulus rated its reference too, the difference of the two means takes
    its place, `unpaired`. `crush` is as the study has it, else `none`. `questions` are all of methods that have
    this analysis, or of a table without methods.
    """
    ratings = as_ratings(data)
    crush = crush or ratings.order.settings.crush
    scored = [name for name in ratings.questions if ratings.kinds[name] == "score"]
    known = [name for name in scored if not (method := ratings.methods[name]) or has_analysis(method, "dmos")]
    selected = known if questions is None else list(questions)
    parts, remarks = [], []
    for question in selected:
        votes = _differential_votes(ratings, question, crush)
        if votes.tests.empty or votes.references.empty:
            continue
        stimuli = _stimuli(ratings, votes)
        if stimuli.empty:
            continue
        part = pd.concat([stimuli, _conditions(ratings, votes, stimuli)], ignore_index=True)
        own = scoring(ratings.methods[question]).metrics.get("dmos")
        name = (own.name if own else _METRIC).replace(")", f"{_NAMES[crush]})")
        parts.append(part.assign(question=question, metric=name))
        remarks.append(_reference_remarks(question, votes, stimuli))
    if not parts:
        return None
    table = pd.concat(parts, ignore_index=True)[DMOS.names].astype({"n": int, "participants": int, "contents": int})
    return DMOS.result(table, _note(crush) + "".join(remarks))


DMOS = Analysis(
    "dmos",
    dmos,
    (
        ROW_LEVEL,
        QUESTION, STIMULUS_OR_NONE, CONTENT_OR_NONE, CONDITION, METRIC,
        Column("pairing", "text", "Whether votes are held against the same participant's vote on the reference, or the "
               "two means against each other, as fewer than half rated both.", (_PAIRED, _UNPAIRED)),
        Column("n", "integer", "Votes that it rests on; of a stimulus, participants."),
        PARTICIPANTS, CONTENTS,
        Column("mean", "number", "DMOS: mean of the differential votes."),
        Column("sd", "number", "Standard deviation of the differential votes; empty where unpaired."),
        CI_LOW, CI_HIGH, INTERVAL, NOTE,
    ),
    row="stimulus, then condition (`acr-hr`)",
    holds="DMOS against each participant's own vote on the reference",
    citation=f"ITU-T P.910 (ACR-HR, differential viewer scores); {STUDENT_CITATION}; {CITATION}",
    order=9,
)  # fmt: skip


def _stimuli(ratings: Ratings, votes: _DifferentialVotes) -> pd.DataFrame:
    """Return a row for each stimulus whose reference was rated, conditions in the order of the study."""
    groups = votes.tests.groupby("stimulus")
    stats = groups.agg(n=("value", "size"), both=("dv", "count"), own=("value", "mean"), own_sd=("value", "std"))
    stats = votes.stimuli.join(stats).join(groups["dv"].agg(dv="mean", dv_sd="std"))
    stats = stats.assign(covariance=_covariance(votes))
    reference = votes.references.groupby("content")["value"].agg(["size", "mean", "std"])
    stats = stats.join(reference, on="number", how="inner")
    is_paired = (stats["both"] == stats["n"]) | ((stats["both"] >= 2) & (2 * stats["both"] >= stats["n"]))
    se = np.where(is_paired, stats["dv_sd"] / np.sqrt(stats["both"].clip(lower=1)), np.sqrt(_variance(stats)))
    df = np.where(is_paired, stats["both"], stats[["n", "size"]].min(axis=1)) - 1
    mean = np.where(is_paired, stats["dv"], stats["own"] - stats["mean"] + votes.ends.high)
    bounds = t_bounds(mean, se, df)
    n = np.where(is_paired, stats["both"], stats["n"])
    unpaired_note = (
        "unpaired: " + stats["both"].astype(str) + " of " + stats["n"].astype(str) + " rated the reference too"
    )
    table = stats[_KEYS].assign(
        level="stimulus", pairing=np.where(is_paired, _PAIRED, _UNPAIRED), n=n, participants=n, contents=1, mean=mean,
        sd=np.where(is_paired, stats["dv_sd"], np.nan), ci_low=bounds.low, ci_high=bounds.high,
        interval=np.where(np.isnan(bounds.low), "", interval_name("score", "participants")),
        note=np.where(is_paired, "", unpaired_note + np.where(np.isnan(bounds.low), "; ", ""))
        + np.where(np.isnan(bounds.low), _NO_INTERVAL, ""),
    )  # fmt: skip
    rank = {name: place for place, name in enumerate(ratings.conditions)}
    table = table.sort_values(["content", "stimulus"], kind="stable")
    return table.sort_values("condition", key=lambda names: names.map(rank), kind="stable")


def _covariance(votes: _DifferentialVotes) -> pd.Series:
    """Return the covariance of votes on each stimulus and on its reference among those who rated both, or zero."""
    both = votes.tests[votes.tests["reference"].notna()]
    groups = both.groupby("stimulus")
    centred = both[["value", "reference"]] - groups[["value", "reference"]].transform("mean")
    products = (centred["value"] * centred["reference"]).groupby(both["stimulus"]).sum()
    covariance = products / (groups.size() - 1).clip(lower=1)
    return covariance.reindex(votes.stimuli.index, fill_value=0.0)


def _variance(stats: pd.DataFrame) -> Floats:
    """Return the variance of the difference of two means of which some participants are in both (2.3)."""
    independent = stats["own_sd"] ** 2 / stats["n"] + stats["std"] ** 2 / stats["size"]
    with_covariance = independent - 2 * stats["covariance"] * stats["both"] / (stats["n"] * stats["size"])
    # Over different people the covariance is an estimate, and can exceed what is left of the variances.
    return np.asarray(np.where(with_covariance > 0, with_covariance, independent), np.float64)


def _conditions(ratings: Ratings, votes: _DifferentialVotes, stimuli: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each condition, every content weighing the same, clustered by participant and content."""

    def cells(table: pd.DataFrame, column: str) -> Cells:
        kept = table[table[column].notna()]
        value, *codes = (kept[name].to_numpy() for name in (column, "participant", "content"))
        return Cells(value, *codes)

    rows = []
    for name in [name for name in ratings.conditions if name in set(stimuli["condition"])]:
        own = stimuli[stimuli["condition"] == name]
        mine = votes.tests[votes.tests["stimulus"].isin(own.index)]
        if (own["pairing"] == _UNPAIRED).any():
            references = votes.references[votes.references["content"].isin(mine["content"])]
            estimate = difference_of(cells(mine, "value"), cells(references, "value"))
            rows.append(_row(name, estimate, _UNPAIRED, len(mine), float("nan"), votes.ends.high))
        else:
            estimate = mean_of(cells(mine, "dv"))
            rows.append(_row(name, estimate, _PAIRED, estimate.n, float(mine["dv"].std()), 0.0))
    return pd.DataFrame(rows)


def _row(name: str, estimate: Estimate, pairing: str, n: int, sd: float, above: float) -> dict[str, object]:
    has_interval = not np.isnan(estimate.low) and estimate.participants > 1
    notes = ["unpaired: difference of the means"] * (pairing == _UNPAIRED)
    notes += [_NO_INTERVAL] * (not has_interval)
    notes += ["one content: interval over participants only"] * (has_interval and estimate.contents == 1)
    return {
        "level": "condition", "stimulus": "", "content": "", "condition": name, "pairing": pairing, "n": n,
        "participants": estimate.participants, "contents": estimate.contents, "mean": estimate.mean + above, "sd": sd,
        "ci_low": estimate.low + above if has_interval else np.nan,
        "ci_high": estimate.high + above if has_interval else np.nan,
        "interval": interval_name("score", estimate.over) if has_interval else "", "note": "; ".join(notes),
    }  # fmt: skip


def _note(crush: Crush) -> str:
    treated = {
        "none": "are kept as they are",
        "crush": "are drawn in by (M + 2) DV / (2 + DV)",
        "clip": "are cut at M",
    }
    return (
        "DV = vote - the same participant's vote on the reference of that content + M, M being the highest vote of the "
        f"scale; DV above M (better than the reference) {treated[crush]}. DMOS is the mean of DV: of a stimulus with "
        "95 % Student t over participants, of a condition with every content weighing the same and an error clustered "
        "by participant and content. The reference has M by construction and no row. Where fewer than half of those "
        "who rated a stimulus rated its reference too, DMOS is the difference of the two means plus M, marked "
        "unpaired; its error takes the covariance from those who rated both, and nothing is drawn in or cut."
    )


def _reference_remarks(question: str, votes: _DifferentialVotes, stimuli: pd.DataFrame) -> str:
    """Return what is odd about the references of a question."""
    low, high, is_declared = votes.ends
    remarks = "" if is_declared else f" {question}: the table does not tell M; it is taken as {high:g}."
    above = votes.tests["value"] > votes.tests["reference"]
    share = float(above.sum()) / max(1, int(votes.tests["reference"].notna().sum()))
    remarks += f" {question}: {100 * share:.1f} % of the votes are above that on the reference." if share else ""
    means = votes.references.groupby("content")["value"].mean()
    least = low + _GOOD_SOURCE * (high - low)
    names = [votes.contents[number] for number in means.index]
    poor = [f"{name} ({mean:.2f})" for name, mean in zip(names, means, strict=True) if mean < least]
    if poor:
        remarks += f" {question}: the reference scores below {least:g} for {', '.join(poor)}: a poor source."
    without = len(votes.stimuli) - len(stimuli)
    if without:
        remarks += f" {question}: nobody rated the reference of {plain_count(without, 'stimulus', 'stimuli')}."
    return remarks
