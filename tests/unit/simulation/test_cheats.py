"""Cheats: robots that send other requests."""

from __future__ import annotations

from beholder.simulation.cheats import opposite_answer
from support.slider_trials import SLIDER, board


def test_another_answer_is_another_one_on_the_same_scale() -> None:
    page = board(2)
    assert opposite_answer(page, {"scores": {"q1": {"s1": 72, "s2": 10}}}) == {"scores": {"q1": {"s1": 0, "s2": 100}}}
    pair = {**page, "asked": [{"id": "q1", "text": "?", "scale": {**SLIDER, "min": -1, "max": 1}}]}
    assert opposite_answer(pair, {"choices": {"q1": {"better": "s1"}}}) == {"choices": {"q1": {"better": "s2"}}}
    assert opposite_answer(pair, {"choices": {"q1": {"better": "tie"}}}) == {"choices": {"q1": {"better": "tie"}}}
    order = {"order": [["s2"], ["s1", "s3"]]}
    assert opposite_answer(pair, {"choices": {"q1": order}}) == {"choices": {"q1": {"order": [["s1", "s3"], ["s2"]]}}}
    marks = {"best": "s1", "worst": "s2"}
    assert opposite_answer(pair, {"choices": {"q1": marks}}) == {"choices": {"q1": {"best": "s2", "worst": "s1"}}}
