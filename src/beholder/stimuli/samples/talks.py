"""Sample videos: somebody who talks with face and hands, drawn by us, whose motion or picture is made worse."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image, ImageFilter

from beholder.errors import Problem, StimuliError
from beholder.stimuli.ffmpeg import feed_ffmpeg, file_argument
from beholder.stimuli.samples.figure import LOOKS, draw, paint_wall
from beholder.stimuli.samples.motion import FPS, SCENES, Curve, damped, held, shaken, speak, stuck
from beholder.stimuli.stripping import put_in_place

CONTENTS = tuple(name for name, _, _ in SCENES)


def _as_is(lines: dict[str, Curve], rng: np.random.Generator) -> dict[str, Curve]:
    return lines


def _clear(image: Image.Image) -> Image.Image:
    return image


def _blurred(image: Image.Image) -> Image.Image:
    return image.filter(ImageFilter.GaussianBlur(image.height / 52))


def _blocky(image: Image.Image) -> Image.Image:
    small = image.resize((max(1, image.width // 12), max(1, image.height // 12)), Image.Resampling.BOX)
    return small.resize(image.size, Image.Resampling.NEAREST)


@dataclass(frozen=True)
class Degradation:
    """What a sample condition does to motion and picture."""

    motion: Callable[[dict[str, Curve], np.random.Generator], dict[str, Curve]] = _as_is
    picture: Callable[[Image.Image], Image.Image] = _clear


DEGRADATIONS: Mapping[str, Degradation] = {
    "natural": Degradation(),
    "smooth": Degradation(motion=damped),
    "jerky": Degradation(motion=held),
    "blurred": Degradation(picture=_blurred),
    "noisy": Degradation(motion=shaken),
    "blocky": Degradation(picture=_blocky),
    "frozen": Degradation(motion=stuck),
}


def frames(content: int, condition: str, seconds: float, size: tuple[int, int]) -> Iterator[Image.Image]:
    """Yield the pictures of one sample."""
    degradation = DEGRADATIONS[condition]
    look = LOOKS[content % len(LOOKS)]
    # A seed of its own for each: the same talk under each condition, other noise in each.
    lines = speak(content, max(1, round(seconds * FPS)), np.random.default_rng([content, 0]))
    lines = degradation.motion(lines, np.random.default_rng([content, 1 + list(DEGRADATIONS).index(condition)]))
    wall = paint_wall(look, size)
    before: dict[str, float] = {}
    image = wall
    for place in range(len(lines["sway"])):
        pose = {name: float(curve[place]) for name, curve in lines.items()}
        if pose != before:
            image = degradation.picture(draw(pose, look, wall))
            before = pose
        yield image


def write(target: Path, content: int, condition: str, seconds: float, size: tuple[int, int]) -> None:
    """Write one sample as H.264, whole or not at all; odd sizes become even."""
    size = (size[0] + size[0] % 2, size[1] + size[1] % 2)
    part = target.with_name(f".{target.stem}.{uuid.uuid4().hex}.part")
    arguments = [
        "-v", "error", "-y",
        "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{size[0]}x{size[1]}", "-r", str(FPS), "-i", "pipe:0",
        "-c:v", "libx264", "-profile:v", "main", "-preset", "veryfast", "-crf", "22", "-pix_fmt", "yuv420p",
        "-threads", "1", "-fflags", "+bitexact", "-flags:v", "+bitexact", "-movflags", "+faststart",
        "-f", "mp4", file_argument(part),
    ]  # fmt: skip
    try:
        ran = feed_ffmpeg(arguments, (image.tobytes() for image in frames(content, condition, seconds, size)))
        if ran.code != 0:
            raise StimuliError(
                Problem(
                    "ffmpeg",
                    f"cannot write H.264: {ran.last_words()}",
                    fix="Set IMAGEIO_FFMPEG_EXE to an ffmpeg with libx264.",
                )
            )
        put_in_place(part, target)
    finally:
        part.unlink(missing_ok=True)
