"""`beholder media anchor`: anchors of sounds and videos, each its reference degraded by a recipe."""

from __future__ import annotations

import tempfile
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

from beholder.errors import Problem, StimuliError
from beholder.formats import plural
from beholder.stimuli.copies import put_in_place
from beholder.stimuli.ffmpeg import MP4_OUTPUT, colour_range, colour_tags, file_argument, run_ffmpeg
from beholder.stimuli.media_formats import medium_of, served_by_suffix
from beholder.stimuli.pcm import FILTER, lowpass
from beholder.stimuli.probe import measure
from beholder.stimuli.video import READ_VIDEO
from beholder.stimuli.workshop.clips import Cadence, Clip, cadence, exact_rate, read_clip
from beholder.stimuli.workshop.jobs import Progress, WorkshopJob, WorkshopResult, raise_problems, recipe_of, run_jobs
from beholder.study.recipes import KINDS, Recipe, read_recipe
from beholder.types import Medium

_OPTIONS: Mapping[str, str] = {kind: "--cutoff" if kind == "lowpass" else f"--{kind}" for kind in KINDS}
"""The command-line option of each kind."""


class _Words(NamedTuple):
    one: str
    many: str
    files: str


_WORDS: Mapping[Medium, _Words] = {
    "audio": _Words("sound", "sounds", "sound files"),
    "video": _Words("video", "videos", "videos"),
}


def make_anchors(
    files: Iterable[Path],
    cutoffs: Sequence[int],
    out: Path,
    *,
    bitrates: Sequence[str] = (),
    resolutions: Sequence[str | int] = (),
    rates: Sequence[str | float] = (),
    blurs: Sequence[str | float] = (),
    progress: Progress | None = None,
) -> WorkshopResult:
    """Write `out`/lowpass-<hertz>/<name>.wav of each sound and each cut-off, and of each video
    `out`/<kind>-<value>/<name>.mp4; return the result.

    A folder stands for the sounds and videos in it. Files that the same recipe made are kept.
    """
    problems: list[Problem] = []
    values_by_kind: Mapping[str, Sequence[str | float]] = {
        "lowpass": cutoffs, "bitrate": bitrates, "resolution": resolutions, "fps": rates, "blur": blurs,
    }  # fmt: skip
    kinds = [kind for kind, values in values_by_kind.items() if values]
    paths = list(dict.fromkeys(_media_files(files, kinds, problems)))
    if not paths and not problems:
        words = [_WORDS[medium] for medium in _media(kinds)]
        allowed = f"{' or '.join(word.files for word in words)}, or folders with some in them"
        problems.append(Problem("FILES", f"holds no {' and no '.join(word.one for word in words)}", allowed))
    recipes = _recipes(values_by_kind, problems)
    if out.is_file():
        problems.append(Problem("--out", f"is {out}, which is a file", "a folder"))
    problems += _option_problems(paths, kinds)
    by_name: dict[tuple[Medium | None, str], Path] = {}
    for path in paths:
        first = by_name.setdefault((medium_of(path.name), path.stem), path)
        if first is not path:
            problems.append(
                Problem(str(path), f"has the name of {first}, so that one anchor would replace the other",
                        "names that differ", "Rename one, or make them in two runs with two --out.")
            )  # fmt: skip
    raise_problems(problems)
    jobs = [
        _job(path, out, name, recipe)
        for path in paths
        for name, recipe in recipes.items()
        if recipe.medium == medium_of(path.name)
    ]
    return run_jobs(jobs, out, (), progress)


def _recipes(values_by_kind: Mapping[str, Sequence[str | float]], problems: list[Problem]) -> dict[str, Recipe]:
    """Return the recipes by name, each once; values that cannot be used are problems."""
    names: dict[Recipe, str] = {}
    for kind, values in values_by_kind.items():
        for value in dict.fromkeys(value if isinstance(value, str) else f"{value:.12g}" for value in values):
            recipe = read_recipe(f"{kind}-{value}")
            if recipe is None:
                problems.append(Problem(_OPTIONS[kind], f"is {value}", KINDS[kind].allowed.format("")))
            else:
                names.setdefault(recipe, f"{kind}-{value}")
    return {name: recipe for recipe, name in names.items()}


