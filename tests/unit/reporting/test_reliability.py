"""Reliability, dimensionality and votes needed, in words and tables."""

from __future__ import annotations

from pathlib import Path

import beholder
from beholder.analysis import analyse
from beholder.reporting.material import load_material
from beholder.reporting.reliability import reliability_section, votes_needed_section
from support.report_pages import made_up


def test_one_person_has_no_reliability(tmp_path: Path) -> None:
    study = made_up(tmp_path, {"ours": 70, "base": 50}, participants=1)
    analyse(study)
    assert not (tmp_path / "analyse" / "reliability.csv").exists()
    assert reliability_section(load_material(study)) is None


def test_the_report_says_what_the_votes_give(tmp_path: Path) -> None:
    one = made_up(tmp_path / "one", {"a": 70.0, "b": 50.0, "c": 45.0}, participants=8, contents=3)
    beholder.analyse(one)
    assert str(votes_needed_section(load_material(one))) == (
        "<p><b>8 votes per stimulus give r = 0.96 with an equal study.</b> For r = 0.95, about 8 votes would do.</p>"
    )
    material = load_material(one)
    curve = material.results.also["votes_needed"]
    curve["pearson"] = 0.9 * curve["pearson"].where(curve["pearson"] < 0, 1.0)
    under = str(votes_needed_section(material))
    assert under.startswith(
        "<p><b>8 votes per stimulus give an r just under 0.95 with an equal study.</b> For r = 0.95"
    )
    asked = [{"id": name, "text": f"How {name}?", "scale": "acr5"} for name in ("good", "clear")]
    two = made_up(tmp_path / "two", {"a": 70.0, "b": 50.0, "c": 45.0}, participants=8, contents=3, questions=asked)
    beholder.analyse(two)
    section = str(votes_needed_section(load_material(two)))
    assert "<caption>Votes per stimulus and what they give</caption>" in section
    assert "How clear?" in section


def test_a_report_without_a_curve_has_no_such_panel(tmp_path: Path) -> None:
    few = made_up(tmp_path, {"a": 70.0, "b": 50.0}, participants=1, contents=2)
    beholder.analyse(few)
    assert votes_needed_section(load_material(few)) is None
