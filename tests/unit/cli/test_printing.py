"""What commands print."""

from __future__ import annotations

from beholder.workflow.demo import planted_values
from support.planted_results import TRUTH, results


def test_where_only_correct_answers_are_asked_for_the_heading_says_what_is_planted() -> None:
    analysed = results([("same", "correct", "natural", "frozen", 1, None, 0, 1)], {"same": "correct"})
    assert analysed.is_identification
    assert planted_values(analysed, TRUTH) == {("same", "natural"): "0.80"}
