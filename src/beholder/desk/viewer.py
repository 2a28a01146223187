"""Who looks at the desk: their name, their role, and what they may see and do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, get_args

Role = Literal["owner", "decider", "viewer"]
"""Owners do everything; deciders also act on participants, decide and pay; viewers look."""
Scope = Literal[
    "now", "people", "replay", "decisions", "results", "study", "moderate", "decide", "pay", "unblind", "access",
]  # fmt: skip
"""A page of the desk, or something that is done: `moderate` acts on participants, `access` is about who may log in."""

ROLES: tuple[Role, ...] = get_args(Role)
SCOPES: tuple[Scope, ...] = get_args(Scope)
READS: tuple[Scope, ...] = ("now", "people", "replay", "decisions", "results", "study")
"""The scopes that change nothing."""
SCOPE_MEANS: Mapping[Scope, str] = {
    "now": "how the study goes: numbers of people, steps, drop-outs, cost, alarms",
    "people": "everybody who came, under pseudonyms: steps, times, device, verdicts, answers",
    "replay": "sessions as timelines, with the stimuli",
    "decisions": "whom to pay and whose answers to use, with the evidence",
    "results": "scores and intervals, under code names until the study is unblinded",
    "study": "the study file, its plan and its storyboard",
    "moderate": "acts on participants: release, reset, let in, shut out, leave out, take in",
    "decide": "change and sign decisions",
    "pay": "send what was signed, and close the study",
    "unblind": "show the names of conditions, which is recorded",
    "access": "accounts, sessions, shares and tokens of this desk",
}
_DECIDER: tuple[Scope, ...] = (*READS, "moderate", "decide", "pay")
ROLE_SCOPES: Mapping[Role, frozenset[Scope]] = {
    "owner": frozenset(SCOPES),
    "decider": frozenset(_DECIDER),
    "viewer": frozenset(READS),
}


@dataclass(frozen=True)
class Viewer:
    """Somebody who looks at one study, or at the list of studies."""

    name: str
    role: Role
    blinded: bool = True
    """Whether conditions are shown under code names."""
    scopes: frozenset[str] = frozenset()

    def may(self, scope: Scope) -> bool:
        """Return whether this viewer may see a page, or do something."""
        return scope in self.scopes

    def seeing(self, *, blinded: bool) -> Viewer:
        """Return the same viewer, to whom conditions are shown under code names or under their own."""
        return replace(self, blinded=blinded)


def viewer_of(name: str, role: Role) -> Viewer:
    """Return a viewer with everything that a role may."""
    return Viewer(name, role, scopes=ROLE_SCOPES[role])
