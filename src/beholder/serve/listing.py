"""The look at the device as people see it: one list, a row for each check, with its state and what was found."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

from beholder.checks.steps import AnyStep
from beholder.serve.attempts import Progress, acts, progress
from beholder.serve.script import Planned, Script
from beholder.store.contract import Told
from beholder.types import Json

State = Literal["todo", "now", "pass", "fail", "attention", "unknown"]
WORDS = "list"
"""Under this name are the words that all rows share."""


def list_rows(
    script: Script, told: Mapping[str, Told], here: Planned, say: Callable[[AnyStep, Told | None], Mapping[str, Json]]
) -> list[Json]:
    """Return the rows; `say` gives the title of a check and what was found, nothing where that is None."""
    rows: list[Json] = []
    for step in script.steps:
        check = step.check
        if check is None or check.stage != "device":
            continue
        at = progress(step, told, check.rule.attempts, check.action)
        last = _met(step, told, at)
        is_silent = last is not None and is_quiet(check, last)
        is_fresh = step.key == here.place_key and (last is None or at.settled is not None or is_silent)
        state: State = "now" if is_fresh else "todo" if last is None else state_of(check, last)
        rows.append({"name": check.name, "state": state, **say(check, None if is_fresh else last)})
    return rows


def state_of(check: AnyStep, told: Told) -> State:
    """Return how a verdict looks; what fails in silence looks as what passes."""
    if told.verdict == "unknown":
        return "unknown"
    if told.verdict == "pass" or is_quiet(check, told):
        return "pass"
    return "fail" if acts(told, check.action) == "gate" else "attention"


def is_quiet(check: AnyStep, told: Told) -> bool:
    """Return whether nobody is told that an attempt failed."""
    return told.verdict == "fail" and (not check.rule.feedback or acts(told, check.action) in ("flag", "record"))


def _met(step: Planned, told: Mapping[str, Told], at: Progress) -> Told | None:
    """Return what was found last; who then went on without measuring again has found nothing new."""
    if at.last is not None and at.last.reason == "cannot" and at.tries > 1:
        return told.get(f"{step.key}:{at.tries - 1}", at.last)
    return at.last
