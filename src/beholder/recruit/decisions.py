"""What is decided about each submission: one row each, which a person may change and signs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from beholder.recruit.contract import Category, Status
from beholder.types import Outcome

Pay = Literal["approve", "screen_out", "bonus", "reject", "return", "wait", "look", "nothing"]
"""approve: pay the reward. screen_out: pay the amount for those who did not fit. bonus: pay the reward as a bonus, as
the platform no longer approves. reject: do not pay, with a message. return: ask the person to return it. wait: it is
not over. look: a person has to decide. nothing: there is nothing to do, or it is done already."""
Found = Literal["right", "wrong", "missing", "shared", "foreign", "no_place", "none"]
"""What somebody pasted: the right code, another, nothing, one that several pasted, one of somebody else's session, that
of those who found every place taken; none where no code is asked for."""


@dataclass(frozen=True)
class Decided:
    """One submission, or one person's visit where the platform knows no submissions."""

    submission: str
    """The platform's id of the visit; of a session of ours that no submission belongs to, the session."""
    participant: str
    """The pseudonym; empty where we have never seen the person."""
    sessions: tuple[str, ...]
    """Of ours, oldest first: several where further sessions are rounds of one visit."""
    outcome: Outcome | None
    status: Status
    code: Found
    proposed: Pay
    pay: Pay
    """As it stands: what was proposed, or what a person has put in its place."""
    use: bool
    is_use_changed: bool
    """Whether a person has changed `use`."""
    reasons: tuple[str, ...]
    """Of the verdicts as `check:reason`, and of the platform as `platform:reason`."""
    words: str
    category: Category | None = None
    message: str = ""
    """What the person reads; for a rejection 100 characters at least."""
    further: tuple[str, ...] = ()
    """Accepted sessions beyond the one that the reward pays: further rounds of one visit."""
