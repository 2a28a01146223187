"""The checks of person, device and surroundings before the first rating: one part with options for each."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Literal

from pydantic import Field, ValidationInfo, field_validator, model_validator

from beholder.study.parts import Fault, Slug, Span, StudyPart, Text, duration, raise_faults
from beholder.study.value_kinds import Allowed

Action = Literal["gate", "warn", "flag", "record"]
Kind = Literal["desktop", "tablet", "phone"]
_LARGEST_RADIUS = 50
_LARGEST_SIDE = 20_000
_ACTION = "`gate`: must pass to go on; `warn`: is told and may go on; `flag`: silent, cleaning decides; `record`."


class CheckOptions(StudyPart):
    """Options of every check."""

    action: Action = Field(default="gate", description=_ACTION)
    feedback: bool = Field(default=True, description="Tell what was found and how to mend it.")
    attempts: int = Field(default=2, ge=1, le=20, description="How often it can be tried; each time is a new one.")
    valid: Span | None = Field(
        default=None, description="How long a pass counts, such as `30 min`; this session when left out."
    )

    @property
    def lasts(self) -> timedelta | None:
        """How long a pass counts; None for its session only."""
        return duration(self.valid) if self.valid else None


class Device(CheckOptions):
    """The kind of device."""

    attempts: int = Field(default=10, ge=1, le=20, description="How often it can be tried, also on another device.")
    allow: tuple[Kind, ...] = Field(default=("desktop",), min_length=1, description="What may be used.")


class Screen(CheckOptions):
    """The resolution of the screen in device pixels."""

    attempts: int = Field(default=3, ge=1, le=20, description="How often it can be measured.")
    min: Annotated[tuple[int, int], Allowed("two numbers of pixels, such as [1280, 720]")] = Field(
        default=(1280, 720), description="Long and short side at least, in device pixels."
    )

    @model_validator(mode="after")
    def _can_be_bought(self) -> Screen:
        if not all(1 <= side <= _LARGEST_SIDE for side in self.min):
            sides = f"is {self.min[0]}, {self.min[1]}"
            raise_faults([Fault(sides, f"two numbers of pixels, 1 to {_LARGEST_SIDE:,}", "", ("min",))])
        return self


class Refresh(CheckOptions):
    """How often the screen is drawn."""

    min_hz: float = Field(default=30, gt=0, le=1000, description="Pictures a second at least.")


class Media(CheckOptions):
    """Whether the browser decodes what the study shows, and can fill the screen where the study needs it."""

    attempts: int = Field(default=3, ge=1, le=20, description="How often it can be tried, also in another browser.")


class Remote(CheckOptions):
    """Whether the screen is seen through a remote desktop: asked, and hints that only flag."""


class Network(CheckOptions):
    """The speed at which our own media arrive."""

    action: Action = Field(default="warn", description=_ACTION + " A hopeless wait is always a gate.")
    attempts: int = Field(default=2, ge=1, le=20, description="How often it can be measured.")
    warn_mbps: float = Field(default=40, gt=0, description="Slower than this many megabits a second is told.")
    max_wait_s: float = Field(default=120, gt=0, description="A longer wait for the first trial is hopeless.")


class Quiz(StudyPart):
    """One item of the quiz, with its right answer."""

    id: Slug = Field(description="Names the item in the evidence.")
    text: Text = Field(description="What participants read: Markdown.")
    options: tuple[Text, ...] = Field(min_length=2, description="What can be chosen.")
    correct: Text = Field(description="The right option. Never sent to the browser.")
    topic: Text | None = Field(default=None, description="What is told when it was wrong, in place of its text.")

    @model_validator(mode="after")
    def _offers_the_right_one(self) -> Quiz:
        faults = [
            Fault(f"is {option} a second time", "every option once", "", ("options", place))
            for place, option in enumerate(self.options)
            if option in self.options[:place]
        ]
        if self.correct not in self.options:
            what = f"is {self.correct}, which is not among the options"
            faults.append(Fault(what, ", ".join(self.options), "", ("correct",)))
        raise_faults(faults)
        return self


class Questions(CheckOptions):
    """A quiz on language or instructions: some items drawn from a pool."""

    valid: Span | None = Field(default="30 d", description="How long a pass counts.")
    items: tuple[Quiz, ...] = Field(min_length=1, description="The pool.")
    draw: int | None = Field(default=None, ge=1, description="How many are asked; all when left out.")
    right: int | None = Field(default=None, ge=1, description="How many have to be right; all when left out.")

    @model_validator(mode="after")
    def _fits(self) -> Questions:
        pool = len(self.items)
        count, faults = self.draw or pool, []
        if count > pool:
            faults.append(Fault(f"is {count}, of a pool of {pool}", f"1 to {pool}", "", ("draw",)))
        if self.right is not None and self.right > count:
            faults.append(Fault(f"is {self.right}, of {count} that are asked", f"1 to {count}", "", ("right",)))
        raise_faults(faults)
        return self


class Plate(StudyPart):
    """An image of the researcher's own, with the number that is read from it."""

    file: Text = Field(description="An image in the study folder.")
    answer: Text = Field(description="What people with normal colour vision read. Never sent to the browser.")
    control: bool = Field(default=False, description="Everybody can read it: read wrong, the attempt is void.")


