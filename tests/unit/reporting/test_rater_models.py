"""Means under rater models next to the plain means."""

from __future__ import annotations

from pathlib import Path

import pytest

from beholder.reporting.figures import figures
from beholder.reporting.material import load_material
from support.rater_model_sections import models_text
from support.report_pages import made_up


def test_the_report_holds_models_beside_the_plain_mean(tmp_path: Path) -> None:
    study = made_up(tmp_path, {"a": 40, "b": 60}, participants=12, contents=2)
    section = models_text(study)
    assert "Rater models move means of conditions by " in section
    assert "and their order stays the same." in section
    assert "BT.500 would leave out " in section
    assert "Do not go by Annex E here: half of the participants gave 4 or fewer ratings" in section
    assert "biases-quality" in {figure.name for figure in figures(load_material(study))}


@pytest.mark.variant
def test_of_many_questions_each_has_a_line(tmp_path: Path) -> None:
    questions = [{"id": name, "text": name, "scale": "cont100"} for name in ("one", "two", "three", "four")]
    study = made_up(tmp_path, {"a": 40, "b": 60}, participants=6, contents=2, questions=questions)
    section = models_text(study)
    assert section.count("<table") == 1
    assert section.count(" of 6</td>") == len(questions)
    assert not [figure for figure in figures(load_material(study)) if figure.name.startswith("biases")]
