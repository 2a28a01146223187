"""How Prolific spells states and statuses, and how we do: space, hyphen and underscore are one."""

from __future__ import annotations

from collections.abc import Mapping

from beholder.recruit.contract import State, Status

_STATES: Mapping[str, State] = {
    "UNPUBLISHED": "draft",
    "SCHEDULED": "scheduled",
    "PUBLISHING": "publishing",
    "ACTIVE": "active",
    "PAUSED": "paused",
    "COMPLETED": "completed",
    "AWAITING_REVIEW": "completed",  # every place is taken: nobody else comes until places grow
}
_STATUSES: Mapping[str, Status] = {
    "RESERVED": "reserved",
    "ACTIVE": "active",
    "TIMED_OUT": "timed_out",
    "AWAITING_REVIEW": "awaiting_review",
    "APPROVED": "approved",
    "PARTIALLY_APPROVED": "partially_approved",
    "RETURNED": "returned",
    "REJECTED": "rejected",
    "SCREENED_OUT": "screened_out",
}
PLACED: frozenset[Status] = frozenset(("reserved", "active", "awaiting_review", "approved", "partially_approved"))
"""These take a place; who returns, times out or is rejected frees it, and a paid screen-out comes on top."""


def state_of(word: object) -> State:
    """Return how a study stands; `unknown` of a word that no document names, such as PROCESSING."""
    return _STATES.get(_spelled(word), "unknown")


def is_full(word: object) -> bool:
    """Return whether a study waits for its submissions to be reviewed, and would go on should one of them not count."""
    return _spelled(word) == "AWAITING_REVIEW"


def status_of(word: object) -> Status:
    """Return how a submission stands; `unknown` of a word that no document names."""
    return _STATUSES.get(_spelled(word), "unknown")


def _spelled(word: object) -> str:
    return str(word).strip().upper().replace("-", "_").replace(" ", "_")