class Colour(CheckOptions):
    """Colour vision: plates drawn for each session, or the researcher's own."""

    attempts: int = Field(default=3, ge=1, le=20, description="How often it can be tried; each time is a new one.")
    valid: Span | None = Field(default="30 d", description="How long a pass counts.")
    images: tuple[Plate, ...] = Field(default=(), description="Own plates, in place of those that are drawn.")


class Card(CheckOptions):
    """The size of a pixel, from the outline of a bank card. `acuity` brings it along."""

    action: Action = Field(default="record", description=_ACTION)
    attempts: int = Field(default=3, ge=1, le=20, description="How often it can be measured.")
    valid: Span | None = Field(default="30 d", description="How long it counts on the same device.")


class Acuity(CheckOptions):
    """Visual acuity: the gap of Landolt rings."""

    valid: Span | None = Field(default="30 d", description="How long a pass counts on the same device.")
    distance_mm: float = Field(default=500, ge=200, le=2000, description="How far away participants are asked to sit.")
    mar: float = Field(default=1.5, gt=0, le=5, description="Minutes of arc to resolve: 1.5 is 20/30.")
    rings: int = Field(default=5, ge=1, le=20, description="How many rings are shown.")
    right: int = Field(default=3, ge=1, le=20, description="How many have to be right.")

    @model_validator(mode="after")
    def _fits(self) -> Acuity:
        if self.right > self.rings:
            raise_faults([Fault(f"is {self.right}, of {self.rings} rings", f"1 to {self.rings}", "", ("right",))])
        return self


class Display(CheckOptions):
    """Help with setting up the display, for each system."""

    action: Action = Field(default="record", description=_ACTION)
    attempts: int = Field(default=1, ge=1, le=20, description="How often it is shown.")
    valid: Span | None = Field(default="30 d", description="How long it counts on the same device.")


class Brightness(CheckOptions):
    """Brightness and room light: barely visible shapes to count, twice."""

    attempts: int = Field(default=4, ge=1, le=20, description="How often the first matrix can be tried.")
    valid: Span | None = Field(default="30 min", description="How long a pass counts on the same device.")
    level: int = Field(default=4, ge=1, le=15, description="How many levels of 255 a shape differs from its square.")
    second: bool = Field(default=True, description="A second matrix, silent: cleaning decides.")


class Distance(CheckOptions):
    """Viewing distance: three pairs, of which one picture is blurred."""

    action: Action = Field(default="warn", description=_ACTION)
    attempts: int = Field(default=3, ge=1, le=20, description="How often it can be tried; each time is a new one.")
    valid: Span | None = Field(default="30 min", description="How long a pass counts on the same device.")
    heights: float = Field(default=1.5, gt=0, le=10, description="How far to sit, in heights of the screen.")
    radii: Annotated[tuple[float, float, float], Allowed("three radii in pixels, such as [3, 5, 7]")] = Field(
        default=(3, 5, 7), description="Weak, middle and strong blur, on a screen of 1080 lines."
    )

    @model_validator(mode="after")
    def _grows(self) -> Distance:
        weak, middle, strong = self.radii
        if not 0 < weak < middle < strong <= _LARGEST_RADIUS:
            allowed = f"above 0 and up to {_LARGEST_RADIUS}, from the weakest blur to the strongest"
            raise_faults([Fault(f"is {weak:g}, {middle:g}, {strong:g}", allowed, "", ("radii",))])
        return self


