"""appropriateness: the share of answers for the matched stimulus, counted by hand, and whether it is above chance."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from beholder.analysis.appropriateness import appropriateness


def rows(condition: str, values: list[tuple[str, str, float]]) -> list[dict[str, Any]]:
    """Return ratings of a condition: participant, content and grade."""
    return [
        {
            "participant": person, "content": content, "condition": condition, "stimulus": f"{condition}/{content}",
            "other_condition": "", "other_stimulus": f"mismatched:{condition}/{content}", "value": value,
            "kind": "diff", "role": "matched", "scale_min": -2, "scale_max": 2, "question": "fit", "method": "mismatch",
        }
        for person, content, value in values
    ]  # fmt: skip


def test_the_share_is_that_of_a_count_by_hand_every_content_weighing_the_same() -> None:
    """Content c: 2 of 3 for its own; content d: one for its own, one tie. (2/3 + 3/4) / 2."""
    good = rows("good", [("p", "c", 2), ("q", "c", 1), ("r", "c", -2), ("p", "d", 1), ("q", "d", 0)])
    poor = rows("poor", [("p", "c", -1), ("q", "c", 0), ("r", "c", 0), ("p", "d", -2), ("q", "d", -1)])
    found = appropriateness(pd.DataFrame(good + poor))
    assert found is not None
    table = found.table.set_index("condition")
    assert [table.at["good", name] for name in ("matched", "ties", "mismatched")] == [3, 1, 1]
    assert table.loc["good", "share"] == pytest.approx((2 / 3 + 3 / 4) / 2)
    assert table.loc["poor", "share"] == pytest.approx((1 / 3 + 0) / 2)
    assert all(table["ci_low"] <= table["share"])
    assert all(table["share"] <= table["ci_high"])
    assert appropriateness(pd.DataFrame(good).assign(role="test")) is None


def test_a_share_that_is_clear_of_chance_is_told() -> None:
    people = [f"p{number}" for number in range(20)]
    contents = list("abcdefgh")
    every = [(person, content) for person in people for content in contents]
    rng = np.random.default_rng(1)
    table = pd.DataFrame(
        rows("good", [(*cell, 2.0 if rng.random() < 0.9 else -1.0) for cell in every])
        + rows("poor", [(*cell, float(rng.choice([-1, 1]))) for cell in every])
        + rows("wrong", [(*cell, -1.0 if rng.random() < 0.9 else 1.0) for cell in every])
    )
    found = appropriateness(table)
    assert found is not None
    assert found.table.set_index("condition")["verdict"].to_dict() == {
        "good": "above chance", "poor": "not clear", "wrong": "below chance",
    }  # fmt: skip
