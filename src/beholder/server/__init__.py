"""Serve a study: routes, flow, media."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class ServerStatus:
    """What a running server tells its terminal: the links once, the counts whenever they change."""

    link: str
    preview_link: str
    counts: Mapping[str, int]
    lab: Mapping[str, str] = field(default_factory=dict)
    """The addresses of the operator and of every station, by what they are called; none outside of a laboratory."""
    is_personal: bool = False
    """Whether nobody can begin by `link`, as everybody needs one of their own."""
    shut: str = ""
    """Why nobody can begin, and what opens it, where a person has shut it; empty while it is open."""
