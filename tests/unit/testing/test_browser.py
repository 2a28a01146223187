"""Answers and control values with which a browser takes a study."""

from __future__ import annotations

from pathlib import Path

from beholder.methods import load_study
from beholder.testing import write_study
from beholder.testing.browser import fitting_answers


def test_fitting_answers_are_correct_and_within_limits(tmp_path: Path, tiny: Path) -> None:
    options = ["yes", "no", "sometimes"]
    items = [
        {"id": "field", "text": "?", "type": "single", "options": options, "correct": ["no"]},
        {"id": "seen", "text": "?", "type": "multiple", "options": options, "correct": ["yes", "sometimes"]},
        {"id": "age", "text": "?", "type": "number", "min": 18, "max": 99},
        {"id": "size", "text": "?", "type": "number", "max": 7},
        {"id": "free", "text": "?", "type": "text"},
    ]
    study = load_study(write_study(tmp_path, tiny, before=items))
    assert fitting_answers(study) == {"field": "no", "seen": ["yes", "sometimes"], "age": 18, "size": 7}
