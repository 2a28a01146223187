"""Flaws of video, made on purpose: what is torn, what stands still and jumps, what is blurred and noisy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

Kind = Literal["fragmentation", "discontinuity", "uncleanness"]
KINDS: tuple[Kind, ...] = get_args(Kind)
"""As P.910 sorts impairments for those who rate them."""

BLOCK = 16
_BURST_S = (0.4, 0.7)
_EVERY_S = 2.0
_REDRAWN_S = 0.12
_SLICES, _TALL, _WIDE = 3, (0.12, 0.24), (0.35, 0.65)
"""How many torn places a burst has, and which shares of the picture they take."""
_TORN, _LOST = 0.75, 0.15
"""Shares of the blocks of a torn place that sit in the wrong place, and that are lost."""
_FREEZE_S, _JERKY_S = 0.6, 0.9
_JERKS_HZ = 6.0


class Planes(NamedTuple):
    """One picture in 4:2:0: the light, and two planes of colour of half the size. They can be written to."""

    y: NDArray[np.uint8]
    u: NDArray[np.uint8]
    v: NDArray[np.uint8]


@dataclass(frozen=True)
class Timing:
    """How a clip runs."""

    frames: int
    rate: float

    def count(self, seconds: float, most: float) -> int:
        """Return a time in frames: two at least, and no more than a share of the clip."""
        return max(2, min(round(seconds * self.rate), round(most * self.frames)))


class Place(NamedTuple):
    """A torn place: from the first frame up to the last, and which blocks of the picture, as rows and columns."""

    first: int
    last: int
    rows: range
    columns: range


def planes(frame: bytes, width: int, height: int) -> Planes:
    """Return a raw 4:2:0 picture as planes that can be written to."""
    data = np.frombuffer(bytearray(frame), np.uint8)
    whole, part = width * height, width * height // 4
    half = (height // 2, width // 2)
    return Planes(
        data[:whole].reshape(height, width),
        data[whole : whole + part].reshape(half),
        data[whole + part : whole + 2 * part].reshape(half),
    )


def block_size(height: int) -> int:
    """Return how large a block is, so that it can be seen at any resolution."""
    return BLOCK * max(1, round(height / 540))


def torn_places(timing: Timing, width: int, height: int, rng: Generator) -> list[Place]:
    """Return where and when a clip is torn: a burst every two seconds, some slices of the picture in each."""
    block = block_size(height)
    rows, columns = height // block, width // block
    bursts = max(1, round(timing.frames / timing.rate / _EVERY_S))
    span = timing.frames / bursts
    places = []
    for burst in range(bursts):
        lasts = timing.count(float(rng.uniform(*_BURST_S)), 0.4 / bursts)
        first = round(burst * span + float(rng.uniform(0.25, 0.55)) * (span - lasts))
        for _ in range(_SLICES):
            tall = max(2, round(rows * float(rng.uniform(*_TALL))))
            wide = max(3, round(columns * float(rng.uniform(*_WIDE))))
            top, left = (
                int(rng.integers(0, max(1, all_ - part + 1))) for all_, part in ((rows, tall), (columns, wide))
            )
            place = range(top, min(rows, top + tall)), range(left, min(columns, left + wide))
            places.append(Place(first, first + lasts, *place))
    return places


def tear(picture: Planes, place: Place, block: int, rng: Generator) -> None:
    """Tear one place of a picture: blocks come from beside or below, or are one flat grey."""
    before = Planes(*(plane.copy() for plane in picture))
    rows, columns = picture.y.shape[0] // block, picture.y.shape[1] // block
    for row in place.rows:
        # Whole rows slip together, as they do when a part of a slice is lost.
        slip = int(rng.integers(-6, 7))
        for column in place.columns:
            fate = float(rng.uniform())
            from_row = min(rows - 1, max(0, row + int(rng.integers(-1, 3))))
            from_column = (column + slip + int(rng.integers(-1, 2))) % columns
            for now, then, size in zip(picture, before, (block, block // 2, block // 2), strict=True):
                here = now[row * size : (row + 1) * size, column * size : (column + 1) * size]
                there = then[from_row * size : (from_row + 1) * size, from_column * size : (from_column + 1) * size]
                if fate < _LOST:
                    here[:] = round(float(there.mean()))
                elif fate < _LOST + _TORN:
                    here[:] = there


def fragmented(frames: Iterator[bytes], width: int, height: int, timing: Timing, rng: Generator) -> Iterator[bytes]:
    """Yield the frames of a clip, torn in some places for some time."""
    places = torn_places(timing, width, height, rng)
    block, redrawn = block_size(height), max(1, round(_REDRAWN_S * timing.rate))
    seeds = rng.integers(0, 2**32, (len(places), timing.frames // redrawn + 1))
    for number, frame in enumerate(frames):
        torn = [(n, place) for n, place in enumerate(places) if place.first <= number < place.last]
        if not torn:
            yield frame
            continue
        picture = planes(frame, width, height)
        for n, place in torn:
            tear(picture, place, block, np.random.default_rng(int(seeds[n, number // redrawn])))
        yield b"".join(plane.tobytes() for plane in picture)


def shown_frames(timing: Timing) -> NDArray[np.int64]:
    """Return which frame is shown at each moment: two freezes that end in a jump, and jerks between them."""
    shown = np.arange(timing.frames)
    freeze = timing.count(_FREEZE_S, 0.18)
    for share in (0.2, 0.75):
        first = round(share * timing.frames)
        shown[first : first + freeze] = first
    first, lasts = round(0.48 * timing.frames), timing.count(_JERKY_S, 0.2)
    step = max(2, round(timing.rate / _JERKS_HZ))
    for number in range(first, min(timing.frames, first + lasts)):
        shown[number] = number - (number - first) % step
    return shown


def discontinuous(frames: Iterator[bytes], timing: Timing) -> Iterator[bytes]:
    """Yield the frames of a clip that stands still and jumps; what would have been shown meanwhile is lost."""
    shown = shown_frames(timing)
    last = b""
    for number, frame in enumerate(frames):
        if number >= timing.frames or shown[number] == number:
            last = frame
        yield last


def unclean(width: int, height: int) -> str:
    """Return the filters that blur a clip and put noise on it."""
    small = f"{max(16, 2 * round(width / 6))}:{max(16, 2 * round(height / 6))}"
    return f"scale={small}:flags=bilinear,scale={width}:{height}:flags=bilinear,noise=alls=14:allf=t"
