"""Options of the rules over a session, as the researcher writes them."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from beholder.study.checks import CHECKS, PLANNED_RULES, Attention, Checks, Ratio, Repeat, Smooth, Speed


def test_true_switches_a_rule_on_with_its_defaults_and_false_off() -> None:
    checks = Checks.model_validate({"ratio": True, "variance": False})
    assert checks.rule("ratio") == Ratio()
    assert checks.rule("variance") is None
    assert [name for name in CHECKS if checks.rule(name)] == ["ratio", "quota"]
    assert set(PLANNED_RULES) < set(CHECKS) == set(Checks.model_fields)


def test_a_rule_acts_at_once_when_it_warns_retries_or_ends_a_session() -> None:
    assert not Smooth().is_immediate
    assert all(Smooth(action=action).is_immediate for action in ("warn", "retry"))
    assert Speed(end_after=2).is_immediate


@pytest.mark.parametrize(("keys", "trials"), [({}, 3), ({"items_per_trial": 2}, 0), ({"per_session": 1}, 1)])
def test_trials_are_repeated_unless_items_are(keys: dict[str, int], trials: int) -> None:
    assert Repeat.model_validate(keys).trials == trials


@pytest.mark.parametrize("keys", [{"targets": (95, 5)}, {"words": "Set it to {number}"}])
def test_an_attention_check_that_cannot_be_asked_is_refused(keys: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Attention.model_validate(keys)
