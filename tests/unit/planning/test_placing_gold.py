"""Stimuli of known answers that a researcher brings: where they are put, and what passes."""

from __future__ import annotations

from collections import Counter

import pytest

from beholder.planning.balance import ratings_per_stimulus
from support.check_plans import (
    CONTENTS,
    REFERENCE,
    every_answer,
    gold,
    places_of,
    plan_of,
    slots_of,
    spread,
    verdict,
    with_lessons,
)
from support.method_studies import catalogue_of, make_study
from support.plans import assert_promises


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


def test_a_researchers_own_stimuli_ask_and_none_are_made() -> None:
    study = make_study("acr", list("ab"), checks={"trap": {"per_session": 1}})
    own = with_lessons(catalogue_of(study), "trap", gold("trap/x", 9, 2), gold("trap/one", 10, 4, 1))
    plan, catalogue = plan_of(study, own)
    assert catalogue == own
    assert {(slot.stimulus, trial.targets["q1.s1"]) for trial, slot in slots_of(plan, "trap")} == {
        ("trap:trap/x", (2, 0, "", True, ())), ("trap:trap/one", (4, 1, "", True, ())),
    }  # fmt: skip
    board = make_study("parallel", list("ab"), checks={"attention": {"per_session": 1}})
    clips = [gold(f"attention/{content}", 9, 40) for content in ("one", "two", "three")]
    plan, _ = plan_of(board, with_lessons(catalogue_of(board), "attention", *clips))
    assert {target for trial, _ in slots_of(plan, "attention") for target in trial.targets.values()} == {
        (40, 3, "", True, ())
    }
