"""`beholder media impair`: a clean clip with one kind of flaw each, as examples for the instructions."""

from __future__ import annotations

import subprocess
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from beholder.errors import Problem, StimuliError, did_you_mean
from beholder.stimuli.copies import put_in_place
from beholder.stimuli.ffmpeg import (
    MP4_OUTPUT,
    NO_WINDOW,
    colour_range,
    colour_tags,
    command,
    feed_ffmpeg,
    file_argument,
)
from beholder.stimuli.media_formats import medium_of
from beholder.stimuli.probe import measure
from beholder.stimuli.video import READ_VIDEO
from beholder.stimuli.workshop.clips import Clip, read_clip
from beholder.stimuli.workshop.jobs import Progress, WorkshopJob, WorkshopResult, raise_problems, recipe_of, run_jobs

_RECIPE = "impair 1"
"""Part of every recipe: a change in processing needs a new name."""
_MIN_SECONDS = 1.0
_NEAR_LOSSLESS_CRF, _COARSE_CRF = 12, 33
"""Constant rate factors of x264: nothing is lost beyond the flaw, and a coarse picture."""


def make_impaired(clip: Path, kinds: Sequence[str], out: Path, *, progress: Progress | None = None) -> WorkshopResult:
    """Write `out`/<name>-<kind>.mp4 of a clean clip, of the same size, rate and length, and return the result.

    Files that the same recipe made are kept.
    """
    problems = [
        Problem("--kinds", f"has {kind or 'an empty name'}", ", ".join(KINDS), did_you_mean(kind, KINDS))
        for kind in kinds
        if kind not in KINDS
    ]
    if not kinds:
        problems.append(Problem("--kinds", "is empty", ", ".join(KINDS)))
    if out.is_file():
        problems.append(Problem("--out", f"is {out}, which is a file", "a folder"))
    source = _inspect(clip, problems)
    raise_problems(problems)
    assert source is not None
    ordered = [kind for kind in KINDS if kind in kinds]
    return run_jobs([_job(source, kind, out) for kind in ordered], out, (), progress)


def _inspect(clip: Path, problems: list[Problem]) -> Clip | None:
    """Return the measured clip; None after a problem."""
    if not clip.exists():
        problems.append(Problem(str(clip), "does not exist", fix="Look for a slip in the name."))
    elif clip.is_dir() or medium_of(clip.name) != "video":
        problems.append(Problem(str(clip), "is not a video", "one video file"))
    else:
        try:
            source = read_clip(clip, "impaired")
        except StimuliError as error:
            problems.extend(error.problems)
            return None
        if source.width % 2 or source.height % 2:
            fix = "Cut or pad it by one line or column."
            problems.append(Problem(str(clip), f"is {source.width}x{source.height}", "even numbers of pixels", fix))
        if source.seconds < _MIN_SECONDS:
            what = f"lasts {source.seconds:.2f} s, too short to show a flaw"
            problems.append(Problem(str(clip), what, f"{_MIN_SECONDS:g} s or more"))
        return source
    return None


def _job(clip: Clip, kind: _Kind, out: Path) -> WorkshopJob:
    target = out / f"{clip.path.stem}-{kind}.mp4"
    return WorkshopJob(
        target, recipe_of((_RECIPE, kind), (clip.path,)), lambda threads: _impair(clip, kind, target, threads)
    )


def _impair(clip: Clip, kind: _Kind, target: Path, threads: int) -> None:
    """Write a clip with one kind of flaw as H.264, completely or not at all."""
    import numpy as np

    timing = Timing(max(1, round(clip.seconds * clip.rate)), float(clip.rate))
    clean = _decoded(clip, timing, _blur_and_noise(clip.width, clip.height) if kind == "uncleanness" else "")
    pieces = clean
    if kind == "fragmentation":
        pieces = _fragment(clean, clip.width, clip.height, timing, np.random.default_rng(KINDS.index(kind)))
    elif kind == "discontinuity":
        pieces = _freeze_and_jump(clean, timing)
    part = target.with_name(f".{target.stem}.{uuid.uuid4().hex}.part")
    try:
        run = feed_ffmpeg(
            _encoding(clip, timing, part, _COARSE_CRF if kind == "uncleanness" else _NEAR_LOSSLESS_CRF, threads), pieces
        )
        if run.code != 0:
            raise StimuliError(Problem(str(clip.path), f"cannot be impaired: ffmpeg says {run.error_line()}"))
        if measure(part, str(target), "video").frames != timing.frames:
            fix = "Re-encode it with beholder media prepare."
            raise StimuliError(Problem(str(clip.path), "ends before its length says", "", fix))
        put_in_place(part, target)
    finally:
        part.unlink(missing_ok=True)


