"""Data quality: missing values, playback, agreement and balance, each with how to read it and a warning if needed."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import pandas as pd

from beholder.analysis.sanity import LOOKED_FOR
from beholder.checks.answer_patterns import Repeat, Variance
from beholder.checks.playback import WHOLE, Smooth
from beholder.formats import count, join_names, listed, nonzero_percent, number
from beholder.reporting.html import Child, Markup, render, scrolling, tag
from beholder.reporting.material import Material
from beholder.reporting.section import Section

_MISSING, _UNKNOWN, _FLAT = 0.05, 0.2, 0.1
"""Shares from which a number is worth a warning: ratings without a value, unknown verdicts, straight-liners."""


class QualityLine(NamedTuple):
    """One number, how to read it in one sentence, and a warning if it is bad."""

    name: str
    number: str
    reading: str
    warning: str = ""


def quality_section(material: Material) -> Markup | None:
    """Return the section on data quality, warnings first; None without ratings."""
    if material.results.ratings.empty:
        return None
    lines = list(_lines(material))
    bad = [line for line in lines if line.warning]
    heads = ("", "Number", "What it says")
    head = tag("tr", [tag("th", word, scope="col") if word else tag("td") for word in heads])
    caption = "Data quality"
    grid = tag(
        "table",
        tag("caption", caption, class_="unseen"),
        tag("thead", head),
        tag("tbody", [_row(line) for line in lines]),
        class_="table quality",
    )
    summary = (
        [tag("p", tag("b", "▲ ", line.name, ". "), line.warning, class_="notice") for line in bad]
        if bad
        else tag("p", "Nothing stands out.")
    )
    return render([summary, scrolling(caption, grid)])


QUALITY = Section(
    "quality",
    "Data quality",
    quality_section,
    foot=(
        "Of the sessions that are used, where nothing else is said. ▲ marks what to look at before anything is "
        "concluded; the limits are rules of thumb."
    ),
)


# Tables without a study


def sanity_section(material: Material) -> Markup | None:
    """Return what is odd in a table, or that nothing is; None of a study."""
    if material.table is None:
        return None
    findings = [
        tag("p", tag("b", "▲ ", one["name"], ". "), f"{one['words']} {one['meaning']}", class_="notice")
        for one in material.table["sanity"]
    ]
    read = [tag("li", f"{words[:1].upper()}{words[1:]}.") for words in material.table["read"]]
    return render([
        findings or tag("p", "Nothing odd was found."),
        [tag("h3", "How the table was read"), tag("ul", read)] if read else None,
    ])  # fmt: skip


SANITY = Section(
    "sanity",
    "Is the table sound?",
    sanity_section,
    foot=f"Looked for: {LOOKED_FOR}, values outside the scale. How people were asked and screened, no table tells.",
)


def _lines(material: Material) -> Iterable[QualityLine]:
    yield from _missing(material)
    yield from _playback_lines(material)
    yield from _agreement_lines(material)
    yield from _verdicts(material)
    yield from _balance_lines(material)


def _missing(material: Material) -> Iterable[QualityLine]:
    """Yield how many ratings of used sessions have no value, and how many are left out one by one."""
    ratings = material.results.ratings
    kept = ratings[ratings["session"].isin(set(ratings.loc[ratings["use"], "session"]))]
    if kept.empty:
        yield QualityLine("Ratings without a value", "–", "No session is used.", "No rating can be used.")
        return
    missing = kept[kept["value"].isna()]
    share = len(missing) / len(kept)
    unsure = int((missing["missing"] == "skipped").sum())
    reasons = [f"{n:,} {words}" for n, words in ((len(missing) - unsure, "would not play"), (unsure, "not sure")) if n]
    reading = f"{join_names(reasons).capitalize()}." if reasons else "Everything that was asked has an answer."
    warning = (
        f"{nonzero_percent(share)} of the ratings have no value. Look whether they belong to some conditions only."
    )
    yield QualityLine(
        "Ratings without a value", _share_of(len(missing), len(kept)), reading, warning if share > _MISSING else ""
    )
    out = int((~kept["use"]).sum())
    if out:
        reading = "Left out one by one, for what happened in their trial; the session stays."
        warning = f"{nonzero_percent(out / len(kept))} of the ratings of used sessions are left out for their trial."
        yield QualityLine(
            "Ratings left out", _share_of(out, len(kept)), reading, warning if out > _MISSING * len(kept) else ""
        )


def _verdicts(material: Material) -> Iterable[QualityLine]:
    """Yield straight-lining and unknown verdicts, over all sessions."""
    verdicts = material.account["verdicts"]
    flat = verdicts.get(Variance.name)
    if flat and (judged := flat["pass"] + flat["fail"]):
        reading = "Sessions with nearly the same answer throughout, of those that could be judged."
        many = flat["fail"] > _FLAT * judged
        same = nonzero_percent(flat["fail"] / judged)
        warning = f"{same} answered the same throughout. Is the task clear, and short enough?"
        yield QualityLine("Straight-lining", _share_of(flat["fail"], judged), reading, warning if many else "")
    unknown = {name: one["unknown"] for name, one in verdicts.items() if one["unknown"]}
    whole = sum(sum(one.values()) for one in verdicts.values())
    if not whole:
        return
    n = sum(unknown.values())
    most = max(unknown, key=lambda name: unknown[name], default="")
    reading = (
        f"Most often {most} ({unknown[most]:,}); unknown costs nobody anything." if most else "All could be judged."
    )
    warning = f"{nonzero_percent(n / whole)} of the verdicts are unknown: cleaning could not look at much."
    yield QualityLine("Unknown verdicts", _share_of(n, whole), reading, warning if n > _UNKNOWN * whole else "")


def _row(line: QualityLine) -> Markup:
    name: Child = [tag("span", "▲ ", class_="quality__mark", aria_label="look at this") if line.warning else None]
    return tag("tr", tag("th", name, line.name, scope="row"), tag("td", line.number), tag("td", line.reading))


def _share_of(n: int, whole: int) -> str:
    """Return `12 of 800 (2 %)`."""
    return f"{n:,} of {whole:,} ({nonzero_percent(n / whole)})"


# Balance of the ratings


_FEW = 0.5
"""The least share of the planned ratings of a stimulus, and of the expected ratings in a place."""
_FEWEST = 10
"""Expected ratings below which chance alone makes places uneven."""
_MAX_DISTANCE = 0.15
"""Of the session, by which the mean positions of two conditions may differ."""


class _Planned(NamedTuple):
    stimuli: int
    least: int
    most: int


def _balance_lines(material: Material) -> Iterator[QualityLine]:
    """Yield how balanced the used ratings are."""
    if material.used.empty:
        return
    yield from _ratings_per_stimulus(material)
    yield from _places(material)
    yield from _positions(material)


def _ratings_per_stimulus(material: Material) -> Iterator[QualityLine]:
    """Yield the ratings per stimulus, in each group of participants where there are several, and as many as planned."""
    scores, what = material.results.scores, "ratings"
    if scores.empty:
        return
    counts, of_group, one, many = scores["n"], "", "stimulus has", "stimuli have"
    filled = scores["stimulus"].nunique()
    if all(part.is_compared for part in material.parts):
        what = "comparisons"
    elif factors := _group_columns(material):
        # The plan is even within each group, and its cells are those of all groups.
        rated = material.used[material.used["stimulus"].isin(set(scores["stimulus"]))]
        counts = rated.groupby(["stimulus", "question", *factors])["participant"].nunique()
        filled = len(rated[["stimulus", *factors]].drop_duplicates())
        of_group, one, many = " in a group of participants", "stimulus of a group has", "stimuli of a group have"
    least, middle, most = (number(float(value), 0) for value in (counts.min(), counts.median(), counts.max()))
    fewest = what[:-1] if counts.min() == 1 else what
    planned = _planned(material)
    reading = f"Fewest, median and most {what} of a stimulus and question{of_group}"
    warning = ""
    if planned is not None:
        goal = f"{planned.least:,}" if planned.least == planned.most else f"{planned.least:,} to {planned.most:,}"
        reading += f"; planned were {goal}"
        if counts.min() < _FEW * planned.least:
            few = f"A stimulus has {least} {fewest}{of_group}"
            warning = f"{few}, less than half of what was planned. Let more people in."
        if what == "ratings" and planned.stimuli > filled:
            warning = f"{count(planned.stimuli - filled, one, many)} no rating that can be used."
    yield QualityLine(f"{what.capitalize()} per stimulus", f"{least} / {middle} / {most}", f"{reading}.", warning)


def _planned(material: Material) -> _Planned | None:
    """Return the planned ratings per stimulus when every list is finished once; None without a plan."""
    path = material.study.folder / "plan" / "balance.csv"
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = {row["count"]: row for row in csv.DictReader(file)}
        row = rows.get("ratings per stimulus") or rows["comparisons per stimulus"]
        return _Planned(int(row["cells"]), int(row["least"]), int(row["most"]))
    except (OSError, KeyError, ValueError):
        return None


def _places(material: Material) -> Iterator[QualityLine]:
    """Yield how evenly each condition was shown in the places of a page, in each group of participants."""
    factors = _group_columns(material)
    parts = [part for _, part in material.used.groupby(factors)] if factors else [material.used]
    asked_first = [part[part["question"] == part["question"].iloc[0]] for part in parts]
    tables = [pd.crosstab(part["condition"], part["slot"]) for part in asked_first]
    tables = [table for table in tables if table.shape[1] > 1]
    if not tables:
        return
    short: dict[str, None] = {}
    for table in tables:
        expected = table.sum(axis=1) / table.shape[1]
        is_short = (table.min(axis=1) < _FEW * expected) & (expected >= _FEWEST)
        short |= dict.fromkeys(str(name) for name in table.index[is_short])
    low, high = (int(end([end(table.to_numpy().ravel().tolist()) for table in tables])) for end in (min, max))
    places = listed([str(number) for number in sorted({table.shape[1] for table in tables})])
    of_group = ", in a group of participants" if factors else ""
    reading = f"Fewest and most ratings of a condition in one of {places} places of the page{of_group}."
    names = [material.names.get(name, name) for name in short]
    warning = f"Not in every place equally often: {', '.join(names)}. An effect of the place would look like quality."
    yield QualityLine("Places on the page", f"{low:,} to {high:,}", reading, warning if names else "")


def _group_columns(material: Material) -> list[str]:
    """Return the columns of the ratings that tell the group of a participant."""
    return [name for factor in material.study.design.between if (name := f"factor_{factor}") in material.used]


def _positions(material: Material) -> Iterator[QualityLine]:
    """Yield whether some conditions came later in the session than others."""
    used = material.used
    last = float(used["position"].max())
    means = used.groupby("condition")["position"].mean()
    if last < 2 or len(means) < 2:
        return
    low, high = float(means.min()), float(means.max())
    reading = f"Lowest and highest mean position of a condition among the {last:.0f} trials of a session."
    counts = used.groupby("condition").size()
    is_bad = (high - low) > _MAX_DISTANCE * last and counts.min() >= _FEWEST
    warning = f"Conditions did not come equally early: {number(low, 1)} to {number(high, 1)} on average."
    yield QualityLine(
        "Positions in the session", f"{number(low, 1)} to {number(high, 1)}", reading, warning if is_bad else ""
    )


# Playback


_COLUMNS = ("errors", "stalled_ms", "dropped", "frames", "coverage")
_FAILED, _STALLED, _DROPPED, _WHOLE = 0.02, 0.05, 0.02, 0.95
"""Shares from which a number is worth a warning."""


def _playback_lines(material: Material) -> Iterator[QualityLine]:
    """Yield the numbers on playback that were logged."""
    table = material.clean("playback")
    if table.empty:
        return
    ratings = material.results.ratings
    table = table[table["session"].isin(set(ratings.loc[ratings["use"], "session"]))]
    known = {name: pd.to_numeric(table[name], errors="coerce") for name in _COLUMNS}
    yield from _errors(known["errors"].dropna())
    yield from _halts(known["stalled_ms"].dropna())
    yield from _frames(known["dropped"], known["frames"])
    yield from _coverage(material, known["coverage"].dropna())


def _errors(errors: pd.Series) -> Iterator[QualityLine]:
    if len(errors):
        n = int((errors > 0).sum())
        warning = f"{nonzero_percent(n / len(errors))} of the stimuli failed to load or to play at least once."
        reading = "Stimuli that failed to load or to play at least once."
        yield QualityLine(
            "Failures to play", _share_of(n, len(errors)), reading, warning if n > _FAILED * len(errors) else ""
        )


def _halts(halts: pd.Series) -> Iterator[QualityLine]:
    if len(halts):
        limit = Smooth.Options.model_fields["stall_s"].default
        n = int((halts > 1000 * limit).sum())
        reading = (
            f"Stimuli that stood still for more than {limit:g} s; the longest halt was {halts.max() / 1000:.1f} s."
        )
        warning = (
            f"{nonzero_percent(n / len(halts))} of the stimuli stood still for more than {limit:g} s while they played."
        )
        yield QualityLine(
            "Halts while playing", _share_of(n, len(halts)), reading, warning if n > _STALLED * len(halts) else ""
        )


def _frames(dropped: pd.Series, frames: pd.Series) -> Iterator[QualityLine]:
    both = dropped.notna() & (frames > 0)
    drawn, lost = int(frames[both].sum()), int(dropped[both].sum())
    if drawn + lost:
        share = lost / (drawn + lost)
        worst = (dropped[both] / (dropped[both] + frames[both])).max()
        reading = f"Of all frames; {nonzero_percent(worst)} at worst."
        warning = f"{nonzero_percent(share)} of all frames were dropped: motion looked less smooth than it is."
        yield QualityLine(
            "Dropped frames", f"{lost:,} ({nonzero_percent(share)})", reading, warning if share > _DROPPED else ""
        )


def _coverage(material: Material, coverage: pd.Series) -> Iterator[QualityLine]:
    if len(coverage):
        n = int((coverage >= WHOLE).sum())
        is_required = {text["watch"] for text in material.texts} == {"whole"}
        reading = (
            "Stimuli that were played whole; ratings of the others are left out." if is_required else "Not asked for."
        )
        warning = f"{nonzero_percent(1 - n / len(coverage))} of the stimuli were not watched to the end."
        is_bad = is_required and n < _WHOLE * len(coverage)
        yield QualityLine("Watched whole", _share_of(n, len(coverage)), reading, warning if is_bad else "")


# Agreement


_SPREAD = 0.2
"""Of the scale. Answers by chance have 0.29."""
_AGREEMENT = 0.5
_DIFFER = 0.25
_REPEAT_KEYS = ["participant", "question", "stimulus", "other_stimulus", "unit"]


def _agreement_lines(material: Material) -> Iterator[QualityLine]:
    """Yield how far repeated ratings and participants agree."""
    yield from _within(material)
    yield from _repeats(material)
    yield from _between(material)


def _within(material: Material) -> Iterator[QualityLine]:
    """Yield the sd of one person rating one stimulus again, as the root of the mean variance (statistics 2.1)."""
    used = material.used[material.used["kind"].isin(("score", "diff"))]
    values = used["value"] / (used["scale_max"] - used["scale_min"])
    again = values.groupby([used[name].fillna("") for name in _REPEAT_KEYS])
    spread = again.var(ddof=1).dropna()
    if spread.empty:
        return
    sd = math.sqrt(float(spread.mean()))
    reading = f"Standard deviation of one person rating the same again, over {count(len(spread), 'repeat')}."
    warning = f"Who rated something again was {nonzero_percent(sd)} of the scale off; answers by chance would be 29 %."
    yield QualityLine(
        "Repeated ratings", f"{nonzero_percent(sd)} of the scale", reading, warning if sd > _SPREAD else ""
    )


def _repeats(material: Material) -> Iterator[QualityLine]:
    """Yield the results of the check `repeat`, over all sessions."""
    verdicts = material.clean("verdicts")
    mine = verdicts[verdicts["check"] == Repeat.name]["evidence"] if len(verdicts) else ()
    evidence = [json.loads(cell) for cell in mine if cell]
    compared, differ = (sum(int(one.get(name) or 0) for one in evidence) for name in ("compared", "differ"))
    if compared:
        reading = "Answers to what came again that differ by more than the study allows, over all sessions."
        warning = f"{nonzero_percent(differ / compared)} of what came again was answered differently."
        yield QualityLine(
            "Repeats that differ", _share_of(differ, compared), reading, warning if differ > _DIFFER * compared else ""
        )


def _between(material: Material) -> Iterator[QualityLine]:
    agreement = material.results.participants["agreement"].dropna()
    if len(agreement):
        middle, low = float(agreement.median()), float(agreement.min())
        reading = f"Median rank correlation of a person with the mean of the others; the lowest is {number(low, 2)}."
        warning = "People hardly agree. Stimuli may be too much alike, the question unclear, or many careless."
        yield QualityLine(
            "Agreement with the others", number(middle, 2), reading, warning if middle < _AGREEMENT else ""
        )
