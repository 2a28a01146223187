"""Plans with training trials."""

from __future__ import annotations

from typing import Any

from beholder.methods import find
from beholder.planning.builder import make_plan
from beholder.planning.model import Plan
from beholder.study.model import Study
from support.method_studies import catalogue_of
from support.training_studies import teach

REFERENCE = [{"name": "o", "role": "reference"}, "a", "b"]


def plan_of(study: Study, *taught: Any) -> Plan:
    return make_plan(study, teach(catalogue_of(study), *taught), find(study.method))


def training_of(study: Study, *taught: Any) -> list[dict[str, Any]]:
    """Return the training trials as shown, with their expected answers."""
    return [
        {
            "slots": [(slot.stimulus, slot.rated) for slot in trial.slots],
            "targets": {where: target[:2] for where, target in trial.targets.items()},
        }
        for trial in plan_of(study, *taught).lists[0].training
    ]
