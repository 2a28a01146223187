"""The data of a report: results belong to the ratings in clean/, and labels are unique."""

from __future__ import annotations

from pathlib import Path

import pytest

from beholder.analysis import analyse
from beholder.analysis.result import read_results
from beholder.errors import UserError
from beholder.reporting import report
from support.report_pages import findings_text, made_up, read_undrawn


def test_results_of_other_ratings_than_those_in_clean_are_refused(tmp_path: Path) -> None:
    """As after `clean --robots; analyse; clean`."""
    study = made_up(tmp_path, {"a": 60.0, "b": 40.0}, population="robots")
    analyse(study)
    made_up(tmp_path, {"a": 40.0, "b": 60.0})
    for refused in (lambda: report(study), lambda: read_results(tmp_path)):
        with pytest.raises(UserError) as error:
            refused()
        assert str(error.value) == "analyse/  is older than clean/. Run `beholder analyse` first."
    assert not (tmp_path / "report").exists()
    assert read_undrawn(study).words[0] == "People answered this study."


def test_results_of_no_rating_of_the_other_population_are_refused(tmp_path: Path) -> None:
    study = made_up(tmp_path, {"a": 60.0}, participants=0, population="robots")
    analyse(study)
    made_up(tmp_path, {"a": 60.0}, participants=0)
    with pytest.raises(UserError) as error:
        report(study)
    assert str(error.value) == "analyse/  is older than clean/. Run `beholder analyse` first."


def test_labels_stand_for_names_and_equal_labels_are_told_apart(tmp_path: Path) -> None:
    conditions = [{"name": "a", "label": "System"}, {"name": "b", "label": "System"}, {"name": "c", "label": "Other"}]
    text = findings_text(made_up(tmp_path, {"a": 70.0, "b": 30.0, "c": 50.0}, conditions=conditions))
    assert "System (a) is ahead." in text
    assert "above the next, Other." in text
