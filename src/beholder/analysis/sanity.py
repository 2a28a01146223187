"""Sanity of tables from elsewhere: what ratings or means cannot be, or hardly ever are, where nobody made a mistake."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from beholder.analysis.rating_values import RatingScale, evident_scale
from beholder.analysis.result import asks_for_order
from beholder.formats import first_names, number, plain_count, plural

_SHOWN = 3
_FEWEST_OF_STIMULUS = 3
_FEWEST_OF_PERSON = 5
_FEWEST_ALIKE = 8
_FEWEST_PAGES = 4
_ROUNDING = 1e-9
_MOST_DECIMALS = 4
"""Of a mean that was rounded for print; longer ones may be means of means."""
LOOKED_FOR = (
    "stimuli without variance, doubled rows, participants with one value throughout, participants who answered alike"
)
MEANS_LOOKED_FOR = "means outside the scale, deviations that are too large, means that whole votes cannot give"


class SanityFinding(NamedTuple):
    """What is odd in a table, in a sentence, and what it may mean."""

    name: str
    words: str
    meaning: str

    def __str__(self) -> str:
        return f"{self.words} {self.meaning}".strip()


def rating_findings(table: pd.DataFrame) -> list[SanityFinding]:
    """Return what is odd in a table of ratings, the worst first."""
    rated = table[table["value"].notna()]
    if "kind" in rated and not rated.empty:
        rated = rated[rated["kind"].isin(("score", ""))]
        if rated.empty:  # comparisons alone
            return []
    if rated.empty:
        words = "No row has a value: every cell is empty or stands for a missing answer."
        return [SanityFinding("No ratings", words, "Is another column the value?")] if len(table) else []
    return [
        *_doubled(rated), *_ranks(rated), *_alike(rated), *_one_value(rated), *_without_variance(rated),
        *_lonely(rated),
    ]  # fmt: skip


def _doubled(rated: pd.DataFrame) -> Iterator[SanityFinding]:
    """Yield ratings of one stimulus by one person that no column tells apart."""
    keys = ["participant", "question", "condition", "content"]
    apart = ("stimulus", "other_condition", "repetition", "run", "session", "trial")
    keys += [name for name in apart if name in rated and rated[name].nunique() > 1]
    keys += [str(name) for name in rated if str(name).startswith("factor_")]
    again = rated[rated.duplicated(keys, keep="first")]
    if again.empty:
        return
    same = int(rated.duplicated([*keys, "value"], keep="first").sum())
    people = again["participant"].unique()
    who = f"of {first_names(list(map(str, people)), _SHOWN)}"
    if same:
        words = f"{plain_count(same, 'row is', 'rows are')} there twice, with the same value ({who})."
        yield SanityFinding("Doubled rows", words, "Was a file appended twice? They were averaged with their doubles.")
    if other := len(again) - same:
        words = f"{plain_count(other, 'rating has', 'ratings have')} a second value by the same person ({who})."
        meaning = "Repetitions, or a column is missing that tells them apart. They were averaged."
        yield SanityFinding("Second values", words, meaning)


def _ranks(rated: pd.DataFrame) -> Iterator[SanityFinding]:
    """Yield that every person gave the conditions of a content the numbers from 1 on, each once, as ranks are."""
    if "method" in rated and any(map(asks_for_order, rated["method"].unique())):
        return
    # By number and not as lists: a million ratings have as many pages as some tables have rows.
    page = rated.groupby(["participant", "question", "content"], sort=False).ngroup()
    of_page = page.notna() & (page >= 0)
    pages, values = page[of_page].to_numpy(dtype=np.intp), rated["value"][of_page].to_numpy(dtype=float)
    sizes = np.bincount(pages)
    most = int(sizes.max(initial=0))
    if len(sizes) < _FEWEST_PAGES or most < _FEWEST_OF_STIMULUS:
        return
    are_places = bool(((values >= 1) & (values <= sizes[pages]) & (values == np.floor(values))).all())
    if are_places and len(np.unique(pages * (most + 1) + values.astype(np.intp))) == len(values):
        words = f"Everybody gave each number from 1 to {most} once: these may be ranks."
        meaning = "Here the highest counts as the best. Where 1 is the best, call a column of them rank, and not value."
        yield SanityFinding("Ranks", words, meaning)


def _alike(rated: pd.DataFrame) -> Iterator[SanityFinding]:
    """Yield people all of whose answers are those of somebody else."""
    wide = rated.assign(key=rated["question"] + "\0" + rated["condition"] + "\0" + rated["content"])
    grid = wide.pivot_table(index="participant", columns="key", values="value", aggfunc="mean")
    enough = grid[(grid.notna().sum(axis=1) >= _FEWEST_ALIKE) & (grid.nunique(axis=1) > 1)]
    if enough.empty:
        return
    groups = enough.fillna(math.inf).groupby(list(enough.columns), sort=False).groups.values()
    pairs = [list(map(str, names)) for names in groups if len(names) > 1]
    if pairs:
        shown = "; ".join(" and ".join(names[:_SHOWN]) for names in pairs[:_SHOWN])
        n = sum(map(len, pairs))
        words = f"{plain_count(n, 'participant')} answered everything as another did ({shown})."
        yield SanityFinding("Same answers", words, "One person under two names, or copied rows?")


def _one_value(rated: pd.DataFrame) -> Iterator[SanityFinding]:
    by_person = rated.groupby("participant", sort=False)["value"].agg(["nunique", "size"])
    flat = by_person[(by_person["nunique"] == 1) & (by_person["size"] >= _FEWEST_OF_PERSON)]
    if len(flat):
        names = first_names([str(name) for name in flat.index], _SHOWN)
        words = f"{plain_count(len(flat), 'participant')} gave one value throughout ({names})."
        yield SanityFinding("One value throughout", words, "They are in the means; compare without them.")


def _without_variance(rated: pd.DataFrame) -> Iterator[SanityFinding]:
    keys = ["question", "condition", "content"]
    by_stimulus = rated.groupby(keys, sort=False).agg(
        values=("value", "nunique"), people=("participant", "nunique"), first=("value", "first")
    )
    flat = by_stimulus[(by_stimulus["values"] == 1) & (by_stimulus["people"] >= _FEWEST_OF_STIMULUS)]
    if flat.empty:
        return
    names = [_stimulus(str(key[1]), str(key[2])) for key in flat.index]
    values = {f"{value:g}" for value in flat["first"]}
    all_of = f", always {values.pop()}" if len(values) == 1 else ""
    n = f"{len(flat)} of {plain_count(len(by_stimulus), 'stimulus', 'stimuli')} {plural(len(flat), 'has', 'have')}"
    words = f"{n} the same value from everybody{all_of} ({first_names(names, _SHOWN)})."
    yield SanityFinding("No variance", words, "Usual at an end of the scale, odd elsewhere: were means copied down?")


def _stimulus(condition: str, content: str) -> str:
    return condition if content in ("all", "") else f"{condition}/{content}"


def _lonely(rated: pd.DataFrame) -> Iterator[SanityFinding]:
    sizes = rated.groupby(["question", "condition", "content"], sort=False)["participant"].nunique()
    alone = sizes[sizes == 1]
    if 0 < len(alone) < len(sizes):
        names = first_names([_stimulus(str(key[1]), str(key[2])) for key in alone.index], _SHOWN)
        words = f"{plain_count(len(alone), 'stimulus was', 'stimuli were')} rated by one person only ({names})."
        yield SanityFinding("One rating", words, "")


# Tables of means


def mean_findings(
    table: pd.DataFrame, written: Mapping[str, Sequence[str]], scale: RatingScale | None = None
) -> list[SanityFinding]:
    """Return what is odd in a table of means: its columns mean, sd and n, and what its cells looked like.

    Whole votes are only supposed where the scale is short. Scores against a reference are left alone.
    """
    known = table["mean"].dropna()
    if known.empty:
        return []
    scale = scale or evident_scale(known)
    findings = []
    if scale.is_declared:
        outside = table[table["mean"].notna() & ~table["mean"].between(scale.low, scale.high)]
        if len(outside):
            words = f"{plain_count(len(outside), 'mean is', 'means are')} outside {scale.words} ({_rows(outside)})."
            findings.append(SanityFinding("Means outside the scale", words, "These cannot be means of such votes."))
    if scale.name or scale.is_declared or (scale.low, scale.high) in ((1, 5), (1, 7), (1, 9), (0, 10), (0, 100)):
        findings += _impossible_deviations(table, scale)
    if scale.high - scale.low <= 10 and scale.low >= 0:
        findings += _impossible_means(table, written.get("mean", ()))
    return findings


def _impossible_deviations(table: pd.DataFrame, scale: RatingScale) -> Iterator[SanityFinding]:
    """Yield deviations above those of votes at both ends of the scale with this mean (Bhatia and Davis)."""
    mean, n = table["mean"].to_numpy(float), table["n"].to_numpy(float)
    inner = np.clip(mean - scale.low, 0, None) * np.clip(scale.high - mean, 0, None)
    with np.errstate(invalid="ignore", divide="ignore"):
        largest = np.sqrt(inner * np.where(n > 1, n / (n - 1), 2.0))
    # Half a unit of a second decimal: means and deviations are printed rounded.
    is_wrong = table["sd"].to_numpy(float) > largest + 0.01
    wrong = table[is_wrong]
    if len(wrong):
        most = number(float(largest[is_wrong][0]), 2)
        first = f"{number(float(wrong['sd'].iloc[0]), 2)} where at most {most} is possible"
        words = (
            f"{plain_count(len(wrong), 'deviation is', 'deviations are')} larger than {scale.words} allows with the "
            f"mean ({_rows(wrong)}: {first})."
        )
        meaning = f"{plural(len(wrong), 'Is it', 'Are they')} of another scale, or no standard deviation?"
        yield SanityFinding("Impossible deviations", words, meaning)


def _impossible_means(table: pd.DataFrame, written: Sequence[str]) -> Iterator[SanityFinding]:
    """Yield means that no sum of whole votes gives with this n, as printed (GRIM: Brown and Heathers 2017)."""
    if not written:
        return
    wrong: list[int] = []
    tested = 0
    for at, (mean, n, text) in enumerate(zip(table["mean"], table["n"], written, strict=True)):
        decimals = len(text.strip().replace(",", ".").partition(".")[2])
        if not (n == n and mean == mean) or n % 1 or not 0 < decimals <= _MOST_DECIMALS or n >= 10**decimals:
            continue
        tested += 1
        half = 0.5 * 10.0**-decimals + _ROUNDING
        if math.floor((mean + half) * n) < math.ceil((mean - half) * n):
            wrong.append(at)
    if wrong:
        rows = table.iloc[wrong]
        first = f"{written[wrong[0]]} of {rows['n'].iloc[0]:g} votes"
        words = f"{len(wrong)} of {plain_count(tested, 'mean')} no whole votes can give ({_rows(rows)}: {first})."
        meaning = "Fine if votes had decimals or people were weighted; else a wrong n or a slip of the pen (GRIM)."
        yield SanityFinding("Impossible means", words, meaning)


def _rows(table: pd.DataFrame) -> str:
    named = table["stimulus"].where(table["stimulus"] != "", table["condition"])
    return first_names([str(name) for name in named], _SHOWN)
