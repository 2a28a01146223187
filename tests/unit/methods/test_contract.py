"""What every method promises: names intact, the public half of a trial, and its length."""

from __future__ import annotations

from typing import Any

import pytest

from support.method_studies import ODD, QUESTION, catalogue_of, make_study, one_trial, planned
from support.method_trials import SOURCE


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


@pytest.mark.parametrize("name", ["acr", "pair", "parallel", "likert", "ab", "ccr"])
@pytest.mark.parametrize("conditions", [ODD[:2], ODD[2:4], ODD[4:6], ODD[7:9]])
def test_odd_names_of_conditions_come_back_intact(name: str, conditions: tuple[str, str]) -> None:
    _, trials = planned(make_study(name, conditions))
    names = {slot.stimulus.rpartition("/")[0] for trial in trials for slot in trial.slots}
    assert names == set(conditions)


@pytest.mark.parametrize("name", ["mushra", "dcr", "ccr", "acr-hr"])
@pytest.mark.parametrize(("reference", "test"), [("no", "NA"), ("01", "-"), ("-", "Größe 2")])
def test_odd_names_of_references_come_back_intact(name: str, reference: str, test: str) -> None:
    conditions = [{"name": reference, "role": "reference"}, test]
    trials = {"acr-hr": 4}.get(name, 2)
    _, shown = planned(make_study(name, conditions, design={"participants": 4, "trials": trials}))
    rows = {
        (slot.stimulus.rpartition("/")[0], slot.role in ("reference", "hidden_reference"))
        for trial in shown
        for slot in trial.slots
    }
    assert rows == {(reference, True), (test, False)}


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
