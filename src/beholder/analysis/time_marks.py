"""Time marks: rates, differences, densities over the clips with their peaks, agreement, and who marks how much."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from beholder.analysis.columns import (
    CI_HIGH,
    CI_LOW,
    CONDITION,
    CONDITION_OR_ALL,
    CONTENT,
    CONTENTS,
    NOTE,
    OTHER_CONDITION,
    P_HOLM,
    PARTICIPANT,
    PARTICIPANTS,
    STIMULI,
    THESE_HIGH,
    THESE_LOW,
    P,
    bounds,
)
from beholder.analysis.contract import Analysis, Column
from beholder.analysis.means import codes_of
from beholder.analysis.ratings import Ratings, as_ratings
from beholder.analysis.result import Result
from beholder.files import read_cells
from beholder.stats.clustered import CITATION as CLUSTERED
from beholder.stats.clustered import Cells, difference_of, mean_of
from beholder.stats.correlation import bootstrap_counts
from beholder.stats.marked_times import (
    AGREEMENT_CITATION,
    DENSITY_CITATION,
    Disagreement,
    claimed_steps,
    density_peaks,
    disagreement,
    kappa_of,
    mark_density,
    step_centres,
)
from beholder.stats.tests import HOLM_CITATION, holm, robust_z
from beholder.study.cleaning import MarkAnalysis
from beholder.types import UNRATED_ROLES

DRAWS, SEED = 1000, 1
_DENSITY_STEP_S = 0.1
_MOST_PEAKS = 3
_FEWEST_STIMULI = 3
"""Fewer marked stimuli say too little of others like them for an interval."""
_FEWEST_AT_PEAK = 2
"""A peak is where so many people marked: what one person marked is in marks.csv."""
_FAR = 3.5
"""Modified z-scores above this are far off (Iglewicz and Hoaglin 1993)."""
_FEWEST_PEOPLE = 8
"""With fewer people nobody can be told to be far off the others."""
FAR_CITATION = "Iglewicz and Hoaglin (1993), How to Detect and Handle Outliers"


@dataclass(frozen=True)
class MarkData:
    """The marks of a study that are used, and everything that could be marked by those who are used."""

    marks: pd.DataFrame
    """participant, content, condition, stimulus, slot, position, session, seconds, label"""
    viewings: pd.DataFrame
    """The same without seconds and label, with length_s and marks"""
    settings: MarkAnalysis

    @property
    def labels(self) -> tuple[str, ...]:
        """All of them together, as an empty text, and then each where there are several."""
        names = sorted(set(self.marks["label"]))
        return ("", *(names if len(names) > 1 else ()))


_TEXTS = ("participant", "session", "position", "content", "condition", "stimulus", "slot")


def read_time_marks(clean: Path, settings: MarkAnalysis | None) -> MarkData | None:
    """Return the marks in a folder clean/; None where nobody could mark anything."""
    if not (clean / "viewings.csv").is_file():
        return None
    marks, viewings = (_kept(read_cells(clean / f"{name}.csv")) for name in ("marks", "viewings"))
    return MarkData(
        marks[[*_TEXTS, "label"]].assign(seconds=marks["ms"].astype(float) / 1000),
        viewings[[*_TEXTS]].assign(
            length_s=viewings["length_ms"].astype(float) / 1000, marks=viewings["marks"].astype(int)
        ),
        settings or MarkAnalysis(),
    )


def _kept(table: pd.DataFrame) -> pd.DataFrame:
    return table[(table["kept"] == "true") & ~table["role"].isin(UNRATED_ROLES)].reset_index(drop=True)


class _Marked(NamedTuple):
    """The marks of ratings, with the conditions in the order of the study."""

    data: MarkData
    conditions: tuple[str, ...]
    contents: tuple[str, ...]


def _known(data: pd.DataFrame | Ratings) -> _Marked | None:
    ratings = as_ratings(data)
    marks = ratings.marks
    if marks is None or marks.viewings.empty:
        return None
    shown = set(marks.viewings["condition"])
    listed = [name for name in ratings.conditions if name in shown]
    return _Marked(marks, (*listed, *sorted(shown - set(listed))), tuple(sorted(set(marks.viewings["content"]))))


# Rates


def _rates(known: _Marked, label: str) -> pd.DataFrame:
    """Return the marks per minute of clip of each participant and stimulus, several viewings averaged."""
    marks, viewings = known.data.marks, known.data.viewings
    keys = ["session", "position", "slot"]
    mine = marks if not label else marks[marks["label"] == label]
    counted = viewings[keys].merge(mine.groupby(keys).size().rename("found").reset_index(), how="left", on=keys)
    rate = counted["found"].fillna(0).to_numpy(float) / (viewings["length_s"].to_numpy(float) / 60)
    table = viewings.assign(rate=rate, any=(counted["found"].fillna(0) > 0).to_numpy(float))
    grouped = table.groupby(["condition", "content", "participant"], sort=True)
    return grouped.agg(rate=("rate", "mean"), any=("any", "mean"), viewings=("rate", "size")).reset_index()


def _cells(known: _Marked, rates: pd.DataFrame) -> Mapping[str, Cells]:
    people = codes_of(rates["participant"])
    contents = codes_of(rates["content"], known.contents)
    value = rates["rate"].to_numpy(float)
    places = {name: np.flatnonzero(rates["condition"] == name) for name in known.conditions}
    return {name: Cells(value[at], people[at], contents[at]) for name, at in places.items()}


def mark_rates(data: pd.DataFrame | Ratings) -> Result | None:
    """Return how many marks a minute of each condition gets, with intervals; None where nobody could mark."""
    known = _known(data)
    if known is None:
        return None
    ratings = as_ratings(data)
    rows = []
    for label in known.data.labels:
        rates = _rates(known, label)
        for name, cells in _cells(known, rates).items():
            part = rates[rates["condition"] == name]
            both, these = (mean_of(cells, over, level=ratings.level) for over in ("both", "participants"))
            is_known = both.se > 0
            rows.append(
                {
                    "condition": name, "label": label, "participants": both.participants, "contents": both.contents,
                    "viewings": int(part["viewings"].sum()), "marks": _count(known, name, label),
                    "marked": float((part["any"] * part["viewings"]).sum() / part["viewings"].sum()),
                    "rate": both.mean,
                    "ci_low": max(0.0, both.low) if is_known else math.nan,
                    "ci_high": both.high if is_known else math.nan,
                    "these_low": max(0.0, these.low) if these.se > 0 else math.nan,
                    "these_high": these.high if these.se > 0 else math.nan,
                    "note": "" if is_known else "no mark: no interval" if not both.mean else "no interval",
                }
            )  # fmt: skip
    note = (
        "rate: marks per minute of clip and viewing, first within each participant and stimulus, contents weighing the "
        "same. Intervals: Student t with errors clustered by participant and content; these: other people, the same "
        "contents. No interval goes below 0. Watching a clip again adds no time."
    )
    return MARK_RATES.result(pd.DataFrame(rows, columns=MARK_RATES.names), note + ratings.look_note)


def _count(known: _Marked, condition: str, label: str) -> int:
    marks = known.data.marks
    return int(((marks["condition"] == condition) & ((marks["label"] == label) | (label == ""))).sum())


def mark_contrasts(data: pd.DataFrame | Ratings) -> Result | None:
    """Return how many marks a minute one condition gets more than another; None with fewer than two conditions."""
    known = _known(data)
    if known is None or len(known.conditions) < 2:
        return None
    named = as_ratings(data).order.settings.contrasts
    pairs = [pair for pair in named if set(pair) <= set(known.conditions)] or list(combinations(known.conditions, 2))
    rows = []
    for label in known.data.labels:
        cells = _cells(known, _rates(known, label))
        found = [(one, other, difference_of(cells[one], cells[other])) for one, other in pairs]
        corrected = holm([found_one.p for *_, found_one in found])
        for (one, other, estimate), p_holm in zip(found, corrected, strict=True):
            is_known = estimate.se > 0
            rows.append(
                {
                    "condition": one, "other_condition": other, "label": label, "difference": estimate.mean,
                    "ci_low": estimate.low if is_known else math.nan,
                    "ci_high": estimate.high if is_known else math.nan,
                    "p": estimate.p if is_known else math.nan, "p_holm": float(p_holm) if is_known else math.nan,
                }
            )  # fmt: skip
    note = (
        "difference: marks per minute of the first condition minus those of the other. Student t with errors clustered "
        "by participant and content; p_holm: Holm's correction over the pairs of a label."
    )
    return MARK_CONTRASTS.result(pd.DataFrame(rows, columns=MARK_CONTRASTS.names), note)


# Densities and peaks


class _MarkedClip(NamedTuple):
    """One stimulus: who could mark it, and what they marked, in seconds with the lag taken off."""

    content: str
    condition: str
    viewers: tuple[str, ...]
    length_s: float
    seconds: np.ndarray[Any, np.dtype[np.float64]]
    person: np.ndarray[Any, np.dtype[np.intp]]
    label: np.ndarray[Any, np.dtype[np.object_]]


def _clips(known: _Marked) -> Iterator[_MarkedClip]:
    viewings, marks, lag = known.data.viewings, known.data.marks, known.data.settings.lag
    shown = dict(list(viewings.groupby(["content", "condition"])))
    marked = dict(list(marks.groupby(["content", "condition"])))
    for content in known.contents:
        for condition in known.conditions:
            seen = shown.get((content, condition))
            if seen is None:
                continue
            viewers = tuple(sorted(set(seen["participant"])))
            mine = marked.get((content, condition), marks.iloc[:0])
            length = float(seen["length_s"].max())
            yield _MarkedClip(
                content, condition, viewers, length,
                np.clip(mine["seconds"].to_numpy(float) - lag, 0.0, length),
                codes_of(mine["participant"], viewers), mine["label"].to_numpy(object),
            )  # fmt: skip


def _of_label(clip: _MarkedClip, label: str) -> _MarkedClip:
    if not label:
        return clip
    at = clip.label == label
    return clip._replace(seconds=clip.seconds[at], person=clip.person[at], label=clip.label[at])


def _density_note(settings: MarkAnalysis) -> str:
    lag = f"{settings.lag:g} s were taken off every mark" if settings.lag else "reaction time is not taken off"
    kernel = f"Gaussian kernel with a standard deviation of {settings.bandwidth:g} s"
    return f"{kernel}, reflected at both ends of the clip; {lag}."


def mark_density_table(data: pd.DataFrame | Ratings) -> Result | None:
    """Return the density of marks over each stimulus; None where nobody could mark."""
    known = _known(data)
    if known is None:
        return None
    bandwidth = known.data.settings.bandwidth
    parts = []
    for clip in _clips(known):
        at = step_centres(clip.length_s, _DENSITY_STEP_S)
        for label in known.data.labels:
            mine = _of_label(clip, label)
            if label and not len(mine.seconds):
                continue
            density = mark_density(mine.seconds, len(clip.viewers), at, clip.length_s, bandwidth)
            head = {"content": clip.content, "condition": clip.condition, "label": label, "n": len(clip.viewers)}
            parts.append(pd.DataFrame({**head, "seconds": at.round(4), "density": density.round(6)}))
    note = f"density: marks per second and participant. {_density_note(known.data.settings)}"
    return MARK_DENSITY.result(pd.concat(parts, ignore_index=True)[MARK_DENSITY.names], note)


def mark_peaks(data: pd.DataFrame | Ratings) -> Result | None:
    """Return where most people mark each stimulus; None where nobody could mark."""
    known = _known(data)
    if known is None:
        return None
    settings = known.data.settings
    rows = []
    for clip in _clips(known):
        at = step_centres(clip.length_s)
        for label in known.data.labels:
            mine = _of_label(clip, label)
            density = mark_density(mine.seconds, len(clip.viewers), at, clip.length_s, settings.bandwidth)
            found: list[dict[str, Any]] = []
            for place in density_peaks(density):
                near = np.abs(mine.seconds - at[place]) <= settings.tolerance
                people = len(set(mine.person[near].tolist()))
                is_apart = all(abs(one["seconds"] - at[place]) > settings.tolerance for one in found)
                if people < _FEWEST_AT_PEAK or not is_apart:
                    continue
                found.append(
                    {
                        "content": clip.content, "condition": clip.condition, "label": label,
                        "seconds": round(float(at[place]), 3), "density": float(density[place]),
                        "marks": int(near.sum()), "participants": people, "n": len(clip.viewers),
                        "share": people / len(clip.viewers),
                    }
                )  # fmt: skip
                if len(found) == _MOST_PEAKS:
                    break
            rows += found
    note = (
        f"Up to {_MOST_PEAKS} highest peaks of the density of a stimulus that are more than {settings.tolerance:g} s "
        f"apart and near which {_FEWEST_AT_PEAK} people or more marked. {_density_note(settings)}"
    )
    return MARK_PEAKS.result(pd.DataFrame(rows, columns=MARK_PEAKS.names), note)


# Agreement


def mark_agreement(data: pd.DataFrame | Ratings) -> Result | None:
    """Return how far people mark the same places, under all conditions and under each; None where nobody could mark."""
    known = _known(data)
    if known is None:
        return None
    clips = list(_clips(known))
    settings = known.data.settings
    rows = []
    for label in known.data.labels:
        found = [_agreement(_of_label(clip, label), settings.tolerance) for clip in clips]
        for name in ("", *known.conditions):
            chosen = [one for clip, one in zip(clips, found, strict=True) if name in ("", clip.condition)]
            if chosen:
                rows.append({"condition": name, "label": label, **_agreement_row(chosen)})
    note = (
        f"Every mark claims the time up to {settings.tolerance:g} s before and after it. kappa: the exact kappa for "
        "many raters, over steps of 0.05 s, of pairs of participants who saw the same stimulus; chance is what a pair "
        "with as much claimed time would share had each put it anywhere in this clip. 1 if all agree, about 0 as by "
        f"chance, NaN where nobody could disagree; 95 % bootstrap over stimuli ({DRAWS:,} draws, seed {SEED})."
    )
    return MARK_AGREEMENT.result(pd.DataFrame(rows, columns=MARK_AGREEMENT.names), note)


class _Agreed(NamedTuple):
    viewers: tuple[str, ...]
    marks: int
    claimed: float
    sums: Disagreement


def _agreement(clip: _MarkedClip, tolerance: float) -> _Agreed:
    at = step_centres(clip.length_s)
    claimed = claimed_steps(clip.seconds, clip.person, len(clip.viewers), at, tolerance)
    return _Agreed(clip.viewers, len(clip.seconds), float(claimed.mean()), disagreement(claimed))


def _agreement_row(found: list[_Agreed]) -> dict[str, Any]:
    observed, expected = (np.array([one.sums[part] for one in found]) for part in (0, 1))
    row: dict[str, Any] = {
        "participants": len({name for one in found for name in one.viewers}), "stimuli": len(found),
        "marks": sum(one.marks for one in found), "claimed": float(np.mean([one.claimed for one in found])),
        "kappa": float(kappa_of(observed.sum(), expected.sum())[0]), "kappa_low": math.nan, "kappa_high": math.nan,
    }  # fmt: skip
    if int((expected > 0).sum()) >= _FEWEST_STIMULI:
        counts = bootstrap_counts(len(found), SEED, DRAWS)
        drawn = kappa_of(counts @ observed, counts @ expected)
        drawn = drawn[np.isfinite(drawn)]
        if len(drawn) >= DRAWS / 2:
            row["kappa_low"], row["kappa_high"] = (float(end) for end in np.quantile(drawn, [0.025, 0.975]))
    return row


# People


def markers(data: pd.DataFrame | Ratings) -> Result | None:
    """Return how much each participant marks, and who is far off all others; None where nobody could mark."""
    known = _known(data)
    if known is None:
        return None
    grouped = known.data.viewings.groupby("participant", sort=True)
    table = grouped.agg(viewings=("marks", "size"), marks=("marks", "sum"), length=("length_s", "sum")).reset_index()
    rate = table["marks"].to_numpy(float) / (table["length"].to_numpy(float) / 60)
    table = table.assign(rate=rate, far=far_off(rate))[MARKERS.names]
    note = (
        "rate: marks per minute of clip. far: the square root of the rate is further from the median of all "
        f"participants than {_FAR:g} by the modified z-score; never with fewer than {_FEWEST_PEOPLE} participants, nor "
        "where most mark alike. It tells whom to look at, and costs nobody anything: to mark nothing, or much, can be "
        "honest."
    )
    return MARKERS.result(table, note)


def far_off(rates: np.ndarray[Any, np.dtype[np.float64]]) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return whose rate is far off all others; the root makes the spread of counts about the same for all."""
    away = robust_z(np.sqrt(rates)) if len(rates) >= _FEWEST_PEOPLE else None
    return np.zeros(len(rates), dtype=np.bool_) if away is None else np.asarray(np.abs(away) > _FAR)


