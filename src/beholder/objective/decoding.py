"""A stimulus and its reference decoded: brought to the same frames and pixels, frame by frame, with masks; sounds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import repeat
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from beholder.errors import Problem, StimuliError
from beholder.stimuli.audio import READ_AUDIO
from beholder.stimuli.catalogue import Stimulus
from beholder.stimuli.ffmpeg import ffmpeg_output, file_argument, run_ffmpeg
from beholder.stimuli.media_formats import medium_of
from beholder.stimuli.probe import measure
from beholder.stimuli.streams import Measurement
from beholder.stimuli.video import READ_VIDEO
from beholder.stimuli.workshop.clips import exact_rate
from beholder.types import Medium

Truths: TypeAlias = NDArray[np.bool_]
Samples: TypeAlias = NDArray[np.float64]
_WHITE = 128


_PIXELS = frozenset(f"yuv4{kind}p{depth}" for kind in ("20", "22", "44") for depth in ("", "10le", "12le", "16le"))
"""What all filters take; libvmaf takes nothing else."""
_READ_IMAGE = ("-f", "webp_pipe", "-protocol_whitelist", "file")


@dataclass(frozen=True)
class MediaPair:
    """Two videos or two images, and what is done to them before they are compared."""

    name: str
    reference_name: str
    path: str
    reference_path: str
    read: tuple[str, ...]
    """Options before each input."""
    chain: str
    """Filters of the processed one: its frames numbered as the reference's, in the size of the reference."""
    reference_chain: str
    width: int
    height: int
    pixels: str
    """The pixel format in which they meet."""
    is_still: bool
    notes: tuple[str, ...]
    """What was done, in words."""


def look_at(stimulus: Stimulus, reference: Stimulus) -> MediaPair:
    """Return how a stimulus and its reference are compared."""
    own, other = _measured(stimulus), _measured(reference)
    is_still = stimulus.medium == "image"
    number = "settb=1/25,setpts=N"
    chain, reference_chain, notes = [], [number], []
    if not is_still:
        rate, given = exact_rate(other.probe.fps), exact_rate(own.probe.fps)
        frames = own.frames
        if rate != given:
            chain.append(f"fps=fps={rate}:start_time=0")
            frames = round(own.frames * rate / given)
            notes.append(f"frames held or dropped from {float(given):g} to {float(rate):g} a second")
        if frames != other.frames:
            first = min(frames, other.frames)
            notes.append(f"frames: {frames} beside {other.frames} of the reference, of which the first {first}")
    chain.append(number)
    size, wanted = ((one.probe.width, one.probe.height) for one in (own, other))
    scale = f"scale={wanted[0]}:{wanted[1]}:flags=bicubic+accurate_rnd"
    if size != wanted or not own.is_square:
        chain.append(scale)
    if not other.is_square:
        reference_chain.append(scale)
    if not (own.is_square and other.is_square):
        notes.append("pixels made square, as they are shown")
    if size != wanted:
        notes.append(f"scaled from {size[0]} x {size[1]} to {wanted[0]} x {wanted[1]} (bicubic)")
    pixels = "yuv444p" if is_still else other.pixels.replace("yuvj", "yuv")
    return MediaPair(
        name=stimulus.file,
        reference_name=reference.file,
        path=file_argument(stimulus.served),
        reference_path=file_argument(reference.served),
        read=_READ_IMAGE if is_still else READ_VIDEO,
        chain=",".join(chain),
        reference_chain=",".join(reference_chain),
        width=wanted[0],
        height=wanted[1],
        pixels=pixels if pixels in _PIXELS else "yuv420p",
        is_still=is_still,
        notes=tuple(notes),
    )


def _measured(stimulus: Stimulus) -> Measurement:
    # What people saw: of a video the same frames as in its file, of an image the same pixels, upright and in sRGB.
    return _measured_file(Path(stimulus.served), stimulus.sha256, stimulus.file, stimulus.medium)


@lru_cache(maxsize=1024)
def _measured_file(path: Path, _sha256: str, name: str, medium: Medium) -> Measurement:
    """Return what is known of a file: a reference stands beside many stimuli, on many regions."""
    return measure(path, name, medium)


# Decoding frame by frame


Plane: TypeAlias = NDArray[np.uint8]


