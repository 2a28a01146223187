"""What a failed rule may mean for the pay: nothing, but for few rules and from a number of failures on.

A person whom we do not pay has been told plainly what to do and has not done it, more than once where a platform says
so. Everything else is about data: gold, agreement, speed, straight-lining, playback, repeats and statements may cost
the use of a session, and never somebody's pay (reference: crowd 6, checks 9). Nothing is refused by us: these are
proposals, and a person looks.
"""

from __future__ import annotations

from beholder.types import Mode, Outcome

PAY_REASONS = frozenset({"attention", "trap"})
"""Rules whose stimuli say themselves which answer to give."""
FINISHED: frozenset[Outcome] = frozenset({"completed", "failed_checks"})
"""Whoever ended otherwise is not refused for what they did before."""
_SHORT_MINUTES = 5
_LONG_FAILURES = 2


def fewest_failures(mode: Mode, minutes: float | None) -> int:
    """Return how many failures a platform asks for before anybody is refused; as if it were long where nobody knows."""
    if mode != "prolific":
        return 1
    return 1 if minutes is not None and minutes <= _SHORT_MINUTES else _LONG_FAILURES


def may_refuse(check: str, failures: int, reject_after: int | None, mode: Mode, minutes: float | None) -> bool:
    """Return whether not paying may be proposed; where study and platform differ, the kinder one wins."""
    if check not in PAY_REASONS or reject_after is None:
        return False
    return failures >= max(reject_after, fewest_failures(mode, minutes))
