"""ccr: against a reference, the stimulus under test is judged."""

from __future__ import annotations

from support.method_studies import answer_of, make_study, planned
from support.method_trials import REFERENCE


def test_against_a_reference_the_test_is_judged_wherever_the_reference_stands_in_the_list() -> None:
    for conditions in (REFERENCE, REFERENCE[::-1]):
        method, trials = planned(make_study("ccr", conditions))
        for trial in trials:
            (rating,) = method.judgements(trial, answer_of(method, trial, {"source": 0.9, "test": 0.1}))
            assert rating.value is not None
            assert rating.value < 0
