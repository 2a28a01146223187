"""dmos: votes minus each participant's own vote on the reference, hidden (ACR-HR) or an original among the conditions.

Reference: statistics 2.3.
"""

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
    THESE_HIGH,
    THESE_LOW,
)
from beholder.analysis.contract import Analysis, Column
from beholder.analysis.means import ScaleEnds, average_by, codes_of, interval_name, scale_ends
from beholder.analysis.ratings import Ratings, as_ratings
from beholder.analysis.result import Result, has_analysis, scoring, takes_dmos
from beholder.formats import plain_count
from beholder.stats.additive import CITATION, AdditiveContrasts
from beholder.stats.clustered import Cells, Floats, Over, mean_of
from beholder.stats.intervals import STUDENT_CITATION, t_bounds

_PAIRED, _ADDITIVE = "paired", "all ratings"
_METRIC = "DMOS(ACR-HR)"
"""What it is called in tables without methods, or whose method does not say."""
_NO_INTERVAL = "too few participants: no interval"
_NAMES = {"none": "", "crush": ", crushed", "clip": ", clipped"}
_GOOD_SOURCE = 0.75
_EQUAL = 1e-9
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


def _differential_votes(
    ratings: Ratings, question: str, crush: Crush, references: frozenset[str]
) -> _DifferentialVotes:
    """Return the votes of a question, each with the same participant's vote on the reference, if any."""
    votes = ratings.votes[ratings.votes["question"] == question].reset_index(drop=True)
    ends = scale_ends(ratings, question)
    people, value = codes_of(votes["participant"]), votes["value"].to_numpy(float)
    content, contents = pd.factorize(votes["content"])
    is_reference = votes["condition"].isin(references).to_numpy(bool)
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
    data: pd.DataFrame | Ratings,
    *,
    crush: Crush | None = None,
    questions: Sequence[str] | None = None,
    original: str | None = None,
) -> Result | None:
    """Return DMOS of every stimulus and condition with its interval; None where no reference was rated.

    A differential vote is a participant's vote minus their vote on the reference plus the highest vote of the scale.
    Where some who rated a stimulus did not rate its reference, DMOS comes from all ratings: the difference of the two
    by additive least squares, plus the highest vote. Votes that are drawn in or cut are always paired. `crush` is as
    the study has it, else `none`. `original` is the condition that takes the part of the reference, as the study has it
    (`analyse: {dmos: natural}`); else the reference of the table. `questions` are all of methods that have this
    analysis, or can have it where an original is named, or of a table without methods.
    """
    ratings = as_ratings(data)
    crush = crush or ratings.order.settings.crush
    scored = [name for name in ratings.questions if ratings.kinds[name] == "score"]
    original = original or ratings.order.settings.dmos
    references = ratings.references if original is None else frozenset({original})
    is_made = takes_dmos if original is not None else _has_dmos
    known = [name for name in scored if not (method := ratings.methods[name]) or is_made(method)]
    selected = known if questions is None else list(questions)
    parts, remarks = [], []
    for question in selected:
        votes = _differential_votes(ratings, question, crush, references)
        if votes.tests.empty or votes.references.empty:
            continue
        stimuli = _stimuli(ratings, votes, is_plain=crush == "none")
        if stimuli.empty:
            continue
        by_condition = _from_all(ratings, votes, stimuli) if crush == "none" else _from_pairs(ratings, votes, stimuli)
        part = pd.concat([stimuli, by_condition], ignore_index=True)
        own = scoring(ratings.methods[question]).metrics.get("dmos")
        name = (own.name if own else _METRIC).replace(")", f"{_NAMES[crush]})")
        parts.append(part.assign(question=question, metric=name))
        remarks.append(_reference_remarks(question, votes, stimuli))
    if not parts:
        return None
    table = pd.concat(parts, ignore_index=True)[DMOS.names].astype({"n": int, "participants": int, "contents": int})
    return DMOS.result(table, _note(crush) + "".join(remarks))


def _has_dmos(method: str) -> bool:
    return has_analysis(method, "dmos")


