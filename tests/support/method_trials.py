"""Trials of every method with usual studies, and refused or mirrored answers."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from beholder.errors import Refused
from beholder.methods.contract import Judgement, Method, Trial
from support.method_studies import QUESTION, make_study, one_trial

REFERENCE = [{"name": "source", "role": "reference"}, "test"]
THREE = [{"name": "source", "role": "reference"}, "near", "far"]
TICKS = {"id": "faults", "text": "What was wrong?", "ticks": ["noise", "echo", "hum"]}
STUDIES: dict[str, dict[str, Any]] = {
    "acr": {},
    "acr-hr": {"conditions": THREE, "design": {"participants": 6, "trials": 4}},
    "dcr": {"conditions": REFERENCE},
    "ccr": {"conditions": REFERENCE},
    "pair": {},
    "ab": {"options": {"tie": True, "reason": "required"}},
    "abx": {"options": {"mode": "identify"}},
    "rank": {"conditions": ["a", "b", "near", "far"], "options": {"ties": True, "partial": True}},
    "best-worst": {"conditions": ["a", "b", "near", "far"]},
    "mushra": {"conditions": REFERENCE},
    "bs1116": {"conditions": REFERENCE},
    "dscqs": {"conditions": REFERENCE},
    "samviq": {"conditions": REFERENCE},
    "parallel": {},
    "likert": {"questions": [QUESTION, TICKS]},
}
QUALITY = {"a": 0.8, "b": 0.3, "source": 0.9, "test": 0.3, "near": 0.7, "far": 0.1}


def trial_of(name: str, **keys: Any) -> tuple[Method, Trial]:
    return one_trial(make_study(name, **{**STUDIES[name], **keys})) if keys else usual_trial(name)


@cache
def usual_trial(name: str) -> tuple[Method, Trial]:
    return one_trial(make_study(name, **STUDIES[name]))


def refusal(method: Method, trial: Trial, answer: Any) -> tuple[str, str, str]:
    with pytest.raises(Refused) as caught:
        method.read(trial, answer)
    return caught.value.where, caught.value.what, caught.value.allowed


SOURCE: dict[str, Any] = {"name": "source", "role": "reference"}
TWO: list[Any] = [SOURCE, "test"]


def slot_facts(trial: Trial) -> list[tuple[str, str, str | None, bool]]:
    return [(slot.stimulus.rpartition("/")[0], slot.role, slot.label, slot.rated) for slot in trial.slots]


def swapped(trial: Trial) -> Trial:
    """Return the trial with its two rated slots swapped, named by position."""
    first, second, *rest = trial.slots
    slots = (second._replace(id=first.id, label=first.label), first._replace(id=second.id, label=second.label), *rest)
    return replace(trial, slots=slots)


def mirrored(answer: Any) -> Any:
    """Return the answer with the same meaning after the swap."""
    other = {"s1": "s2", "s2": "s1", "tie": "tie", "unsure": "unsure"}
    return {
        "choices": {
            name: {key: other.get(choice_value, choice_value) for key, choice_value in choice.items()}
            for name, choice in answer["choices"].items()
        }
    }


def about_stimuli(trial: Trial, judgement: Judgement) -> tuple[Any, ...]:
    """Return a judgement in terms of stimuli, without positions."""
    slots = {slot.id: slot.stimulus for slot in trial.slots}
    return (
        judgement.question,
        judgement.kind,
        slots[judgement.slot],
        slots[str(judgement.other_slot)],
        judgement.value,
        judgement.scale_min,
        judgement.scale_max,
    )
