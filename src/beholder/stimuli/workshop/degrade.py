"""Videos made worse on purpose: by few bits, few lines, few frames or blur, in step with the reference to the frame."""

from __future__ import annotations

import tempfile
import uuid
from fractions import Fraction
from pathlib import Path

from beholder.errors import Problem, StimuliError
from beholder.stimuli.ffmpeg import file_argument, run_ffmpeg
from beholder.stimuli.media import served_by_suffix
from beholder.stimuli.probe import READ, measure
from beholder.stimuli.stripping import put_in_place
from beholder.stimuli.workshop.cadence import Cadence, cadence
from beholder.stimuli.workshop.encoding import MP4, colour_range, colour_tags
from beholder.stimuli.workshop.frames import Clip, exact_rate, look
from beholder.study.recipes import Recipe

DEGRADE = "degrade 1"
"""Names this way of making videos worse in recipes: another way needs another name."""

_CLEAR = ("-crf", "12")
"""Of x264: nothing is lost beyond the flaw."""
_LINES = 1080
"""The height that the pixels of a blur are counted at."""
_PREPARE = "Run beholder media prepare on it first."


def degrade(source: Path, target: Path, recipe: Recipe, where: str = "", threads: int = 1) -> None:
    """Write `source` made worse by `recipe` to `target`: H.264, whole or not at all.

    Size, frame rate, number of frames and moments stay; sound is copied where MP4 can hold it.
    """
    where = where or str(source)
    clip = look(source, "made worse", where)
    pace = cadence(source, clip.rate)
    _check(clip, pace, recipe, where)
    frames = round(clip.seconds * clip.rate)
    part = target.with_name(f".{target.stem}.{uuid.uuid4().hex}.part")
    try:
        with tempfile.TemporaryDirectory(prefix="beholder-") as scratch:
            quality: tuple[str, ...] = _CLEAR
            pictures = ["-map", "0:V:0", "-vf", _filters(clip, recipe), "-frames:v", str(frames)]
            if recipe.kind == "bitrate":
                quality = ("-b:v", f"{recipe.value:.0f}", "-passlogfile", str(Path(scratch) / "pass"))
                _run(clip, [*pictures, *_h264(clip, (*quality, "-pass", "1"), threads), "-f", "null", "-"], where)
                quality = (*quality, "-pass", "2")
            both = [*pictures, "-map", "0:a:0?", *_sound(source, where), *_h264(clip, quality, threads)]
            _run(clip, [*both, *MP4, *_late(pace), file_argument(part)], where)
        if measure(part, where, "video").frames != frames:
            raise StimuliError(Problem(where, "ends before its length says", "", _PREPARE))
        put_in_place(part, target)
    finally:
        part.unlink(missing_ok=True)


def _check(clip: Clip, pace: Cadence, recipe: Recipe, where: str) -> None:
    """Raise StimuliError where the flaw would be none, or where the anchor could not be in step."""
    problems = []
    if recipe.kind == "resolution" and recipe.value >= clip.height:
        what = f"has {clip.height} lines, so that {recipe.value:g} would not be worse"
        problems.append(Problem(where, what, f"less than {clip.height} lines"))
    if recipe.kind == "fps" and recipe.value >= clip.rate:
        what = f"has {float(clip.rate):.5g} frames a second, so that {recipe.value:g} would not be worse"
        problems.append(Problem(where, what, f"less than {float(clip.rate):.5g} frames a second"))
    if clip.width % 2 or clip.height % 2:
        problems.append(Problem(where, f"is {clip.width}x{clip.height}", "even numbers of pixels", _PREPARE))
    if not pace.is_constant:
        what = "has frames of unequal length, so that no anchor would be in step with it"
        problems.append(Problem(where, what, "a constant frame rate", _PREPARE))
    if problems:
        raise StimuliError(problems)


def _filters(clip: Clip, recipe: Recipe) -> str:
    """Return what is done to the pictures, from the first frame of the file to the last."""
    span = colour_range(clip.full_range)
    colours = f"in_color_matrix={clip.matrix}:in_range={span}:out_color_matrix={clip.matrix}:out_range={span}"
    flaw: list[str] = []
    held = Fraction(3)
    if recipe.kind == "resolution":
        lines = int(recipe.value)
        width = max(2, 2 * round(clip.width * lines / clip.height / 2))
        flaw = [f"scale={width}:{lines}:flags=bicubic", f"scale={clip.width}:{clip.height}:flags=bicubic"]
    elif recipe.kind == "fps":
        # A frame is taken where one is due, and held until the next one is.
        due = exact_rate(recipe.value) / clip.rate
        count = f"floor({{}}*{due.numerator}/{due.denominator}+1e-9)"
        flaw = [f"select='gt({count.format('n')},{count.format('(n-1)')})'", f"fps=fps={clip.rate}"]
        held += 1 / due
    elif recipe.kind == "blur":
        # In 4:4:4, for half as many pixels of colour would be blurred twice as much.
        sigma = recipe.value * clip.height / _LINES
        flaw = ["format=yuv444p", f"gblur=sigma={sigma:.6f}:steps=3", "format=yuv420p"]
    return ",".join(
        [
            "setpts=PTS-STARTPTS",
            f"fps=fps={clip.rate}",
            f"scale={clip.width}:{clip.height}:flags=lanczos+accurate_rnd:{colours}",
            "setsar=1",
            "format=yuv420p",
            *flaw,
            f"tpad=stop_mode=clone:stop={int(held)}",
        ]
    )


def _h264(clip: Clip, quality: tuple[str, ...], threads: int) -> list[str]:
    return [
        "-r", str(clip.rate), "-c:v", "libx264", "-preset", "medium", *quality, "-pix_fmt", "yuv420p",
        *colour_tags(clip.matrix, clip.full_range), "-threads", str(threads),
    ]  # fmt: skip


def _late(pace: Cadence) -> list[str]:
    """Return what shows the first frame when the reference does, where that is after the beginning of its sound."""
    if not pace.start:
        return []
    after = f"+{float(pace.start):.9f}/TB"
    return ["-bsf:v", f"{MP4[1]},setts=pts=PTS{after}:dts=DTS{after}"]


def _sound(source: Path, where: str) -> tuple[str, ...]:
    fits = served_by_suffix(".mp4").audio_codecs
    return ("-c:a", "copy" if measure(source, where, "video").probe.audio_codec in fits else "aac", "-b:a", "256k")


def _run(clip: Clip, arguments: list[str], where: str) -> None:
    ran = run_ffmpeg(["-v", "error", "-y", *READ, "-i", file_argument(clip.path), *arguments])
    if ran.code != 0:
        raise StimuliError(Problem(where, f"cannot be made worse: ffmpeg says {ran.last_words()}"))
