"""The steps of a session, and answers to them, without a server."""

from __future__ import annotations

from typing import Any

from beholder.methods.contract import Break, Trial
from beholder.server.script import Script, make_script
from beholder.study.model import Study, installed_study_model


def study(**keys: Any) -> Study:
    return installed_study_model().model_validate(
        {"beholder": 1, "name": "s", "title": "S", "method": "acr", "stimuli": "stimuli", **keys}
    )


def script(trials: int = 3, **keys: Any) -> Script:
    entries: list[Trial | Break] = []
    for number in range(1, trials + 1):
        entries.append(Trial(f"trial:{number}", "c", "rate", (), ()))
        if number == 2:
            entries.append(Break("break:1"))
    return make_script(study(**keys), entries)


def answers(script: Script, many: int) -> dict[str, Any]:
    values: dict[str, Any] = {
        "consent": {"agree": True}, "questions:before": {"answers": {"field": "no"}},
        "questions:after": {"answers": {}},
    }  # fmt: skip
    return {step.key: values.get(step.key, {}) for step in script.steps[:many]}
