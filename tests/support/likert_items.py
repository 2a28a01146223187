"""The questions of a likert study with a set of items."""

from __future__ import annotations

from typing import Any

from beholder.methods import find
from beholder.methods.contract import Question
from support.method_studies import make_study


def asked(items: str, **keys: Any) -> list[Question]:
    options = {"items": items, **keys.pop("options", {})}
    study = make_study("likert", options=options, questions=keys.pop("questions", None))
    return list(find("likert").questions(study))
