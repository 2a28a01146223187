"""The ledger without who it was: what was paid for which visit on a platform, and nothing that leads to answers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from beholder.store.contract import Entry
from beholder.store.tables import to_json
from beholder.types import Json

NAMING = ("submission", "participant", "session", "reason_code", "reason_text", "evidence")
"""The columns that may be changed for it, and no others."""
_SENT = frozenset({"approve", "bonus", "reject", "return", "message"})
_FURTHER = "session:"
_SIGNED = ("pay", "use", "category")


def nameless(entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """Return the entries with the visit or with the session that each is about, and never with both."""
    further: dict[str, list[str]] = defaultdict(list)
    found = []
    for entry in entries:
        if entry.kind == "decisions":
            found.append(replace(entry, evidence=_unnamed(entry.evidence)))
        elif entry.kind in _SENT and entry.submission:
            code = _numbered(entry.reason_code, further[entry.submission])
            found.append(replace(entry, participant="", session="", reason_code=code, reason_text=""))
        else:
            found.append(replace(entry, submission=""))
    return tuple(found)


def changes(entries: Sequence[Entry]) -> list[tuple[str | int, ...]]:
    """Return of every entry that still names somebody its new values, in the order of NAMING, and its number."""
    return [
        (
            after.submission, after.participant, after.session, after.reason_code, after.reason_text,
            to_json(after.evidence), after.entry,
        )
        for before, after in zip(entries, nameless(entries), strict=True)
        if after != before
    ]  # fmt: skip


def _unnamed(evidence: Json) -> Json:
    """Return who signed what, without whose it was and without messages, which may say what somebody answered."""
    rows = evidence.get("rows") if isinstance(evidence, Mapping) else None
    if not isinstance(evidence, Mapping) or not isinstance(rows, Mapping):
        return evidence
    kept = {
        key: {name: row[name] for name in _SIGNED if name in row} if isinstance(row, Mapping) else row
        for key, row in rows.items()
    }
    return {**evidence, "rows": kept}


def _numbered(code: str, before: list[str]) -> str:
    """Return the code of a further session with its number in place of the session; any other code as it is."""
    if not code.startswith(_FURTHER):
        return code
    if code not in before:
        before.append(code)
    return f"{_FURTHER}{before.index(code) + 1}"
