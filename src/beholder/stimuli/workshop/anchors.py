"""Low-pass anchors of many sounds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from beholder.errors import Problem
from beholder.stimuli.anchors import FILTER, LOWEST, lowpass
from beholder.stimuli.media import medium_of
from beholder.stimuli.workshop.jobs import Job, Made, Progress, do, refuse
from beholder.stimuli.workshop.ledger import recipe_of


def make_anchors(files: Iterable[Path], cutoffs: Sequence[int], out: Path, *, progress: Progress | None = None) -> Made:
    """Return what was made: `out`/lowpass-<hertz>/<name>.wav of each sound and each cut-off.

    A folder stands for the sounds in it. What is there by the same recipe is left alone.
    """
    problems: list[Problem] = []
    sounds = list(dict.fromkeys(_sounds(files, problems)))
    if not sounds and not problems:
        problems.append(Problem("FILES", "holds no sound", "sound files, or folders with some in them"))
    hertz = list(dict.fromkeys(cutoffs))
    problems += [
        Problem("--cutoff", f"is {value}", f"a frequency in Hz from {LOWEST} on, as 3500")
        for value in hertz
        if value < LOWEST
    ]
    if out.is_file():
        problems.append(Problem("--out", f"is {out}, which is a file", "a folder"))
    if not hertz:
        problems.append(Problem("--cutoff", "is missing", "one or more frequencies in Hz, as --cutoff 3500"))
    by_name: dict[str, Path] = {}
    for sound in sounds:
        first = by_name.setdefault(sound.stem, sound)
        if first is not sound:
            problems.append(
                Problem(str(sound), f"has the name of {first}, so that one anchor would replace the other",
                        "names that differ", "Rename one, or make them in two runs with two --out.")
            )  # fmt: skip
    refuse(problems)
    jobs = [_job(sound, out, value) for sound in sounds for value in hertz]
    return do(jobs, out, (), progress)


def _job(sound: Path, out: Path, hertz: int) -> Job:
    target = out / f"lowpass-{hertz}" / f"{sound.stem}.wav"
    return Job(target, recipe_of(("lowpass", FILTER, hertz), (sound,)), lambda _: lowpass(sound, target, hertz))


def _sounds(files: Iterable[Path], problems: list[Problem]) -> Iterable[Path]:
    for path in files:
        if path.is_dir():
            inside = [part for part in sorted(path.iterdir()) if medium_of(part.name) == "audio"]
            if not inside:
                problems.append(Problem(str(path), "has no sound in it", "a folder with sound files"))
            yield from inside
        elif path.is_file():
            yield path
        else:
            problems.append(Problem(str(path), "does not exist", fix="Look for a slip in the name."))
