"""How pairs were looked at: the time in each view, flips, moves of the line, and the magnifier."""

from __future__ import annotations

import pandas as pd

from beholder.formats import NONE, count, join_names, nonzero_percent
from beholder.methods.views import VIEWS, is_factor, views_of
from beholder.reporting.html import Child, Markup, render, tag
from beholder.reporting.html import table as html_table
from beholder.reporting.material import Material
from beholder.reporting.section import Section
from beholder.reporting.sheets import TextTable
from beholder.study.groups import group_study, varied_keys
from beholder.study.model import Study

NAMES = {"side-by-side": "Side by side", "flip": "Flip", "wipe": "Wipe"}
_DONE = {"flip": ("flips", "flip", "flips"), "wipe": ("moves", "move of the line", "moves of the line")}
"""What is done in a view: the column, and the words for one and for several."""


def used_views(material: Material) -> pd.DataFrame:
    """Return how the pages of the used sessions were looked at, one row each; empty where no page has views."""
    table = material.clean("views")
    if table.empty:
        return table
    used = table[(table["use"] == "true") & (table["view"] != "")]
    numbers = [name for name in used.columns if name.endswith("_ms") or name in ("flips", "moves", "magnified")]
    return used.assign(**{name: pd.to_numeric(used[name], errors="coerce") for name in numbers})


def offered_in(used: pd.DataFrame) -> list[str]:
    """Return the views that any page offered, in their usual order."""
    offered = {view for cell in used["offered"] for view in cell.split("; ")}
    return [view for view in VIEWS if view in offered]


def views_section(material: Material) -> Markup | None:
    """Return how the pages were looked at; None where no page has views."""
    used = used_views(material)
    if used.empty:
        return None
    parts: list[Child] = [
        tag("p", f"{count(len(used), 'page')} of {count(used['participant'].nunique(), 'participant')}.")
    ]
    rows = [_row(view, used) for view in offered_in(used)]
    head = ("View", "Pages with it", "Answered in it", "Seconds in it", "Flips, moves")
    parts.append(html_table("The views", TextTable(head, rows)))
    opened = used[used["magnified"] > 0]
    if len(opened):
        seconds = opened["magnified_ms"].median() / 1000
        text = (
            f"The magnifier was opened on {nonzero_percent(len(opened) / len(used))} of the pages, "
            f"for {seconds:.1f} s (median)."
        )
        parts.append(tag("p", text))
    return render(parts)


def _row(view: str, used: pd.DataFrame) -> tuple[str, ...]:
    """Return one view: on how many pages it was open to people, and what they did there."""
    spent = used[f"{view.replace('-', '_')}_ms"]
    opened = used[spent > 0]
    seconds = f"{spent[spent > 0].median() / 1000:.1f}" if len(opened) else NONE
    done = NONE
    if view in _DONE and len(opened):
        done = f"{opened[_DONE[view][0]].median():.0f}"
    offered = used["offered"].str.split("; ").map(lambda views: view in views)
    answered = nonzero_percent((used["view"] == view)[offered].mean()) if offered.any() else NONE
    return NAMES[view], f"{int(offered.sum()):,}", answered, seconds, done


def view_words(study: Study) -> str | None:
    """Return how the two of a pair were looked at, without a full stop; None where the study has no views."""
    if "options.view" not in varied_keys(study):
        return _words(study)
    told = []
    for factor, levels in study.design.between.items():
        for name, level in levels.items():
            if "view" in level.options:
                told.append(f"{name}: {_words(group_study(study, {factor: name})) or 'without views'}")
    return f"How the two were looked at was different by group ({'; '.join(told)})"


def _words(study: Study) -> str | None:
    views = views_of(study)
    if not views:
        return None
    ways = [_WAYS[view] for view in views]
    lens = ", and a magnifier showed the pixels of the files" if study.options.get("magnifier") else ""
    if is_factor(study):
        return f"Each person looked at the two in {len(ways)} ways, one in each trial: {join_names(ways)}{lens}"
    if len(ways) == 1:
        return f"The two were looked at {ways[0]}{lens}"
    return (
        f"The two were looked at {', '.join(ways[:-1])} or {ways[-1]}, as people chose, the first to begin with{lens}"
    )


_WAYS = {
    "side-by-side": "side by side at the same time",
    "flip": "in one place, of which one was shown at a time",
    "wipe": "in one place, with a line between them that could be moved",
}


def views_sentence(material: Material) -> str:
    """Return how people used the views, for the methods section; empty where there is nothing to tell."""
    used = used_views(material)
    if used.empty:
        return ""
    parts = []
    for view in offered_in(used):
        spent = used[f"{view.replace('-', '_')}_ms"]
        opened = used[spent > 0]
        if not len(opened):
            continue
        column, one, many = _DONE.get(view, ("", "", ""))
        done = f" with {count(round(opened[column].median()), one, many)}" if column else ""
        parts.append(f"{spent[spent > 0].median() / 1000:.1f} s {_PLACES[view]}{done}")
    opened = used[used["magnified"] > 0]
    if len(opened):
        parts.append(f"with the magnifier on {nonzero_percent(len(opened) / len(used))} of the pages")
    return f"On a page they were looked at, by medians, for {join_names(parts)}" if parts else ""


_PLACES = {"side-by-side": "side by side", "flip": "in place of each other", "wipe": "with the line"}
VIEW_SECTION = Section(
    "views",
    "How pairs were looked at",
    views_section,
    foot=(
        "Pages of sessions that are used. Seconds, flips and moves of the line are medians of the pages on which that "
        "view was open. A video counts as watched only while at least a tenth of it could be seen."
    ),
)
