"""The page of metrics, and its finding in words."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import beholder
from beholder.analysis.result import Result
from beholder.analysis.sides import read_side
from beholder.objective.page import finding, outcome


@pytest.mark.variant
def test_few_things_are_said_to_say_little(tmp_path: Path) -> None:
    scores, values = tmp_path / "scores.csv", tmp_path / "values.csv"
    scores.write_text("condition,question,mean\na,q,1\nb,q,2\nc,q,4\na,r,2\nb,r,1\nc,r,3\n", "utf-8")
    values.write_text("condition,one,two\na,1,5\nb,2,4\nc,3,\n", "utf-8")
    found = beholder.metrics(scores, values=[values])
    assert found.words == (
        "Over 2 questions one agrees best with what people said: |r| = 0.90 on average, from 0.50 (r) to 0.98 (q), "
        "over 3 conditions.",
        "With 3 conditions the intervals are wide: this says little about which metric is better.",
    )
    values.write_text("condition,one\na,1\nb,1\n", "utf-8")
    assert beholder.metrics(scores, values=[values]).words == (
        "No metric can be held beside the scores: fewer than three stimuli and conditions have both, or all are alike.",
    )


def test_questions_are_called_by_their_labels_and_reversed_ones_by_the_name_of_what_is_shown(tmp_path: Path) -> None:
    scores, values = tmp_path / "scores.csv", tmp_path / "values.csv"
    scores.write_text("condition,question,mean\na,q,1\nb,q,2\nc,q,4\na,r,2\nb,r,1\nc,r,3\n", "utf-8")
    values.write_text("condition,one\na,1\nb,2\nc,3\n", "utf-8")
    found = beholder.metrics(scores, values=[values])
    side = replace(read_side(scores), question_labels={"q": "Realistic", "r": "Not creepy"})
    results = {name: Result(getattr(found, name), "", "") for name in ("values", "correlations")}
    words = finding(results, side)
    assert "from 0.50 (Not creepy) to 0.98 (Realistic)" in words[0]
    told = outcome(results, side, None, words)
    assert [figure.title for figure in told.figures][1:] == ["Realistic: conditions", "Not creepy: conditions"]
    page = "".join(str(section) for section in told.sections({}))
    assert "Not creepy" in page
    assert ">r<" not in page
    assert set(found.correlations["question"]) == {"q", "r"}
