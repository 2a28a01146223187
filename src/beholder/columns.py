"""The columns of tables: name, kind and meaning of each, for whatever writes, reads or describes a table."""

from __future__ import annotations

from typing import Literal, NamedTuple

Kind = Literal["text", "integer", "number", "boolean", "time"]


class Column(NamedTuple):
    """One column; `allowed` are all possible values, if they are few and known."""

    name: str
    kind: Kind
    text: str
    """Its meaning, in one or two sentences."""
    allowed: tuple[str, ...] = ()
