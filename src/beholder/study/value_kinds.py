"""Kinds of values: what is allowed at a place of the study file, derived from the types of the model."""

from __future__ import annotations

import types
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import annotated_types
from pydantic import BaseModel, StringConstraints
from pydantic.fields import FieldInfo

from beholder.formats import listed

Scalars = frozenset[type]
NUMBERS: Scalars = frozenset((int, float))


@dataclass(frozen=True)
class Allowed:
    """Words for what a type allows, where its pattern would not help a reader."""

    words: str


@dataclass(frozen=True)
class InFile:
    """Marks an option of a method that may stand in a YAML file of the study folder, by the name of the file."""

    model: type[BaseModel]


@dataclass(frozen=True)
class Shown:
    """Marks a type that participants read, so that a study in several languages has it in each."""

    in_schema: bool = True
    """Whether its schema gets the form by language here, and not where other short forms are added."""

    def __get_pydantic_json_schema__(self, core: Any, handler: Any) -> Any:
        """Return the schema with a text for each language beside it."""
        schema = handler(core)
        if not self.in_schema:
            return schema
        return {"anyOf": [schema, {"type": "object", "additionalProperties": schema}]}


@dataclass(frozen=True)
class AsText:
    """Marks a type in which every plain scalar stays text."""


@dataclass(frozen=True)
class ValueKind:
    """What is allowed at one place; without any restriction, everything."""

    scalars: Scalars = frozenset()
    choices: tuple[Any, ...] = ()
    model: type[BaseModel] | None = None
    item: ValueKind | None = None
    is_map: bool = False
    value: ValueKind | None = None
    """The kind of every value of a map, where it is known."""
    is_free: bool = False
    is_nullable: bool = False
    as_text: bool = False
    is_shown: bool = False
    """Whether participants read it."""
    allowed: str = ""
    bounds: str = ""
    overrides: Mapping[str, ValueKind] = field(default_factory=dict)
    """Kinds of keys that the model leaves open: the options of the method."""

    @property
    def wants_text(self) -> bool:
        """Whether a plain scalar stays text: `01`, `1.0`, `no`."""
        return self.as_text or (str in self.scalars and len(self.scalars) == 1 and not self.is_free)

    @property
    def is_container(self) -> bool:
        """Whether only a list or a map is allowed, so that an empty value means left out."""
        return (
            not self.scalars and not self.is_free and (self.is_map or self.model is not None or self.item is not None)
        )

    def keys(self) -> dict[str, ValueKind]:
        """Return the kind of each key."""
        if self.model is None:
            return {}
        own = {field.alias or name: field_kind(field) for name, field in self.model.model_fields.items()}
        return {**own, **self.overrides}

    def words(self) -> str:
        """Return what is allowed here, in words."""
        if self.allowed:
            return self.allowed
        if self.choices:
            return listed([_shown(choice) for choice in self.choices])
        parts = []
        if bool in self.scalars:
            parts.append("true or false")
        if int in self.scalars or float in self.scalars:
            parts.append(("a number" if float in self.scalars else "a whole number") + self.bounds)
        if str in self.scalars:
            parts.append("text")
        if self.item is not None:
            parts.append(f"a list of {self.item.words()}" if self.item.choices else "a list")
        if self.model is not None:
            parts.append(f"a map with the keys {listed(list(self.keys()), 'and')}" if self.keys() else "an empty map")
        elif self.is_map:
            parts.append("a map of keys")
        return ", or ".join(parts)


def field_kind(field: FieldInfo) -> ValueKind:
    """Return what is allowed for a field of a model."""
    return _marked(kind_of(field.annotation), field.metadata)


def kind_of(annotation: Any) -> ValueKind:
    """Return what is allowed where a value of this type is expected."""
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _marked(kind_of(args[0]), args[1:])
    if origin in (Union, types.UnionType):
        return _union([kind_of(arg) for arg in args])
    if origin is Literal:
        return ValueKind(scalars=frozenset(type(arg) for arg in args if arg is not None), choices=args)
    if annotation in (None, types.NoneType):
        return ValueKind(is_nullable=True)
    if annotation in (str, int, float, bool):
        return ValueKind(scalars=frozenset((annotation,)))
    outer = origin or annotation
    if isinstance(outer, type):
        if issubclass(outer, BaseModel):
            return ValueKind(model=outer)
        if issubclass(outer, Enum):
            return ValueKind(scalars=frozenset(type(m.value) for m in outer), choices=tuple(m.value for m in outer))
        if issubclass(outer, Mapping):
            return ValueKind(is_map=True, value=kind_of(args[1]) if len(args) == 2 and args[1] is not Any else None)
        if issubclass(outer, Collection):
            same = outer is not tuple or len({arg for arg in args if arg is not Ellipsis}) == 1
            return ValueKind(item=kind_of(args[0]) if args and same else ValueKind(is_free=True))
    return ValueKind(is_free=True, is_nullable=True)


def _union(kinds: Sequence[ValueKind]) -> ValueKind:
    models = [kind.model for kind in kinds if kind.model is not None]
    items = [kind.item for kind in kinds if kind.item is not None]
    return ValueKind(
        scalars=frozenset().union(*(kind.scalars for kind in kinds)),
        # Choices next to other kinds are not all that is allowed.
        choices=kinds[0].choices if all(k.choices or k == ValueKind(is_nullable=True) for k in kinds) else (),
        model=models[0] if len(models) == 1 else None,
        item=items[0] if len(items) == 1 else None,
        is_map=any(kind.is_map for kind in kinds),
        value=next((kind.value for kind in kinds if kind.value is not None), None),
        is_free=any(kind.is_free for kind in kinds) or len(models) > 1 or len(items) > 1,
        is_nullable=any(kind.is_nullable for kind in kinds),
        as_text=any(kind.as_text for kind in kinds),
        is_shown=any(kind.is_shown for kind in kinds),
        allowed=" or ".join(dict.fromkeys(kind.allowed for kind in kinds if kind.allowed)),
        bounds="".join(kind.bounds for kind in kinds),
    )


def _marked(kind: ValueKind, marks: Sequence[Any]) -> ValueKind:
    kind = replace(kind, bounds=kind.bounds + _bounds(marks))
    for mark in marks:
        if isinstance(mark, Allowed):
            kind = replace(kind, allowed=mark.words)
        elif isinstance(mark, AsText):
            kind = replace(kind, as_text=True)
        elif isinstance(mark, Shown):
            kind = replace(kind, is_shown=True)
        elif isinstance(mark, FieldInfo):
            kind = _marked(kind, mark.metadata)
        elif isinstance(mark, StringConstraints) and mark.pattern and not kind.allowed:
            kind = replace(kind, allowed=f"text like {mark.pattern}")
    return kind


def _bounds(marks: Sequence[Any]) -> str:
    low = next((mark.ge for mark in marks if isinstance(mark, annotated_types.Ge)), None)
    high = next((mark.le for mark in marks if isinstance(mark, annotated_types.Le)), None)
    if isinstance(low, int) and isinstance(high, int):
        return f", {low:,} to {high:,}"
    return "".join(_bound(mark) for mark in marks)


def _bound(mark: Any) -> str:
    match mark:
        case annotated_types.Ge(limit):
            return f", {limit:g} or more"
        case annotated_types.Gt(limit):
            return f" above {limit:g}"
        case annotated_types.Le(limit):
            return f", {limit:g} or less"
        case annotated_types.Lt(limit):
            return f" below {limit:g}"
    return ""


def _shown(choice: Any) -> str:
    return {True: "true", False: "false"}[choice] if isinstance(choice, bool) else str(choice)
