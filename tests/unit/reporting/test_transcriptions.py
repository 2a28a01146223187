"""The section on typed texts: error rates, the most confused words, and an example for each condition."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from beholder.analysis.transcriptions import confused_words, error_rates
from beholder.reporting.material import Material
from beholder.reporting.transcriptions import TRANSCRIPTIONS
from support.participant_tables import shown

SAID = "the small boat"


def typed(material: Material) -> Material:
    """Return the material with texts that were typed under its first condition."""
    condition, question = next(iter(material.labels)), material.parts[0].id
    heard = [(SAID, 100.0), (SAID, 100.0), ("the small goat", 200 / 3), ("small goat", 100 / 3), ("", 0.0)]
    table = pd.DataFrame([
        {"participant": f"p{person}", "content": content, "condition": condition, "question": question, "use": True,
         "said": SAID, "heard": text, "value": value}
        for content in ("one", "two") for person, (text, value) in enumerate(heard)
    ])  # fmt: skip
    found = {"error_rates": error_rates(table), "confusions": confused_words(table)}
    also = {name: one.table for name, one in found.items() if one is not None}
    return replace(material, results=replace(material.results, ratings=table, also={**material.results.also, **also}))


def test_rates_stand_with_their_intervals_then_confusions_and_an_example(material: Material) -> None:
    material = typed(material)
    label = next(iter(material.labels.values()))
    page = shown(TRANSCRIPTIONS(material, material.parts[0])).text
    assert f"{label} 60 % (" in page
    assert "13 % 27 % 0 % 20 % 10" in page
    assert "Said → typed Times boat → goat 4" in page
    assert f"What people typed of one Said {SAID} {label} the small goat (67 % right)" in page
    assert "Of 10 answers." in page


def test_a_study_without_texts_has_no_such_section(material: Material) -> None:
    assert TRANSCRIPTIONS(material, material.parts[0]) is None
