"""The checks with a page: which of them a study asks for, what their verdicts cost, and how they are titled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from beholder.checks.acuity import AcuityCheck
from beholder.checks.brightness import BrightnessCheck, DisplayCheck, SecondBrightnessCheck
from beholder.checks.card import CardCheck
from beholder.checks.colour import ColourCheck
from beholder.checks.contract import Verdict, VerdictValue
from beholder.checks.device import DeviceCheck, RefreshCheck, RemoteCheck
from beholder.checks.distance import DistanceCheck
from beholder.checks.listening.headphones import HeadphonesCheck, PitchCheck
from beholder.checks.listening.sides import SidesCheck
from beholder.checks.listening.tones import TonesCheck
from beholder.checks.media import MediaCheck
from beholder.checks.network import NetworkCheck
from beholder.checks.page_contract import Attempt, PageCheck
from beholder.checks.questions import QuestionsCheck
from beholder.checks.screen import ScreenCheck
from beholder.study import qualification as rules
from beholder.study.model import Study
from beholder.study.qualification import Action
from beholder.types import Json

AnyPageCheck = PageCheck[Any]
_PAGE_CHECKS: Mapping[str, tuple[type[AnyPageCheck], ...]] = {
    "device": (DeviceCheck,), "screen": (ScreenCheck,), "refresh": (RefreshCheck,), "media": (MediaCheck,),
    "network": (NetworkCheck,),
    "remote": (RemoteCheck,), "questions": (QuestionsCheck,), "colour": (ColourCheck,), "card": (CardCheck,),
    "acuity": (AcuityCheck,),
    "display": (DisplayCheck,), "brightness": (BrightnessCheck, SecondBrightnessCheck), "distance": (DistanceCheck,),
    "headphones": (HeadphonesCheck, PitchCheck), "tones": (TonesCheck,), "sides": (SidesCheck,),
}  # fmt: skip
"""The checks of each key of `qualification`."""


def page_checks(study: Study) -> tuple[AnyPageCheck, ...]:
    """Return the checks of a study in their order. Rings have a size in millimetres, so `acuity` adds `card`."""
    options = {name: study.qualification.rule(name) for name in rules.RULES}
    if options["acuity"] is not None and options["card"] is None:
        options["card"] = rules.Card()
    kinds = ((kind, rule) for name, rule in options.items() if rule is not None for kind in _PAGE_CHECKS[name])
    return tuple(kind(rule, study.folder) for kind, rule in kinds if kind.is_asked(rule))


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

TITLES: Mapping[str, str] = {
    "device": "Kind of device", "screen": "Resolution of the screen", "refresh": "Refresh rate",
    "media": "Playback in the browser", "network": "Speed of the network", "remote": "Remote desktop",
    "questions": "Quiz", "colour": "Colour vision", "card": "Size of a pixel", "acuity": "Visual acuity",
    "display": "Set-up of the display", "brightness": "Brightness and room light",
    "brightness_second": "Brightness, second time", "distance": "Viewing distance", "headphones": "Headphones",
    "pitch": "Pitch by two ears", "tones": "Counting tones", "sides": "Left and right", "training": "Training",
}  # fmt: skip

REASONS: Mapping[str, str] = {
    "device:phone": "a phone", "device:tablet": "a tablet", "device:desktop": "a computer",
    "screen:small": "too small", "refresh:slow": "too low", "media:codec": "a codec is missing",
    "media:decode": "a sample would not play", "media:fullscreen": "no full screen", "media:sound": "no sound",
    "media:dropped": "many frames dropped", "network:slow": "slow", "network:hopeless": "the wait would be hopeless",
    "remote:remote": "said to be used", "remote:hints": "hints that it is used", "questions:wrong": "wrong answers",
    "colour:plates": "numbers not read", "acuity:rings": "gaps of the rings not found",
    "brightness:count": "shapes not counted right", "brightness_second:count": "shapes not counted right",
    "distance:far": "too far away", "headphones:speakers": "as through loudspeakers",
    "headphones:softest": "the softest tone not found", "pitch:tone": "the tone not found",
    "tones:missed": "tones missed", "tones:count": "not counted right", "sides:swapped": "swapped",
    "sides:mono": "mono", "sides:silent": "one side silent", "sides:sides": "not told apart",
    "training:outside": "an answer stayed outside its tolerance",
    "training:trap": "a trapping example not answered as asked",
}  # fmt: skip
_CANNOT = "said to be impossible for them"


def check_title(check: str) -> str:
    """Return the title of a check, including checks of other authors."""
    return TITLES.get(check, check.replace("_", " ").capitalize())


def reason_title(reason: str) -> str | None:
    """Return `check:reason` in words: the title of the check and the reason; None for other checks."""
    check, _, why = reason.partition(":")
    if check not in TITLES:
        return None
    return f"{TITLES[check]}: {_CANNOT if why == 'cannot' else REASONS.get(reason, why.replace('_', ' '))}"
