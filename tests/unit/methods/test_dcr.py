"""dcr: the reference comes first, and a worse stimulus gets a lower value."""

from __future__ import annotations

from support.method_studies import answer_of, make_study, planned
from support.method_trials import REFERENCE


def test_dcr_shows_the_reference_first_and_a_worse_test_gets_a_lower_value() -> None:
    method, trials = planned(make_study("dcr", REFERENCE))
    for trial in trials:
        shown, rated = trial.slots
        assert (shown.id, shown.label, shown.role, shown.rated) == ("s1", "reference", "reference", False)
        assert (rated.id, rated.role, rated.rated) == ("s2", "test", True)
        assert shown.stimulus.startswith("source/")
        values = []
        for quality in (0.1, 0.9):
            (rating,) = method.judgements(trial, answer_of(method, trial, {"source": 1.0, "test": quality}))
            assert (rating.kind, rating.slot, rating.other_slot) == ("score", "s2", "s1")
            values.append(rating.value)
        assert values == [1, 5], "higher is less impaired"
