"""The columns of tables: name, kind and meaning of each, for whatever writes, reads or describes a table.

Every table has one list of its columns, in the module that writes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Annotated, Literal, NamedTuple, get_args, get_origin, get_type_hints

Kind = Literal["text", "integer", "number", "boolean", "time"]


class Column(NamedTuple):
    """One column; `allowed` are all possible values, if they are few and known."""

    name: str
    kind: Kind
    text: str
    """Its meaning, in one or two sentences."""
    allowed: tuple[str, ...] = ()


def names_of(columns: Iterable[Column]) -> tuple[str, ...]:
    """Return the names of columns, as they stand in the first line of a CSV."""
    return tuple(column.name for column in columns)


def pick(columns: Iterable[Column], *wanted: str) -> tuple[Column, ...]:
    """Return the columns with these names, in the order of the names."""
    by_name = {column.name: column for column in columns}
    return tuple(by_name[name] for name in wanted)


_KINDS: Mapping[type, Kind] = {str: "text", int: "integer", float: "number", bool: "boolean", datetime: "time"}


def columns_of(row: type) -> tuple[Column, ...]:
    """Return the columns of a row type: each field is annotated with its column, or its meaning and what is allowed.

    The kind of a column follows from the type of its field; a field without an annotation is no column.
    """
    columns = []
    for name, hint in get_type_hints(row, include_extras=True).items():
        if get_origin(hint) is Annotated:
            type_, about, *allowed = get_args(hint)
            kind = next(_KINDS[one] for one in (type_, *get_args(type_)) if one in _KINDS)
            columns.append(about if isinstance(about, Column) else Column(name, kind, about, *allowed))
            if columns[-1][:2] != (name, kind):
                raise TypeError(f"{row.__name__}.{name} is {kind}, and its column {columns[-1]}")
    return tuple(columns)
