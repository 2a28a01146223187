"""Samples of impairments, made from a clean clip: for the instructions, so that people know what to look for."""

from __future__ import annotations

import subprocess
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path

from beholder.errors import Problem, StimuliError, did_you_mean
from beholder.stimuli.ffmpeg import NO_WINDOW, command, feed_ffmpeg, file_argument
from beholder.stimuli.media import medium_of
from beholder.stimuli.probe import READ, measure
from beholder.stimuli.stripping import put_in_place
from beholder.stimuli.workshop.encoding import MP4, colour_range, colour_tags
from beholder.stimuli.workshop.flaws import KINDS, Kind, Timing, discontinuous, fragmented, unclean
from beholder.stimuli.workshop.frames import Clip, look
from beholder.stimuli.workshop.jobs import Job, Made, Progress, do, refuse
from beholder.stimuli.workshop.ledger import recipe_of

IMPAIR = "impair 1"
"""Names this way of impairing in recipes: another way needs another name."""
SHORTEST_S = 1.0
_CLEAR, _COARSE = 12, 33
"""Constant rate factors of x264: nothing is lost beyond the flaw, and a coarse picture."""


def make_impaired(clip: Path, kinds: Sequence[str], out: Path, *, progress: Progress | None = None) -> Made:
    """Return what was made: `out`/<name>-<kind>.mp4 of a clean clip, of the same size, rate and length.

    What is there by the same recipe is left alone.
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
    found = _look(clip, problems)
    refuse(problems)
    assert found is not None
    wanted = [kind for kind in KINDS if kind in kinds]
    return do([_job(found, kind, out) for kind in wanted], out, (), progress)


def _look(clip: Path, problems: list[Problem]) -> Clip | None:
    """Return what the clip holds; None after a problem."""
    if not clip.exists():
        problems.append(Problem(str(clip), "does not exist", fix="Look for a slip in the name."))
    elif clip.is_dir() or medium_of(clip.name) != "video":
        problems.append(Problem(str(clip), "is not a video", "one video file"))
    else:
        try:
            found = look(clip, "impaired")
        except StimuliError as error:
            problems.extend(error.problems)
            return None
        if found.width % 2 or found.height % 2:
            fix = "Cut or pad it by one line or column."
            problems.append(Problem(str(clip), f"is {found.width}x{found.height}", "even numbers of pixels", fix))
        if found.seconds < SHORTEST_S:
            what = f"lasts {found.seconds:.2f} s, too short to show a flaw"
            problems.append(Problem(str(clip), what, f"{SHORTEST_S:g} s or more"))
        return found
    return None


def _job(clip: Clip, kind: Kind, out: Path) -> Job:
    target = out / f"{clip.path.stem}-{kind}.mp4"
    return Job(target, recipe_of((IMPAIR, kind), (clip.path,)), lambda threads: impair(clip, kind, target, threads))


def impair(clip: Clip, kind: Kind, target: Path, threads: int) -> None:
    """Write a clip with one kind of flaw as H.264, whole or not at all."""
    import numpy as np

    timing = Timing(max(1, round(clip.seconds * clip.rate)), float(clip.rate))
    clean = _decoded(clip, timing, unclean(clip.width, clip.height) if kind == "uncleanness" else "")
    pieces = clean
    if kind == "fragmentation":
        pieces = fragmented(clean, clip.width, clip.height, timing, np.random.default_rng(KINDS.index(kind)))
    elif kind == "discontinuity":
        pieces = discontinuous(clean, timing)
    part = target.with_name(f".{target.stem}.{uuid.uuid4().hex}.part")
    try:
        ran = feed_ffmpeg(_encoding(clip, timing, part, _COARSE if kind == "uncleanness" else _CLEAR, threads), pieces)
        if ran.code != 0:
            raise StimuliError(Problem(str(clip.path), f"cannot be impaired: ffmpeg says {ran.last_words()}"))
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
        "-v", "error", *READ, "-i", file_argument(clip.path), "-map", "0:V:0", "-vf", ",".join(graph),
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
    """Return how the pictures become a video again, with the sound of the clip."""
    sound = []
    if clip.has_sound:
        seconds = timing.frames / timing.rate
        sound = [
            *READ, "-i", file_argument(clip.path), "-map", "0:v:0", "-map", "1:a:0", "-af",
            f"aresample=async=1:first_pts=0,apad,atrim=end={seconds:.6f}", "-c:a", "aac", "-b:a", "256k",
        ]  # fmt: skip
    return [
        "-v", "error", "-y", "-f", "rawvideo", "-pix_fmt", "yuv420p", "-s", f"{clip.width}x{clip.height}",
        "-color_range", colour_range(clip.full_range), "-colorspace", clip.matrix, "-r", str(clip.rate),
        "-i", "pipe:0", *sound,
        "-frames:v", str(timing.frames), "-r", str(clip.rate), "-c:v", "libx264", "-preset", "medium",
        "-crf", str(quality), "-pix_fmt", "yuv420p", *colour_tags(clip.matrix, clip.full_range),
        "-threads", str(threads), *MP4, file_argument(part),
    ]  # fmt: skip
