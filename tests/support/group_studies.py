"""Studies whose participants are split into groups, in memory and on disk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from beholder.study.model import Study, installed_study_model
from support.message_studies import write_asking

QUESTIONS = ("human-like", "subtitle", "matching", "intelligent")
ASKED = {name: {"questions": [name]} for name in QUESTIONS}
LAYOUT: dict[str, Any] = {"turns": {}, "rows": {"options": {"layout": "rows"}}}
SERVED = {
    "zqasked": {"zqone": {"questions": ["first"], "instructions": "Only the **first**."},
                "zqtwo": {"questions": ["second"], "instructions": "Only the second."}},
    "zqhow": {"zqset": {}, "zqfree": {"playback": {"watch": "none"}, "options": {"layout": "rows"}}},
}  # fmt: skip
TWO = [{"id": "first", "text": "How kind is it?"}, {"id": "second", "text": "How clear is it?"}]


def study_text(between: dict[str, Any], **keys: Any) -> dict[str, Any]:
    design = {"participants": 8, "trials": 4, "per_trial": 3, "seed": 3, **keys.pop("design", {})}
    return {
        "beholder": 1, "name": "tiny", "title": "Tiny", "method": "parallel", "stimuli": "stimuli",
        "questions": [{"id": name, "text": f"{name}?"} for name in QUESTIONS],
        "design": {**design, "between": between}, **keys,
    }  # fmt: skip


def make_study(between: dict[str, Any], **keys: Any) -> Study:
    return installed_study_model().model_validate(study_text(between, **keys))


def write_served(folder: Path, between: dict[str, Any] | None = None) -> Path:
    design = {"participants": 8, "trials": 2, "seed": 3, "between": between or SERVED}
    return write_asking(folder, questions=TWO, design=design, checks={}, texts={"instructions": "For all."})
