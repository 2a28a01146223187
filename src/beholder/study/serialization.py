"""The study written out: as canonical JSON with a digest, as YAML with every default, and its JSON Schema."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from copy import deepcopy
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import yaml
from pydantic.json_schema import CoreModeRef, CoreRef, DefsRef, GenerateJsonSchema

from beholder.study.checks import CheckKinds
from beholder.study.design import OwnTrials
from beholder.study.model import LastPage, Study, study_model
from beholder.study.questionnaire import item_json
from beholder.study.questions import SCALES
from beholder.study.texts import instruction_pages, study_text
from beholder.study.yaml import core_value

__all__ = ["canonical", "digest", "resolved_yaml", "study_json"]


def study_json(study: Study) -> dict[str, Any]:
    """Return the study as JSON with its defaults, and with the contents of its text files."""
    value: dict[str, Any] = study.model_dump(mode="json")
    # Where it is served and copied to, and who publishes it, is no part of what people see.
    for name in ("deploy", "backup", "media", "alarms", "publication"):
        del value[name]
    value["texts"] = {which: study_text(study, which) for which in value["texts"]}
    for question in value["questions"]:  # keeps the digests of studies from before there were labels
        for key in [key for key in ("label", "turned") if question[key] is None]:
            del question[key]
    value["options"] = used_options(value["options"])
    for place in ("before", "during", "after"):
        value[place] = [item_json(item) for item in getattr(study, place)]
    if not study.during:  # as above
        del value["during"]
    if study.design.own == OwnTrials():
        del value["design"]["own"]
    if study.ending == LastPage():
        del value["ending"]
    if study.playback.waveform is None:
        del value["playback"]["waveform"]
    if study.stage == "same":
        del value["stage"]
    if study.design.arena is None:
        del value["design"]["arena"]
    else:
        value["design"]["arena"] = {key: one for key, one in value["design"]["arena"].items() if one is not None}
    if study.recruit.return_after is None:
        del value["recruit"]["return_after"]
    if value["analyse"]["marks"] is None:
        del value["analyse"]["marks"]
    if not value["stimuli"]["accept"]:
        del value["stimuli"]["accept"]
    for name in [kind.name for kind in study.checks.kinds if not kind.is_told_when_off]:
        for written, off in ((value["checks"], False), (value["clean"]["use"], None)):
            if written[name] is off:
                del written[name]
    for kind in study.qualification.kinds:
        if not kind.is_told_when_off and value["qualification"][kind.name] is False:
            del value["qualification"][kind.name]
    del value["languages"]
    if len(study.all_languages) > 1:
        value["languages"] = {code: study_json(_alone(study.in_language(code))) for code in study.all_languages[1:]}
    if study.run == 1:  # keeps the digests of studies from before there were runs
        del value["run"]
    pages = instruction_pages(study)
    if len(pages) > 1 or any(page.examples or page.play for page in pages):
        value["texts"]["instructions"] = [page.model_dump(mode="json") for page in pages]
    return value


def _alone(study: Study) -> Study:
    """Return a study in one of its languages as one that has no other."""
    return study.model_copy(update={"languages": ()})


_LATER_OPTIONS: Mapping[str, Any] = {"wording": None, "view": None, "magnifier": False}
"""Options that methods got later, with their defaults."""


def used_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a method; those that it got later only if they are set, as older digests lack them."""
    return {
        name: value for name, value in options.items() if name not in _LATER_OPTIONS or value != _LATER_OPTIONS[name]
    }


def canonical(value: Any) -> str:
    """Return JSON text that is the same for equal values: sorted keys, no spaces."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def digest(value: Any) -> str:
    """Return the SHA-256 of a JSON value, as 64 hexadecimal digits."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()


# YAML with every default: what `beholder check --resolved` prints

_BARE = re.compile(r"[A-Za-z][A-Za-z0-9_/.-]*( [A-Za-z0-9_/.-]+)*", re.ASCII)


def resolved_yaml(study: Study) -> str:
    """Return YAML that loads as an equal study."""
    value = _as_written(study)
    others = {code: _as_written(study.in_language(code)) for code in study.all_languages[1:]}
    if others:
        first = study.language
        value = _by_language({first: value, **others})
        value |= {"languages": [first, *others], "language": first}
    else:
        del value["languages"]
    return yaml_text(value)


