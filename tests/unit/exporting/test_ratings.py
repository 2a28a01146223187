"""Ratings in the export: comparisons are counted by pair."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import beholder
from beholder.errors import UserError
from support.export_store import fill_one, make_study, record, rows


def test_comparisons_are_counted_by_pair(tmp_path: Path) -> None:
    study = make_study(tmp_path, method="pair", questions=[{"id": "better", "text": "Which?", "scale": "pref3"}])
    made = record(study, conditions=("NA", "no"))
    choices = [{"choices": {"q1": {"better": better}}} for better in ("s1", "s1", "s2", "tie")]
    asyncio.run(fill_one(study, choices, made))
    folder = beholder.export(study).folder
    assert rows(folder, "pair_counts") == [
        {
            "question": "better", "content": "city", "condition": "NA", "other_condition": "no", "n": "4",
            "preferred": "2", "ties": "1", "other_preferred": "1",
        }
    ]  # fmt: skip
    assert not (folder / "matrix.csv").exists()
    with pytest.raises(UserError) as caught:
        beholder.export(study, p910=True)
    assert str(caught.value) == (
        "--p910  has no table for ratings of kind choice. Allowed: scores and grades. "
        "Leave it out; ratings and pair_counts have everything."
    )
