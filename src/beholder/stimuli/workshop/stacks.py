"""Pairs of videos, each made into one that shows both side by side."""

from __future__ import annotations

import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Literal

from beholder.errors import Problem, StimuliError
from beholder.stimuli.media import medium_of
from beholder.stimuli.workshop.frames import STACK, Clip, Sheet, look, stack
from beholder.stimuli.workshop.jobs import Job, Made, Progress, do, refuse
from beholder.stimuli.workshop.ledger import recipe_of

Sound = Literal["left", "right", "none"]
TOLD_MS, REFUSED_MS = 40, 500


def make_stacks(
    left: Path,
    right: Path,
    out: Path,
    *,
    sound: Sound = "left",
    shortest: bool = False,
    progress: Progress | None = None,
) -> Made:
    """Return what was made: one video of each pair, the frames of both in step, with one sound track or none.

    `left` and `right` are two videos, or two folders whose videos are matched by name. `out` is a folder, or for two
    videos the .mp4 itself. Lengths that differ by more than half a second are refused unless `shortest` is set.
    """
    problems: list[Problem] = []
    pairs = _pairs(left, right, problems)
    refuse(problems)
    folder, targets = _targets(left, out, pairs)
    notes: list[str] = []
    jobs: list[Job] = []
    clips = _look(dict.fromkeys(path for pair in pairs for path in pair), problems)
    for (one, other), target in zip(pairs, targets, strict=True):
        if one in clips and other in clips:
            try:
                jobs.append(_job(clips[one], clips[other], target, sound, shortest, notes))
            except StimuliError as error:
                problems += error.problems
    refuse(problems)
    return do(jobs, folder, notes, progress)


def _look(paths: Iterable[Path], problems: list[Problem]) -> dict[Path, Clip]:
    """Return what each video holds; those that cannot be read are problems."""
    found: dict[Path, Clip] = {}
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        for path, future in [(path, pool.submit(look, path)) for path in paths]:
            try:
                found[path] = future.result()
            except StimuliError as error:
                problems += error.problems
    return found


def _job(one: Clip, other: Clip, target: Path, sound: Sound, shortest: bool, notes: list[str]) -> Job:
    sheet = Sheet.of(one, other, sound)
    where = f"{one.path} and {other.path}"
    apart = round(1000 * abs(one.seconds - other.seconds))
    if apart > REFUSED_MS and not shortest:
        what = f"are {one.seconds:.2f} s and {other.seconds:.2f} s long"
        raise StimuliError(
            Problem(where, what, f"lengths within {REFUSED_MS / 1000:g} s", "Cut one of them, or add --shortest.")
        )
    if sound != "none" and not (one if sound == "left" else other).has_sound:
        silent = one if sound == "left" else other
        raise StimuliError(Problem(str(silent.path), "has no sound", "", "Take the other's with --sound, or none."))
    if apart > TOLD_MS:
        notes.append(f"{where}: {apart} ms apart in length, cut to {sheet.seconds:.2f} s.")
    for clip in (one, other):
        if clip.height != sheet.lines:
            notes.append(f"{clip.path}: scaled from {clip.height} to {sheet.lines} lines.")
    if abs(one.rate - other.rate) > 0.01:
        notes.append(f"{other.path}: {float(other.rate):g} frames a second, shown at {float(one.rate):g}.")
    recipe = recipe_of((STACK, sheet), (one.path, other.path))
    return Job(target, recipe, lambda threads: stack(one, other, target, sheet, threads))


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
    found: dict[str, Path] = {}
    for path in sorted(folder.iterdir()):
        if path.is_file() and medium_of(path.name) == "video":
            first = found.setdefault(path.stem, path)
            if first is not path:
                problems.append(Problem(str(path), f"has the name of {first.name}", "each name once", "Rename one."))
    return found


def _targets(left: Path, out: Path, pairs: list[tuple[Path, Path]]) -> tuple[Path, list[Path]]:
    """Return the folder that is written to, and a file for each pair."""
    if left.is_file() and out.suffix and not out.is_dir():
        if out.suffix.casefold() != ".mp4":
            raise StimuliError(Problem("--out", f"is {out}", "a folder, or a name that ends in .mp4"))
        return out.parent, [out]
    if out.is_file():
        raise StimuliError(Problem("--out", f"is {out}, which is a file", "a folder"))
    return out, [out / f"{one.stem}.mp4" for one, _ in pairs]
