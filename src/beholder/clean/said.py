"""verdicts.csv and checks.csv: what each rule says of a session, and of single trials."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from beholder.checks.verdict import Verdict
from beholder.clean.facts import position_of
from beholder.clean.sessions import Judged
from beholder.clean.tables import cell, csv_text

_CELLS = ("check", "version", "verdict", "reason", "measured", "needed", "evidence")
VERDICTS = ("session", *_CELLS)
COLUMNS = ("session", "participant", "position", "trial", *_CELLS)


def verdict_lines(judged: Iterable[Judged]) -> Iterator[Sequence[Any]]:
    """Yield a line for each session and rule."""
    for one in judged:
        for verdict in one.verdicts:
            yield (one.visit.session, *_cells(verdict))


def said_texts(judged: Iterable[Judged]) -> Iterator[str]:
    """Yield a line for each session, rule and trial that the rule says something of, also where it passed."""
    # Of very many trials the same is said, by one and the same verdict: there can be millions of lines.
    verdicts: dict[int, str] = {}
    trials: dict[tuple[str, str], str] = {}
    for one in judged:
        who = csv_text((one.visit.session, one.visit.participant))
        for looked in one.looked:
            for seen, verdict in looked.trials:
                which = trials.get((seen.key, seen.trial.id))
                if which is None:
                    which = trials[seen.key, seen.trial.id] = csv_text((position_of(seen.key), seen.trial.id))
                what = verdicts.get(id(verdict))
                if what is None:
                    what = verdicts[id(verdict)] = csv_text(_cells(verdict))
                yield f"{who},{which},{what}\n"


def _cells(verdict: Verdict) -> tuple[str, ...]:
    measured, needed, evidence = cell(verdict.measured), cell(verdict.needed), cell({**verdict.evidence})
    return verdict.check, str(verdict.version), verdict.verdict, verdict.reason, measured, needed, evidence
