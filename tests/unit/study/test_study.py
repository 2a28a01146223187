"""Editors learn the study file from its JSON Schema."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from beholder.methods import method_folder, names
from beholder.study import schema


def faults(study: Any) -> list[str]:
    return [error.message for error in Draft202012Validator(schema()).iter_errors(study)]


def tiny(**more: Any) -> dict[str, Any]:
    return {"beholder": 1, "name": "a", "title": "A", "method": "acr", "stimuli": "stimuli", **more}


def test_the_schema_is_one_and_can_be_asked_twice() -> None:
    Draft202012Validator.check_schema(schema())
    assert schema() == schema()


@pytest.mark.parametrize("name", names())
def test_every_example_keeps_the_schema(name: str) -> None:
    text = (method_folder(name) / "example.yaml").read_text("utf-8")
    # PyYAML's own scanner reads YAML 1.1, where a question mark ends a text inside braces.
    assert faults(yaml.safe_load(text.replace("know?,", "know,"))) == []


@pytest.mark.parametrize(
    "more",
    [
        {"stimuli": {"manifest": "a.csv"}},
        {"conditions": ["a", 1.0, {"name": 1, "label": "One"}], "design": {"always": [1]}},
        {"questions": [{"id": "q", "text": "x", "scale": "acr5"}]},
        {"questions": [{"id": "q", "text": "x", "scale": {"min": 0, "max": 1, "labels": ["a", 2]}}]},
        {"questions": [{"id": "q", "text": "x", "scale": {"min": 0, "max": 1, "labels": {"0": "a"}}}]},
        {"before": [{"id": "q", "text": "x", "type": "single", "options": ["a", 1], "correct": [1]}]},
        {"preset": "none", "source": [1], "options": {"layout": "rows"}},
    ],
)
def test_short_forms_keep_the_schema(more: dict[str, Any]) -> None:
    assert faults(tiny(**more)) == []


@pytest.mark.parametrize(
    "more",
    [
        {"metod": "acr"},
        {"checks": {"trapp": True}},
        {"design": {"participants": 0}},
        {"questions": [{"id": "q", "text": "x", "scale": "acr4"}]},
        {"playback": {"watch": "hole"}},
        {"recruit": {"mode": "mturk"}},
    ],
)
def test_what_a_study_may_not_hold_breaks_the_schema(more: dict[str, Any]) -> None:
    assert faults(tiny(**more)) != []


def test_every_key_is_described() -> None:
    whole = schema()
    parts = {"Study": whole, **whole["$defs"]}
    bare = [
        f"{part}.{key}"
        for part, shape in parts.items()
        for key, value in shape["properties"].items()
        if "description" not in value and "$ref" not in value
    ]
    assert bare == []
