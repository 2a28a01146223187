"""colour: numbers hidden in coloured dots are read (reference: checks 4).

Three plates in an attempt, in random order: one that everybody can read, and one on each of two confusion lines; or
images of the study. An attempt with a misread control plate is unknown: the page was not looked at, or not seen.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

from numpy.random import Generator
from pydantic import Field

from beholder.checks.colour import plates
from beholder.checks.colour.plates import DIGITS
from beholder.checks.contract import Verdict
from beholder.checks.page_contract import (
    Attempt,
    BrowserPage,
    CheckContext,
    CheckTask,
    DrawnFile,
    PageCheck,
    RobotAbilities,
)
from beholder.checks.pictures import is_image, png, read_scale
from beholder.checks.screen import Window, window_of
from beholder.errors import Problem
from beholder.study.model import Study
from beholder.study.parts import Fault, StudyPart, Text, Validity, path_fault
from beholder.study.qualification import CheckOptions
from beholder.types import Json

NONE = "none"
"""The answer of a participant who sees no number."""
_LONGEST = 40


class Plate(StudyPart):
    """An image of the researcher's own, with the number that is read from it."""

    file: Text = Field(description="An image in the study folder.")
    answer: Text = Field(description="What people with normal colour vision read. Never sent to the browser.")
    control: bool = Field(default=False, description="Everybody can read it: read wrong, the attempt is void.")


class Colour(PageCheck):
    name = "colour"
    title = "Colour vision"
    summary = "Colour vision."
    reasons: ClassVar[Mapping[str, str]] = {"plates": "numbers not read"}
    sense = "eyes"
    variants = ("protan", "deutan")
    stage = "qualify"
    order = 120
    scope = "person"
    seconds = 25
    screens = 3

    class Options(CheckOptions):
        """Colour vision: plates drawn for each session, or the researcher's own."""

        attempts: int = Field(default=3, ge=1, le=20, description="How often it can be tried; each time is a new one.")
        valid: Validity | None = Field(default="30 d", description="How long a pass counts.")
        images: tuple[Plate, ...] = Field(default=(), description="Own plates, in place of those that are drawn.")

    options: Options

    def pose(self, rng: Generator, context: CheckContext) -> CheckTask:
        shown: list[Json]
        if self.options.images:
            kinds = ["control" if image.control else "own" for image in self.options.images]
            own = zip(self.options.images, kinds, strict=True)
            shown = [{"kind": kind, "number": image.answer, "file": image.file} for image, kind in own]
        else:
            shown = [plates.plate_json(plates.draw_plate(kind, rng)) for kind in plates.KINDS]
        order: list[Json] = [shown[place] for place in rng.permutation(len(shown))]
        names = tuple(f"p{place + 1}" for place in range(len(order)))
        side = _side(window_of(context))
        private: dict[str, Json] = {"plates": order, "side": side}
        is_text = not all(plain(image.answer).isdigit() for image in self.options.images)
        return CheckTask({"plates": list(names), "is_text": is_text, "size": [side, side]}, private, names)

    def draw(self, private: Mapping[str, Json], name: str) -> DrawnFile:
        plate, side = _plates(private)[name], private["side"]
        assert isinstance(side, int)
        if "file" in plate:
            from beholder.checks.pictures import own_picture

            return png(own_picture(self.folder, plate["file"], side))
        # Edges of dots make most of the file. Padded, its size does not even show which plate is the control.
        return png(plates.plate_picture(plates.read_plate(plate), side), 420 * side)

    def read(self, private: Mapping[str, Json], answer: Json) -> Mapping[str, Json]:
        assert isinstance(answer, Mapping)
        numbers = answer.get("numbers")
        read: dict[str, Json] = {}
        for name in _plates(private):
            number = numbers.get(name) if isinstance(numbers, Mapping) else None
            if not isinstance(number, str) or not number.strip() or len(number) > _LONGEST:
                raise self.refuse(f"numbers.{name}", "no_number", f"what is read, or {NONE}")
            read[name] = plain(number)
        return {"numbers": read, "scale": read_scale(answer)}

    def judge(self, attempt: Attempt) -> Verdict:
        numbers: Any = attempt.answer["numbers"]
        shown: list[Json] = []
        right: dict[bool, list[bool]] = {True: [], False: []}
        for name, plate in _plates(attempt.private).items():
            is_right = numbers[name] == plain(plate["number"])
            right[plate["kind"] == "control"].append(is_right)
            shown.append({"kind": plate["kind"], "number": plate["number"], "read": numbers[name], "right": is_right})
        measured, needed = sum(right[False]), len(right[False])
        if not all(right[True]):
            return self.verdict("unknown", "control", measured=measured, needed=needed, again=True, plates=shown)
        if measured < needed:
            return self.verdict("fail", "plates", measured=measured, needed=needed, plates=shown)
        return self.verdict("pass", measured=measured, needed=needed, plates=shown)

    def guess_rate(self) -> float:
        """Return the probability of guessing the number that an eye cannot read; 0 for images of the study."""
        return 0.0 if self.options.images else 1 / len(DIGITS) ** 2

    def respond(self, task: CheckTask, robot: RobotAbilities, rng: Generator) -> Json:
        numbers: dict[str, Json] = {}
        for name, plate in _plates(task.private).items():
            kind = plate["kind"]
            is_read = robot.can(f"{self.name}:{kind}") and (kind == "control" or robot.can(self.name))
            numbers[name] = plate["number"] if is_read else NONE
        return {"numbers": numbers, "scale": 1}

    def problems(self, study: Study) -> Iterator[Problem]:
        images, place = self.options.images, f"qualification.{self.name}.images"
        if images and all(image.control for image in images):
            what = "are all control plates, which everybody can read"
            fix = "Leave out control where colour has to be seen."
            yield study.problem(place, what, "at least one plate without control", fix)
        for number, image in enumerate(images):
            fault = _image_fault(study.folder, image.file)
            if fault is not None:
                yield study.problem(f"{place}.{number}.file", fault.what, fault.allowed, fault.fix)

    @classmethod
    async def take(cls, page: BrowserPage) -> None:
        for number in page.answer["numbers"].values():
            await page.find(".check-picture")
            if number == NONE:
                await page.leave("#none")
                continue
            await page.write("#number", number)
            await page.leave()


def plain(text: str) -> str:
    """Return an answer without spaces, capitals and scripts of digits."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    digits = (str(unicodedata.digit(letter, letter)) for letter in folded)
    return "".join(letter for letter in digits if not letter.isspace())


def _plates(private: Mapping[str, Json]) -> dict[str, Any]:
    """Return the plates of a task by name, in the order in which they are shown."""
    shown: Any = private["plates"]
    return {f"p{place}": plate for place, plate in enumerate(shown, 1)}


def _side(window: Window) -> int:
    """Return the side of a plate in device pixels, so that plate and field fit into one view, on a phone too."""
    css = min(window.width - 72, max(280, min(380, window.height - 400)))
    return int(css * window.ratio)


def _image_fault(folder: Path, name: str) -> Fault | None:
    """Return the fault of an image in the study folder, if any."""
    fault = path_fault(name, folder)
    if fault is not None:
        return fault
    file, allowed = folder / name, "an image in the study folder, such as plates/29.png"
    if not file.is_file():
        return Fault(f"is {name}, and there is no such file", allowed)
    if not is_image(file):
        return Fault(f"is {name}, which is not an image", allowed, "Save it as PNG.")
    return None
