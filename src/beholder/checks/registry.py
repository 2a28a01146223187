"""The rules over a session: which a study switches on, what they need, what they cost, and how they are worded."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from beholder.checks.agreement import AgreementRule, ConsistencyRule, PostscreenRule
from beholder.checks.answer_patterns import QuotaRule, RepeatRule, SpeedRule, VarianceRule
from beholder.checks.contract import SessionRule, TrialRule, Watch
from beholder.checks.known_answers import AttentionRule, GoldRule, TrapItemRule, TrapRule
from beholder.checks.page_registry import page_checks
from beholder.checks.playback import FocusRule, RatioRule, SmoothRule
from beholder.errors import Problem
from beholder.stimuli.catalogue import Catalogue
from beholder.study.checks import CHECKS, TrialRuleOptions
from beholder.study.cleaning import Rater
from beholder.study.model import Study
from beholder.study.recruitment import Mode, source_of
from beholder.types import Medium, Outcome

AnyRule = SessionRule[Any]
RULES: Mapping[str, type[AnyRule]] = {
    check.name: check
    for check in (
        AttentionRule, TrapRule, GoldRule, TrapItemRule, RepeatRule, VarianceRule, RatioRule, SmoothRule,
        FocusRule, SpeedRule, AgreementRule, ConsistencyRule,
        PostscreenRule, QuotaRule,
    )
}  # fmt: skip


def study_rules(study: Study, watch: Watch | None = None) -> tuple[AnyRule, ...]:
    """Return the rules of a study with their options; `watch` overrides what the study asks people to watch."""
    options = ((name, study.checks.rule(name)) for name in CHECKS)
    return tuple(RULES[name](rule, watch or study.playback.watch) for name, rule in options if rule is not None)


def immediate_rules(study: Study, watch: Watch | None = None) -> tuple[TrialRule[Any], ...]:
    """Return the rules that act while somebody is rating; `watch` as for `study_rules`."""
    return tuple(
        check
        for check in study_rules(study, watch)
        if isinstance(check, TrialRule) and isinstance(check.rule, TrialRuleOptions) and check.rule.is_immediate
    )


# What checks need of a study: reported before anybody comes

NO_GOLD = (
    "Give stimuli the role gold and an expected answer in a manifest, list files in checks.gold.items, or write "
    "checks: {gold: false}."
)
"""How to provide gold stimuli, or to do without."""


def check_problems(study: Study) -> list[Problem]:
    """Return the problems with the files of the checks."""
    return [problem for check in page_checks(study) for problem in check.problems(study)]


def check_warnings(study: Study, media: Collection[Medium]) -> Iterator[Problem]:
    """Yield a warning where the preset checks another sense than stimuli of these media need."""
    is_heard = study.playback.sound == "on" and not {"audio", "video"}.isdisjoint(media)
    if study.preset == "p910" and set(media) == {"audio"}:
        what = "is p910, which checks eyes and screens, and the stimuli are sounds"
        yield study.problem("preset", what, "", "Write preset: audio.")
    elif study.preset == "audio" and not is_heard:
        what = "is audio, which checks ears and headphones, and the stimuli have no sound"
        yield study.problem("preset", what, "", "Write preset: p910, or none.")


def missing_gold(study: Study, catalogue: Catalogue) -> Iterator[Problem]:
    """Yield a warning where a preset asks for gold stimuli and there are none; an error where the study does."""
    is_wanted = study.checks.rule("gold") is not None and not study.is_written("checks.gold")
    if is_wanted and not catalogue.of_role("gold"):
        what = f"is {study.preset}, which wants a gold stimulus in each session, and no stimuli have the role gold"
        yield study.problem("preset", what, "", NO_GOLD)


# Pay
#
# Not paying is only proposed for participants who were asked plainly for an answer and did not give it, more than once
# where a platform says so. All other rules may cost the use of a session, never its pay (reference: crowd 6, checks 9).
# These are proposals: a person decides.

PAY_REASONS = frozenset({"attention", "trap"})
"""Rules whose stimuli say themselves which answer to give."""
FINISHED: frozenset[Outcome] = frozenset({"completed", "failed_checks"})
"""Outcomes for which not paying may be proposed."""


def fewest_failures(mode: Mode, minutes: float | None) -> int:
    """Return the failures that a platform requires before work is rejected; an unknown length counts as long."""
    return source_of(mode).fewest_failures(minutes)


def may_refuse(check: str, failures: int, reject_after: int | None, mode: Mode, minutes: float | None) -> bool:
    """Return whether not paying may be proposed: where study and platform differ, the more lenient rule applies."""
    if check not in PAY_REASONS or reject_after is None:
        return False
    return failures >= max(reject_after, fewest_failures(mode, minutes))


# What researchers read

RULE_TITLES: Mapping[str, str] = {
    "attention": "Attention checks", "trap": "Trapping clips", "gold": "Gold stimuli",
    "trap_item": "Obvious statements", "repeat": "Repeats", "variance": "Spread of the answers",
    "ratio": "Time of playing", "smooth": "Smooth playing", "focus": "Window in view", "speed": "Time to answer",
    "agreement": "Agreement with the others", "consistency": "Scatter of the answers",
    "postscreen": "Reference and anchors", "quota": "Sessions of one person", "rater": "Sessions of one person in use",
}  # fmt: skip
_SENTENCES: Mapping[str, Callable[[Any], str]] = {
    "attention": lambda rule: (
        f"{_many(rule.per_session, 'stimulus', 'stimuli')} in a session {_says(rule.per_session)} which answer "
        f"to give; {_allowed(rule.max_failed)} be missed."
    ),
    "trap": lambda rule: (
        f"{_many(rule.per_session, 'trial')} in a session {_asks(rule.per_session)} for a certain answer in the middle "
        f"of the stimulus; {_allowed(rule.max_failed)} be missed."
    ),
    "gold": lambda rule: (
        f"The right answer to {_many(rule.per_session, 'trial')} in a session is known; "
        f"{_allowed(rule.max_failed)} be far from it."
    ),
    "trap_item": lambda rule: (
        f"{_many(rule.per_trial, 'statement')} in a trial {'is' if rule.per_trial == 1 else 'are'} obviously true or "
        f"false; {_allowed(rule.max_failed)} be answered wrongly."
    ),
    "repeat": lambda rule: (
        f"What comes again gets an answer within {_near(rule.tolerance)}; of three repeats or more, at most "
        f"{_percent(rule.share)} may not."
    ),
    "variance": lambda rule: (
        f"Answers vary by {rule.min:g} or more (variance, as on five points), and on fewer than {_percent(rule.share)} "
        "of the pages they are all the same."
    ),
    "ratio": lambda rule: (
        f"Playing took {rule.range[0]:g} to {rule.range[1]:g} times as long as planned; a trial outside "
        f"{rule.trial[0]:g} to {rule.trial[1]:g} is left out."
    ),
    "smooth": lambda rule: (
        f"At most {_percent(rule.dropped)} of the frames were dropped and nothing stood still for more than "
        f"{rule.stall_s:g} s; what did is left out, and the whole session with more than {_percent(rule.share)} of its "
        "trials."
    ),
    "focus": lambda rule: (
        "The window was not left while something played; where it was, that is left out, and the whole session with "
        f"more than {_percent(rule.share)} of its trials."
    ),
    "speed": lambda rule: (
        f"A click took {rule.click_s:g} s and a slider {rule.slider_s:g} s at least, and a session no less than its "
        f"stimuli and {rule.judgement_s:g} s a judgement."
    ),
    "agreement": lambda rule: (
        f"Rank correlation of at least {rule.min:g} with the mean of the others, without one's own votes, over "
        f"{rule.stimuli} stimuli or more."
    ),
    "consistency": lambda rule: (
        "How far answers scatter round those of the others, bias apart, is at most "
        f"{rule.z:g} robust standard deviations above the median of all, on a logarithmic scale, over {rule.ratings} "
        "ratings or more."
    ),
    "postscreen": lambda rule: (
        f"The hidden reference is below {rule.hidden_reference[0]:g} on at most {_percent(rule.hidden_reference[1])} "
        f"of the pages, and an anchor above {rule.anchor[0]:g} on at most {_percent(rule.anchor[1])}; contents whose "
        f"anchor fools more than {_percent(rule.spare)} of the people do not count for that."
    ),
    "quota": lambda rule: f"{_many(rule.sessions, 'session')} of one person may be used.",
}


def rule_sentence(check: AnyRule) -> str:
    """Return a sentence about what a rule asks, with its numbers."""
    noted = " Only noted." if check.rule.action == "record" else ""
    return f"{_SENTENCES[check.name](check.rule)}{noted}"


def rater_rule_sentence(rule: Rater) -> str:
    """Return a sentence about what the rule over raters asks, with its numbers."""
    return (
        f"At least {_percent(rule.min_used)} of the sessions that somebody finished are used, and {rule.least} at "
        f"least, or none of them is; looked at from {_many(rule.sessions, 'session')} on."
    )


def _many(n: int, one: str, many: str = "") -> str:
    return f"{n} {one if n == 1 else many or one + 's'}"


def _says(n: int) -> str:
    return "says itself" if n == 1 else "say themselves"


def _asks(n: int) -> str:
    return "asks" if n == 1 else "ask"


def _allowed(n: int) -> str:
    return "none may" if n == 0 else f"{n} may"


def _near(tolerance: float | None) -> str:
    return "a quarter of the scale" if tolerance is None else f"{tolerance:g} of the first"


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"
