"""acr: one unnamed stimulus in each trial, rated on the scale of each question."""

from __future__ import annotations

from support.method_studies import answer_of, make_study, planned


def test_a_trial_of_acr_is_one_unnamed_stimulus_that_is_rated() -> None:
    method, trials = planned(make_study("acr"))
    for trial in trials:
        (slot,) = trial.slots
        assert (slot.id, slot.label, slot.rated) == ("s1", None, True)
        assert method.extra(trial) == {}
        low, high = (method.judgements(trial, answer_of(method, trial, {"a": q, "b": q})) for q in (0.0, 1.0))
        assert [rating.value for rating in low] == [asked.scale.min for asked in trial.asked]
        assert [rating.value for rating in high] == [asked.scale.max for asked in trial.asked]