def plane_shapes(pixels: str, width: int, height: int) -> list[tuple[int, int]]:
    """Return lines and columns of each plane of a frame."""
    half = (-(-height // 2), -(-width // 2))
    full = (height, width)
    of_format = {"gray": [full], "yuv420p": [full, half, half], "gbrp": [full] * 3, "yuv444p": [full] * 3}
    return [(height, 3 * width)] if pixels == "rgb24" else of_format[pixels]


def frames(
    read: Sequence[str], path: str, chain: str, pixels: str, width: int, height: int, where: str
) -> Iterator[list[Plane]]:
    """Yield the planes of each frame, or raise StimuliError that names `where`."""
    shapes = plane_shapes(pixels, width, height)
    size = sum(lines * columns for lines, columns in shapes)
    words = ["-v", "error", *read, "-i", path, "-map", "0:V:0", "-vf", f"{chain},format={pixels}"]
    with ffmpeg_output([*words, "-fps_mode", "passthrough", "-f", "rawvideo", "pipe:1"], where) as stream:
        while len(data := stream.read(size)) == size:
            yield _planes(data, shapes)


def _planes(data: bytes, shapes: Sequence[tuple[int, int]]) -> list[Plane]:
    frames, start = [], 0
    for lines, columns in shapes:
        frames.append(np.frombuffer(data, np.uint8, lines * columns, start).reshape(lines, columns))
        start += lines * columns
    return frames


def colour_frames(pair: MediaPair, *, is_reference: bool) -> Iterator[NDArray[np.uint8]]:
    """Yield each frame of one of both as lines, columns, and red, green and blue."""
    path, chain, name = (
        (pair.reference_path, pair.reference_chain, pair.reference_name)
        if is_reference
        else (pair.path, pair.chain, pair.name)
    )
    for (plane,) in frames(pair.read, path, chain, "rgb24", pair.width, pair.height, name):
        yield plane.reshape(pair.height, pair.width, 3)


# Masks


class Box(NamedTuple):
    """A part of the picture, in pixels of the reference."""

    x: int
    y: int
    width: int
    height: int


class Mask(NamedTuple):
    """A file whose white pixels count: an image for all frames, or a video with one for each."""

    path: Path
    sha256: str


def mask_frames(mask: Mask, width: int, height: int) -> Iterator[Truths]:
    """Yield which pixels count in each frame; the last goes on for ever."""
    if medium_of(mask.path.name) != "video":
        yield from repeat(_still_mask(mask, width, height))
    last: Truths | None = None
    for picked in _decoded_mask(mask, READ_VIDEO, width, height):
        last = picked
        yield picked
    assert last is not None
    yield from repeat(last)


@lru_cache(maxsize=32)
def _still_mask(mask: Mask, width: int, height: int) -> Truths:
    """Return the pixels of an image: one mask is often that of many stimuli and metrics."""
    picked = next(_decoded_mask(mask, ("-protocol_whitelist", "file"), width, height))
    picked.setflags(write=False)
    return picked


def _decoded_mask(mask: Mask, read: Sequence[str], width: int, height: int) -> Iterator[Truths]:
    scale = f"scale={width}:{height}:flags=neighbor:out_range=pc"
    for (grey,) in frames(read, file_argument(mask.path), scale, "gray", width, height, str(mask.path)):
        yield grey >= _WHITE


def mask_box(mask: Mask, width: int, height: int) -> Box | None:
    """Return the box round all that the mask ever picks; None where it picks nothing."""
    ever = np.zeros((height, width), dtype=bool)
    before: Truths | None = None
    for picked in mask_frames(mask, width, height):
        if picked is before:
            break
        ever, before = ever | picked, picked
    return box_round(ever)


def box_round(picked: Truths) -> Box | None:
    """Return the box round all pixels that are picked; None where there are none."""
    if not picked.any():
        return None
    lines, columns = np.flatnonzero(picked.any(axis=1)), np.flatnonzero(picked.any(axis=0))
    return Box(int(columns[0]), int(lines[0]), int(np.ptp(columns)) + 1, int(np.ptp(lines)) + 1)


# Sounds


def samples(stimulus: Stimulus, rate: int) -> Samples:
    """Return the sound of a stimulus as one channel of floats."""
    read = READ_AUDIO if stimulus.medium == "audio" else READ_VIDEO
    words = ["-v", "error", *read, "-i", file_argument(stimulus.served), "-map", "0:a:0", "-ac", "1", "-ar", str(rate)]
    ran = run_ffmpeg([*words, "-f", "f32le", "pipe:1"])
    if ran.code != 0:
        raise StimuliError(Problem(stimulus.file, f"cannot be heard: ffmpeg says {ran.error_line()}"))
    return np.frombuffer(ran.out, np.float32).astype(float)
