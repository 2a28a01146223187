"""Time marks: how often each condition was marked, where in each clip, what is seen there, and how far people agree."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from beholder.analysis.result import records
from beholder.errors import UserError
from beholder.formats import count, interval, join_names, number, p_value, percent, signed
from beholder.reporting.html import Child, Markup, folded, render, tag
from beholder.reporting.html import table as html_table
from beholder.reporting.material import Material
from beholder.reporting.section import Section
from beholder.reporting.sheets import TextTable
from beholder.stimuli.addresses import cached_file
from beholder.stimuli.sources import read_sources
from beholder.stimuli.workshop.clips import still
from beholder.study.cleaning import MarkAnalysis

_MOST_OPEN = 6
"""Contents that stand open; further ones are folded."""
_MOST_FRAMES, _MOST_OF_CONTENT = 60, 6
"""Pictures of peaks in a report, and of one content: each makes the page longer by some kilobytes."""
_FRAME_PX = 320
_HEIGHT, _WIDTH = 40, 1000
_MOST_LINES = 4
"""Labels with a line of their own; the area is always of all."""
_ALL = "All labels"


def _tables(material: Material) -> Mapping[str, pd.DataFrame]:
    names = ("mark_rates", "mark_contrasts", "mark_density", "mark_peaks", "mark_agreement", "markers")
    return {name: table for name in names if (table := material.results.also.get(name)) is not None}


def marks_section(material: Material) -> Markup | None:
    """Return what was marked; None where nobody could mark anything."""
    found = _tables(material)
    if "mark_rates" not in found:
        return None
    rates = found["mark_rates"]
    whole = rates[rates["label"] == ""]
    marks, viewings = int(whole["marks"].sum()), int(whole["viewings"].sum())
    people = len(found["markers"])
    if not marks:
        seen = f"{count(viewings, 'viewing')} by {count(people, 'participant')}"
        return tag("p", f"Nobody marked anything in {seen}.")
    parts: list[Child] = [
        tag("p", f"{count(marks, 'mark')} in {count(viewings, 'viewing')} by {count(people, 'participant')}."),
        _with_labels("Marks per minute of clip", rates, _rates_sheet, material),
    ]
    if "mark_contrasts" in found:
        title = "Differences between conditions, in marks per minute"
        parts.append(_with_labels(title, found["mark_contrasts"], _contrasts_sheet, material))
    parts += _clips(found["mark_density"], found["mark_peaks"], material)
    if "mark_agreement" in found:
        title = "How far people mark the same places"
        parts.append(_with_labels(title, found["mark_agreement"], _agreement_sheet, material))
    parts.append(_far_words(found["markers"]))
    return render(parts)


def _settings(material: Material) -> MarkAnalysis:
    return material.study.analyse.marks or MarkAnalysis()


def _foot(material: Material) -> str:
    settings = _settings(material)
    lag = f"{settings.lag:g} s taken off every mark" if settings.lag else "reaction time is not taken off"
    return (
        "Intervals of rates: 95 %, errors clustered by participant and content. Curves: marks per second and "
        f"participant on one scale in all rows, a Gaussian kernel of {settings.bandwidth:g} s, {lag}. Pictures: the "
        "frames at the highest peaks near which two people or more marked. Kappa: agreement beyond chance on the time "
        f"within {settings.tolerance:g} s of a mark, 1 if all agree, 0 as by chance. Someone far off the others is "
        "named for a look, and stays in use."
    )


MARKS = Section("marks", "Where was something marked?", marks_section, foot=_foot)


_MOST_ROWS = 12


def _with_labels(
    title: str, rows: pd.DataFrame, sheet: Callable[[pd.DataFrame, Material], TextTable], material: Material
) -> Child:
    """Return a table of all labels together, and those of each label behind its title."""
    of_all, of_each = rows[rows["label"] == ""], rows[rows["label"] != ""]
    whole = sheet(of_all, material)
    shown = html_table(title, whole)
    if len(whole.rows) > _MOST_ROWS:
        shown = folded(f"{title} ({count(len(whole.rows), 'row')})", shown)
    if of_each.empty:
        return shown
    caption = f"{title}: by label"
    return [shown, folded(f"{caption} ({count(len(of_each), 'row')})", html_table(caption, sheet(of_each, material)))]


def _has_labels(table: pd.DataFrame) -> bool:
    return bool((table["label"] != "").any())


def _named(material: Material, condition: str) -> str:
    return material.labels.get(condition, condition)


def _rates_sheet(rates: pd.DataFrame, material: Material) -> TextTable:
    names = 2 if _has_labels(rates) else 1
    heads = (
        "Condition",
        *(("Label",) if names == 2 else ()),
        "Viewings",
        "Marked",
        "Marks",
        "Per minute",
        "95 % interval",
    )
    rows = [
        (
            _named(material, row["condition"]),
            *((str(row["label"]),) if names == 2 else ()),
            f"{row['viewings']:,.0f}",
            percent(row["marked"]),
            f"{row['marks']:,.0f}",
            number(row["rate"], 1),
            interval(row["ci_low"], row["ci_high"], 1),
        )
        for row in records(rates)
    ]
    return TextTable(heads, rows, names)


def _contrasts_sheet(contrasts: pd.DataFrame, material: Material) -> TextTable:
    names = 2 if _has_labels(contrasts) else 1
    heads = ("Pair", *(("Label",) if names == 2 else ()), "Difference", "95 % interval", "p (Holm)")
    rows = [
        (
            f"{_named(material, row['condition'])} − {_named(material, row['other_condition'])}",
            *((str(row["label"]),) if names == 2 else ()),
            signed(row["difference"], 1),
            interval(row["ci_low"], row["ci_high"], 1),
            p_value(row["p_holm"]),
        )
        for row in records(contrasts)
    ]
    return TextTable(heads, rows, names)


def _agreement_sheet(agreement: pd.DataFrame, material: Material) -> TextTable:
    names = 2 if _has_labels(agreement) else 1
    heads = ("Condition", *(("Label",) if names == 2 else ()), "Participants", "Marks", "Kappa", "95 % interval")
    rows = [
        (
            _named(material, row["condition"]) if row["condition"] else "All conditions",
            *((str(row["label"]),) if names == 2 else ()),
            f"{row['participants']:,.0f}",
            f"{row['marks']:,.0f}",
            number(row["kappa"], 2),
            interval(row["kappa_low"], row["kappa_high"], 2),
        )
        for row in records(agreement)
    ]
    return TextTable(heads, rows, names)


def _far_words(markers: pd.DataFrame) -> Markup | None:
    """Return who marks far more or less than all others."""
    far = [
        f"{row['participant']} ({number(row['rate'], 1)} a minute)" for row in records(markers[markers["far"]])
    ]  # fmt: skip
    if not far:
        return None
    middle = number(float(markers["rate"].median()), 1)
    return tag("p", f"Far off the others, whose median is {middle} a minute: {join_names(far)}.")


# Clips: a curve for each condition, and the frames at the peaks


def _clips(density: pd.DataFrame, peaks: pd.DataFrame, material: Material) -> list[Child]:
    whole = density[density["label"] == ""]
    highest = float(whole["density"].max())
    labels = [name for name in dict.fromkeys(density["label"]) if name][:_MOST_LINES]
    order = {name: place for place, name in enumerate(material.labels)}
    files, left, is_short = _files(material), _MOST_FRAMES, False
    clips: list[Child] = []
    for content, rows in density.groupby("content", sort=True):
        mine = peaks[(peaks["content"] == content) & (peaks["label"] == "")]
        names = sorted(dict.fromkeys(rows["condition"]), key=lambda name: order.get(name, len(order)))
        curves = [
            _curve(name, rows[rows["condition"] == name], mine[mine["condition"] == name], highest, labels, material)
            for name in names
        ]
        length = float(rows["seconds"].max()) + 0.05
        axis = tag("div", tag("span", "0:00"), tag("span", _clock(length / 2)), tag("span", _clock(length)),
                   class_="timed__axis", aria_hidden="true")  # fmt: skip
        frames, missing = _frames(str(content), mine, files, min(left, _MOST_OF_CONTENT), material)
        left, is_short = left - len(frames), is_short or missing
        shown = tag("ul", frames, class_="timed__frames") if frames else None
        clips.append([tag("h3", str(content)), tag("div", curves, axis, class_="timed"), shown])
    note = None
    if is_short:
        note = tag("p", "Some stimuli are not here any more, or hold no picture at that place: their peaks have none.")
    key = _key(labels) if labels else None
    shown_clips, rest = clips[:_MOST_OPEN], clips[_MOST_OPEN:]
    more = folded(f"{count(len(rest), 'further content')}", rest) if rest else None
    return [tag("h3", "Where"), key, shown_clips, more, note]


def _key(labels: Sequence[str]) -> Markup:
    lines = [tag("span", _line_sample(place), " ", name) for place, name in enumerate(labels)]
    return tag("p", tag("span", tag("i", class_="timed__area"), f" {_ALL}"), lines, class_="key")


def _line_sample(place: int) -> Markup:
    line = tag("path", d="M0 7H28", class_=f"timed__line timed__line--{place}")
    return tag("svg", line, viewBox="0 0 28 14", width=28, height=14, aria_hidden="true")


def _curve(
    condition: str,
    rows: pd.DataFrame,
    peaks: pd.DataFrame,
    highest: float,
    labels: Sequence[str],
    material: Material,
) -> Markup:
    """Return the row of one condition: its name, and the density over the clip."""
    name = _named(material, condition)
    whole = rows[rows["label"] == ""]
    told = "; ".join(
        f"{_clock(row['seconds'])}, {row['participants']:.0f} of {row['n']:.0f} people" for row in records(peaks)
    )
    words = f"{name}: peaks at {told}" if told else f"{name}: no place that two people marked"
    length = float(rows["seconds"].max()) + 0.05
    ticks = [
        tag("path", d=f"M{_x(row['seconds'], length)} 0V{_HEIGHT}", class_="timed__peak") for row in records(peaks)
    ]
    lines = [
        tag("path", d=_path(rows[rows["label"] == label], highest, length), class_=f"timed__line timed__line--{place}")
        for place, label in enumerate(labels)
        if (rows["label"] == label).any()
    ]
    area = tag("path", d=f"{_path(whole, highest, length)}V{_HEIGHT}H0Z", class_="timed__area")
    base = tag("path", d=f"M0 {_HEIGHT - 0.5}H{_WIDTH}", class_="timed__base")
    drawn = tag(
        "svg", area, base, lines, ticks, viewBox=f"0 0 {_WIDTH} {_HEIGHT}", preserveAspectRatio="none", role="img",
        aria_label=words,
    )  # fmt: skip
    return tag("div", tag("span", name, class_="timed__name"), drawn, class_="timed__row")


def _x(seconds: float, length: float) -> str:
    return f"{_WIDTH * seconds / length:.1f}"


def _path(rows: pd.DataFrame, highest: float, length: float) -> str:
    """Return the line of a density from one end of the clip to the other."""
    at, values = list(rows["seconds"]), list(rows["density"])
    points = [(0.0, values[0]), *zip(at, values, strict=True), (length, values[-1])]
    steps = [f"{_x(x, length)} {_HEIGHT - (_HEIGHT - 3) * y / (highest or 1):.1f}" for x, y in points]
    return f"M{'L'.join(steps)}"


def _clock(seconds: float) -> str:
    tenths = round(10 * seconds)
    return f"{tenths // 600}:{tenths % 600 / 10:04.1f}"


def _files(material: Material) -> Mapping[tuple[str, str], Path]:
    """Return the videos of the study that are here, by content and condition."""
    try:
        entries = read_sources(material.study).entries
    except (UserError, OSError):
        return {}
    cache = material.study.folder.absolute() / "media" / "cache"
    found = {
        (one.content, one.condition): one.path or cached_file(one.file, cache)
        for one in entries
        if one.medium == "video" and one.role in (None, "test", "reference", "anchor")
    }
    return {key: path for key, path in found.items() if path is not None and path.is_file()}


def _frames(
    content: str, peaks: pd.DataFrame, files: Mapping[tuple[str, str], Path], most: int, material: Material
) -> tuple[list[Markup], bool]:
    """Return pictures of the highest peaks of a content, in order of time, and whether any could not be had."""
    chosen = sorted(records(peaks), key=lambda row: -row["share"])[:most]
    is_video = bool(files) or _is_video(material)
    pictures, missing = [], False
    for row in sorted(chosen, key=lambda row: (row["seconds"], row["condition"])):
        path = files.get((content, row["condition"]))
        picture = None if path is None else still(path, row["seconds"], _FRAME_PX)
        if picture is None:
            missing = missing or is_video
            continue
        pictures.append(_picture(picture, row, _named(material, row["condition"])))
    return pictures, missing


def _is_video(material: Material) -> bool:
    """Return whether people saw videos: sounds have no pictures that could be missing."""
    playback = material.clean("playback")
    return not playback.empty and bool((playback["frames"] != "").any())


def _picture(picture: bytes, row: Mapping[str, Any], name: str) -> Markup:
    at = _clock(row["seconds"])
    who = f"{row['participants']:.0f} of {row['n']:.0f} people"
    source = f"data:image/jpeg;base64,{b64encode(picture).decode()}"
    image = tag("img", src=source, alt=f"{name} at {at}", loading="lazy")
    return tag("li", tag("figure", image, tag("figcaption", tag("b", at), f" {name}", tag("br"), who)))
