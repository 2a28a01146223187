"""Cases of reconciliation: what we have of a visit beside what its platform says, and what can be proposed for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from beholder.recruit.contract import Category, Status
from beholder.recruit.decisions import Found, Pay
from beholder.recruit.panel.codes import NO_DATA, NO_SUBMISSION
from beholder.types import Outcome

Held = Literal[
    "complete", "partial", "none", "screened_out", "wrong_device", "declined", "failed_checks", "technical"
]  # fmt: skip
"""What we have of a visit: everything, a part, nothing at all; or how it ended otherwise."""

HELD: Mapping[Outcome | None, Held] = {
    "completed": "complete",
    "screened_out": "screened_out",
    "wrong_device": "wrong_device",
    "no_consent": "declined",
    "withdrawn": "declined",
    "failed_checks": "failed_checks",
    "technical": "technical",
    None: "partial",
}
"""What we have by how the session ended; None while it has not."""

WORDS: Mapping[str, str] = {
    "platform:missing_code": "Handed in without a code",
    "platform:wrong_code": "Handed in with a code that is not ours",
    "platform:shared_code": "Handed in with a code that somebody else has used",
    "platform:foreign_code": "Handed in with a code that this person was not shown",
    "platform:no_place": "Found every place taken, or the study closed, and was sent back",
    "platform:not_submitted": "Finished here, not handed in there yet",
    "platform:not_finished": "Not finished yet",
    "platform:timed_out": "Out of time on the platform",
    "platform:returned": "Returned on the platform",
    "platform:rejected_elsewhere": "Rejected on the platform, and not by us",
    NO_DATA: "Handed in, and nothing whole is here",
    NO_SUBMISSION: "Came from elsewhere: no submission belongs to it",
    "platform:screened_out": "Counted as screened out on the platform",
    "platform:unknown_status": "The platform tells no status that we know",
    "platform:waited": "Asked to return it, and nothing has happened",
}
"""What a researcher reads for each reason that comes from a platform."""


class Case(NamedTuple):
    """One visit: what we have of it, and what its platform says."""

    held: Held
    status: Status
    code: Found
    accept: bool | None = True
    """What cleaning says about the pay; None where a person has to look. Counts where the visit came to its end."""
    has_waited: bool = False
    """Whether the person was asked to return it a week ago, and it still awaits review."""
    is_refused: bool = False
    """Whether the platform has refused to approve it."""
    is_ours: bool = False
    """Whether it was rejected by us."""
    pays_screen_out: bool = True
    """Whether the study pays those who did not fit."""


class Proposal(NamedTuple):
    """What is proposed for a visit, and why."""

    pay: Pay
    reasons: tuple[str, ...] = ()
    """As `platform:reason`; those of the verdicts stand elsewhere."""
    is_kept: bool = True
    """Whether the platform's side lets the answers be used."""
    is_settled: bool = False
    """Whether the platform has done all there is to do: nothing that a person writes changes it."""
    is_over: bool = False
    """Whether its list can be given to somebody else at once."""
    grounds: frozenset[Category] = frozenset()
    """For which categories a person may reject it."""
