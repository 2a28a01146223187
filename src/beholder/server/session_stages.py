"""The stages of a session and about how long each takes: what `check` prints, and what participants are told."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from beholder.checks.page_contract import Needs, PageCheck
from beholder.checks.page_registry import check_texts
from beholder.checks.registry import rules
from beholder.formats import plain_count
from beholder.methods.contract import Break, Method, Trial
from beholder.planning.model import is_check
from beholder.server.page_checks import PageChecks
from beholder.server.public_steps import step_texts
from beholder.server.script import Script, ServedStudy, make_script, sets_volume
from beholder.stimuli.catalogue import Catalogue
from beholder.study.groups import group_study
from beholder.study.model import Study
from beholder.study.recruitment import announced_minutes
from beholder.words import read_words


@dataclass(frozen=True)
class Stage:
    """A part of the session: its name, its approximate length, and its number of screens."""

    name: str
    minutes: float
    screens: int = 1
    is_before: bool = True
    """Whether it comes before the first rating."""
    is_rating: bool = False


def session_stages(
    study: Study, catalogue: Catalogue, method: Method, entries: tuple[Trial | Break, ...]
) -> tuple[Stage, ...]:
    """Return the stages of a session with these entries."""
    script = make_script(study, entries, has_volume=sets_volume(study, catalogue), examples=catalogue.examples)
    shown = [step.trial for step in script.steps if step.kind in ("text", "questions") and step.trial is not None]
    between = [step for step in script.steps if step.key.startswith("questions:during:")]
    lessons = [step.trial for step in script.steps if step.trial is not None and step.is_training]
    trials = [step.trial for step in script.steps if step.key.startswith("trial:") and step.trial is not None]
    checks = [step.check for step in script.steps if step.check is not None]
    volume = [Stage("setting the volume", 0.3)] if any(step.kind == "volume" for step in script.steps) else []
    pages = 1 + sum(step.kind == "text" for step in script.steps)
    return (
        Stage(
            "consent and instructions",
            _reading_minutes(study, catalogue, method, script) + _playing_minutes(shown, catalogue),
            pages,
        ),
        *_check_stage("device", [check for check in checks if check.stage == "device"]),
        *_question_stage(len(study.before), "before"),
        *_check_stage("qualification", [check for check in checks if check.stage == "qualify"]),
        *volume,
        *_check_stage("set-up", [check for check in checks if check.stage == "setup"]),
        *_trial_stage(f"training, {plain_count(len(lessons), 'example')}", lessons, method, catalogue),
        *_trial_stage(f"rating ({method.name}), {_rated_text(trials)}", trials, method, catalogue, is_before=False),
        *_question_stage(sum(len(step.items) for step in between), "between trials", len(between), is_before=False),
        *_question_stage(len(study.after), "after", is_before=False),
    )


def told_minutes(served: ServedStudy) -> int:
    """Return the minutes that people are told a session takes: those of the study, or what its longest group needs."""
    firsts: dict[tuple[tuple[str, str], ...], Sequence[Trial | Break]] = {}
    for number, entries in enumerate(served.lists):
        levels = served.groups[number] if served.groups else {}
        firsts.setdefault(tuple(sorted(levels.items())), entries)
    lengths = [
        sum(
            stage.minutes
            for stage in session_stages(
                group_study(served.study, dict(levels)), served.catalogue, served.method, tuple(entries)
            )
        )
        for levels, entries in firsts.items()
    ]
    return max(1, announced_minutes(served.study.recruit, max(lengths, default=1.0)))


_WORDS_A_MINUTE, _CHOICE = 238, 2 / 60
"""Silent reading speed (Brysbaert 2019), and the minutes for pressing a button."""


def _reading_minutes(study: Study, catalogue: Catalogue, method: Method, script: Script) -> float:
    """Return the approximate minutes for reading consent, needs and instructions."""
    texts = step_texts(study, read_words(study.language), catalogue, method)
    read = " ".join(text for name, text in texts.items() if name.startswith(("consent", "instructions")))
    read = " ".join([read, *PageChecks(Needs(), b"", check_texts(study.language)).requirements(script)])
    pages = 1 + sum(step.kind == "text" for step in script.steps)
    return pages * _CHOICE + len(re.sub("<[^>]*>", " ", read).split()) / _WORDS_A_MINUTE


def _playing_minutes(shown: Sequence[Trial], catalogue: Catalogue) -> float:
    """Return the playing time of the examples in the instructions, in minutes."""
    slots = [slot for trial in shown for slot in trial.slots]
    return sum(catalogue.by_id[slot.stimulus].probe.duration_ms or 0 for slot in slots) / 60_000


def _check_stage(name: str, checks: Sequence[PageCheck]) -> list[Stage]:
    """Return the stage of checks, each passed at once. Measurements of the device share one page."""
    if not checks:
        return []
    seconds, n = sum(check.seconds for check in checks), len(checks)
    return [Stage(f"{name}, {plain_count(n, 'check')}", seconds / 60, max(1, sum(check.screens for check in checks)))]


def _trial_stage(
    name: str, trials: Sequence[Trial], method: Method, catalogue: Catalogue, *, is_before: bool = True
) -> list[Stage]:
    """Return the stage of trials; empty if there are none."""
    minutes = sum(method.seconds(trial, catalogue) for trial in trials) / 60
    return [Stage(name, minutes, len(trials), is_before, is_rating=not is_before)] if trials else []


def _rated_text(trials: Sequence[Trial]) -> str:
    """Return the numbers of rated trials and of checks as text."""
    parts = [plain_count(sum(not is_check(trial) for trial in trials), "trial")]
    for rule in (rule for rule in rules() if rule.role is not None):
        n = sum(any(slot.role == rule.role for slot in trial.slots) for trial in trials)
        parts += [plain_count(n, *rule.trial_words)] * (n > 0)
    for rule in (rule for rule in rules() if rule.purpose is not None):
        # Those in trials of their own are counted already.
        pages = [trial for trial in trials if rule.role not in trial.roles]
        n = sum(asked.purpose == rule.purpose for trial in pages for asked in trial.asked)
        parts += [plain_count(n, *rule.statement_words)] * (n > 0)
    return ", ".join(parts)


def _question_stage(n: int, when: str, pages: int = 1, *, is_before: bool = True) -> list[Stage]:
    """Return the stage of a questionnaire, on so many pages; empty if it has no questions."""
    return [Stage(f"{plain_count(n, 'question')} {when}", n * 0.15, pages, is_before)] if n else []
