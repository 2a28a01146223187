"""PSNR, SSIM, MS-SSIM and VMAF: by ffmpeg's own filters, one run for all metrics of a pair, or on masked pixels."""

from __future__ import annotations

import json
import math
import re
import tempfile
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from beholder.errors import Problem, StimuliError
from beholder.objective.contract import ComparedPair, Medium, Need, PairMetric
from beholder.objective.decoding import Box, MediaPair, Plane, Truths, frames
from beholder.objective.regions import Region, even_box
from beholder.stimuli.ffmpeg import find_ffmpeg, run_ffmpeg

_SCORE = re.compile(r"\b(\w+):(-?(?:[0-9.]+|inf|nan))")
_ELSEWHERE = "Set IMAGEIO_FFMPEG_EXE to an ffmpeg that has it, or bring the values with --values."


class FilterMetric(PairMetric):
    """A metric that a filter of ffmpeg prints."""

    def __init__(
        self,
        name: str,
        title: str,
        tool: Literal["psnr", "ssim", "libvmaf"],
        key: str,
        *,
        smallest: int,
        order: int,
        citation: str = "",
        in_colour: bool = False,
        is_usual: bool = False,
    ) -> None:
        self.name, self.title, self.smallest, self.order, self.citation = name, title, smallest, order, citation
        self.tool, self.key, self.in_colour = tool, key, in_colour
        """The filter, what it calls the number, and whether images are compared in red, green and blue."""
        media: tuple[Medium, ...] = ("video", "image") if is_usual else ()
        self.usual_for = frozenset(media)

    @property
    def counts_pixels(self) -> bool:
        """Whether it is counted pixel by pixel; of the others the box round a mask is taken."""
        return self.tool != "libvmaf"

    def is_large_enough(self, box: Box, pair: ComparedPair) -> bool:
        """Return whether it can be measured on a box; the note says why not."""
        smallest = min(box.width, box.height)
        if smallest < self.smallest:
            pair.note(f"needs {self.smallest} pixels a side, here {smallest}", self.name)
        return smallest >= self.smallest

    def need(self) -> Need | None:
        if self.tool in _filters(find_ffmpeg()):
            return None
        return Need(f"and this ffmpeg has no filter {self.tool}", _ELSEWHERE)

    def version(self) -> str:
        return _ffmpeg_version(find_ffmpeg())

    def measure(self, pair: ComparedPair) -> float:
        return self.measure_together([self], pair)[self.name]

    @classmethod
    def measure_together(cls, metrics: Sequence[PairMetric], pair: ComparedPair) -> dict[str, float]:
        own, region = cast("Sequence[FilterMetric]", metrics), pair.region
        if region is None or region.is_box:
            box = None if region is None else pair.box
            return filtered(pair.media, own, box, pair.threads)
        measured = masked(pair.media, [one for one in own if one.counts_pixels], region)
        rest = [one for one in own if not one.counts_pixels]
        if not rest:
            return measured
        names, around = [one.name for one in rest], pair.box
        if region.is_outside:
            pair.note("it cannot leave out a part of the picture", *names)
        if around is None or region.is_outside:
            return measured | dict.fromkeys(names, math.nan)
        box = even_box(*around, pair.media.width, pair.media.height)
        pair.note("on the box round the mask", *names)
        large = [one for one in rest if one.is_large_enough(box, pair)]
        values = filtered(pair.media, large, box, pair.threads) if large else {}
        return measured | {name: values.get(name, math.nan) for name in names}


@cache
def _ffmpeg_version(_path: str) -> str:
    return " ".join(run_ffmpeg(["-version"]).out.decode("utf-8", "replace").split()[:3])


@cache
def _filters(_path: str) -> frozenset[str]:
    said = run_ffmpeg(["-filters"]).out.decode("utf-8", "replace")
    return frozenset(words[1] for words in map(str.split, said.splitlines()) if len(words) > 2)


