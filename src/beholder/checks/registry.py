"""What researchers read for each rule over a session: its title, and what it asks in one sentence."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from beholder.checks.rules import AnyCheck
from beholder.study.cleaning import Rater

RULE_TITLES: Mapping[str, str] = {
    "attention": "Attention checks", "trap": "Trapping clips", "gold": "Gold stimuli",
    "trap_item": "Obvious statements", "repeat": "Repeats", "variance": "Spread of the answers",
    "ratio": "Time of playing", "smooth": "Smooth playing", "focus": "Window in view", "speed": "Time to answer",
    "agreement": "Agreement with the others", "consistency": "Scatter of the answers",
    "postscreen": "Reference and anchors", "quota": "Sessions of one person", "rater": "Sessions of one person in use",
}  # fmt: skip
_SAYINGS: Mapping[str, Callable[[Any], str]] = {
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


def saying(check: AnyCheck) -> str:
    """Return what a rule asks, with its numbers, and that it is only noted where it is."""
    noted = " Only noted." if check.rule.action == "record" else ""
    return f"{_SAYINGS[check.name](check.rule)}{noted}"


def rater_saying(rule: Rater) -> str:
    """Return what the rule over raters asks, with its numbers."""
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
