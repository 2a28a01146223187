"""`beholder media stack`: pairs of videos, each combined into one that shows both side by side, frame by frame."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Literal

from beholder.errors import Problem, StimuliError
from beholder.stimuli.copies import put_in_place
from beholder.stimuli.ffmpeg import MP4_OUTPUT, colour_range, colour_tags, file_argument, run_ffmpeg
from beholder.stimuli.media_formats import medium_of
from beholder.stimuli.probe import measure
from beholder.stimuli.video import READ_VIDEO
from beholder.stimuli.workshop.clips import Clip, read_clip
from beholder.stimuli.workshop.jobs import Progress, WorkshopJob, WorkshopResult, raise_problems, recipe_of, run_jobs

_SoundSource = Literal["left", "right", "none"]
_NOTED_MS, _MAX_DIFFERENCE_MS = 40, 500


def make_stacks(
    left: Path,
    right: Path,
    out: Path,
    *,
    sound: _SoundSource = "left",
    shortest: bool = False,
    progress: Progress | None = None,
) -> WorkshopResult:
    """Write one video of each pair, frames in step, with one sound track or none, and return the result.

    `left` and `right` are two videos, or two folders whose videos are matched by name. `out` is a folder, or for two
    videos the .mp4 itself. Lengths that differ by more than half a second are refused unless `shortest` is set.
    """
    problems: list[Problem] = []
    pairs = _pairs(left, right, problems)
    raise_problems(problems)
    folder, targets = _targets(left, out, pairs)
    notes: list[str] = []
    jobs: list[WorkshopJob] = []
    clips = _read_clips(dict.fromkeys(path for pair in pairs for path in pair), problems)
    for (one, other), target in zip(pairs, targets, strict=True):
        if one in clips and other in clips:
            try:
                jobs.append(_job(clips[one], clips[other], target, sound, shortest, notes))
            except StimuliError as error:
                problems += error.problems
    raise_problems(problems)
    return run_jobs(jobs, folder, notes, progress)


def _read_clips(paths: Iterable[Path], problems: list[Problem]) -> dict[Path, Clip]:
    """Return the measured videos; those that cannot be read are problems."""
    clips: dict[Path, Clip] = {}
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        for path, future in [(path, pool.submit(read_clip, path)) for path in paths]:
            try:
                clips[path] = future.result()
            except StimuliError as error:
                problems += error.problems
    return clips


def _job(one: Clip, other: Clip, target: Path, sound: _SoundSource, shortest: bool, notes: list[str]) -> WorkshopJob:
    layout = StackLayout.of(one, other, sound)
    where = f"{one.path} and {other.path}"
    apart = round(1000 * abs(one.seconds - other.seconds))
    if apart > _MAX_DIFFERENCE_MS and not shortest:
        what = f"are {one.seconds:.2f} s and {other.seconds:.2f} s long"
        raise StimuliError(
            Problem(
                where, what, f"lengths within {_MAX_DIFFERENCE_MS / 1000:g} s", "Cut one of them, or add --shortest."
            )
        )
    if sound != "none" and not (one if sound == "left" else other).has_sound:
        silent = one if sound == "left" else other
        raise StimuliError(Problem(str(silent.path), "has no sound", "", "Take the other's with --sound, or none."))
    if apart > _NOTED_MS:
        notes.append(f"{where}: {apart} ms apart in length, cut to {layout.seconds:.2f} s.")
    for clip in (one, other):
        if clip.height != layout.lines:
            notes.append(f"{clip.path}: scaled from {clip.height} to {layout.lines} lines.")
    if abs(one.rate - other.rate) > 0.01:
        notes.append(f"{other.path}: {float(other.rate):g} frames a second, shown at {float(one.rate):g}.")
    recipe = recipe_of((_RECIPE, layout.recipe_text()), (one.path, other.path))
    return WorkshopJob(target, recipe, lambda threads: stack(one, other, target, layout, threads))


def _pairs(left: Path, right: Path, problems: list[Problem]) -> list[tuple[Path, Path]]:
    for path in (left, right):
        if not path.exists():
            problems.append(Problem(str(path), "does not exist", fix="Look for a slip in the name."))
    if problems:
        return []
    if left.is_dir() != right.is_dir():
        folder, file = (left, right) if left.is_dir() else (right, left)
        problems.append(
            Problem(str(file), f"is a file, and {folder} is a folder", "two videos, or two folders of them")
        )
        return []
    if left.is_file():
        return [(left, right)]
    sides = [_videos(path, problems) for path in (left, right)]
    for (here, there), other in (((sides[0], sides[1]), right), ((sides[1], sides[0]), left)):
        problems += [
            Problem(str(path), f"has no partner in {other}", f"{other / name}.*", "Add it, or take this one out.")
            for name, path in here.items()
            if name not in there
        ]
    if not sides[0] and not sides[1]:
        problems.append(Problem(str(left), "has no video in it", "a folder with videos"))
    return [(path, sides[1][name]) for name, path in sides[0].items() if name in sides[1]]


def _videos(folder: Path, problems: list[Problem]) -> dict[str, Path]:
    videos: dict[str, Path] = {}
    for path in sorted(folder.iterdir()):
        if path.is_file() and medium_of(path.name) == "video":
            first = videos.setdefault(path.stem, path)
            if first is not path:
                problems.append(Problem(str(path), f"has the name of {first.name}", "each name once", "Rename one."))
    return videos


def _targets(left: Path, out: Path, pairs: list[tuple[Path, Path]]) -> tuple[Path, list[Path]]:
    """Return the folder that is written to, and a file for each pair."""
    if left.is_file() and out.suffix and not out.is_dir():
        if out.suffix.casefold() != ".mp4":
            raise StimuliError(Problem("--out", f"is {out}", "a folder, or a name that ends in .mp4"))
        return out.parent, [out]
    if out.is_file():
        raise StimuliError(Problem("--out", f"is {out}, which is a file", "a folder"))
    return out, [out / f"{one.stem}.mp4" for one, _ in pairs]


# Layout and encoding

_RECIPE = "stack 1"
"""Part of every recipe: a change in processing needs a new name."""


@dataclass(frozen=True)
class StackLayout:
    """Size, rate, length, sound and colours of a stack."""

    lines: int
    """The height of both pictures; where it is odd, one grey line stands below them."""
    widths: tuple[int, int]
    gap: int
    rate: Fraction
    frames: int
    sound: str
    matrix: str
    full_range: bool

    def recipe_text(self) -> str:
        """Return the layout as it stands in recipes. The text stays as it is: files made earlier are known by it."""
        size = f"lines={self.lines!r}, widths={self.widths!r}, gap={self.gap!r}, rate={self.rate!r}"
        rest = f"frames={self.frames!r}, sound={self.sound!r}, matrix={self.matrix!r}, full_range={self.full_range!r}"
        return f"Sheet({size}, {rest})"

    @property
    def height(self) -> int:
        return self.lines + self.lines % 2

    @property
    def seconds(self) -> float:
        return float(self.frames / self.rate)

    @classmethod
    def of(cls, left: Clip, right: Clip, sound: str) -> StackLayout:
        """Return the layout of two clips: the smaller height, the rate of the left, the length of the shorter."""
        height = min(left.height, right.height)
        widths = tuple(_even(clip.width * height / clip.height) for clip in (left, right))
        same = (left.matrix, left.full_range) == (right.matrix, right.full_range)
        return cls(
            lines=height,
            widths=(widths[0], widths[1]),
            gap=max(4, _even(height / 45)),
            rate=left.rate,
            frames=max(1, round(min(left.seconds, right.seconds) * left.rate)),
            sound=sound,
            matrix=left.matrix if same else "bt709",
            full_range=left.full_range if same else False,
        )


def stack(left: Clip, right: Clip, target: Path, layout: StackLayout, threads: int) -> None:
    """Write the stack of two clips as H.264, completely or not at all."""
    part = target.with_name(f".{target.stem}.{uuid.uuid4().hex}.part")
    sound = {"left": 0, "right": 1}.get(layout.sound)
    graph = [
        _side_filters(0, left, layout, layout.widths[0] + layout.gap),
        _side_filters(1, right, layout, layout.widths[1]),
    ]
    graph.append("[v0][v1]hstack=inputs=2[v]")
    maps = ["-map", "[v]"]
    if sound is not None:
        graph.append(f"[{sound}:a:0]aresample=async=1:first_pts=0,apad,atrim=end={layout.seconds:.6f}[a]")
        maps += ["-map", "[a]", "-c:a", "aac", "-b:a", "256k"]
    arguments = [
        "-v", "error", "-y", *READ_VIDEO, "-i", file_argument(left.path), *READ_VIDEO, "-i", file_argument(right.path),
        "-filter_complex", ";".join(graph), *maps, "-frames:v", str(layout.frames), "-r", str(layout.rate),
        "-c:v", "libx264", "-preset", "medium", "-crf", "12", "-pix_fmt", "yuv420p",
        *colour_tags(layout.matrix, layout.full_range), "-threads", str(threads), *MP4_OUTPUT, file_argument(part),
    ]  # fmt: skip
    try:
        run = run_ffmpeg(arguments)
        if run.code != 0:
            raise StimuliError(
                Problem(f"{left.path} and {right.path}", f"cannot be stacked: ffmpeg says {run.error_line()}")
            )
        if measure(part, str(target), "video").frames != layout.frames:
            what = "cannot be stacked: one of them ends before its length says"
            fix = "Re-encode both with beholder media prepare."
            raise StimuliError(Problem(f"{left.path} and {right.path}", what, "", fix))
        put_in_place(part, target)
    finally:
        part.unlink(missing_ok=True)


def _side_filters(number: int, clip: Clip, layout: StackLayout, wide: int) -> str:
    """Return the filters of one side: constant rate from the first moment on, size, colours, and grey around it."""
    convert = (
        f"in_color_matrix={clip.matrix}:in_range={colour_range(clip.full_range)}"
        f":out_color_matrix={layout.matrix}:out_range={colour_range(layout.full_range)}"
    )
    return (
        f"[{number}:V:0]fps=fps={layout.rate}:start_time=0,"
        f"scale={layout.widths[number]}:{layout.lines}:flags=lanczos+accurate_rnd:{convert},setsar=1,format=yuv420p,"
        f"pad={wide}:{layout.height}:0:0:color=gray,tpad=stop_mode=clone:stop=2[v{number}]"
    )


def _even(value: float) -> int:
    return max(2, 2 * round(value / 2))
