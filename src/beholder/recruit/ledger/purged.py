"""That who is who was erased, as the ledger has it."""

from __future__ import annotations

from collections.abc import Sequence

from beholder.store.contract import Entry

IDENTITY = "identity"
"""The reason of a purge of who is who."""


def last_purge(entries: Sequence[Entry]) -> Entry | None:
    """Return the last thing that is known of a purge of who is who; one that has only begun may have erased all."""
    return next((one for one in reversed(entries) if one.kind == "purge" and one.reason_code == IDENTITY), None)
