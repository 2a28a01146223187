"""mushra: the named reference, the hidden one, and sounds that are alike."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from support.method_studies import (
    answer_of,
    catalogue_of,
    make_catalogue,
    make_study,
    one_trial,
    planned,
    problems,
)
from support.method_trials import SOURCE, TWO, slot_facts


def test_strict_mushra_wants_short_sounds_that_are_alike() -> None:
    study = make_study("mushra", TWO)
    alike = make_catalogue(
        ["source", "test"], roles={"source": "reference"}, medium="audio", contents=("one",), sample_rate=48000
    )
    reference, test = alike.stimuli
    long = replace(reference, probe=replace(reference.probe, duration_ms=12_500))
    unlike = replace(test, probe=replace(test.probe, duration_ms=12_400, sample_rate=44100, channels=1))
    fix = "Write options: {strict: false} to take them as they are."
    prepare = "To make them alike: beholder media prepare stimuli --out prepared"
    shortest, rate, channels = (
        f"{prepare} {option}, and write stimuli: prepared. {fix}"
        for option in ("--shortest", "--rate 48000", "--channels 2")
    )
    mixed = replace(alike, stimuli=(long, unlike))
    loose = make_study("mushra", TWO, options={"strict": False}, design={"participants": 2, "trials": 1})
    strict = make_study("mushra", TWO, design={"participants": 2, "trials": 1})
    assert problems(loose, mixed) == []
    assert [f"content one  {problem}" for problem in problems(strict, mixed)] == [
        f"content one  has a reference of 12.5 s. Allowed: up to 12 s. {fix}",
        f"content one  has sounds of 12.40 to 12.50 s. Allowed: the same length within 50 ms. {shortest}",
        f"content one  has sounds of different sample rates: 44100 Hz and 48000 Hz. Allowed: one for all. {rate}",
        f"content one  has sounds of different numbers of channels: 1 and 2. Allowed: one for all. {channels}",
    ]
    assert problems(study, catalogue_of(study, medium="video", duration_ms=60_000)) == []


def test_mushra_shows_the_reference_in_front_and_hides_it_once_among_the_others() -> None:
    study = make_study("mushra", [SOURCE, "a", "b", {"name": "low", "role": "anchor"}])
    _, trials = planned(study)
    places = Counter[int]()
    for trial in trials:
        first, *rest = slot_facts(trial)
        assert first == ("source", "reference", "reference", False)
        assert trial.slots[0].colour is None
        assert sorted(rest, key=lambda slot: slot[0]) == [
            ("a", "test", next(s.label for s in trial.slots if s.stimulus.startswith("a/")), True),
            ("b", "test", next(s.label for s in trial.slots if s.stimulus.startswith("b/")), True),
            ("low", "anchor", next(s.label for s in trial.slots if s.stimulus.startswith("low/")), True),
            (
                "source",
                "hidden_reference",
                next(s.label for s in trial.slots[1:] if s.role == "hidden_reference"),
                True,
            ),
        ]
        assert [slot.label for slot in trial.slots] == ["reference", "A", "B", "C", "D"]
        assert [slot.id for slot in trial.slots] == ["s1", "s2", "s3", "s4", "s5"]
        places[next(n for n, slot in enumerate(trial.slots) if slot.role == "hidden_reference")] += 1
    assert len(places) > 1, "it does not always hide in the same place"


def test_the_shown_reference_of_mushra_is_no_rating() -> None:
    method, trial = one_trial(make_study("mushra", [SOURCE, "a"]))
    ratings = method.judgements(trial, answer_of(method, trial, {"source": 1.0, "a": 0.2}))
    roles = {slot.id: slot.role for slot in trial.slots}
    assert sorted((roles[rating.slot], rating.value) for rating in ratings) == [("hidden_reference", 100), ("test", 20)]


def test_mushra_is_post_screened_unless_a_study_says_otherwise() -> None:
    def postscreen(checks: dict[str, object]) -> object:
        study = make_study("mushra", TWO, **({"checks": checks} if checks else {}))
        return next((options for rule, options in study.checks.rules() if rule.name == "postscreen"), None)

    assert postscreen({}) == postscreen({"postscreen": True})
    assert postscreen({}) is not None
    assert postscreen({"postscreen": False}) is None
    noted = postscreen({"postscreen": {"action": "record"}})
    assert getattr(noted, "action", None) == "record"
    assert [rule.name for rule, _ in make_study("acr", TWO).checks.rules() if rule.name == "postscreen"] == []
