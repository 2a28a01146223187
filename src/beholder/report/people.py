"""Who they were: what people answered before and after the trials, counted."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence

import pandas as pd

from beholder.report.asked import people_words
from beholder.report.markup import Markup, render, tag
from beholder.report.material import Material
from beholder.report.tallies import Share, mean_sd, share_tally, spread_tally
from beholder.report.words import count, listed
from beholder.study.model import Ask
from beholder.study.scale import SCALES

_NO_ANSWER = "no answer"


def people(material: Material) -> Markup | None:
    """Return a tally for each question of the questionnaires; None where there were none to count."""
    table = material.clean("participants")
    asks = [ask for ask in (*material.study.before, *material.study.after) if f"answer_{ask.id}" in table.columns]
    counted = [ask for ask in asks if ask.type != "text"]
    if not counted or table.empty:
        return None
    answered = [ask for ask in counted if (table[f"answer_{ask.id}"] != "").any()]
    silent = [ask.text for ask in counted if ask not in answered]
    sentences = [_sentence(material, table), *([f"Nobody answered: {listed(silent)}"] if silent else [])]
    tallies = [_tally(ask, table) for ask in answered]
    return render([tag("p", " ".join(sentences)), tag("div", tallies, class_="tallies") if tallies else None])


FOOT = "Used: people of whom a session is analysed; shares are of those who answered. All: everybody who came."


def _sentence(material: Material, table: pd.DataFrame) -> str:
    used = int((table["use"] == "true").sum())
    one, many = people_words(material)
    if not used:
        return f"Nobody is used. {count(len(table), one, many)} came."
    return f"{count(used, one, many)} of {len(table):,} who came {'is' if used == 1 else 'are'} used."


def _tally(ask: Ask, table: pd.DataFrame) -> Markup:
    cells = table[f"answer_{ask.id}"]
    is_used = table["use"] == "true"
    used, everyone = list(cells[is_used]), list(cells)
    title = f"{ask.text} (several answers)" if ask.type == "multiple" else ask.text
    if ask.type == "number":
        one, other = _numbers(used), _numbers(everyone)
        missing = len(used) - len(one), len(everyone) - len(other)
        return spread_tally(title, one, other, missing, known=("answered", _NO_ANSWER))
    mine, all_of_them = _counts(ask, used), _counts(ask, everyone)
    shares = [Share(label, mine[value], all_of_them[value]) for value, label in _labels(ask, all_of_them)]
    silent = Share(_NO_ANSWER, used.count(""), everyone.count(""), is_counted=False)
    answered = len(used) - silent.used
    note = None
    if ask.type == "likert" and answered:
        values = _numbers(used)
        note = f"Mean ± SD of those used: {mean_sd(values, 1)}, from 1 to {len(ask.options) or 5}."
    return share_tally(title, [*shares, silent] if silent.everyone else shares, answered, note)


def _labels(ask: Ask, found: Counter[str]) -> list[tuple[str, str]]:
    """Return each answer with its words: those on offer, then any that were on offer under an earlier text."""
    offered = {option: option for option in ask.options}
    if ask.type == "likert":
        words = ask.options or [text for _, text in SCALES["agree5"].labels]
        offered = {str(place): f"{place} {word}" for place, word in enumerate(words, 1)}
    return list((offered | {value: value for value in sorted(found) if value not in offered}).items())


def _counts(ask: Ask, cells: Sequence[str]) -> Counter[str]:
    """Return how often each answer was given; of several choices each counts."""
    if ask.type != "multiple":
        return Counter(cell for cell in cells if cell)
    return Counter(str(choice) for cell in cells if cell for choice in _choices(cell))


def _choices(cell: str) -> list[object]:
    try:
        found = json.loads(cell)
    except ValueError:
        return [cell]
    return found if isinstance(found, list) else [cell]


def _numbers(cells: Sequence[str]) -> list[float]:
    """Return the numbers among the cells; anything else was answered under an earlier text, and counts as missing."""
    found = pd.to_numeric(pd.Series(cells, dtype=str), errors="coerce").dropna()
    return [float(value) for value in found if abs(value) != float("inf")]
