"""Data quality: what is missing, how everything played, how steady people were, how even the ratings are spread."""

from __future__ import annotations

from collections.abc import Iterable

from beholder.report.data_quality.evenness import evenness
from beholder.report.data_quality.line import Line, share_of
from beholder.report.data_quality.played import played
from beholder.report.data_quality.steadiness import steadiness
from beholder.report.markup import Child, Markup, render, tag
from beholder.report.material import Material
from beholder.report.tables import scrolling
from beholder.report.tallies import percent
from beholder.report.words import listed

FOOT = (
    "Of the sessions that are used, where nothing else is said. ▲ marks what to look at before anything is concluded; "
    "the limits are rules of thumb."
)
_MISSING, _UNKNOWN, _FLAT = 0.05, 0.2, 0.1
"""Shares from which a number is worth a warning: ratings without a value, unknown verdicts, straight-liners."""


def quality(material: Material) -> Markup | None:
    """Return each number with one sentence on how to read it, warnings first; None where there is no rating at all."""
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


def _lines(material: Material) -> Iterable[Line]:
    yield from _missing(material)
    yield from played(material)
    yield from steadiness(material)
    yield from _verdicts(material)
    yield from evenness(material)


def _missing(material: Material) -> Iterable[Line]:
    """Yield how many ratings of used sessions have no value, and how many are left out one by one."""
    ratings = material.results.ratings
    kept = ratings[ratings["session"].isin(set(ratings.loc[ratings["use"], "session"]))]
    if kept.empty:
        yield Line("Ratings without a value", "–", "No session is used.", "No rating can be used.")
        return
    missing = kept[kept["value"].isna()]
    share = len(missing) / len(kept)
    unsure = int((missing["missing"] == "skipped").sum())
    reasons = [f"{n:,} {words}" for n, words in ((len(missing) - unsure, "would not play"), (unsure, "not sure")) if n]
    said = f"{listed(reasons).capitalize()}." if reasons else "Everything that was asked has an answer."
    warning = f"{percent(share)} of the ratings have no value. Look whether they belong to some conditions only."
    yield Line("Ratings without a value", share_of(len(missing), len(kept)), said, warning if share > _MISSING else "")
    out = int((~kept["use"]).sum())
    if out:
        said = "Left out one by one, for what happened in their trial; the session stays."
        warning = f"{percent(out / len(kept))} of the ratings of used sessions are left out for their trial."
        yield Line("Ratings left out", share_of(out, len(kept)), said, warning if out > _MISSING * len(kept) else "")


def _verdicts(material: Material) -> Iterable[Line]:
    """Yield who answered the same throughout, and how much could not be judged, over all sessions."""
    verdicts = material.account["verdicts"]
    flat = verdicts.get("variance")
    if flat and (judged := flat["pass"] + flat["fail"]):
        said = "Sessions with nearly the same answer throughout, of those that could be judged."
        many = flat["fail"] > _FLAT * judged
        warning = f"{percent(flat['fail'] / judged)} answered the same throughout. Is the task clear, and short enough?"
        yield Line("Straight-lining", share_of(flat["fail"], judged), said, warning if many else "")
    unknown = {name: one["unknown"] for name, one in verdicts.items() if one["unknown"]}
    whole = sum(sum(one.values()) for one in verdicts.values())
    if not whole:
        return
    n = sum(unknown.values())
    most = max(unknown, key=lambda name: unknown[name], default="")
    said = f"Most often {most} ({unknown[most]:,}); unknown costs nobody anything." if most else "All could be judged."
    warning = f"{percent(n / whole)} of the verdicts are unknown: cleaning could not look at much."
    yield Line("Unknown verdicts", share_of(n, whole), said, warning if n > _UNKNOWN * whole else "")


def _row(line: Line) -> Markup:
    name: Child = [tag("span", "▲ ", class_="quality__mark", aria_label="look at this") if line.warning else None]
    return tag("tr", tag("th", name, line.name, scope="row"), tag("td", line.number), tag("td", line.said))