# The tables


LABEL = Column("label", "text", "What the marks say; empty in rows of all labels together.")
_VIEWERS = Column("n", "integer", "Participants who saw the stimulus.")
_MARKS = Column("marks", "integer", "Marks.")
_SECONDS = Column("seconds", "number", "Time in the clip.")
_DENSITY = Column("density", "number", "Marks per second and participant.")
MARK_RATES = Analysis(
    "mark_rates",
    mark_rates,
    (
        CONDITION,
        LABEL,
        PARTICIPANTS,
        CONTENTS,
        Column("viewings", "integer", "How often a participant saw one of its stimuli."),
        _MARKS,
        Column("marked", "number", "Share of these viewings with at least one mark."),
        Column("rate", "number", "Marks per minute of clip and viewing."),
        CI_LOW,
        CI_HIGH,
        THESE_LOW,
        THESE_HIGH,
        NOTE,
    ),
    row="condition, and condition and label",
    holds="how often each condition was marked",
    citation=CLUSTERED,
    order=50,
    holds_at_looks=True,
)
MARK_CONTRASTS = Analysis(
    "mark_contrasts",
    mark_contrasts,
    (
        CONDITION,
        OTHER_CONDITION,
        LABEL,
        Column("difference", "number", "Marks per minute: the first minus the other."),
        CI_LOW,
        CI_HIGH,
        P,
        P_HOLM,
    ),
    row="pair of conditions, and pair and label",
    holds="differences in how often conditions were marked",
    citation=f"{CLUSTERED}; {HOLM_CITATION}",
    order=51,
)
MARK_DENSITY = Analysis(
    "mark_density",
    mark_density_table,
    (
        CONTENT,
        CONDITION,
        LABEL,
        _VIEWERS,
        _SECONDS,
        _DENSITY,
    ),
    row="tenth of a second of a stimulus, and label",
    holds="where each stimulus was marked",
    citation=DENSITY_CITATION,
    order=52,
)
MARK_PEAKS = Analysis(
    "mark_peaks",
    mark_peaks,
    (
        CONTENT,
        CONDITION,
        LABEL,
        _SECONDS,
        _DENSITY,
        Column("marks", "integer", "Marks within the tolerance of it."),
        Column("participants", "integer", "Participants who set them."),
        _VIEWERS,
        Column("share", "number", "Share of those who saw the stimulus who marked near it."),
    ),
    row="peak of the density of a stimulus",
    holds="the places that most people marked",
    citation=DENSITY_CITATION,
    order=53,
)
MARK_AGREEMENT = Analysis(
    "mark_agreement",
    mark_agreement,
    (
        CONDITION_OR_ALL,
        LABEL,
        PARTICIPANTS,
        STIMULI,
        _MARKS,
        Column("claimed", "number", "Share of the time of the clips that a participant's marks claim, on average."),
        Column("kappa", "number", "Agreement beyond chance on what is claimed; empty where nobody could disagree."),
        *bounds("kappa", "its 95 % interval, a bootstrap over stimuli"),
    ),
    row="condition and label, and label",
    holds="how far people mark the same places",
    citation=AGREEMENT_CITATION,
    seed=SEED,
    order=54,
)
MARKERS = Analysis(
    "markers",
    markers,
    (
        PARTICIPANT,
        Column("viewings", "integer", "How many stimuli they could mark."),
        _MARKS,
        Column("rate", "number", "Marks per minute of clip."),
        Column("far", "boolean", "Whether that is far off all others: to look at, without consequence."),
    ),
    row="participant",
    holds="how much each participant marks",
    citation=FAR_CITATION,
    order=55,
)
