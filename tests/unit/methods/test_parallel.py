"""parallel: the reference as one of the others, named, hidden, or both."""

from __future__ import annotations

import pytest

from support.method_studies import make_study, planned
from support.method_trials import SOURCE, slot_facts


@pytest.mark.parametrize(
    ("wish", "expected"),
    [
        ("none", {("source", "hidden_reference", True), ("a", "test", True), ("b", "test", True)}),
        ("hidden", {("source", "hidden_reference", True), ("a", "test", True), ("b", "test", True)}),
        ("shown", {("source", "reference", False), ("a", "test", True), ("b", "test", True)}),
        (
            "both",
            {
                ("source", "reference", False),
                ("source", "hidden_reference", True),
                ("a", "test", True),
                ("b", "test", True),
            },
        ),
    ],
)
def test_parallel_has_its_reference_as_asked(wish: str, expected: set[tuple[str, str, bool]]) -> None:
    _, trials = planned(make_study("parallel", [SOURCE, "a", "b"], options={"reference": wish}))
    for trial in trials:
        assert {(name, role, rated) for name, role, _, rated in slot_facts(trial)} == expected
        named = [slot.label for slot in trial.slots if not slot.rated]
        assert named == (["reference"] if wish in ("shown", "both") else [])
