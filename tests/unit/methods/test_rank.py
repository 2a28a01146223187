"""rank: orders that are refused, ties and partial orders where the study allows them."""

from __future__ import annotations

from typing import Any

import pytest

from support.method_trials import refusal, trial_of


def order(*groups: Any) -> dict[str, Any]:
    return {"choices": {"q1": {"order": list(groups)}}}


@pytest.mark.parametrize(
    ("answer", "what", "allowed"),
    [
        (order(["s1"], "s2"), "The order cannot be read", 'lists of slots, such as [["s2"], ["s1"]]'),
        (order(["s1"], []), "The order cannot be read", 'lists of slots, such as [["s2"], ["s1"]]'),
        (order(["s1"], ["s9"]), "'s9' is not one of these", "s1, s2, s3, s4"),
        (order(["s1"], ["s2"], ["s1"]), "'s1' has two places", "every slot once"),
        (order(["s1", "s2"], ["s3"], ["s4"]), "Two share a place", "one slot for each place"),
        (order(["s1"], ["s2"], ["s3"]), "Not all have a place", "all of s1, s2, s3, s4"),
    ],
)
def test_an_order_that_cannot_be_is_refused(answer: Any, what: str, allowed: str) -> None:
    method, trial = trial_of("rank", options={})
    assert refusal(method, trial, answer) == ("answer.choices.q1.order", what, allowed)


def test_ties_and_omissions_are_read_where_the_study_allows_them() -> None:
    method, trial = trial_of("rank")
    answer = method.read(trial, order(["s4", "s2"], ["s3"]))
    assert answer == order(["s2", "s4"], ["s3"])
    values = {one.slot: one.value for one in method.judgements(trial, answer)}
    assert values == pytest.approx({"s2": 2 / 3, "s4": 2 / 3, "s3": -1 / 3, "s1": -1})
    assert refusal(method, trial, order())[1:] == ("Not all have a place", "at least one slot")
    assert method.extra(trial) == {"presentation": "free", "ties": True, "partial": True}
