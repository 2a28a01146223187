"""What a person has decided about the use of a session: it stands above the rules over the session."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple

from beholder.checks.verdict import Verdict

NAME, VERSION = "person", 1
LEFT_OUT, TAKEN_IN = "left_out", "taken_in"
UNDONE = "undone"
"""The reason of taking in again what had been left out for what a platform said: the rules decide as before."""
_KINDS = ("leave_out", "take_in")
_USUAL: Mapping[str, str] = {"leave_out": LEFT_OUT, "take_in": TAKEN_IN}


class Act(NamedTuple):
    """That somebody left a session out, or took it in."""

    kind: Literal["leave_out", "take_in"]
    reason: str
    """Why it is left out: `left_out` by hand, or what its platform says, as `returned`."""
    entry: int
    """The number in the ledger, where the words are that were given for it."""

    @property
    def is_left_out(self) -> bool:
        return self.kind == "leave_out"


def acts_of(ledger: Iterable[Mapping[str, Any]]) -> dict[str, Act]:
    """Return what was decided last about the use of each session."""
    acts: dict[str, Act] = {}
    for row in ledger:
        if row["kind"] not in _KINDS or row["event"] != "done":
            continue
        if row["reason_code"] == UNDONE:
            acts.pop(str(row["session"]), None)
        else:
            acts[str(row["session"])] = Act(row["kind"], str(row["reason_code"]) or _USUAL[row["kind"]], row["entry"])
    return acts


def person_verdict(act: Act) -> Verdict:
    """Return what a person has decided, as a verdict beside those of the rules."""
    if act.is_left_out:
        return Verdict(NAME, VERSION, "fail", act.reason, evidence={"entry": act.entry})
    return Verdict(NAME, VERSION, "pass", TAKEN_IN, evidence={"entry": act.entry})
