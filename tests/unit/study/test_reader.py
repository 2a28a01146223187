"""Reading values by the types of the model: names stay text, numbers have to be numbers."""

from __future__ import annotations

from pathlib import Path

from support.study_texts import HEAD, load


def test_an_empty_section_counts_as_left_out(tmp_path: Path) -> None:
    assert load(tmp_path, HEAD + "design:\nquestions:\noptions:\ntexts:\n  consent:\n").design.seed == 1
