"""Pictures compared by ffmpeg's own filters: one run for all metrics of a pair."""

from __future__ import annotations

import json
import math
import re
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from beholder.errors import Problem, StimuliError
from beholder.objective.registry import METRICS
from beholder.stimuli.catalogue import Stimulus
from beholder.stimuli.ffmpeg import NO_WINDOW, FFmpegRun, command, file_argument, run_ffmpeg
from beholder.stimuli.media_formats import medium_of
from beholder.stimuli.probe import measure
from beholder.stimuli.streams import Measurement
from beholder.stimuli.video import READ_VIDEO
from beholder.stimuli.workshop.clips import exact_rate

_SCORE = re.compile(r"\b(\w+):(-?(?:[0-9.]+|inf|nan))")


class Box(NamedTuple):
    """A part of the picture, in pixels of the reference."""

    x: int
    y: int
    width: int
    height: int


class _Filter(NamedTuple):
    """One filter of the graph, and which numbers are read from it."""

    name: str
    pixels: str
    metrics: tuple[str, ...]


def filtered(pair: MediaPair, metrics: Sequence[str], box: Box | None, threads: int = 1) -> dict[str, float]:
    """Return the metrics of a pair on a box, or on the whole picture; PSNR of what is identical is infinite."""
    with tempfile.TemporaryDirectory(prefix="beholder-metrics-") as folder:
        filters = list(_wanted(pair, metrics))
        ran = run_ffmpeg(_arguments(pair, filters, box, Path(folder), threads))
        if ran.code != 0:
            what = f"cannot be compared with {pair.reference_name}: ffmpeg says {ran.error_line()}"
            raise StimuliError(Problem(pair.name, what))
        return {
            metric: value
            for place, one in enumerate(filters)
            for metric, value in _read(one, place, ran.log, Path(folder)).items()
        }


def _wanted(pair: MediaPair, metrics: Sequence[str]) -> Iterator[_Filter]:
    """Yield each filter once for each pixel format that its metrics look at."""
    grouped: dict[tuple[str, str], list[str]] = {}
    for metric in metrics:
        kind = METRICS[metric]
        pixels = "gbrp" if pair.is_still and kind.in_colour else pair.pixels
        grouped.setdefault((kind.tool, pixels), []).append(metric)
    for (name, pixels), own in grouped.items():
        yield _Filter(name, pixels, tuple(own))


def _arguments(pair: MediaPair, filters: Sequence[_Filter], box: Box | None, folder: Path, threads: int) -> list[str]:
    crop = f",crop={box.width}:{box.height}:{box.x}:{box.y}:exact=1" if box else ""
    n = len(filters)
    graph = [
        f"[{side}:V:0]{chain}{crop},split={n}{''.join(f'[{name}{place}]' for place in range(n))}"
        for side, name, chain in ((0, "p", pair.chain), (1, "r", pair.reference_chain))
    ]
    maps: list[str] = []
    for place, one in enumerate(filters):
        # Ends with the shorter one: a frame that is held would be compared with frames that it never was.
        options = "shortest=1:repeatlast=0"
        if one.name == "libvmaf":
            log = _escaped(str(folder / f"{place}.json"))
            options += f":log_fmt=json:log_path={log}:n_threads={threads}:model=version=vmaf_v0.6.1"
            options += ":feature=name=float_ms_ssim" if "ms-ssim" in one.metrics else ""
        graph.append(f"[p{place}]format={one.pixels}[a{place}];[r{place}]format={one.pixels}[b{place}]")
        graph.append(f"[a{place}][b{place}]{one.name}@{place}={options}[o{place}]")
        maps += ["-map", f"[o{place}]", "-f", "null", "-"]
    inputs = [*pair.read, "-i", pair.path, *pair.read, "-i", pair.reference_path]
    return [*inputs, "-filter_complex_threads", str(threads), "-filter_complex", ";".join(graph), *maps]


def _escaped(path: str) -> str:
    """Return a path as an option inside a graph of filters: escaped for the option, and again for the graph."""
    option = "".join(f"\\{letter}" if letter in "\\':" else letter for letter in path.replace("\\", "/"))
    return "".join(f"\\{letter}" if letter in "\\'[],;" else letter for letter in option)


