"""What an entry of the ledger keeps beside its columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from beholder.store.contract import Entry


def noted(entry: Entry) -> Mapping[str, Any]:
    """Return what an entry keeps by name; nothing where it keeps nothing of the kind."""
    return entry.evidence if isinstance(entry.evidence, Mapping) else {}
