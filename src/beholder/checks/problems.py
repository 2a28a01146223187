"""What is wrong with the files that the checks of a study need: told before anybody comes."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from beholder.errors import Problem
from beholder.stimuli.catalogue import Catalogue
from beholder.study.fault import Fault
from beholder.study.model import Study
from beholder.study.qualification import Colour
from beholder.study.texts import path_fault
from beholder.types import Medium

_IMAGES = "qualification.colour.images"
NO_GOLD = (
    "Give stimuli the role gold and an expected answer in a manifest, list files in checks.gold.items, or write "
    "checks: {gold: false}."
)
"""How to come by gold stimuli, or to do without."""


def check_problems(study: Study) -> list[Problem]:
    """Return everything that is wrong with the files of the checks."""
    return list(_plates(study))


def check_warnings(study: Study, media: Collection[Medium]) -> Iterator[Problem]:
    """Yield that a preset is about another sense than stimuli of these media, each of them, speak to."""
    is_heard = study.playback.sound == "on" and not {"audio", "video"}.isdisjoint(media)
    if study.preset == "p910" and set(media) == {"audio"}:
        what = "is p910, which checks eyes and screens, and the stimuli are sounds"
        yield study.problem("preset", what, "", "Write preset: audio.")
    elif study.preset == "audio" and not is_heard:
        what = "is audio, which checks ears and headphones, and the stimuli have no sound"
        yield study.problem("preset", what, "", "Write preset: p910, or none.")


def idle_gold(study: Study, catalogue: Catalogue) -> Iterator[Problem]:
    """Yield that a preset wants gold stimuli, and there are none; where the study itself wants them no plan is made."""
    is_wanted = study.checks.rule("gold") is not None and not study.is_written("checks.gold")
    if is_wanted and not catalogue.of_role("gold"):
        what = f"is {study.preset}, which wants a gold stimulus in each session, and no stimuli have the role gold"
        yield study.problem("preset", what, "", NO_GOLD)


def _plates(study: Study) -> Iterator[Problem]:
    rule = study.qualification.rule("colour")
    if not isinstance(rule, Colour) or not rule.images:
        return
    if all(image.control for image in rule.images):
        what, fix = "are all control plates, which everybody can read", "Leave out control where colour has to be seen."
        yield study.problem(_IMAGES, what, "at least one plate without control", fix)
    for place, image in enumerate(rule.images):
        fault = _image_fault(study, image.file)
        if fault is not None:
            yield study.problem(f"{_IMAGES}.{place}.file", fault.what, fault.allowed, fault.fix)


def _image_fault(study: Study, name: str) -> Fault | None:
    """Return what is wrong with an image of the study folder, if anything."""
    from beholder.checks.drawing.own import is_image

    fault = path_fault(name)
    if fault is not None:
        return fault
    file, allowed = study.folder / name, "an image in the study folder, such as plates/29.png"
    if not file.is_file():
        return Fault(f"is {name}, and there is no such file", allowed)
    if not is_image(file):
        return Fault(f"is {name}, which is not an image", allowed, "Save it as PNG.")
    return None
