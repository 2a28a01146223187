"""The devices of a study: screens, refresh rates, browsers and input devices, counted by session."""

from __future__ import annotations

from collections import Counter

import pandas as pd

from beholder.checks.page_registry import page_check_kinds
from beholder.formats import FEW, count, join_names, plural, typical
from beholder.reporting.html import Child, Markup, render, tag
from beholder.reporting.material import Material
from beholder.reporting.participants import AnswerShare, share_tally, spread_tally
from beholder.reporting.section import Section

_MAX_NAMED = 7
"""Answers that are listed; the rest is added up."""
_UNKNOWN = "not known"
_KINDS = {"desktop": "computer", "tablet": "tablet", "phone": "phone"}
_NUMBERS = (
    ("Refresh rate (Hz)", "refresh_hz", 1),
    ("Diagonal of the screen (inches)", "diagonal_inches", 1),
    ("Device pixels per inch", "ppi", 0),
    ("Speed of the network (Mbit/s)", "mbps", 1),
)
"""Title, column and decimals of what checks measure."""


def devices_section(material: Material) -> Markup | None:
    """Return a tally of each property of the devices, by session; None if nothing is known."""
    table = material.clean("devices")
    if table.empty:
        return None
    is_used = table["use"] == "true"
    words = {
        "Kind": [_KINDS.get(kind, kind) for kind in table["kind"]],
        "Screen (device pixels)": _screens(table),
        "Device pixels per CSS pixel": list(table["dpr"]),
        "Browser": _browsers(table),
        "System": list(table["system"]),
        "Answered with": list(table["input"]),
    }
    blocks = []
    for title, cells in words.items():
        mine, everyone = Counter(pd.Series(cells)[is_used.to_numpy()]), Counter(cells)
        if set(everyone) - {""}:
            blocks.append(share_tally(title, _shares(mine, everyone)))
    for title, column, decimals in _NUMBERS:
        known = pd.to_numeric(table[column], errors="coerce")
        used, all_of_them = known[is_used].dropna(), known.dropna()
        if len(all_of_them):
            missing = int(is_used.sum()) - len(used), len(table) - len(all_of_them)
            blocks.append(spread_tally(title, list(used), list(all_of_them), missing, decimals))
    if not blocks:
        return None
    return render([tag("p", _sentence(table[is_used])), tag("div", blocks, class_="tallies")])


def devices_foot(material: Material) -> list[Child]:
    """Return how to read the tallies, and which checks would measure more."""
    table = material.clean("devices")
    foot: list[Child] = ["Sessions; used: those that are analysed, all: those that came."]
    if (table["browser"] == "Chrome").any():
        foot.append(" Chrome: also browsers built on it that call themselves so.")
    measured_by = {column: name for name, kind in page_check_kinds().items() for column in kind.measures}
    unknown = dict.fromkeys(measured_by[column] for _, column, _ in _NUMBERS if not (table[column] != "").any())
    if unknown:
        foot.append(" Checks under qualification that have measured nothing here: ")
        foot += [[", " if place else None, tag("code", name)] for place, name in enumerate(unknown)]
        foot.append(".")
    return foot


DEVICES = Section("devices", "On which devices", devices_section, foot=devices_foot)


def _sentence(used: pd.DataFrame) -> str:
    """Return the most common devices in a sentence."""
    if used.empty:
        return "No session is used."
    kinds = Counter(_KINDS.get(kind, kind) for kind in used["kind"] if kind)
    devices = [f"{n:,} on a {kind}" for kind, n in kinds.most_common()]
    begin = f"{count(len(used), 'session is', 'sessions are')} used"
    on = f", {join_names(devices)}" if devices else ""
    screens = Counter(screen for screen in _screens(used) if screen)
    most = screens.most_common(1)
    usual = f" The usual screen has {most[0][0]} device pixels ({most[0][1]:,})." if most else ""
    rates = pd.to_numeric(used["refresh_hz"], errors="coerce").dropna()
    verb = plural(len(rates) if len(rates) <= FEW else 1, "rate is", "rates are")
    rate = f" The refresh {verb} {typical(rates.tolist(), 0, 'Hz')}." if len(rates) else ""
    return f"{begin}{on}.{usual}{rate}"


def _screens(some: pd.DataFrame) -> list[str]:
    sides = zip(some["screen_width"], some["screen_height"], strict=True)
    return [f"{width} × {height}" if width and height else "" for width, height in sides]


def _browsers(some: pd.DataFrame) -> list[str]:
    """Return the names of the browsers, each with the versions that occur."""
    versions = pd.to_numeric(some["version"], errors="coerce").groupby(some["browser"]).agg(["min", "max"])
    ends = {name: (f"{low:.0f}", f"{high:.0f}") for name, low, high in versions.dropna().itertuples()}
    called = {name: f"{name} {low}" if low == high else f"{name} {low} to {high}" for name, (low, high) in ends.items()}
    return [called.get(name, name) for name in some["browser"]]


def _shares(used: Counter[str], everyone: Counter[str]) -> list[AnswerShare]:
    """Return the most common answers, the sum of the others, and how many are not known."""
    named = [value for value, _ in sorted(everyone.items(), key=lambda item: (-used[item[0]], -item[1], item[0]))]
    named = [value for value in named if value]
    kept, rest = (named, []) if len(named) <= _MAX_NAMED else (named[: _MAX_NAMED - 1], named[_MAX_NAMED - 1 :])
    shares = [AnswerShare(value, used[value], everyone[value]) for value in kept]
    if rest:
        label = f"{len(rest):,} others"
        shares.append(AnswerShare(label, sum(used[value] for value in rest), sum(everyone[value] for value in rest)))
    if everyone[""]:
        shares.append(AnswerShare(_UNKNOWN, used[""], everyone[""]))
    return shares
