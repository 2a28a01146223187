"""Check trials: gold, messages and repetitions, with the answers that pass."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from beholder.planning.balance import ratings_per_stimulus
from support.check_plans import (
    CONTENTS,
    REFERENCE,
    every_answer,
    gaps_of,
    gold,
    places_of,
    plan_of,
    slots_of,
    spread,
    verdict,
    with_lessons,
)
from support.inserted_checks import METHODS, checked_study
from support.method_studies import catalogue_of, make_study
from support.plans import assert_promises
from support.variants import cases


@pytest.mark.parametrize("method", cases(METHODS, ("pair", "likert", "acr")))
def test_who_does_what_is_asked_passes_and_nobody_else(method: str) -> None:
    study = checked_study(method)
    plan, _ = plan_of(study)
    seen = set()
    for trial, slot in slots_of(plan, "trap")[:24]:
        if not slot.stimulus.startswith("trap"):
            continue
        answers = every_answer(study, trial)
        right = [
            answer for answer in answers if (said := verdict(study, "trap", trial, answer)) and said.verdict == "pass"
        ]
        assert len(right) == 1
        (answer,) = right
        (target,) = {(target.value, target.tolerance) for target in trial.targets.values()}
        if "scores" in answer:
            assert all(values == {slot.id: target[0]} for values in answer["scores"].values())
        elif study.method == "ccr":
            # What is asked for is a word of the scale, which is about the second one.
            choice = answer["choices"]["q1"]
            raw = 0 if choice["better"] == "tie" else choice["grade"] * (1 if choice["better"] == "s2" else -1)
            assert raw == target[0]
        else:
            assert answer["choices"]["q1"]["better"] == slot.id
        seen.add(slot.id)
    assert seen == ({"s1", "s2"} if method in ("ccr", "pair", "ab") else {"s2"} if method == "dcr" else {"s1"})


def test_a_trial_comes_again_later_with_another_place_and_role() -> None:
    study = checked_study("acr", checks={"repeat": {"per_session": 4}})
    plan, _ = plan_of(study)
    gaps: Counter[int] = Counter()
    for planned in plan.lists:
        for place in places_of(planned, "repeat"):
            trial = planned.trials[place]
            (first,) = (n for n, one in enumerate(planned.trials)
                        if n != place and one.slots[0].stimulus == trial.slots[0].stimulus)  # fmt: skip
            assert place - first >= 4
            assert replace(planned.trials[first], id=trial.id) == replace(
                trial, slots=tuple(slot._replace(role="test") for slot in trial.slots)
            )
        gaps.update(gaps_of(planned, "repeat"))
    assert gaps == {n: len(plan.lists) for n in range(4, 8)}


def test_gold_comes_between_the_others_with_its_answer() -> None:
    study = make_study(
        "acr", list("abcd"), questions=[{"id": "quality", "text": "?"}, {"id": "fit", "text": "?", "scale": "acr9"}],
        design={"participants": 30, "trials": 6}, checks={"gold": {"per_session": 2}},
    )  # fmt: skip
    catalogue = with_lessons(
        catalogue_of(study, contents=CONTENTS), "gold",
        gold("best/x", 9, 5), gold("worst/y", 10, {"quality": 1, "fit": 2}, 0), gold("fine/z", 11, {"fit": 8}),
    )  # fmt: skip
    plan, _ = plan_of(study, catalogue)
    used: Counter[str] = Counter()
    for planned in plan.lists:
        places = places_of(planned, "gold")
        assert len(places) == 2
        assert 0 < min(places) < max(places) < len(planned.trials) - 1
        names = [planned.trials[place].slots[0].stimulus for place in places]
        assert len(set(names)) == 2
        used.update(names)
    assert spread(used, 3) <= 2
    targets = {
        slot.stimulus: {where: one[:4] for where, one in t.targets.items()} for t, slot in slots_of(plan, "gold")
    }
    assert targets == {
        "gold:best/x": {"q1.s1": (5, 1, "", False), "q2.s1": (5, 2, "", False)},
        "gold:worst/y": {"q1.s1": (1, 0, "", False), "q2.s1": (2, 0, "", False)},
        "gold:fine/z": {"q2.s1": (8, 2, "", False)},
    }
    assert_promises(plan, catalogue)
    assert not any(name.startswith("gold") for name in ratings_per_stimulus(plan))
    near = make_study("acr", list("abcd"), checks={"gold": {"tolerance": 2}})
    plan, _ = plan_of(near, with_lessons(catalogue_of(near), "gold", gold("best/x", 9, 5)))
    assert {target.tolerance for trial, _ in slots_of(plan, "gold") for target in trial.targets.values()} == {2}


def test_a_page_of_sliders_holds_all_gold_stimuli_of_a_content() -> None:
    study = make_study("parallel", list("abc"), checks={"gold": True, "attention": {"per_session": 1}})
    catalogue = with_lessons(catalogue_of(study), "gold", gold("best/x", 9, 100), gold("worst/x", 10, 0))
    plan, _ = plan_of(study, catalogue)
    for planned in plan.lists:
        (place,) = places_of(planned, "gold")
        trial = planned.trials[place]
        at = {slot.stimulus: trial.targets[f"q1.{slot.id}"][:2] for slot in trial.slots}
        assert at == {"gold:best/x": (100, 25), "gold:worst/x": (0, 25)}
        assert {slot.role for slot in trial.slots} == {"gold"}
    assert_promises(plan, catalogue)


@pytest.mark.parametrize(("method", "value"), [("ccr", -3), ("pair", -1), ("dcr", 1)])
def test_gold_is_held_against_what_stands_beside_it(method: str, value: float) -> None:
    study = make_study(method, REFERENCE, design={"participants": 20, "trials": 2}, checks={"gold": True})
    catalogue = with_lessons(catalogue_of(study), "gold", gold("bad/one", 9, value))
    plan, _ = plan_of(study, catalogue)
    places = set()
    for trial, slot in slots_of(plan, "gold"):
        if slot.stimulus != "gold:bad/one":
            continue
        assert {one.stimulus for one in trial.slots} == {"gold:bad/one", "o/one"}
        assert list(trial.targets) == [f"q1.{slot.id}"]
        places.add(slot.id)
        said = [verdict(study, "gold", trial, answer) for answer in every_answer(study, trial)]
        right = [n for n, one in enumerate(said) if one is not None and one.verdict == "pass"]
        # Worst, or next to it, from wherever it stands.
        worst = [0, 1] if method != "pair" else [0]
        count = len(said) - 1
        assert right == (worst if method == "dcr" or slot.id == "s2" else sorted(count - n for n in worst))
    assert places == ({"s2"} if method == "dcr" else {"s1", "s2"})
