"""abx: two modes, their conditions, and which answer is correct."""

from __future__ import annotations

from support.method_studies import QUESTION, answer_of, make_study, planned, problems
from support.method_trials import SOURCE, about_stimuli, mirrored, refusal, swapped, trial_of


def test_abx_says_what_its_two_modes_are() -> None:
    assert problems(make_study("abx")) == [
        "options.mode is missing, and the two kinds of abx are different experiments. Allowed: closest or identify. "
        "closest: X is the reference, and people say which of A and B is nearer to it. "
        "identify: X is a copy of A or of B, and people say of which."
    ]


def test_abx_has_as_many_conditions_as_its_mode_needs() -> None:
    assert problems(make_study("abx", [SOURCE, "a", "b", "c"], options={"mode": "closest", "unsure": True})) == [
        "conditions beside the reference are 3, and abx closest compares two. Allowed: two conditions and a reference.",
        "options.unsure does not fit mode closest. Allowed: mode identify. Leave it out.",
    ]
    more = [QUESTION, {"id": "again", "text": "Really?"}]
    assert problems(make_study("abx", ["a", "b", "c"], options={"mode": "identify"}, questions=more)) == [
        "conditions are 3, and abx identify compares two. Allowed: two conditions.",
        "questions are 2, and abx identify asks only which one X is. Allowed: one question.",
    ]


def test_unsure_is_refused_where_it_is_not_allowed() -> None:
    method, trial = trial_of("abx")
    for said in ("unsure", "s3", None, 1):
        assert refusal(method, trial, {"choices": {"q1": {"same_as": said}}}) == (
            "answer.choices.q1.same_as", f"{said!r} cannot be the same", "s1, s2",
        )  # fmt: skip
    method, trial = trial_of("abx", options={"mode": "identify", "unsure": True})
    answer = {"choices": {"q1": {"same_as": "unsure"}}}
    assert method.read(trial, answer) == answer


def test_abx_identify_is_correct_exactly_when_the_copied_one_is_named() -> None:
    method, trials = planned(make_study("abx", options={"mode": "identify", "unsure": True}))
    copied = set()
    for trial in trials:
        a, b, x = trial.slots
        assert (x.label, x.rated) == ("x", False)
        assert x.stimulus == trial.draws["same_as"]
        copied.add(x.stimulus.rpartition("/")[0])
        for slot in (a, b):
            (rating,) = method.judgements(trial, method.read(trial, {"choices": {"q1": {"same_as": slot.id}}}))
            assert rating.kind == "correct"
            assert rating.value == int(slot.stimulus == x.stimulus)
            assert rating.raw_value == (1 if slot.id == "s2" else -1)
            assert (rating.scale_min, rating.scale_max) == (0, 1)
            turned = swapped(trial)
            said = mirrored({"choices": {"q1": {"same_as": slot.id}}})
            (again,) = method.judgements(turned, said)
            assert about_stimuli(trial, rating) == about_stimuli(turned, again)
        (unsure,) = method.judgements(trial, {"choices": {"q1": {"same_as": "unsure"}}})
        assert (unsure.value, unsure.raw_value, unsure.missing) == (None, None, "skipped")
    assert copied == {"a", "b"}


def test_abx_identify_is_answered_right_by_who_hears_a_difference_and_by_chance_by_who_does_not() -> None:
    method, trials = planned(make_study("abx", options={"mode": "identify"}, design={"participants": 60, "trials": 2}))
    for b, low, high in ((0.9, 0.95, 1.0), (0.1, 0.3, 0.7)):
        right = [
            method.judgements(trial, answer_of(method, trial, {"a": 0.1, "b": b}, seed))[0].value
            for seed, trial in enumerate(trials)
        ]
        assert low <= sum(value or 0 for value in right) / len(right) <= high


def test_abx_closest_speaks_for_the_condition_that_is_nearer_to_the_reference() -> None:
    conditions = [{"name": "source", "role": "reference"}, "near", "far"]
    method, trials = planned(make_study("abx", conditions, options={"mode": "closest"}))
    for trial in trials:
        a, b, x = trial.slots
        assert (x.role, x.label, x.rated) == ("reference", "x", False)
        assert {a.stimulus.rpartition("/")[0], b.stimulus.rpartition("/")[0]} == {"near", "far"}
        quality = {"source": 0.9, "near": 0.8, "far": 0.1}
        (rating,) = method.judgements(trial, answer_of(method, trial, quality))
        assert (rating.kind, rating.value) == ("choice", 1)
