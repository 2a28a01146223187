"""The section on marked words: a heat map over each transcript, and how far people agree."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from beholder.analysis.marked_words import word_agreement, word_shares
from beholder.reporting.marked_words import WORDS
from beholder.reporting.material import Material
from support.participant_tables import shown


def marked(material: Material) -> Material:
    """Return the material with words that were marked under its first condition."""
    condition, question = next(iter(material.labels)), material.parts[0].id
    votes = {"The": (0, 0, 0, 1), "boat": (1, 1, 1, 1)}
    table = pd.DataFrame([
        {"participant": f"p{person}", "content": content, "condition": condition, "question": question, "kind": "pick",
         "unit": str(place), "word": word, "value": float(vote)}
        for content in ("one", "two") for place, word in enumerate(votes, 1) for person, vote in enumerate(votes[word])
    ])  # fmt: skip
    found = {"words": word_shares(table), "word_agreement": word_agreement(table)}
    also = {name: one.table for name, one in found.items() if one is not None}
    return replace(material, results=replace(material.results, also={**material.results.also, **also}))


def test_each_word_stands_with_its_share_and_the_agreement_below(material: Material) -> None:
    material = marked(material)
    page = shown(WORDS(material, material.parts[0]))
    label = next(iter(material.labels.values()))
    assert f"one {label} The 25 % boat 100 % two {label} The 25 % boat 100 %" in page.text
    assert "All conditions 4 4 62 % 75 %" in page.text
    html = str(WORDS(material, material.parts[0]))
    assert 'class="heat__word heat__word--10" title="boat: marked by 100 % of 4, 95 % interval 40 to 100 %"' in html


def test_a_study_without_words_has_no_such_section(material: Material) -> None:
    assert WORDS(material, material.parts[0]) is None
