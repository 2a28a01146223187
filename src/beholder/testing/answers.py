"""Answers that no method may take."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from beholder.types import Json

_WRONG_NUMBERS: tuple[Json, ...] = (10**9, -(10**9), "x", None, True)
_WRONG_LISTS: tuple[Json, ...] = ("nonsense", None, [None], [{"x": 1}], [10**9], [-1], [True])
_OPTIONAL = frozenset({"grade"})


def bad_answers(answer: Json) -> Iterator[tuple[str, Json]]:
    """Yield answers that no method may take, made from a good one: what is wrong with each, and the answer."""
    yield "that is null", None
    yield "that is a list", []
    yield "that is empty", {}
    yield "with something more", {**_mapping(answer), "condition": "x"}
    for path, value in _leaves(answer):
        at = ".".join(map(str, path))
        if path[-1] not in _OPTIONAL:
            yield f"without {at}", _without(answer, path)
        yield f"with an object at {at}", _with(answer, path, {"x": 1})
        wrong: tuple[Json, ...] = ("nonsense",)
        if isinstance(value, int | float):
            wrong = _WRONG_NUMBERS
        elif isinstance(value, list | tuple):
            wrong = _WRONG_LISTS
        for other in wrong:
            yield f"with {other!r} at {at}", _with(answer, path, other)
        yield f"with another slot beside {at}", _beside(answer, path, value)


def _mapping(answer: Json) -> Mapping[str, Json]:
    assert isinstance(answer, Mapping), "an answer is an object"
    return answer


def _leaves(value: Json, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Json]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _leaves(inner, (*path, key))
    else:
        yield path, value


def _with(value: Json, path: tuple[Any, ...], new_value: Json) -> Json:
    copy, inner = _copied(value, path)
    inner[path[-1]] = new_value
    return copy


def _without(value: Json, path: tuple[Any, ...]) -> Json:
    copy, inner = _copied(value, path)
    del inner[path[-1]]
    return copy


def _copied(value: Json, path: tuple[Any, ...]) -> tuple[Json, Any]:
    """Return a copy, and the part of it that holds the end of the path."""
    copy: Json = json.loads(json.dumps(value))
    inner: Any = copy
    for key in path[:-1]:
        inner = inner[key]
    return copy, inner


def _beside(value: Json, path: tuple[Any, ...], leaf: Json) -> Json:
    copy, inner = _copied(value, path)
    inner["s99"] = leaf
    return copy
