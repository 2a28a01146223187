"""HTML from nodes: text is always escaped, and only elements made here are not."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TypeAlias

VOID = frozenset({"meta", "br", "col", "img"})


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


Child: TypeAlias = "str | int | float | Sequence[Child] | None"


def tag(name: str, /, *children: Child, **attributes: str | int | bool | None) -> Markup:
    """Return an element. `class_` is class, `aria_label` is aria-label; None and False leave an attribute out."""
    parts = [f"<{name}"]
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        word = key.rstrip("_").replace("_", "-")
        parts.append(f" {word}" if value is True else f' {word}="{escape(str(value))}"')
    parts.append(">")
    if name not in VOID:
        parts.extend((render(children), f"</{name}>"))
    return Markup("".join(parts))


def render(child: Child) -> Markup:
    """Return a child as HTML: elements as they are, anything else as text."""
    if child is None:
        return Markup()
    if isinstance(child, Markup):
        return child
    if isinstance(child, str | int | float):
        return Markup(escape(str(child)))
    return Markup("".join(render(one) for one in child))
