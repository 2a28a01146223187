"""The rules over a session: which are installed, which a study switches on, and what they may cost."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import cast

from beholder.checks.answer_patterns import CompleteRule
from beholder.checks.contract import Rule, SessionRule, TrialRule, Watch
from beholder.checks.known_answers import MessageRule
from beholder.checks.page_registry import page_checks
from beholder.checks.playback import WatchedRule
from beholder.errors import Problem
from beholder.study.checks import installed_checks
from beholder.study.model import Study
from beholder.study.recruitment import Mode, source_of
from beholder.types import CheckRole, Medium, Outcome


def rules() -> tuple[type[SessionRule], ...]:
    """Return all installed rules in the order of reports: ours, then those of other authors."""
    return tuple(cast("type[SessionRule]", kind) for kind in installed_checks().rules)


def study_rules(study: Study, watch: Watch | None = None) -> tuple[SessionRule, ...]:
    """Return the rules of a study with their options; `watch` overrides what the study asks people to watch."""
    return tuple(
        cast("type[SessionRule]", kind)(options, watch or study.playback.watch)
        for kind, options in study.checks.rules()
    )


def immediate_rules(study: Study, watch: Watch | None = None) -> tuple[TrialRule, ...]:
    """Return the rules that act while somebody is rating; `watch` as for `study_rules`."""
    trial_rules = (rule for rule in study_rules(study, watch) if isinstance(rule, TrialRule))
    return tuple(rule for rule in trial_rules if rule.options.is_immediate)


def message_role(name: str) -> CheckRole | None:
    """Return the role of the stimuli of a rule that say themselves which answer to give; None for other rules."""
    return next((rule.role for rule in rules() if rule.name == name and rule.asks_itself), None)


def rules_over_ratings() -> frozenset[str]:
    """Return the names of the rules that judge people by how they rate the stimuli under test."""
    return frozenset(rule.name for rule in rules() if rule.compares_ratings)


# What checks need of a study: reported before anybody comes


def check_problems(study: Study) -> list[Problem]:
    """Return the problems with the files of the checks."""
    checks = page_checks(study)
    of_device = [check for check in checks if check.is_of_device and study.stage == "separate"]
    keys = dict.fromkeys(f"qualification.{check.switch or check.name}" for check in of_device)
    what = "looks at the device on which people answer, and stage: separate shows on another one"
    return [
        *(problem for check in checks for problem in check.problems(study)),
        *(study.problem(key, what, "false", f"Write {key}: false.") for key in keys),
    ]


def check_warnings(study: Study, media: Collection[Medium]) -> Iterator[Problem]:
    """Yield a warning where the preset checks another sense than these media need, or ratings cost people the use."""
    is_heard = study.playback.sound == "on" and not {"audio", "video"}.isdisjoint(media)
    if study.preset == "p910" and set(media) == {"audio"}:
        what = "is p910, which checks eyes and screens, and the stimuli are sounds"
        yield study.problem("preset", what, "", "Write preset: audio.")
    elif study.preset == "audio" and not is_heard:
        what = "is audio, which checks ears and headphones, and the stimuli have no sound"
        yield study.problem("preset", what, "", "Write preset: p910, or none.")
    for rule in study_rules(study):
        if rule.compares_ratings and rule.is_costly:
            what = (
                "is flag, which leaves people out by how they rate what is tested: where conditions are alike, honest "
                "people go and differences are found that are not there"
            )
            yield study.problem(f"checks.{rule.name}.action", what, "", "With record it is noted, and costs nothing.")


# Pay
#
# Not paying is only proposed for participants who were asked plainly for an answer and did not give it, more than once
# where a platform says so. All other rules may cost the use of a session, never its pay (reference: crowd 6, checks 9).
# These are proposals: a person decides.

FINISHED: frozenset[Outcome] = frozenset({"completed", "failed_checks"})
"""Outcomes for which not paying may be proposed."""


def may_refuse(rule: Rule | None, failures: int, mode: Mode, minutes: float | None) -> bool:
    """Return whether not paying may be proposed: where study and platform differ, the more lenient rule applies."""
    if not isinstance(rule, MessageRule) or rule.options.reject_after is None:
        return False
    return failures >= max(rule.options.reject_after, source_of(mode).fewest_failures(minutes))


# What researchers read


def rule_title(name: str) -> str | None:
    """Return the title of a rule; None where there is none of this name."""
    return next((rule.title for rule in rules() if rule.name == name), None)


def rule_reason(name: str, reason: str) -> str | None:
    """Return a reason of a rule in words; None where there is none."""
    every: tuple[type[Rule], ...] = (CompleteRule, WatchedRule, *rules())
    return next((rule.reasons.get(reason) for rule in every if rule.name == name), None)


def rule_sentence(rule: SessionRule) -> str:
    """Return a sentence about what a rule asks, with its numbers."""
    return f"{rule.sentence()}{' Only noted.' if rule.options.action == 'record' else ''}"
