"""Pictures compared by ffmpeg's own filters: one run for all metrics of a pair."""

from __future__ import annotations

import json
import math
import re
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from beholder.errors import Problem, StimuliError
from beholder.metrics.kinds import METRICS
from beholder.metrics.pair import Pair
from beholder.stimuli.ffmpeg import run_ffmpeg

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


def filtered(pair: Pair, metrics: Sequence[str], box: Box | None, threads: int = 1) -> dict[str, float]:
    """Return the metrics of a pair on a box, or on the whole picture; PSNR of what is identical is infinite."""
    with tempfile.TemporaryDirectory(prefix="beholder-metrics-") as folder:
        filters = list(_wanted(pair, metrics))
        ran = run_ffmpeg(_arguments(pair, filters, box, Path(folder), threads))
        if ran.code != 0:
            what = f"cannot be compared with {pair.reference_name}: ffmpeg says {ran.last_words()}"
            raise StimuliError(Problem(pair.name, what))
        return {
            metric: value
            for place, one in enumerate(filters)
            for metric, value in _read(one, place, ran.log, Path(folder)).items()
        }


def _wanted(pair: Pair, metrics: Sequence[str]) -> Iterator[_Filter]:
    """Yield each filter once for each pixel format that its metrics look at."""
    grouped: dict[tuple[str, str], list[str]] = {}
    for metric in metrics:
        kind = METRICS[metric]
        pixels = "gbrp" if pair.is_still and kind.in_colour else pair.pixels
        grouped.setdefault((kind.tool, pixels), []).append(metric)
    for (name, pixels), own in grouped.items():
        yield _Filter(name, pixels, tuple(own))


def _arguments(pair: Pair, filters: Sequence[_Filter], box: Box | None, folder: Path, threads: int) -> list[str]:
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
    found = dict(_SCORE.findall(line))
    return {metric: float(found.get(METRICS[metric].key, math.nan)) for metric in one.metrics}