def _as_written(study: Study) -> dict[str, Any]:
    value: dict[str, Any] = study.model_dump(mode="json")
    for question in value["questions"]:
        # A map from value to word is easier to read than pairs.
        labels = question["scale"]["labels"]
        question["scale"]["labels"] = {_number(place): word for place, word in labels} or []
    return value


def _by_language(values: Mapping[str, Any]) -> Any:
    """Return a value with maps by language where the languages differ, and where the same words stand in all."""
    first, *others = values.values()
    if isinstance(first, dict) and all(isinstance(one, dict) and one.keys() == first.keys() for one in others):
        return {key: _by_language({code: one[key] for code, one in values.items()}) for key in first}
    if isinstance(first, list) and all(isinstance(one, list) and len(one) == len(first) for one in others):
        return [_by_language({code: one[place] for code, one in values.items()}) for place in range(len(first))]
    return first if all(one == first for one in others) else dict(values)


def yaml_text(value: Mapping[str, Any]) -> str:
    """Return a map as YAML 1.2, which reads back as the same values."""
    return str(yaml.dump(dict(value), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=2**31 - 1))


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) and abs(value) < 2**53 else repr(value)


if TYPE_CHECKING or not yaml.__with_libyaml__:
    from yaml import SafeDumper as _BaseDumper
else:
    from yaml import CSafeDumper as _BaseDumper  # writes the same four times as fast


class _Dumper(_BaseDumper):
    """Quotes by the rules of YAML 1.2, and writes no aliases."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    style = None if _BARE.fullmatch(text) and isinstance(core_value(text), str) else '"'
    if "\n" in text and _is_block(text):
        style = "|"
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


def _is_block(text: str) -> bool:
    """Return whether every line is ordinary enough for the literal style."""
    return all(line.isprintable() and line == line.rstrip() for line in text.split("\n"))


_Dumper.add_representer(str, _text)


# JSON Schema: that of the model, with the short forms that people write

_NAME = {"type": ["string", "number", "boolean"]}
"""A name may look like a number, because it is read as text: 01, 1.0, true."""


class _SchemaGenerator(GenerateJsonSchema):
    """Calls options by the class that they belong to: `Gold` for `Gold.Options`."""

    def get_defs_ref(self, core_mode_ref: CoreModeRef) -> DefsRef:
        core_ref, mode = core_mode_ref
        return super().get_defs_ref((CoreRef(core_ref.replace(".Options:", ":")), mode))


def study_schema(checks: CheckKinds) -> dict[str, Any]:
    """Return the JSON Schema of study.yaml (draft 2020-12), with these checks to choose from."""
    return deepcopy(_schema_of(study_model(checks.rules, checks.page_checks)))


@lru_cache(maxsize=4)
def _schema_of(model: type[Study]) -> dict[str, Any]:
    """Return the schema of a model, which is made once for all new studies of a process."""
    schema = model.model_json_schema(schema_generator=_SchemaGenerator)
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
    parts["Scale"]["anyOf"] = [{"required": ["name"]}, {"required": parts["Scale"].pop("required")}]
    parts["Scale"]["properties"]["name"] |= {"enum": list(SCALES)}
    for key in ("type", "items"):
        parts["Scale"]["properties"]["labels"].pop(key, None)
    parts["Condition"]["properties"]["name"] |= _NAME
    parts["Design"]["properties"]["always"]["items"] = _NAME
    parts["Star"]["properties"]["star"] |= _NAME
    for ask in ("Ask", "RecurringAsk"):
        for key in ("options", "correct"):
            _names(parts[ask]["properties"][key])
        _short(parts[ask], "when", {"type": "string", "minLength": 1})
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A Beholder study",
        **schema,
    }


def _short(schema: dict[str, Any], key: str, form: dict[str, Any]) -> None:
    """Allow a short form next to the long one, keeping the description of the key."""
    long = schema["properties"][key]
    kept = {name: long.pop(name) for name in ("description", "default") if name in long}
    schema["properties"][key] = {**kept, "anyOf": [form, long]}


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
    """Drop the titles that pydantic derives from names: editors show them in place of the description."""
    if isinstance(schema, list):
        for part in schema:
            _without_titles(part)
    elif isinstance(schema, dict):
        if isinstance(schema.get("title"), str):
            del schema["title"]
        for part in schema.values():
            _without_titles(part)