DMOS = Analysis(
    "dmos",
    dmos,
    (
        ROW_LEVEL,
        QUESTION, STIMULUS_OR_NONE, CONTENT_OR_NONE, CONDITION, METRIC,
        Column("pairing", "text", "Whether every vote is held against the same participant's vote on the reference, or "
               "the two are compared on all ratings, as not all who rated a content rated both.", (_PAIRED, _ADDITIVE)),
        Column("n", "integer", "Votes that it rests on; of a stimulus, participants."),
        PARTICIPANTS, CONTENTS,
        Column("mean", "number", "DMOS: mean of the differential votes, or the difference on all ratings plus the "
               "highest vote."),
        Column("sd", "number", "Standard deviation of the differential votes; empty where some did not rate the "
               "reference."),
        CI_LOW, CI_HIGH, THESE_LOW, THESE_HIGH, INTERVAL, NOTE,
    ),
    row="stimulus, then condition (`acr-hr`, or with `analyse: {dmos: ...}`)",
    holds="DMOS against each participant's own vote on the reference",
    citation=f"ITU-T P.910 (ACR-HR, differential viewer scores); {STUDENT_CITATION}; {CITATION}",
    order=9,
)  # fmt: skip


def _stimuli(ratings: Ratings, votes: _DifferentialVotes, *, is_plain: bool) -> pd.DataFrame:
    """Return a row for each stimulus whose reference was rated, conditions in the order of the study."""
    groups = votes.tests.groupby("stimulus")
    stats = groups.agg(n=("value", "size"), both=("dv", "count")).join(groups["dv"].agg(dv="mean", dv_sd="std"))
    stats = votes.stimuli.join(stats)
    stats = stats[stats["number"].isin(votes.references["content"])]
    if not is_plain:
        stats = stats[stats["both"] > 0]
    is_paired = (stats["both"] == stats["n"]).to_numpy() | (not is_plain)
    paired = t_bounds(stats["dv"], stats["dv_sd"] / np.sqrt(stats["both"].clip(lower=1)), stats["both"] - 1)
    mean, low, high = _stimulus_contrasts(votes, stats) if not is_paired.all() else (np.full(len(stats), np.nan),) * 3
    low, high = np.where(is_paired, paired.low, low), np.where(is_paired, paired.high, high)
    low, high = np.maximum(low, votes.ends.low), np.minimum(high, 2 * votes.ends.high - votes.ends.low)
    some = stats["both"].astype(str) + " of " + stats["n"].astype(str) + " rated the reference too"
    n = np.where(is_paired, stats["both"], stats["n"])
    has_none = np.isnan(low)
    table = stats[_KEYS].assign(
        level="stimulus", pairing=np.where(is_paired, _PAIRED, _ADDITIVE), n=n, participants=n, contents=1,
        mean=np.where(is_paired, stats["dv"], mean), sd=np.where(is_paired, stats["dv_sd"], np.nan), ci_low=low,
        ci_high=high, these_low=low, these_high=high,
        interval=np.where(has_none, "", interval_name("score", "participants")),
        note=np.where(stats["both"] == stats["n"], "", some + np.where(has_none, "; ", ""))
        + np.where(has_none, _NO_INTERVAL, ""),
    )  # fmt: skip
    rank = {name: place for place, name in enumerate(ratings.conditions)}
    table = table.sort_values(["content", "stimulus"], kind="stable")
    return table.sort_values("condition", key=lambda names: names.map(rank), kind="stable")


def _stimulus_contrasts(votes: _DifferentialVotes, stats: pd.DataFrame) -> tuple[Floats, Floats, Floats]:
    """Return DMOS of every stimulus from all ratings, with the ends of its interval over people."""
    # A reference is a stimulus of its content; the number of a stimulus under test is its place in the table.
    size = len(votes.stimuli)
    tests, references = votes.tests, votes.references
    people, value = (np.concatenate([tests[name], references[name]]) for name in ("participant", "value"))
    shown = np.concatenate([tests["stimulus"], size + references["content"]]).astype(np.intp)
    pairs = [(int(one), size + int(content)) for one, content in zip(stats.index, stats["number"], strict=True)]
    value, (shown, people) = average_by(value, shown, people.astype(np.intp))
    design = AdditiveContrasts(people, np.zeros_like(people), shown, pairs)
    result, top = design.estimate(value[np.newaxis]), votes.ends.high
    return result.difference[0] + top, result.these.low[0] + top, result.these.high[0] + top


