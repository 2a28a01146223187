"""What stands on a page of each method: slots, roles, names, and what the browser is told beside them."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from beholder.methods import find
from beholder.methods.contract import Trial
from beholder.planning.builder import make_plan
from support.method_studies import ODD, QUESTION, answer_of, catalogue_of, make_study, one_trial, planned

SOURCE: dict[str, Any] = {"name": "source", "role": "reference"}


def stood(trial: Trial) -> list[tuple[str, str, str | None, bool]]:
    return [(slot.stimulus.rpartition("/")[0], slot.role, slot.label, slot.rated) for slot in trial.slots]


def test_mushra_shows_the_reference_in_front_and_hides_it_once_among_the_others() -> None:
    study = make_study("mushra", [SOURCE, "a", "b", {"name": "low", "role": "anchor"}])
    _, trials = planned(study)
    places = Counter[int]()
    for trial in trials:
        first, *rest = stood(trial)
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


def test_anchors_and_the_hidden_reference_are_on_every_page_whatever_is_dealt() -> None:
    study = make_study(
        "mushra",
        [SOURCE, "a", "b", "c", "low"],
        options={"anchors": ["low"]},
        design={"participants": 6, "trials": 2, "per_trial": 3},
    )
    _, trials = planned(study)
    for trial in trials:
        roles = Counter(slot.role for slot in trial.slots)
        assert roles == {"reference": 1, "hidden_reference": 1, "anchor": 1, "test": 1}


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
        assert {(name, role, rated) for name, role, _, rated in stood(trial)} == expected
        named = [slot.label for slot in trial.slots if not slot.rated]
        assert named == (["reference"] if wish in ("shown", "both") else [])


def test_acr_hr_rates_the_reference_of_every_content_in_the_same_session() -> None:
    study = make_study("acr-hr", [SOURCE, "a", "b"], design={"participants": 6, "trials": 6})
    for planned_list in make_plan(study, catalogue_of(study), find("acr-hr")).lists:
        shown = [(trial.content, trial.slots[0].role) for trial in planned_list.trials]
        for place, (content, role) in enumerate(shown):
            if role == "test":
                there = shown.index((content, "hidden_reference"))
                assert abs(there - place) >= 2
        assert max(Counter(shown)[content, "hidden_reference"] for content, _ in shown) == 1
        assert all(slot.rated and slot.label is None for trial in planned_list.trials for slot in trial.slots)


@pytest.mark.parametrize(
    ("name", "keys", "extra"),
    [
        ("acr", {}, {}),
        ("acr-hr", {"conditions": [SOURCE, "a", "b"], "design": {"participants": 4, "trials": 4}}, {}),
        ("dcr", {"conditions": [SOURCE, "a"]}, {"presentation": "sequential", "gap": 1.0}),
        ("ccr", {"options": {"gap": 3.1}}, {"presentation": "sequential", "gap": 3.1, "tie": True}),
        (
            "pair",
            {"options": {"tie": True, "reason": "optional"}},
            {"presentation": "sequential", "gap": 1.0, "tie": True, "reason": "optional"},
        ),
        ("ab", {}, {"presentation": "free", "gap": 1.0, "tie": False, "reason": "none"}),
        (
            "abx",
            {"options": {"mode": "identify", "unsure": True}},
            {
                "presentation": "free", "gap": 1.0, "tie": False, "reason": "none", "mode": "identify", "unsure": True,
            },
        ),
        ("mushra", {"conditions": [SOURCE, "a"]}, {"rate_only_playing": False}),
        ("parallel", {}, {"layout": "turns"}),
        ("likert", {}, {"layout": "grid", "columns": "high-first"}),
    ],
)  # fmt: skip
def test_the_browser_is_told_exactly_this(name: str, keys: dict[str, Any], extra: dict[str, Any]) -> None:
    method, trial = one_trial(make_study(name, **keys))
    assert method.extra(trial) == extra


@pytest.mark.parametrize("name", ["dcr", "ccr", "pair", "ab"])
def test_side_by_side_plays_together_and_takes_the_time_of_one(name: str) -> None:
    conditions = [SOURCE, "a"]
    beside = make_study(name, conditions, options={"presentation": "side-by-side"})
    turns = make_study(name, conditions, options={"presentation": "sequential"})
    catalogue = catalogue_of(beside)
    method, together = one_trial(beside, catalogue)
    _, apart = one_trial(turns, catalogue)
    assert (together.together, apart.together) == (True, False)
    assert method.seconds(apart, catalogue) - method.seconds(together, catalogue) == pytest.approx(3 + 1)


@pytest.mark.parametrize("name", ["acr", "pair", "parallel", "likert", "ab", "ccr"])
@pytest.mark.parametrize("conditions", [ODD[:2], ODD[2:4], ODD[4:6], ODD[7:9]])
def test_odd_names_of_conditions_come_back_intact(name: str, conditions: tuple[str, str]) -> None:
    _, trials = planned(make_study(name, conditions))
    found = {slot.stimulus.rpartition("/")[0] for trial in trials for slot in trial.slots}
    assert found == set(conditions)


@pytest.mark.parametrize("name", ["mushra", "dcr", "ccr", "acr-hr"])
@pytest.mark.parametrize(("reference", "test"), [("no", "NA"), ("01", "-"), ("-", "Größe 2")])
def test_odd_names_of_references_come_back_intact(name: str, reference: str, test: str) -> None:
    conditions = [{"name": reference, "role": "reference"}, test]
    trials = {"acr-hr": 4}.get(name, 2)
    _, shown = planned(make_study(name, conditions, design={"participants": 4, "trials": trials}))
    found = {
        (slot.stimulus.rpartition("/")[0], slot.role in ("reference", "hidden_reference"))
        for trial in shown
        for slot in trial.slots
    }
    assert found == {(reference, True), (test, False)}


def test_every_method_says_how_long_a_trial_takes() -> None:
    for name, keys in (
        ("acr", {}), ("dcr", {"conditions": [SOURCE, "a"]}), ("mushra", {"conditions": [SOURCE, "a"]}), ("pair", {}),
        ("abx", {"options": {"mode": "identify"}}), ("likert", {"questions": [QUESTION]}),
    ):  # fmt: skip
        study = make_study(name, **keys)
        catalogue = catalogue_of(study)
        method, trial = one_trial(study, catalogue)
        shown = sum(catalogue.by_id[slot.stimulus].probe.duration_ms for slot in trial.slots) / 1000
        assert shown < method.seconds(trial, catalogue) < 10 * shown + 30