class Headphones(CheckOptions):
    """Headphones: which of three tones is softest, where one is in antiphase."""

    valid: Span | None = Field(default="30 min", description="How long a pass counts on the same device.")
    trials: int = Field(default=6, ge=1, le=20, description="How many times three tones are played.")
    right: int = Field(default=5, ge=1, le=20, description="How many have to be right.")
    strict: bool = Field(default=False, description="Also a pitch that only two ears together can hear.")

    @model_validator(mode="after")
    def _fits(self) -> Headphones:
        if self.right > self.trials:
            raise_faults([Fault(f"is {self.right}, of {self.trials} trials", f"1 to {self.trials}", "", ("right",))])
        return self


class Tones(CheckOptions):
    """A quiet room and audible volume: tones to count."""

    attempts: int = Field(default=3, ge=1, le=20, description="How often it can be tried; each time is a new one.")
    valid: Span | None = Field(default="30 min", description="How long a pass counts on the same device.")
    clips: int = Field(default=2, ge=1, le=10, description="How many clips have to be counted right.")


class Sides(CheckOptions):
    """Left and right: on which side a sound is."""

    valid: Span | None = Field(default="30 min", description="How long a pass counts on the same device.")
    sounds: int = Field(default=6, ge=1, le=20, description="How many sounds are played; all have to be right.")


class Qualification(StudyPart):
    """What person, device and surroundings have to fit: each `true`, `false` or its options."""

    device: Device | bool = Field(default=False, description="The kind of device.")
    screen: Screen | bool = Field(default=False, description="The resolution of the screen.")
    refresh: Refresh | bool = Field(default=False, description="How often the screen is drawn.")
    media: Media | bool = Field(default=False, description="Whether the browser plays what the study shows.")
    network: Network | bool = Field(default=False, description="The speed of the network.")
    remote: Remote | bool = Field(default=False, description="Whether the screen is seen from afar.")
    questions: Annotated[Questions | Literal[False], Allowed("false, or a map with the key items")] = Field(
        default=False, description="A quiz with right answers."
    )
    colour: Colour | bool = Field(default=False, description="Colour vision.")
    card: Card | bool = Field(default=False, description="The size of a pixel, by a bank card.")
    acuity: Acuity | bool = Field(default=False, description="Visual acuity.")
    display: Display | bool = Field(default=False, description="Help with the display.")
    brightness: Brightness | bool = Field(default=False, description="Brightness and room light.")
    distance: Distance | bool = Field(default=False, description="Viewing distance.")
    headphones: Headphones | bool = Field(default=False, description="Headphones.")
    tones: Tones | bool = Field(default=False, description="Counting tones.")
    sides: Sides | bool = Field(default=False, description="Left and right.")

    @field_validator("*", mode="after")
    @classmethod
    def _filled(cls, value: CheckOptions | bool, field: ValidationInfo) -> CheckOptions | bool:
        """Return the default options of a check that is switched on by `true`."""
        return RULES[field.field_name or ""]() if value is True else value

    def rule(self, name: str) -> CheckOptions | None:
        """Return the options of a check, defaults filled; None where it is switched off."""
        return getattr(self, name) or None


RULES: dict[str, type[CheckOptions]] = {
    "device": Device, "screen": Screen, "refresh": Refresh, "media": Media, "network": Network, "remote": Remote,
    "questions": Questions, "colour": Colour, "card": Card, "acuity": Acuity, "display": Display,
    "brightness": Brightness, "distance": Distance, "headphones": Headphones, "tones": Tones, "sides": Sides,
}  # fmt: skip
"""In the order in which participants meet them: the cheapest and likeliest to fail first."""
