"""The section on time marks: rates, a curve for each condition, agreement, who is far off, and what is not there."""

from __future__ import annotations

import math
from dataclasses import replace

import pandas as pd
import pytest

from beholder.reporting.material import Material
from beholder.reporting.time_marks import MARKS
from support.participant_tables import shown


def marked(material: Material, *, labels: tuple[str, ...] = (), far: bool = False, marks: int = 4) -> Material:
    """Return the material with marks of one content under its first two conditions."""
    conditions = list(material.labels)[:2]
    every = ("", *labels)
    rates = [
        {"condition": name, "label": label, "viewings": 12, "marked": 0.25, "marks": marks, "rate": 2.5,
         "ci_low": 1.0, "ci_high": 4.0}
        for label in every for name in conditions
    ]  # fmt: skip
    contrasts = [
        {"condition": conditions[0], "other_condition": conditions[1], "label": label, "difference": -1.5,
         "ci_low": -2.0, "ci_high": -1.0, "p_holm": 0.01}
        for label in every
    ]  # fmt: skip
    density = [
        {"content": "<one>", "condition": name, "label": label, "n": 6, "seconds": 0.05 + 0.1 * step,
         "density": float(step == 3)}
        for name in conditions for label in every for step in range(20)
    ]  # fmt: skip
    peaks = [{"content": "<one>", "condition": conditions[0], "label": "", "seconds": 0.35, "density": 1.0, "marks": 4,
              "participants": 4, "n": 6, "share": 4 / 6}]  # fmt: skip
    agreement = [
        {"condition": name, "label": label, "participants": 6, "marks": 4, "kappa": 0.5, "kappa_low": math.nan,
         "kappa_high": math.nan}
        for label in every for name in ("", *conditions)
    ]  # fmt: skip
    markers = [{"participant": f"p{n}", "rate": 60.0 if n == 0 else 2.0, "far": far and n == 0} for n in range(6)]
    also = {
        "mark_rates": rates, "mark_contrasts": contrasts, "mark_density": density, "mark_peaks": peaks if marks else [],
        "mark_agreement": agreement, "markers": markers,
    }  # fmt: skip
    tables = {name: pd.DataFrame(rows) for name, rows in also.items()}
    return replace(material, results=replace(material.results, also={**material.results.also, **tables}))


def test_rates_places_and_agreement_stand_in_the_section(material: Material) -> None:
    material = marked(material)
    page = shown(MARKS(material))
    text = " ".join(page.text.split())
    first, second = list(material.labels.values())[:2]
    assert "8 marks in 24 viewings by 6 participants." in text
    assert f"{first} 12 25 % 4 2.5 1.0 to 4.0" in text
    assert f"{first} − {second} −1.5 −2.0 to −1.0 0.01" in text
    assert "All conditions 6 4 0.50 –" in text
    told = [attrs["aria-label"] for tag, attrs in page.tags if tag == "svg" and attrs.get("role") == "img"]
    assert told == [f"{first}: peaks at 0:00.4, 4 of 6 people", f"{second}: no place that two people marked"]
    assert "Label" not in text
    assert "Far off the others" not in text


def test_labels_have_rows_and_lines_of_their_own_with_a_key(material: Material) -> None:
    page = shown(MARKS(marked(material, labels=("blur", "noise"))))
    text = " ".join(page.text.split())
    assert "All labels blur noise" in text
    lines = [
        attrs["class"] for tag, attrs in page.tags if tag == "path" and "timed__line--1" in str(attrs.get("class"))
    ]
    assert len(lines) == 3  # in the key, and under two conditions


def test_who_is_far_off_is_named(material: Material) -> None:
    text = " ".join(shown(MARKS(marked(material, far=True))).text.split())
    assert "Far off the others, whose median is 2.0 a minute: p0 (60.0 a minute)." in text


def test_where_nobody_marked_anything_there_is_a_sentence_and_no_curve(material: Material) -> None:
    page = shown(MARKS(marked(material, marks=0)))
    assert "Nobody marked anything in 24 viewings by 6 participants." in " ".join(page.text.split())
    assert not any(tag == "svg" for tag, _ in page.tags)


def test_a_study_without_marks_has_no_such_section(material: Material) -> None:
    assert MARKS(material) is None


@pytest.mark.parametrize("name", ["mark_contrasts", "mark_agreement"])
def test_what_holds_at_the_end_only_may_be_absent(material: Material, name: str) -> None:
    material = marked(material)
    also = {key: table for key, table in material.results.also.items() if key != name}
    assert "Marks per minute" in shown(MARKS(replace(material, results=replace(material.results, also=also)))).text