def _from_all(ratings: Ratings, votes: _DifferentialVotes, stimuli: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each condition: its difference from the reference on all ratings, plus the highest vote."""
    names = [name for name in ratings.conditions if name in set(stimuli["condition"])]
    tests = votes.tests[votes.tests["stimulus"].isin(stimuli.index)]
    references = votes.references[votes.references["content"].isin(tests["content"])]
    place = codes_of(votes.stimuli["condition"], names)[tests["stimulus"].to_numpy()]
    condition = np.concatenate([place, np.full(len(references), len(names))]).astype(np.intp)
    people, content, value = (
        np.concatenate([tests[name], references[name]]) for name in ("participant", "content", "value")
    )
    value, (condition, people, content) = average_by(value, condition, people.astype(np.intp), content.astype(np.intp))
    design = AdditiveContrasts(people, content, condition, [(code, len(names)) for code in range(len(names))])
    result, top = design.estimate(value[np.newaxis], level=ratings.level), votes.ends.high
    rows = []
    for column, name in enumerate(names):
        mine = tests[place == column]
        mean = float(result.difference[0, column]) + top
        # Where everybody rated all of a content, or nothing of it, both ways give the same.
        own = float(mine.groupby("content")["dv"].mean().mean()) if mine["dv"].notna().all() else float("nan")
        is_paired = abs(own - mean) < _EQUAL
        ends = [float(end[0, column]) + top for end in (result.beyond.low, result.beyond.high)]
        these = [float(end[0, column]) + top for end in (result.these.low, result.these.high)]
        rows.append(
            _row(
                votes, name, mean, ends, these, len(mine),
                int(mine["participant"].nunique()), int(mine["content"].nunique()),
                float(mine["dv"].std()) if own == own else float("nan"), _PAIRED if is_paired else _ADDITIVE,
            )
        )  # fmt: skip
    return pd.DataFrame(rows)


def _from_pairs(ratings: Ratings, votes: _DifferentialVotes, stimuli: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each condition from votes that are drawn in or cut, which must be paired."""
    rows = []
    for name in [name for name in ratings.conditions if name in set(stimuli["condition"])]:
        mine = votes.tests[votes.tests["stimulus"].isin(stimuli[stimuli["condition"] == name].index)]
        mine = mine[mine["dv"].notna()]
        cells = Cells(*(mine[column].to_numpy() for column in ("dv", "participant", "content")))
        both, these = mean_of(cells, level=ratings.level), mean_of(cells, "participants", level=ratings.level)
        rows.append(
            _row(
                votes, name, both.mean, [both.low, both.high], [these.low, these.high], both.n, both.participants,
                both.contents, float(mine["dv"].std()), _PAIRED,
            )
        )  # fmt: skip
    return pd.DataFrame(rows)


def _row(
    votes: _DifferentialVotes, name: str, mean: float, ends: Sequence[float], these: Sequence[float], n: int,
    participants: int, contents: int, sd: float, pairing: str,
) -> dict[str, object]:  # fmt: skip
    has_interval = not np.isnan(these[0]) and participants > 1
    over: Over = "both" if contents > 1 else "participants"
    notes = [_NO_INTERVAL] * (not has_interval)
    notes += ["one content: interval over participants only"] * (has_interval and contents == 1)
    limits = votes.ends.low, 2 * votes.ends.high - votes.ends.low
    cut = [float(np.clip(end, *limits)) if has_interval else float("nan") for end in (*ends, *these)]
    return {
        "level": "condition", "stimulus": "", "content": "", "condition": name, "pairing": pairing, "n": n,
        "participants": participants, "contents": contents, "mean": mean, "sd": sd, "ci_low": cut[0],
        "ci_high": cut[1], "these_low": cut[2], "these_high": cut[3],
        "interval": interval_name("score", over) if has_interval else "", "note": "; ".join(notes),
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
        "95 % Student t over participants. Where some who rated a stimulus did not rate its reference, DMOS is the "
        "difference of the two on all ratings, by additive least squares of participant and stimulus, plus M; votes "
        "that are drawn in or cut are always paired. Of a condition it is the difference from the reference on all "
        "ratings plus M, as in pairs: ci_low and ci_high are for people and contents like these, these_low and "
        "these_high for these contents. The reference has M by construction and no row."
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
