"""A message inside a stimulus: its words, which media can carry it as text or speech, and confusable numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from beholder.errors import Problem, StimuliError
from beholder.stimuli.media_formats import medium_of
from beholder.types import Medium

RECIPE = "message 1"
"""Part of every recipe: a change in processing needs a new name."""

Say = Literal["text", "voice"]


@dataclass(frozen=True)
class Message:
    """An instruction inside a stimulus: its words, read or heard."""

    words: str
    say: Say = "text"
    language: str = "en"


def insert_message(
    source: Path, target: Path, medium: Medium, message: Message, where: str = "", threads: int = 1
) -> None:
    """Write a copy of a stimulus with a message in its middle, completely or not at all."""
    place = where or str(source)
    problem = message_problem(medium, message.say, place)
    if problem is not None:
        raise StimuliError(problem)
    if message.say == "voice":
        from beholder.stimuli.messages.speech import insert_speech

        insert_speech(source, target, medium, message, place, threads)
    elif medium == "video":
        from beholder.stimuli.messages.overlay import overlay_card

        overlay_card(source, target, message, place, threads)
    else:
        from beholder.stimuli.messages.card import draw_on_image, insert_sentence

        (draw_on_image if medium == "image" else insert_sentence)(source, target, message, place)


def message_problem(medium: Medium, say: Say, where: str) -> Problem | None:
    """Return why a medium cannot carry a message as text or speech, None when it can."""
    if say == "text" and medium == "audio":
        return Problem(where, "is a sound, on which no text can be read", "voice")
    if say == "voice" and medium in ("image", "text"):
        kind = "a picture" if medium == "image" else "a text"
        return Problem(where, f"is {kind}, which cannot be heard", "text")
    return None


def message_suffix(path: Path) -> str:
    """Return the suffix of the copy with a message: a video stays in the container that is served."""
    medium = medium_of(path.name)
    if medium == "audio":
        return ".wav"
    if medium == "image":
        # Participants get every picture as lossless WebP, so nothing tells what it was before.
        return ".png"
    if medium == "video":
        from beholder.stimuli.video import measure_video, video_format, video_playback_problem

        measured = measure_video(path, str(path))
        problem = video_playback_problem(measured, str(path))
        if problem is not None:
            raise StimuliError(problem)
        return video_format(measured.probe).suffix
    return path.suffix


# Numbers that sound alike, which are not asked for by voice

_Pairs = tuple[tuple[int, int], ...]

_TEENS: _Pairs = tuple((10 + unit, 10 * unit) for unit in range(3, 10))
"""13 and 30 to 19 and 90. Germanic languages have them; where nothing is known of a language, it may have them too."""
_TWO_THREE: _Pairs = tuple((tens + 2, tens + 3) for tens in range(0, 100, 10) if tens != 10)
"""German: zwei and drei rhyme, also at the head of zweiundvierzig."""
_SIXTIES: _Pairs = tuple((60 + unit, 70 + unit) for unit in range(10))
"""Romance languages: sesenta and setenta, sessanta and settanta, sessenta and setenta."""
_FRENCH: _Pairs = tuple(
    (score + one, score + other) for score in (0, 60, 80) for one, other in ((2, 12), (3, 13), (6, 10), (6, 16))
)
"""Deux and douze, trois and treize, six and dix or seize, also after soixante and quatre-vingt."""
_MANDARIN: _Pairs = ((4, 10), (14, 40))
"""Si and shi, in either order."""

_PAIRS: Mapping[str, _Pairs] = {
    "de": _TEENS + _TWO_THREE,
    "es": _SIXTIES,
    "fr": _FRENCH,
    "it": _SIXTIES,
    "pt": _SIXTIES,
    "zh": _MANDARIN,
}


def confusable_numbers(value: int, language: str) -> tuple[int, ...]:
    """Return the numbers that a spoken number may be taken for, smallest first, itself not among them."""
    pairs = _PAIRS.get(language.lower().replace("_", "-").partition("-")[0], _TEENS)
    numbers = {other for one, other in pairs if one == value} | {one for one, other in pairs if other == value}
    return tuple(sorted(numbers))


def unambiguous_values(low: float, high: float, step: float, language: str) -> tuple[float, ...]:
    """Return the values from `low` to `high` that, when spoken, sound like no other among them."""
    values = tuple(_values(low, high, step))
    whole = {int(value) for value in values if value == int(value)}
    return tuple(
        value
        for value in values
        if value != int(value) or not whole.intersection(confusable_numbers(int(value), language))
    )


def _values(low: float, high: float, step: float) -> Iterable[float]:
    """Yield the steps of a scale, without the dust of adding decimals."""
    for count in range(int((high - low) / step + 1e-9) + 1):
        yield round(low + count * step, 9)
