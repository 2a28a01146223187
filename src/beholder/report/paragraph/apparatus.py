"""On what people rated, what was checked before, and whom we trusted, for the methods paragraph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

import pandas as pd

from beholder.report.material import Material
from beholder.report.paragraph.text import Said
from beholder.report.words import listed
from beholder.study.qualification import Device, Network, Refresh, Screen

_MOST = 4
"""Browsers that are named; the rest is counted together."""


def apparatus(material: Material) -> list[Said]:
    """Return the sentences on devices and on the checks before the first rating."""
    if material.is_simulated:
        return [Said("Robots answered the server directly, without a device")]
    said = [Said("Participants used their own devices and a web browser"), *_devices(material)]
    funnel = material.account.get("qualification")
    checks = [check for check in funnel["checks"] if check["check"] != "training"] if funnel else []
    told = {
        words: [_check(material, check) for check in checks if (check["action"] == "gate") is is_gate]
        for words, is_gate in (("Before rating they had to pass", True), ("Also looked at", False))
    }
    said += [Said(f"{words}: {listed(names)}") for words, names in told.items() if names]
    if not checks:
        said.append(Said("Devices, eyes, ears and surroundings were not checked"))
    if funnel and any(check["check"] == "training" for check in funnel["checks"]):
        said.append(Said("Practice trials, which are not analysed, came first"))
    return [*said, Said("[Viewing or listening conditions that were asked for]")]


def _devices(material: Material) -> list[Said]:
    table = material.clean("devices")
    if table.empty:
        return []
    used = table[table["use"] == "true"]
    kinds = Counter(kind for kind in used["kind"] if kind)
    browsers = Counter(name for name in used["browser"] if name)
    heights = pd.to_numeric(used["screen_height"], errors="coerce").dropna().tolist()
    widths = pd.to_numeric(used["screen_width"], errors="coerce").dropna().tolist()
    said = []
    if kinds:
        said.append(Said(f"Kinds of device, by session: {_counts(kinds)}"))
    if widths and heights:
        said.append(Said(f"The median screen had {median(widths):.0f} by {median(heights):.0f} device pixels"))
    if browsers:
        said.append(Said(f"Browsers: {_counts(browsers)}"))
    return said


def _counts(found: Counter[str]) -> str:
    shown = [f"{name} {n:,}" for name, n in found.most_common(_MOST)]
    rest = sum(found.values()) - sum(n for _, n in found.most_common(_MOST))
    return listed([*shown, *([f"others {rest:,}"] if rest else [])])


def _check(material: Material, check: Mapping[str, Any]) -> str:
    """Return a check with what it asks for, and how many were turned away there."""
    wants = _wants(material, check["check"])
    title = _lowered(check["title"])
    away = f"{check['turned_away']:,} turned away" if check["turned_away"] else ""
    told = ", ".join(one for one in (wants, away) if one)
    return f"{title} ({told})" if told else title


def _wants(material: Material, check: str) -> str:
    """Return the least that a check asks for, where that is a number or a kind."""
    rule = getattr(material.study.qualification, check, None)
    if isinstance(rule, Device):
        return listed(rule.allow)
    if isinstance(rule, Screen):
        return f"at least {rule.min[0]} by {rule.min[1]} pixels"
    if isinstance(rule, Refresh):
        return f"at least {rule.min_hz:g} Hz"
    return f"{rule.warn_mbps:g} Mbit/s" if isinstance(rule, Network) else ""


def trust(material: Material) -> list[Said]:
    """Return the rules over what people did while they rated, with their thresholds and how many failed."""
    rules: Sequence[Mapping[str, Any]] = material.account.get("trust") or ()
    said = [
        Said(f"{rule['title']}: {_lowered(rule['words'].rstrip('.'))} ({_failed(rule)})")
        for rule in rules
        if rule["action"] != "record"
    ]
    if not said:
        return [Said("There were no rules over what participants did while they rated")]
    return [Said("Sessions were judged by rules set in the study"), *said]


def _failed(rule: Mapping[str, Any]) -> str:
    return f"{rule['failed']:,} of {rule['met']:,} sessions failed"


def _lowered(text: str) -> str:
    return text[:1].lower() + text[1:]
