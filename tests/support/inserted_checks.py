"""Studies of many methods with check trials in their lists."""

from __future__ import annotations

from typing import Any

from beholder.study.model import Study
from support.check_plans import (
    REFERENCE,
    SURVEY,
)
from support.method_studies import make_study

METHODS: dict[str, dict[str, Any]] = {
    "acr": {"conditions": list("abcd")},
    "acr-hr": {"conditions": REFERENCE},
    "dcr": {"conditions": REFERENCE},
    "ccr": {"conditions": REFERENCE},
    "pair": {"conditions": list("abc")},
    "ab": {"conditions": list("ab")},
    "likert": {"conditions": list("abcd"), "questions": SURVEY},
}


def checked_study(method: str, **keys: Any) -> Study:
    checks = {"attention": {"per_session": 1}, "trap": {"per_session": 2}, "repeat": {"per_session": 1}}
    design = {"participants": 40, "trials": 8, "breaks": 4, "seed": 5}
    return make_study(method, **{"design": design, "checks": checks, **METHODS[method], **keys})
