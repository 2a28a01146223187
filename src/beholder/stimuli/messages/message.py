"""What a stimulus is made to say, and which medium can say it how."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from beholder.errors import Problem, StimuliError
from beholder.stimuli.media import medium_of
from beholder.types import Medium

RECIPE = "message 1"
"""Names this way of putting messages in recipes: another way needs another name."""

Say = Literal["text", "voice"]


@dataclass(frozen=True)
class Message:
    """An instruction inside a stimulus: its words, read or heard."""

    words: str
    say: Say = "text"
    language: str = "en"


def put_message(
    source: Path, target: Path, medium: Medium, message: Message, where: str = "", threads: int = 1
) -> None:
    """Write a copy of a stimulus that says something in its middle, whole or not at all."""
    place = where or str(source)
    problem = unsayable(medium, message.say, place)
    if problem is not None:
        raise StimuliError(problem)
    if message.say == "voice":
        from beholder.stimuli.messages.spoken import put_voice

        put_voice(source, target, medium, message, place, threads)
    elif medium == "video":
        from beholder.stimuli.messages.overlay import put_overlay

        put_overlay(source, target, message, place, threads)
    else:
        from beholder.stimuli.messages.still import put_on_picture, put_sentence

        (put_on_picture if medium == "image" else put_sentence)(source, target, message, place)


def unsayable(medium: Medium, say: Say, where: str) -> Problem | None:
    """Return why a medium cannot say something in this way, None when it can."""
    if say == "text" and medium == "audio":
        return Problem(where, "is a sound, on which no text can be read", "voice")
    if say == "voice" and medium in ("image", "text"):
        kind = "a picture" if medium == "image" else "a text"
        return Problem(where, f"is {kind}, which cannot be heard", "text")
    return None


def message_suffix(path: Path) -> str:
    """Return the suffix of what is made of a file: a video stays in the container that participants get it in."""
    medium = medium_of(path.name)
    if medium == "audio":
        return ".wav"
    if medium == "image":
        # Participants get every picture as lossless WebP, so nothing tells what it was before.
        return ".png"
    if medium == "video":
        from beholder.stimuli.clip import clip_format, measure_clip, unplayable_clip

        measured = measure_clip(path, str(path))
        problem = unplayable_clip(measured, str(path))
        if problem is not None:
            raise StimuliError(problem)
        return clip_format(measured.probe).suffix
    return path.suffix