def _job(path: Path, out: Path, name: str, recipe: Recipe) -> WorkshopJob:
    if recipe.medium == "audio":
        target, hertz = out / name / f"{path.stem}.wav", int(recipe.value)
        return WorkshopJob(
            target, recipe_of(("lowpass", FILTER, hertz), (path,)), lambda _: lowpass(path, target, hertz)
        )
    target = out / name / f"{path.stem}.mp4"
    parts = (DEGRADE, recipe.kind, recipe.value)
    return WorkshopJob(
        target, recipe_of(parts, (path,)), lambda threads: degrade(path, target, recipe, threads=threads)
    )


def _media_files(files: Iterable[Path], kinds: Sequence[str], problems: list[Problem]) -> Iterator[Path]:
    """Yield the files, and of folders those of a medium that an option is for."""
    media = _media(kinds)
    for path in files:
        if path.is_dir():
            inside = [part for part in sorted(path.iterdir()) if medium_of(part.name) in media]
            if not inside:
                what = f"has no {' and no '.join(_WORDS[medium].one for medium in media)} in it"
                allowed = f"a folder with {' or '.join(_WORDS[medium].files for medium in media)}"
                problems.append(Problem(str(path), what, allowed))
            yield from inside
        elif path.is_file():
            yield path
        else:
            problems.append(Problem(str(path), "does not exist", fix="Look for a slip in the name."))


def _media(kinds: Sequence[str]) -> list[Medium]:
    """Return the media that the options are for: audio where there are none."""
    return list(dict.fromkeys(KINDS[kind].medium for kind in kinds)) or ["audio"]


def _option_problems(paths: Sequence[Path], kinds: Sequence[str]) -> Iterator[Problem]:
    """Yield files without an option for their medium, and options without a file."""
    media = {path: medium_of(path.name) for path in paths}
    for path, medium in media.items():
        if medium is None or medium not in _WORDS:
            yield Problem(str(path), "is neither a sound nor a video", "sound files, videos, or folders of them")
        elif kinds and medium not in _media(kinds):
            options = [_OPTIONS[kind] for kind in kinds]
            verb = plural(len(options), "is", "are")
            other = _WORDS[KINDS[kinds[0]].medium].many
            what = f"is a {_WORDS[medium].one}, and {', '.join(options)} {verb} for {other}"
            yield Problem(str(path), what, _options_of(medium))
    if len(_media(kinds)) > 1:
        for kind in kinds:
            if paths and KINDS[kind].medium not in media.values():
                words = _WORDS[KINDS[kind].medium]
                what = f"is for {words.many}, and none is among the files"
                yield Problem(_OPTIONS[kind], what, f"{words.files}, or folders of them")
    if not kinds and "video" in media.values():
        yield Problem(_options_of("video"), "are missing", "one of them or more, as --resolution 180")
    if not kinds and ("audio" in media.values() or not paths):
        yield Problem("--cutoff", "is missing", "one or more frequencies in Hz, as --cutoff 3500")


def _options_of(medium: Medium) -> str:
    return ", ".join(option for kind, option in _OPTIONS.items() if KINDS[kind].medium == medium)


# Video anchors

DEGRADE = "degrade 1"
"""Part of every recipe: a change in processing needs a new name."""

_NEAR_LOSSLESS = ("-crf", "12")
"""Of x264: nothing is lost beyond the flaw."""
_LINES = 1080
"""The height that the pixels of a blur are counted at."""
_PREPARE = "Run beholder media prepare on it first."


def degrade(source: Path, target: Path, recipe: Recipe, where: str = "", threads: int = 1) -> None:
    """Write `source` degraded by `recipe` to `target`: H.264, completely or not at all.

    Size, frame rate, number of frames and moments stay; sound is copied where MP4 can hold it.
    """
    where = where or str(source)
    clip = read_clip(source, "made worse", where)
    timing = cadence(source, clip.rate)
    _check_clip(clip, timing, recipe, where)
    frames = round(clip.seconds * clip.rate)
    part = target.with_name(f".{target.stem}.{uuid.uuid4().hex}.part")
    try:
        with tempfile.TemporaryDirectory(prefix="beholder-") as scratch:
            quality: tuple[str, ...] = _NEAR_LOSSLESS
            pictures = ["-map", "0:V:0", "-vf", _filters(clip, recipe), "-frames:v", str(frames)]
            if recipe.kind == "bitrate":
                quality = ("-b:v", f"{recipe.value:.0f}", "-passlogfile", str(Path(scratch) / "pass"))
                _run(clip, [*pictures, *_h264(clip, (*quality, "-pass", "1"), threads), "-f", "null", "-"], where)
                quality = (*quality, "-pass", "2")
            both = [*pictures, "-map", "0:a:0?", *_audio_arguments(source, where), *_h264(clip, quality, threads)]
            _run(clip, [*both, *MP4_OUTPUT, *_start_offset(timing), file_argument(part)], where)
        if measure(part, where, "video").frames != frames:
            raise StimuliError(Problem(where, "ends before its length says", "", _PREPARE))
        put_in_place(part, target)
    finally:
        part.unlink(missing_ok=True)


