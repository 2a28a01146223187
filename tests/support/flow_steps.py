"""Sessions that end at each step of the flow of participants."""

from __future__ import annotations

from typing import Any

from support.store_tables import Tables, add

Steps = list[dict[str, Any]]


def came(tables: Tables, name: str, *, person: str | None = None, reason: str = "", **keys: Any) -> None:
    """Add a session, with who came and at what it ended."""
    add(tables, name, **keys)
    tables["sessions"][-1]["participant"] = person or f"p-{name}"
    if keys.get("outcome", "completed") is not None:
        tables["ends"][-1]["reason"] = reason
    if keys.get("outcome", "completed") in ("no_consent", "withdrawn"):
        tables["answers"] = [row for row in tables["answers"] if row["session"] != name]


def lost(steps: Steps, name: str) -> list[tuple[str, int, int]]:
    (step,) = (step for step in steps if step["step"] == name)
    return [(one["words"], one["people"], one["sessions"]) for one in step["lost"]]