_SSIM = "Wang, Bovik, Sheikh and Simoncelli (2004), IEEE Transactions on Image Processing 13"
_MS_SSIM = "Wang, Simoncelli and Bovik (2003), Asilomar Conference 37"
PSNR = FilterMetric("psnr", "PSNR", "psnr", "average", smallest=2, order=1, in_colour=True, is_usual=True)
PSNR_Y = FilterMetric("psnr-y", "PSNR-Y", "psnr", "y", smallest=2, order=2)
SSIM = FilterMetric("ssim", "SSIM", "ssim", "All", smallest=16, order=3, citation=_SSIM, in_colour=True, is_usual=True)
SSIM_Y = FilterMetric("ssim-y", "SSIM-Y", "ssim", "Y", smallest=16, order=4, citation=_SSIM)
MS_SSIM = FilterMetric(
    "ms-ssim", "MS-SSIM", "libvmaf", "float_ms_ssim", smallest=176, order=5, citation=_MS_SSIM, is_usual=True
)
VMAF = FilterMetric(
    "vmaf", "VMAF", "libvmaf", "vmaf", smallest=32, order=6, citation="Netflix VMAF, model vmaf_v0.6.1", is_usual=True
)


class _Filter(NamedTuple):
    """One filter of the graph, and which numbers are read from it."""

    name: str
    pixels: str
    metrics: tuple[FilterMetric, ...]


def filtered(pair: MediaPair, metrics: Sequence[FilterMetric], box: Box | None, threads: int = 1) -> dict[str, float]:
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


def _wanted(pair: MediaPair, metrics: Sequence[FilterMetric]) -> Iterator[_Filter]:
    """Yield each filter once for each pixel format that its metrics look at."""
    grouped: dict[tuple[str, str], list[FilterMetric]] = {}
    for metric in metrics:
        pixels = "gbrp" if pair.is_still and metric.in_colour else pair.pixels
        grouped.setdefault((metric.tool, pixels), []).append(metric)
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
            options += ":feature=name=float_ms_ssim" if MS_SSIM in one.metrics else ""
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
        means = {metric.name: pooled.get(metric.key, {}).get("mean") for metric in one.metrics}
        # It says null where a number has no end or none at all, as MS-SSIM of pictures that are each other's opposite.
        return {metric: math.nan if mean is None else float(mean) for metric, mean in means.items()}
    line = next((line for line in log.splitlines() if line.startswith(f"[{one.name}@{place} @")), "")
    scores = dict(_SCORE.findall(line))
    return {metric.name: float(scores.get(metric.key, math.nan)) for metric in one.metrics}


# PSNR and SSIM of masked pixels; with a full mask equal to ffmpeg's


_C1, _C2 = int(0.01**2 * 255**2 * 64 + 0.5), int(0.03**2 * 255**2 * 64 * 63 + 0.5)
"""The constants of SSIM for sums over windows of 8 x 8, in whole numbers as ffmpeg has them."""
Floats: TypeAlias = NDArray[np.float64]


def masked(pair: MediaPair, metrics: Sequence[FilterMetric], region: Region) -> dict[str, float]:
    """Return PSNR and SSIM over the pixels of a region; NaN where it picks nothing that can be compared."""
    return {
        metric: value
        for pixels, own in _by_pixels(pair, metrics).items()
        for metric, value in _over(pair, pixels, own, region).items()
    }


def _by_pixels(pair: MediaPair, metrics: Sequence[FilterMetric]) -> dict[str, list[str]]:
    # Eight bits: what a video has more of is rounded, as a screen does.
    colour, luma = ("gbrp", "yuv444p") if pair.is_still else ("yuv420p", "yuv420p")
    groups: dict[str, list[str]] = {}
    for metric in metrics:
        groups.setdefault(colour if metric.in_colour else luma, []).append(metric.name)
    return groups


def _over(pair: MediaPair, pixels: str, metrics: Sequence[str], region: Region) -> dict[str, float]:
    size = (pair.width, pair.height)
    own = frames(pair.read, pair.path, pair.chain, pixels, *size, pair.name)
    other = frames(pair.read, pair.reference_path, pair.reference_chain, pixels, *size, pair.reference_name)
    squares, counts = np.zeros(3), np.zeros(3)
    alike: list[Floats] = []
    wants_ssim = any(metric.startswith("ssim") for metric in metrics)
    for planes, references, picked in zip(own, other, region.picks(*size), strict=False):
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
