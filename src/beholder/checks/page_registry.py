"""The checks with a page: which of them a study asks for, what their verdicts cost, and how they are titled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from beholder.checks.acuity import AcuityCheck
from beholder.checks.brightness import BrightnessCheck, SecondBrightnessCheck
from beholder.checks.card import CardCheck
from beholder.checks.colour import ColourCheck
from beholder.checks.contract import Verdict, VerdictValue
from beholder.checks.device import DeviceCheck
from beholder.checks.display import DisplayCheck
from beholder.checks.distance import DistanceCheck
from beholder.checks.headphones import HeadphonesCheck, PitchCheck
from beholder.checks.known_answers import TRAINING, TRAINING_REASONS, TRAINING_TITLE
from beholder.checks.media import MediaCheck
from beholder.checks.network import NetworkCheck
from beholder.checks.page_contract import STAGES, Attempt, PageCheck
from beholder.checks.questions import QuestionsCheck
from beholder.checks.refresh import RefreshCheck
from beholder.checks.remote import RemoteCheck
from beholder.checks.screen import ScreenCheck
from beholder.checks.sides import SidesCheck
from beholder.checks.tones import TonesCheck
from beholder.study import qualification as rules
from beholder.study.model import Study
from beholder.study.qualification import Action
from beholder.types import Json
from beholder.words import check_words

AnyPageCheck = PageCheck[Any]
_KINDS: tuple[type[AnyPageCheck], ...] = (
    DeviceCheck, ScreenCheck, RefreshCheck, MediaCheck, NetworkCheck, RemoteCheck, QuestionsCheck, ColourCheck,
    CardCheck, AcuityCheck, DisplayCheck, BrightnessCheck, SecondBrightnessCheck, DistanceCheck, HeadphonesCheck,
    PitchCheck, TonesCheck, SidesCheck,
)  # fmt: skip


def page_check_kinds() -> Mapping[str, type[AnyPageCheck]]:
    """Return the checks with a page by name, in the order in which participants meet them."""
    ordered = sorted(_KINDS, key=lambda kind: (STAGES.index(kind.stage), kind.order, kind.name))
    return {kind.name: kind for kind in ordered}


def page_checks(study: Study) -> tuple[AnyPageCheck, ...]:
    """Return the checks of a study in their order, with those that they bring along."""
    kinds = page_check_kinds()
    options = {name: study.qualification.rule(name) for name, kind in kinds.items() if not kind.switch}
    for name in [name for name, rule in options.items() if rule is not None]:
        for other in kinds[name].brings:
            options[other] = options[other] or rules.RULES[other]()
    switched = ((kind, options[kind.switch or kind.name]) for kind in kinds.values())
    return tuple(kind(rule, study.folder) for kind, rule in switched if rule is not None and kind.is_asked(rule))


def check_texts(language: str) -> Mapping[str, Mapping[str, str]]:
    """Return what participants read about each check, by its name; that of rules as well."""
    return {**check_words(language), **{name: kind.texts(language) for name, kind in page_check_kinds().items()}}


# Verdicts: of the server at once, and of `clean` again from the stored attempt

CANNOT: Mapping[str, Json] = {"cannot": True}
"""The answer of a participant who cannot take a check, on every page."""


def judge_attempt(check: AnyPageCheck, attempt: Attempt) -> Verdict:
    """Return the verdict on an attempt, including that of a participant who cannot take the check."""
    if attempt.answer == CANNOT:
        say: VerdictValue = "fail" if check.action == "gate" else "unknown"
        return check.verdict(say, "cannot")
    return check.judge(attempt)


def action_of(check: AnyPageCheck, verdict: Verdict) -> Action:
    """Return the action of a verdict: its own, or that of the study for the check."""
    return verdict.action or check.action


def costs_session(check: AnyPageCheck, verdict: Verdict) -> bool:
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