def _check_clip(clip: Clip, timing: Cadence, recipe: Recipe, where: str) -> None:
    """Raise StimuliError where the recipe would change nothing, or the anchor could not be in step."""
    problems = []
    if recipe.kind == "resolution" and recipe.value >= clip.height:
        what = f"has {clip.height} lines, so that {recipe.value:g} would not be worse"
        problems.append(Problem(where, what, f"less than {clip.height} lines"))
    if recipe.kind == "fps" and recipe.value >= clip.rate:
        what = f"has {float(clip.rate):.5g} frames a second, so that {recipe.value:g} would not be worse"
        problems.append(Problem(where, what, f"less than {float(clip.rate):.5g} frames a second"))
    if clip.width % 2 or clip.height % 2:
        problems.append(Problem(where, f"is {clip.width}x{clip.height}", "even numbers of pixels", _PREPARE))
    if not timing.is_constant:
        what = "has frames of unequal length, so that no anchor would be in step with it"
        problems.append(Problem(where, what, "a constant frame rate", _PREPARE))
    if problems:
        raise StimuliError(problems)


def _filters(clip: Clip, recipe: Recipe) -> str:
    """Return the filter graph, from the first frame of the file to the last."""
    span = colour_range(clip.full_range)
    colours = f"in_color_matrix={clip.matrix}:in_range={span}:out_color_matrix={clip.matrix}:out_range={span}"
    flaw: list[str] = []
    padding = Fraction(3)
    if recipe.kind == "resolution":
        lines = int(recipe.value)
        width = max(2, 2 * round(clip.width * lines / clip.height / 2))
        flaw = [f"scale={width}:{lines}:flags=bicubic", f"scale={clip.width}:{clip.height}:flags=bicubic"]
    elif recipe.kind == "fps":
        # A frame is taken where one is due, and held until the next one is.
        ratio = exact_rate(recipe.value) / clip.rate
        count = f"floor({{}}*{ratio.numerator}/{ratio.denominator}+1e-9)"
        flaw = [f"select='gt({count.format('n')},{count.format('(n-1)')})'", f"fps=fps={clip.rate}"]
        padding += 1 / ratio
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
            f"tpad=stop_mode=clone:stop={int(padding)}",
        ]
    )


def _h264(clip: Clip, quality: tuple[str, ...], threads: int) -> list[str]:
    return [
        "-r", str(clip.rate), "-c:v", "libx264", "-preset", "medium", *quality, "-pix_fmt", "yuv420p",
        *colour_tags(clip.matrix, clip.full_range), "-threads", str(threads),
    ]  # fmt: skip


def _start_offset(timing: Cadence) -> list[str]:
    """Return what shows the first frame when the reference does, where that is after the beginning of its sound."""
    if not timing.start:
        return []
    after = f"+{float(timing.start):.9f}/TB"
    return ["-bsf:v", f"{MP4_OUTPUT[1]},setts=pts=PTS{after}:dts=DTS{after}"]


def _audio_arguments(source: Path, where: str) -> tuple[str, ...]:
    fits = served_by_suffix(".mp4").audio_codecs
    return ("-c:a", "copy" if measure(source, where, "video").probe.audio_codec in fits else "aac", "-b:a", "256k")


def _run(clip: Clip, arguments: list[str], where: str) -> None:
    run = run_ffmpeg(["-v", "error", "-y", *READ_VIDEO, "-i", file_argument(clip.path), *arguments])
    if run.code != 0:
        raise StimuliError(Problem(where, f"cannot be made worse: ffmpeg says {run.error_line()}"))
