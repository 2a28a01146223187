"""The checks with a page: which of them a study asks for, what their verdicts cost, and how they are titled."""

from __future__ import annotations

from collections.abc import Mapping

from beholder.checks.contract import Verdict, VerdictValue
from beholder.checks.known_answers import TRAINING, TRAINING_REASONS, TRAINING_TITLE
from beholder.checks.page_contract import STAGES, Attempt, PageCheck
from beholder.study.checks import installed_checks
from beholder.study.model import Study
from beholder.study.qualification import Action
from beholder.types import Json
from beholder.words import check_words


def page_check_kinds() -> Mapping[str, type[PageCheck]]:
    """Return the installed checks with a page by name, in the order in which participants meet them."""
    kinds = [kind for kind in installed_checks().page_checks if issubclass(kind, PageCheck)]
    return {kind.name: kind for kind in sorted(kinds, key=lambda kind: STAGES.index(kind.stage))}


def page_checks(study: Study) -> tuple[PageCheck, ...]:
    """Return the checks of a study in their order, with those that they bring along."""
    kinds = page_check_kinds()
    options = {name: study.qualification.rule(name) for name, kind in kinds.items() if not kind.switch}
    for name in [name for name, rule in options.items() if rule is not None]:
        for other in kinds[name].brings:
            options[other] = options[other] or kinds[other].Options()
    switched = ((kind, options[kind.switch or kind.name]) for kind in kinds.values())
    checks = tuple(kind(rule, study.folder) for kind, rule in switched if rule is not None and kind.is_asked(rule))
    for check in checks:
        check.language = study.language
    return checks


def check_texts(language: str) -> Mapping[str, Mapping[str, str]]:
    """Return what participants read about each check, by its name; that of rules as well."""
    return {**check_words(language), **{name: kind.texts(language) for name, kind in page_check_kinds().items()}}


# Verdicts: of the server at once, and of `clean` again from the stored attempt

CANNOT: Mapping[str, Json] = {"cannot": True}
"""The answer of a participant who cannot take a check, on every page."""


def judge_attempt(check: PageCheck, attempt: Attempt) -> Verdict:
    """Return the verdict on an attempt, including that of a participant who cannot take the check."""
    if attempt.answer == CANNOT:
        say: VerdictValue = "fail" if check.action == "gate" else "unknown"
        return check.verdict(say, "cannot")
    return check.judge(attempt)


def action_of(check: PageCheck, verdict: Verdict) -> Action:
    """Return the action of a verdict: its own, or that of the study for the check."""
    return verdict.action or check.action


def costs_session(check: PageCheck, verdict: Verdict) -> bool:
    """Return whether a session with this verdict is not used. A verdict that only flags by itself costs nothing."""
    if verdict.verdict != "fail":
        return False
    action = action_of(check, verdict)
    return action == "gate" or (action == "flag" and verdict.action is None and check.is_costly)


# What researchers read

_CANNOT = "said to be impossible for them"


def known_title(check: str) -> str | None:
    """Return the title of a check with a page, or of the training; None for others."""
    kind = page_check_kinds().get(check)
    return TRAINING_TITLE if check == TRAINING else kind.title if kind else None


def check_title(check: str) -> str:
    """Return the title of a check, including checks that are not installed here."""
    return known_title(check) or check.replace("_", " ").capitalize()


def reason_title(reason: str) -> str | None:
    """Return `check:reason` in words: the title of the check and the reason; None for other checks."""
    check, _, why = reason.partition(":")
    title, kind = known_title(check), page_check_kinds().get(check)
    if title is None:
        return None
    reasons = kind.reasons if kind else TRAINING_REASONS
    return f"{title}: {_CANNOT if why == 'cannot' else reasons.get(why, why.replace('_', ' '))}"
