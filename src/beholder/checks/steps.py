"""The checks that a study asks for, in the order in which people meet them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from beholder.checks.acuity import Acuity
from beholder.checks.brightness import Brightness, SecondBrightness
from beholder.checks.card import Card
from beholder.checks.colour import Colour
from beholder.checks.contract import Step
from beholder.checks.device import Device
from beholder.checks.display import Display
from beholder.checks.distance import Distance
from beholder.checks.headphones import Headphones, Pitch
from beholder.checks.media import Media
from beholder.checks.network import Network
from beholder.checks.questions import Questions
from beholder.checks.refresh import Refresh
from beholder.checks.remote import Remote
from beholder.checks.screen import Screen
from beholder.checks.sides import Sides
from beholder.checks.tones import Tones
from beholder.study import qualification as rules
from beholder.study.model import Study

AnyStep = Step[Any]
_STEPS: Mapping[str, tuple[type[AnyStep], ...]] = {
    "device": (Device,), "screen": (Screen,), "refresh": (Refresh,), "media": (Media,), "network": (Network,),
    "remote": (Remote,), "questions": (Questions,), "colour": (Colour,), "card": (Card,), "acuity": (Acuity,),
    "display": (Display,), "brightness": (Brightness, SecondBrightness), "distance": (Distance,),
    "headphones": (Headphones, Pitch), "tones": (Tones,), "sides": (Sides,),
}  # fmt: skip
"""What comes of each key of `qualification`."""


def check_steps(study: Study) -> tuple[AnyStep, ...]:
    """Return the checks of a study. Rings have a size in millimetres, so acuity brings the card along."""
    wanted = {name: study.qualification.rule(name) for name in rules.RULES}
    if wanted["acuity"] is not None and wanted["card"] is None:
        wanted["card"] = rules.Card()
    asked = ((step, rule) for name, rule in wanted.items() if rule is not None for step in _STEPS[name])
    return tuple(step(rule, study.folder) for step, rule in asked if step.is_asked(rule))
