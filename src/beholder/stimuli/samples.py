"""Sample stimuli: somebody who talks with face and hands, drawn by us, under degradations that a viewer can rank."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image, ImageFilter

from beholder.errors import Problem, StimuliError, did_you_mean
from beholder.stimuli.ffmpeg import feed_ffmpeg, file_argument
from beholder.stimuli.figure import LOOKS, draw, paint_wall
from beholder.stimuli.motion import FPS, SCENES, Curve, damped, held, shaken, speak, stuck
from beholder.stimuli.stripping import put_in_place


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
    """What a sample condition does to motion and picture, and the quality planted for robots to find, 0 to 1."""

    quality: float
    motion: Callable[[dict[str, Curve], np.random.Generator], dict[str, Curve]] = _as_is
    picture: Callable[[Image.Image], Image.Image] = _clear


DEGRADATIONS: Mapping[str, Degradation] = {
    "natural": Degradation(0.90),
    "smooth": Degradation(0.74, motion=damped),
    "jerky": Degradation(0.56, motion=held),
    "blurred": Degradation(0.44, picture=_blurred),
    "noisy": Degradation(0.32, motion=shaken),
    "blocky": Degradation(0.22, picture=_blocky),
    "frozen": Degradation(0.12, motion=stuck),
}

SAMPLE_CONDITIONS: Mapping[str, float] = {name: row.quality for name, row in DEGRADATIONS.items()}
"""Every sample condition with its planted quality, best first."""


def make_samples(
    folder: Path,
    *,
    contents: int = 4,
    conditions: Sequence[str] | None = None,
    seconds: float = 3.0,
    size: tuple[int, int] = (480, 270),
    progress: Callable[[int, int], None] | None = None,
) -> Mapping[str, float]:
    """Return the planted quality of each condition after writing `folder`/<condition>/<content>.mp4.

    All conditions when `conditions` is left out. The same arguments give the same videos.
    """
    names = list(SAMPLE_CONDITIONS) if conditions is None else list(conditions)
    unknown = [name for name in names if name not in DEGRADATIONS]
    if unknown:
        allowed = ", ".join(DEGRADATIONS)
        raise StimuliError(
            Problem("sample conditions", f"{name} is unknown", allowed, did_you_mean(name, list(DEGRADATIONS)))
            for name in unknown
        )
    even = (size[0] + size[0] % 2, size[1] + size[1] % 2)
    jobs = [(content, name) for content in range(contents) for name in names]
    for name in names:
        (folder / name).mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(max_workers=max(2, os.cpu_count() or 2)) as pool:
        work = [
            pool.submit(_encode, folder / name / f"{content_name(content)}.mp4", content, name, seconds, even)
            for content, name in jobs
        ]
        try:
            for done, future in enumerate(as_completed(work), start=1):
                future.result()
                if progress is not None:
                    progress(done, len(jobs))
        finally:
            pool.shutdown(cancel_futures=True)
    return {name: SAMPLE_CONDITIONS[name] for name in names}


def content_name(number: int) -> str:
    """Return the name of a sample content, counted from 0."""
    name = SCENES[number % len(SCENES)][0]
    return name if number < len(SCENES) else f"{name}-{number // len(SCENES) + 1}"


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


def _encode(target: Path, content: int, condition: str, seconds: float, size: tuple[int, int]) -> None:
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
