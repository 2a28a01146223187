"""The checks that a study asks for, in the order in which people meet them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
_MAKE: Mapping[str, Callable[[Any], tuple[AnyStep, ...]]] = {
    "device": lambda rule: (Device(rule),),
    "screen": lambda rule: (Screen(rule),),
    "refresh": lambda rule: (Refresh(rule),),
    "media": lambda rule: (Media(rule),),
    "network": lambda rule: (Network(rule),),
    "remote": lambda rule: (Remote(rule),),
    "questions": lambda rule: (Questions(rule),),
    "card": lambda rule: (Card(rule),),
    "acuity": lambda rule: (Acuity(rule),),
    "display": lambda rule: (Display(rule),),
    "brightness": lambda rule: (Brightness(rule), *((SecondBrightness(rule),) if rule.second else ())),
    "distance": lambda rule: (Distance(rule),),
    "headphones": lambda rule: (Headphones(rule), *((Pitch(rule),) if rule.strict else ())),
    "tones": lambda rule: (Tones(rule),),
    "sides": lambda rule: (Sides(rule),),
}


def check_steps(study: Study) -> tuple[AnyStep, ...]:
    """Return the checks of a study. Rings have a size in millimetres, so acuity brings the card along."""
    wanted = {name: study.qualification.rule(name) for name in rules.RULES}
    if wanted["acuity"] is not None and wanted["card"] is None:
        wanted["card"] = rules.Card()
    return tuple(
        step
        for name, rule in wanted.items()
        if rule is not None
        for step in ((Colour(rule, study.folder),) if isinstance(rule, rules.Colour) else _MAKE[name](rule))
    )
