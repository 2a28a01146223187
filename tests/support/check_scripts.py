"""Scripts with checks, and verdicts on them, without a store."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from beholder.server.flow import Ending, next_step
from beholder.server.script import PlannedStep, Script
from beholder.store.contract import StoredVerdict
from support.scripts import script

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)


DAY = timedelta(days=1)


AGREED: dict[str, Any] = {"consent": {"agree": True}, "text:instructions": {}}


def check_verdict(
    key: str, verdict: str = "pass", reason: str = "", at: datetime = NOON, **evidence: Any
) -> dict[str, StoredVerdict]:
    return {key: StoredVerdict("s", key, key.split(":")[1], verdict, reason, evidence, at)}


def due_step(
    whole: Script, verdicts: dict[str, StoredVerdict], answers: dict[str, Any] = AGREED, at: datetime = NOON
) -> str | Ending:
    due = next_step(whole, answers, verdicts, at)
    return due.key if isinstance(due, PlannedStep) else due


def checked(**rules: Any) -> Script:
    return script(qualification=rules)
