"""Checks requests and replies against Prolific's published OpenAPI document."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from beholder.recruiting.fake.http import FakeReply, Refusal, Route

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_JSON = ("content", "application/json", "schema")
_ANY = "any_field"
"""The document's name for arbitrary field names."""


class UndocumentedReply(AssertionError):
    """The fake platform sent a reply that the document does not allow: a bug of the fake."""


class OpenApiDocument:
    """The document, with schemas that are compiled when they are first needed."""

    def __init__(self, text: str) -> None:
        self.tree: dict[str, Any] = _tighten(yaml.load(text, Loader=_LOADER))  # noqa: S506 (a safe one)
        self._validators: dict[tuple[str, ...], Draft202012Validator] = {}

    @classmethod
    def read(cls, path: Path) -> OpenApiDocument:
        """Return the document of a file, cached in this process."""
        return _read(path.resolve(), path.stat().st_mtime_ns)

    def operation(self, method: str, template: str) -> dict[str, Any] | None:
        """Return an operation of the document, or None."""
        operation: dict[str, Any] | None = self.tree["paths"].get(template, {}).get(method.lower())
        return operation

    def schema(self, name: str) -> dict[str, Any]:
        """Return a schema by its name."""
        schema: dict[str, Any] = self.tree["components"]["schemas"][name]
        return schema

    def check_request(self, route: Route, query: Mapping[str, str], body: Any) -> None:
        """Raise Refusal if a query or a body is not as documented; `body` is None if none was sent."""
        operation = self._operation(route)
        problems = _query_problems(self, operation, query)
        if "requestBody" not in operation:
            if body is not None:
                problems["body"] = ["This operation takes no body."]
        elif body is None:
            problems["body"] = ["This operation needs a body."]
        else:
            for error in self._errors((*_operation_path(route), "requestBody", *_JSON), body):
                field = str(error.absolute_path[0]) if error.absolute_path else "body"
                problems.setdefault(field, []).append(error.message)
        if problems:
            raise Refusal(problems)

    def check_answer(self, route: Route, answer: FakeReply) -> None:
        """Raise UndocumentedReply if a reply is not as documented; every refusal has the shape of a 400."""
        status = str(answer.status) if answer.status < 400 else "400"
        responses = self._operation(route)["responses"]
        if status not in responses:
            raise UndocumentedReply(f"{route.operation} answers {status}, documented are {sorted(responses)}")
        if answer.status == 204:
            return
        for error in self._errors((*_operation_path(route), "responses", status, *_JSON), answer.body):
            raise UndocumentedReply(f"{route.operation} answers {status}: {error.json_path} {error.message}")

    def _operation(self, route: Route) -> dict[str, Any]:
        operation = self.operation(route.method, route.template)
        if operation is None:
            raise UndocumentedReply(f"{route.operation} is not in the document")
        return operation

    def _errors(self, where: tuple[str, ...], value: Any) -> Iterator[Any]:
        if where not in self._validators:
            self._validators[where] = self._compiled(where)
        return iter(self._validators[where].iter_errors(value))

    def _compiled(self, where: tuple[str, ...]) -> Draft202012Validator:
        # A dependency of development: needed only with a document.
        from jsonschema import Draft202012Validator

        schema: Any = self.tree
        for key in where:
            schema = schema[key]
        return Draft202012Validator(_SchemaInliner(self).whole(schema))


class _SchemaInliner:
    """Replaces references in a schema, for speed; recursive schemas keep theirs."""

    def __init__(self, document: OpenApiDocument) -> None:
        self._document = document
        self._within: set[str] = set()

    def whole(self, schema: Any) -> dict[str, Any]:
        inlined = self._written(schema, ())
        defined: dict[str, Any] = {}
        while waiting := self._within - set(defined):
            name = min(waiting)
            defined[name] = self._written(self._document.schema(name), (name,))
        return {**inlined, "$defs": defined}

    def _written(self, node: Any, inside: tuple[str, ...]) -> Any:
        if isinstance(node, list):
            return [self._written(one, inside) for one in node]
        if not isinstance(node, dict):
            return node
        if "$ref" in node:
            name = node["$ref"].rsplit("/", 1)[1]
            if name in inside:
                self._within.add(name)
                return {"$ref": f"#/$defs/{name}"}
            return self._written(self._document.schema(name), (*inside, name))
        return {key: self._written(value, inside) for key, value in node.items()}


@functools.lru_cache(maxsize=2)
def _read(path: Path, _changed: int) -> OpenApiDocument:
    return OpenApiDocument(path.read_text("utf-8"))


def _tighten(node: Any) -> Any:
    """Return schemas that allow no unknown keys, and with `anyOf` in place of `oneOf`.

    With `oneOf`, a range from 18 fails, because 18 is both an integer and a number.
    """
    if isinstance(node, list):
        return [_tighten(one) for one in node]
    if not isinstance(node, dict):
        return node
    schema = {"anyOf" if key == "oneOf" else key: _tighten(value) for key, value in node.items()}
    names = schema.get("properties")
    if schema.get("type") == "object" and isinstance(names, dict) and names and _ANY not in names:
        schema.setdefault("additionalProperties", False)
    return schema


def _operation_path(route: Route) -> tuple[str, str, str]:
    return "paths", route.template, route.method.lower()


def _query_problems(
    document: OpenApiDocument, operation: Mapping[str, Any], query: Mapping[str, str]
) -> dict[str, list[str]]:
    """Return problems of a query: unknown, missing and invalid parameters."""
    problems: dict[str, list[str]] = {}
    known: set[str] = set()
    for parameter in operation.get("parameters", []):
        if parameter["in"] != "query":
            continue
        names = _names(document, parameter)
        known |= names
        values = {name: query[name] for name in names if name in query}
        if parameter.get("required") and not values:
            problems[parameter["name"]] = ["This parameter is required."]
        if (
            names == {parameter["name"]}
            and values
            and not _fits(document, parameter["schema"], query[parameter["name"]])
        ):
            problems[parameter["name"]] = [f"This cannot be {query[parameter['name']]}."]
    problems |= {name: ["There is no such parameter."] for name in query if name not in known}
    return problems


def _names(document: OpenApiDocument, parameter: Mapping[str, Any]) -> set[str]:
    """Return the names under which a parameter is sent: an object is sent as its keys."""
    schema = _resolve(document, parameter["schema"])
    options = [_resolve(document, one) for one in schema.get("anyOf", [schema])]
    keys = {key for one in options if one.get("type") == "object" for key in one["properties"]}
    return keys or {parameter["name"]}


def _resolve(document: OpenApiDocument, schema: Mapping[str, Any]) -> Mapping[str, Any]:
    return document.schema(schema["$ref"].rsplit("/", 1)[1]) if "$ref" in schema else schema


def _fits(document: OpenApiDocument, schema: Mapping[str, Any], text: str) -> bool:
    resolved = _resolve(document, schema)
    if "enum" in resolved:
        return text in resolved["enum"]
    if resolved.get("type") == "integer":
        return text.isdigit()
    return text in ("true", "false") if resolved.get("type") == "boolean" else True
