"""The JSON Schema of study.yaml: the model's own, with the short forms that people write."""

from __future__ import annotations

from typing import Any

from beholder.study.model import Study
from beholder.study.scale import SCALES

_NAME = {"type": ["string", "number", "boolean"]}
"""A name may look like a number, because it is read as text: 01, 1.0, true."""


def study_schema() -> dict[str, Any]:
    """Return the JSON Schema of study.yaml (draft 2020-12)."""
    schema = Study.model_json_schema()
    parts = schema["$defs"]
    _without_titles(schema)
    _short(schema, "stimuli", {"type": "string", "minLength": 1})
    _short(parts["Texts"], "instructions", {"type": "string", "minLength": 1})
    for form in parts["Texts"]["properties"]["instructions"]["anyOf"][1]["anyOf"]:
        if form.get("type") == "array":
            form["items"] = {"anyOf": [{"type": "string", "minLength": 1}, form["items"]]}
    conditions = schema["properties"]["conditions"]
    conditions["items"] = {"anyOf": [_NAME, conditions["items"]]}
    _short(parts["Question"], "scale", {"enum": list(SCALES)})
    parts["Question"]["properties"]["scale"].pop("default", None)
    parts["Scale"]["properties"]["labels"] |= {"anyOf": _labels()}
    for key in ("type", "items"):
        parts["Scale"]["properties"]["labels"].pop(key, None)
    parts["Condition"]["properties"]["name"] |= _NAME
    parts["Design"]["properties"]["always"]["items"] = _NAME
    parts["Star"]["properties"]["star"] |= _NAME
    for key in ("options", "correct"):
        _names(parts["Ask"]["properties"][key])
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A Beholder study",
        **schema,
    }


def _short(schema: dict[str, Any], key: str, form: dict[str, Any]) -> None:
    """Allow a short form beside the long one, keeping what is said about the key."""
    long = schema["properties"][key]
    said = {name: long.pop(name) for name in ("description", "default") if name in long}
    schema["properties"][key] = {**said, "anyOf": [form, long]}


def _names(schema: dict[str, Any]) -> None:
    """Let the items of a list, or of a list that may be left out, be names."""
    for form in schema.get("anyOf", [schema]):
        if form.get("type") == "array":
            form["items"] = _NAME


def _labels() -> list[dict[str, Any]]:
    pair = {"type": "array", "prefixItems": [{"type": "number"}, _NAME], "minItems": 2, "maxItems": 2}
    return [
        {"type": "array", "items": _NAME},
        {"type": "array", "items": pair},
        {"type": "object", "additionalProperties": _NAME},
    ]


def _without_titles(schema: Any) -> None:
    """Drop the titles that pydantic makes of names: editors show them in place of the description."""
    if isinstance(schema, list):
        for part in schema:
            _without_titles(part)
    elif isinstance(schema, dict):
        if isinstance(schema.get("title"), str):
            del schema["title"]
        for part in schema.values():
            _without_titles(part)
