"""checks.csv: what each rule says of single trials."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from beholder.clean.seen import position_of
from beholder.clean.sessions import Judged

COLUMNS = (
    "session", "participant", "position", "trial", "check", "version", "verdict", "reason", "measured", "needed",
    "evidence",
)  # fmt: skip


def said_rows(judged: Iterable[Judged]) -> Iterator[dict[str, Any]]:
    """Yield a row for each session, rule and trial that the rule says something of, also where it passed."""
    for one in judged:
        for looked in one.looked:
            for seen, verdict in looked.trials:
                yield {
                    "session": one.visit.session,
                    "participant": one.visit.participant,
                    "position": position_of(seen.key),
                    "trial": seen.trial.id,
                    "check": verdict.check,
                    "version": verdict.version,
                    "verdict": verdict.verdict,
                    "reason": verdict.reason,
                    "measured": verdict.measured,
                    "needed": verdict.needed,
                    "evidence": dict(verdict.evidence),
                }