def _read(one: _Filter, place: int, log: str, folder: Path) -> dict[str, float]:
    if one.name == "libvmaf":
        pooled = json.loads((folder / f"{place}.json").read_text(encoding="utf-8"))["pooled_metrics"]
        means = {metric: pooled.get(METRICS[metric].key, {}).get("mean") for metric in one.metrics}
        # It says null where a number has no end or none at all, as MS-SSIM of pictures that are each other's opposite.
        return {metric: math.nan if mean is None else float(mean) for metric, mean in means.items()}
    line = next((line for line in log.splitlines() if line.startswith(f"[{one.name}@{place} @")), "")
    scores = dict(_SCORE.findall(line))
    return {metric: float(scores.get(METRICS[metric].key, math.nan)) for metric in one.metrics}


# Decoding frame by frame


Plane: TypeAlias = NDArray[np.uint8]


def plane_shapes(pixels: str, width: int, height: int) -> list[tuple[int, int]]:
    """Return lines and columns of each plane of a frame."""
    half = (-(-height // 2), -(-width // 2))
    full = (height, width)
    return {"gray": [full], "yuv420p": [full, half, half], "gbrp": [full] * 3, "yuv444p": [full] * 3}[pixels]


def frames(
    read: Sequence[str], path: str, chain: str, pixels: str, width: int, height: int, where: str
) -> Iterator[list[Plane]]:
    """Yield the planes of each frame, or raise StimuliError that names `where`."""
    shapes = plane_shapes(pixels, width, height)
    size = sum(lines * columns for lines, columns in shapes)
    words = ["-v", "error", *read, "-i", path, "-map", "0:V:0", "-vf", f"{chain},format={pixels}"]
    line = command([*words, "-fps_mode", "passthrough", "-f", "rawvideo", "pipe:1"])
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(
            line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, creationflags=NO_WINDOW
        )
        assert process.stdout is not None
        try:
            while len(data := process.stdout.read(size)) == size:
                yield _planes(data, shapes)
            if process.wait() != 0:
                log.seek(0)
                said = FFmpegRun(process.returncode, b"", log.read().decode("utf-8", "replace")).error_line()
                raise StimuliError(Problem(where, f"cannot be decoded: ffmpeg says {said}"))
        finally:
            process.stdout.close()
            process.kill()
            process.wait()


def _planes(data: bytes, shapes: Sequence[tuple[int, int]]) -> list[Plane]:
    frames, start = [], 0
    for lines, columns in shapes:
        frames.append(np.frombuffer(data, np.uint8, lines * columns, start).reshape(lines, columns))
        start += lines * columns
    return frames


# PSNR and SSIM of masked pixels; with a full mask equal to ffmpeg's


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
    read = READ_VIDEO if is_video else ("-protocol_whitelist", "file")
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


def masked(pair: MediaPair, metrics: Sequence[str], mask: Mask) -> dict[str, float]:
    """Return PSNR and SSIM over the masked pixels; NaN where the mask picks nothing that can be compared."""
    return {
        metric: value
        for pixels, own in _by_pixels(pair, metrics).items()
        for metric, value in _over(pair, pixels, own, mask).items()
    }


def _by_pixels(pair: MediaPair, metrics: Sequence[str]) -> dict[str, list[str]]:
    # Eight bits: what a video has more of is rounded, as a screen does.
    colour, luma = ("gbrp", "yuv444p") if pair.is_still else ("yuv420p", "yuv420p")
    groups: dict[str, list[str]] = {}
    for metric in metrics:
        groups.setdefault(luma if metric.endswith("-y") else colour, []).append(metric)
    return groups


def _over(pair: MediaPair, pixels: str, metrics: Sequence[str], mask: Mask) -> dict[str, float]:
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
    values = {"psnr": _decibel(squares.sum(), counts.sum()), "psnr-y": _decibel(squares[0], counts[0])}
    if wants_ssim:
        values |= _pooled(np.array(alike), counts)
    return {metric: values[metric] for metric in metrics}


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


# A processed file and its reference, aligned in frames and pixels


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
    return measure(Path(stimulus.served), stimulus.file, stimulus.medium)