def _decoded(clip: Clip, timing: Timing, filters: str) -> Iterator[bytes]:
    """Yield the pictures of a clip, raw, at a constant rate."""
    span = colour_range(clip.full_range)
    colours = f"{clip.matrix}:in_range={span}:out_color_matrix={clip.matrix}:out_range={span}"
    graph = [
        f"fps=fps={clip.rate}:start_time=0",
        f"scale={clip.width}:{clip.height}:flags=lanczos+accurate_rnd:in_color_matrix={colours}",
        "format=yuv420p",
        *([filters] if filters else []),
        "format=yuv420p",
        "tpad=stop_mode=clone:stop=2",
    ]
    arguments = [
        "-v", "error", *READ_VIDEO, "-i", file_argument(clip.path), "-map", "0:V:0", "-vf", ",".join(graph),
        "-frames:v", str(timing.frames), "-f", "rawvideo", "-pix_fmt", "yuv420p", "pipe:1",
    ]  # fmt: skip
    size = clip.width * clip.height * 3 // 2
    with subprocess.Popen(
        command(arguments), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        creationflags=NO_WINDOW,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        try:
            while len(frame := process.stdout.read(size)) == size:
                yield frame
        finally:
            process.kill()


def _encoding(clip: Clip, timing: Timing, part: Path, quality: int, threads: int) -> list[str]:
    """Return the arguments that encode the frames with the sound of the clip."""
    sound = []
    if clip.has_sound:
        seconds = timing.frames / timing.rate
        sound = [
            *READ_VIDEO, "-i", file_argument(clip.path), "-map", "0:v:0", "-map", "1:a:0", "-af",
            f"aresample=async=1:first_pts=0,apad,atrim=end={seconds:.6f}", "-c:a", "aac", "-b:a", "256k",
        ]  # fmt: skip
    return [
        "-v", "error", "-y", "-f", "rawvideo", "-pix_fmt", "yuv420p", "-s", f"{clip.width}x{clip.height}",
        "-color_range", colour_range(clip.full_range), "-colorspace", clip.matrix, "-r", str(clip.rate),
        "-i", "pipe:0", *sound,
        "-frames:v", str(timing.frames), "-r", str(clip.rate), "-c:v", "libx264", "-preset", "medium",
        "-crf", str(quality), "-pix_fmt", "yuv420p", *colour_tags(clip.matrix, clip.full_range),
        "-threads", str(threads), *MP4_OUTPUT, file_argument(part),
    ]  # fmt: skip


# Flaws

_Kind = Literal["fragmentation", "discontinuity", "uncleanness"]
KINDS: tuple[_Kind, ...] = get_args(_Kind)
"""As P.910 sorts impairments for those who rate them."""

_BLOCK = 16
_BURST_S = (0.4, 0.7)
_EVERY_S = 2.0
_REDRAWN_S = 0.12
_SLICES, _TALL, _WIDE = 3, (0.12, 0.24), (0.35, 0.65)
"""How many torn places a burst has, and which shares of the picture they take."""
_TORN, _LOST = 0.75, 0.15
"""Shares of the blocks of a torn place that sit in the wrong place, and that are lost."""
_FREEZE_S, _JERKY_S = 0.6, 0.9
_JERKS_HZ = 6.0


class _Planes(NamedTuple):
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


class _TornArea(NamedTuple):
    """A torn place: from the first frame up to the last, and which blocks of the picture, as rows and columns."""

    first: int
    last: int
    rows: range
    columns: range


def _planes(frame: bytes, width: int, height: int) -> _Planes:
    """Return a raw 4:2:0 picture as planes that can be written to."""
    data = np.frombuffer(bytearray(frame), np.uint8)
    whole, part = width * height, width * height // 4
    half = (height // 2, width // 2)
    return _Planes(
        data[:whole].reshape(height, width),
        data[whole : whole + part].reshape(half),
        data[whole + part : whole + 2 * part].reshape(half),
    )


def _block_size(height: int) -> int:
    """Return how large a block is, so that it can be seen at any resolution."""
    return _BLOCK * max(1, round(height / 540))


def torn_areas(timing: Timing, width: int, height: int, rng: Generator) -> list[_TornArea]:
    """Return where and when a clip is torn: a burst every two seconds, some slices of the picture in each."""
    block = _block_size(height)
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
            places.append(_TornArea(first, first + lasts, *place))
    return places


def _tear(picture: _Planes, place: _TornArea, block: int, rng: Generator) -> None:
    """Tear one place of a picture: blocks come from beside or below, or are one flat grey."""
    before = _Planes(*(plane.copy() for plane in picture))
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


def _fragment(frames: Iterator[bytes], width: int, height: int, timing: Timing, rng: Generator) -> Iterator[bytes]:
    """Yield the frames of a clip, torn in some places for some time."""
    places = torn_areas(timing, width, height, rng)
    block, redrawn = _block_size(height), max(1, round(_REDRAWN_S * timing.rate))
    seeds = rng.integers(0, 2**32, (len(places), timing.frames // redrawn + 1))
    for number, frame in enumerate(frames):
        torn = [(n, place) for n, place in enumerate(places) if place.first <= number < place.last]
        if not torn:
            yield frame
            continue
        picture = _planes(frame, width, height)
        for n, place in torn:
            _tear(picture, place, block, np.random.default_rng(int(seeds[n, number // redrawn])))
        yield b"".join(plane.tobytes() for plane in picture)


def displayed_frames(timing: Timing) -> NDArray[np.int64]:
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


def _freeze_and_jump(frames: Iterator[bytes], timing: Timing) -> Iterator[bytes]:
    """Yield the frames of a clip that stands still and jumps; what would have been shown meanwhile is lost."""
    shown = displayed_frames(timing)
    last = b""
    for number, frame in enumerate(frames):
        if number >= timing.frames or shown[number] == number:
            last = frame
        yield last


def _blur_and_noise(width: int, height: int) -> str:
    """Return the filters that blur a clip and put noise on it."""
    small = f"{max(16, 2 * round(width / 6))}:{max(16, 2 * round(height / 6))}"
    return f"scale={small}:flags=bilinear,scale={width}:{height}:flags=bilinear,noise=alls=14:allf=t"
