"""PSNR and SSIM of the pixels that a mask picks, frame by frame; with a mask that picks all, equal to ffmpeg's."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import repeat
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from beholder.metrics.filters import Box
from beholder.metrics.frames import Plane, frames
from beholder.metrics.pair import Pair
from beholder.stimuli.clip import READ
from beholder.stimuli.ffmpeg import file_argument
from beholder.stimuli.media import medium_of

BY_PIXEL = ("psnr", "psnr-y", "ssim", "ssim-y")
"""What is counted pixel by pixel; of the other metrics the box round the mask is taken."""
_WHITE = 128
_C1, _C2 = int(0.01**2 * 255**2 * 64 + 0.5), int(0.03**2 * 255**2 * 64 * 63 + 0.5)
"""The constants of SSIM for sums over windows of 8 x 8, in whole numbers as ffmpeg has them."""
Floats: TypeAlias = NDArray[np.float64]
Truths: TypeAlias = NDArray[np.bool_]


class Mask(NamedTuple):
    """A file whose white pixels count: an image for all frames, or a video with one for each."""

    path: Path
    sha256: str


def mask_frames(mask: Mask, width: int, height: int) -> Iterator[Truths]:
    """Yield which pixels count in each frame; the last goes on for ever."""
    is_video = medium_of(mask.path.name) == "video"
    read = READ if is_video else ("-protocol_whitelist", "file")
    scale = f"scale={width}:{height}:flags=neighbor:out_range=pc"
    last: Truths | None = None
    for (grey,) in frames(read, file_argument(mask.path), scale, "gray", width, height, str(mask.path)):
        last = grey >= _WHITE
        yield last
    assert last is not None
    yield from repeat(last)


def mask_box(mask: Mask, width: int, height: int) -> Box | None:
    """Return the box round all that the mask ever picks; None where it picks nothing."""
    ever = np.zeros((height, width), dtype=bool)
    before: Truths | None = None
    for picked in mask_frames(mask, width, height):
        if picked is before:
            break
        ever, before = ever | picked, picked
    if not ever.any():
        return None
    lines, columns = np.flatnonzero(ever.any(axis=1)), np.flatnonzero(ever.any(axis=0))
    return Box(int(columns[0]), int(lines[0]), int(np.ptp(columns)) + 1, int(np.ptp(lines)) + 1)


def masked(pair: Pair, metrics: Sequence[str], mask: Mask) -> dict[str, float]:
    """Return PSNR and SSIM over the masked pixels; NaN where the mask picks nothing that can be compared."""
    return {
        metric: value
        for pixels, own in _by_pixels(pair, metrics).items()
        for metric, value in _over(pair, pixels, own, mask).items()
    }


def _by_pixels(pair: Pair, metrics: Sequence[str]) -> dict[str, list[str]]:
    # Eight bits: what a video has more of is rounded, as a screen does.
    colour, luma = ("gbrp", "yuv444p") if pair.is_still else ("yuv420p", "yuv420p")
    found: dict[str, list[str]] = {}
    for metric in metrics:
        found.setdefault(luma if metric.endswith("-y") else colour, []).append(metric)
    return found


def _over(pair: Pair, pixels: str, metrics: Sequence[str], mask: Mask) -> dict[str, float]:
    size = (pair.width, pair.height)
    own = frames(pair.read, pair.path, pair.chain, pixels, *size, pair.name)
    other = frames(pair.read, pair.reference_path, pair.reference_chain, pixels, *size, pair.reference_name)
    squares, counts = np.zeros(3), np.zeros(3)
    alike: list[Floats] = []
    wants_ssim = any(metric.startswith("ssim") for metric in metrics)
    for planes, references, picked in zip(own, other, mask_frames(mask, *size), strict=False):
        picks = [_shrunk(picked, plane.shape) for plane in planes]
        for place, (plane, reference, pick) in enumerate(zip(planes, references, picks, strict=True)):
            apart = plane[pick].astype(np.int64) - reference[pick]
            squares[place] += float(apart @ apart)
            counts[place] += len(apart)
        if wants_ssim:
            alike.append(np.array([_ssim(*three) for three in zip(planes, references, picks, strict=True)]))
    found = {"psnr": _decibel(squares.sum(), counts.sum()), "psnr-y": _decibel(squares[0], counts[0])}
    if wants_ssim:
        found |= _pooled(np.array(alike), counts)
    return {metric: found[metric] for metric in metrics}


def _shrunk(picked: Truths, shape: tuple[int, ...]) -> Truths:
    """Return the mask of a plane with half the lines and columns: a sample counts where half of its pixels do."""
    if picked.shape == shape:
        return picked
    lines, columns = shape
    padded = np.pad(picked, ((0, 2 * lines - picked.shape[0]), (0, 2 * columns - picked.shape[1])), mode="edge")
    shrunk: Truths = padded.reshape(lines, 2, columns, 2).mean(axis=(1, 3)) >= 0.5
    return shrunk


def _decibel(squares: float, count: float) -> float:
    if count == 0:
        return math.nan
    return 10 * math.log10(255**2 * count / squares) if squares else math.inf


def _ssim(plane: Plane, reference: Plane, picked: Truths) -> float:
    """Return the mean over windows of 8 x 8 pixels, four apart, half of which the mask picks."""
    x, y = plane.astype(np.int64), reference.astype(np.int64)
    s1, s2 = _window_sums(x), _window_sums(y)
    squares, products = _window_sums(x * x + y * y), _window_sums(x * y)
    counted = _window_sums(picked.astype(np.int64)) >= 32
    variances, covariance = squares * 64 - s1 * s1 - s2 * s2, products * 64 - s1 * s2
    above = (2.0 * s1 * s2 + _C1) * (2.0 * covariance + _C2)
    below = (1.0 * s1 * s1 + s2 * s2 + _C1) * (1.0 * variances + _C2)
    return float((above / below)[counted].mean()) if counted.any() else math.nan


def _window_sums(values: NDArray[np.int64]) -> NDArray[np.int64]:
    lines, columns = values.shape[0] // 4, values.shape[1] // 4
    blocks = values[: 4 * lines, : 4 * columns].reshape(lines, 4, columns, 4).sum(axis=(1, 3))
    sums: NDArray[np.int64] = blocks[:-1, :-1] + blocks[1:, :-1] + blocks[:-1, 1:] + blocks[1:, 1:]
    return sums


def _pooled(alike: Floats, counts: Floats) -> dict[str, float]:
    """Return SSIM over frames, and over planes by how many samples count; a plane without a window weighs nothing."""
    known = ~np.isnan(alike)
    windows = known.sum(axis=0)
    by_plane = np.where(known, alike, 0.0).sum(axis=0) / np.maximum(windows, 1)
    weights = np.where(windows > 0, counts, 0.0)
    if not windows[0]:
        return {"ssim": math.nan, "ssim-y": math.nan}
    return {"ssim": float(by_plane @ weights / weights.sum()), "ssim-y": float(by_plane[0])}
