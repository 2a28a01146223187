"""`beholder media prepare`: files of every medium converted to what browsers play, without metadata."""

from __future__ import annotations

import codecs
import re
import tempfile
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Literal

from beholder.errors import Problem, StimuliError
from beholder.stimuli.audio import READ_AUDIO
from beholder.stimuli.audio import RECIPE as SOUND
from beholder.stimuli.copies import put_in_place, write_copy
from beholder.stimuli.ffmpeg import MP4_OUTPUT, NO_METADATA, colour_range, colour_tags, file_argument, run_ffmpeg
from beholder.stimuli.loudness import LoudnessGain, gain_to_loudness
from beholder.stimuli.media_formats import served_suffix
from beholder.stimuli.probe import measure, playback_problem
from beholder.stimuli.streams import Measurement, read_error
from beholder.stimuli.video import READ_VIDEO
from beholder.stimuli.workshop.clips import Cadence, Clip, cadence, exact_rate, read_clip
from beholder.stimuli.workshop.jobs import (
    MediaFile,
    Progress,
    WorkshopJob,
    WorkshopResult,
    find_media,
    needs_conversion,
    raise_problems,
    recipe_of,
    run_jobs,
)

_Codec = Literal["h264", "vp9"]
_SUFFIXES: dict[_Codec, str] = {"h264": ".mp4", "vp9": ".webm"}

_INTERLACED = re.compile(r": Video: .*\b(?:top|bottom) (?:coded )?first")
_READ_OTHER = ("-format_whitelist", "avi,mpeg,mpegts,mpegvideo,asf,flv,yuv4mpegpipe", "-protocol_whitelist", "file")
_RATES = "sample_rates=48000|44100|32000|24000|22050|16000|12000|11025|8000"
"""Above these some browsers are silent."""
_BITS_A_CHANNEL = 128
_RECIPE = "prepare 1"
"""Part of every recipe: a change in processing needs a new name."""
_CRF: dict[_Codec, int] = {"h264": 17, "vp9": 18}
"""Constant rate factors: that of the P.910 crowd study, and what looks as clear in VP9."""
_COARSEST: dict[_Codec, int] = {"h264": 51, "vp9": 63}


@dataclass(frozen=True)
class EncodingTarget:
    """How videos are encoded; None keeps what a video has."""

    codec: _Codec
    crf: int
    height: int | None = None
    rate: Fraction | None = None
    loudness: float | None = None

    def recipe_text(self) -> str:
        """Return the settings as they stand in recipes. The text stays as it is: files made earlier are known by it."""
        settings = f"codec={self.codec!r}, crf={self.crf!r}, height={self.height!r}, rate={self.rate!r}"
        return f"Wanted({settings}, loudness={self.loudness!r})"


def make_prepared(
    files: Iterable[Path],
    out: Path,
    *,
    codec: Literal["h264", "vp9"] = "h264",
    crf: int | None = None,
    height: int | None = None,
    fps: float | None = None,
    loudness: float | None = None,
    progress: Progress | None = None,
) -> WorkshopResult:
    """Write each file as a study takes it into `out`, keep the layout of folders, and return the result.

    Files that the same recipe made are kept, and a file that cannot be prepared does not stop the others.
    """
    problems = list(_bad_options(codec, crf, height, fps, loudness))
    named = list(files)
    media_files = find_media(named, problems, without=out)
    if not named:
        problems.append(Problem("FILES", "names nothing", "files, or folders of them"))
    if out.is_file():
        problems.append(Problem("--out", f"is {out}, which is a file", "a folder"))
    if any(path.is_dir() and path.resolve() == out.resolve() for path in named):
        problems.append(Problem("--out", f"is {out}, which is read from", "another folder"))
    targets = {file.path: out / file.place.with_suffix(_suffix(file, codec)) for file in media_files}
    problems += _duplicate_targets(targets)
    raise_problems(problems)
    rate: Fraction | None = None if fps is None else exact_rate(fps)
    lufs = None if loudness is None else float(loudness)
    encoding = EncodingTarget(codec, _CRF[codec] if crf is None else crf, height, rate, lufs)
    notes: list[str] = []
    jobs = [_job(file, targets[file.path], encoding, notes) for file in media_files]
    return run_jobs(jobs, out, _sorted_notes(notes), progress)


def _bad_options(
    codec: _Codec, crf: int | None, height: int | None, fps: float | None, loudness: float | None
) -> Iterator[Problem]:
    if crf is not None and not 1 <= crf <= _COARSEST[codec]:
        yield Problem("--crf", f"is {crf}", f"1 to {_COARSEST[codec]}; less is finer, as {_CRF[codec]}")
    if height is not None and (height % 2 or not 16 <= height <= 4320):
        yield Problem("--height", f"is {height}", "an even number of lines from 16 to 4320, as 1080")
    if fps is not None and not 1 <= fps <= 240:
        yield Problem("--fps", f"is {fps:g}", "1 to 240 frames a second, as 30")
    if loudness is not None and not -60 <= loudness <= -5:
        yield Problem("--loudness", f"is {loudness:g}", "-60 to -5 LUFS, as -23")


def _suffix(file: MediaFile, codec: _Codec) -> str:
    if file.medium == "video":
        return _SUFFIXES[codec]
    return file.path.suffix.lower() if file.medium == "text" else served_suffix(file.medium)


def _duplicate_targets(targets: dict[Path, Path]) -> Iterator[Problem]:
    first: dict[Path, Path] = {}
    for path, target in targets.items():
        other = first.setdefault(target, path)
        if other is not path:
            fix = "Rename one, or give the folder above them."
            yield Problem(str(path), f"would become {target}, as {other} would", "names that differ", fix)


def _job(file: MediaFile, target: Path, encoding: EncodingTarget, notes: list[str]) -> WorkshopJob:
    path, medium = file.path, file.medium
    settings: tuple[object, ...] = ()
    if medium == "video":
        settings = (encoding.recipe_text(),)
    elif medium == "audio":
        settings = (encoding.loudness,)

    def make(threads: int) -> None:
        if medium == "video":
            notes.extend(_reencode(path, target, encoding, threads))
        elif medium == "audio" and encoding.loudness is not None:
            notes.extend(_write_levelled(path, target, encoding.loudness))
        elif medium == "text":
            notes.extend(_write_utf8(path, target))
        else:
            write_copy(path, target, measure(path, str(path), medium), str(path), medium)

    return WorkshopJob(target, recipe_of((_RECIPE, medium, *settings), (path,)), make)


def _write_levelled(path: Path, target: Path, lufs: float) -> list[str]:
    """Write a sound as WAV at this loudness and return notes about it."""
    measured = measure(path, str(path), "audio")
    gain = gain_to_loudness(path, "audio", lufs)
    part = target.with_name(f".{target.stem}.{uuid.uuid4().hex}.part")
    depth = "pcm_s24le" if measured.is_deep else "pcm_s16le"
    filters = ["-af", ",".join(gain.filters)] if gain.filters else []
    arguments = [*READ_AUDIO, "-i", file_argument(path), *filters, "-c:a", depth, *SOUND[1:], file_argument(part)]
    try:
        run = run_ffmpeg(["-v", "error", "-y", *arguments])
        if run.code != 0:
            raise StimuliError(Problem(str(path), f"cannot be prepared: ffmpeg says {run.error_line()}"))
        put_in_place(part, target)
    finally:
        part.unlink(missing_ok=True)
    return [f"{path}: {note}" for note in gain.notes]


def _write_utf8(path: Path, target: Path) -> list[str]:
    """Write a text as UTF-8 with line feeds and return notes about it."""
    data, notes = path.read_bytes(), []
    try:
        is_wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        text = data.decode("utf-16" if is_wide else "utf-8-sig")
    except UnicodeDecodeError:
        try:
            text = data.decode("cp1252")
        except UnicodeDecodeError:
            raise read_error(str(path), "text", "it is not UTF-8", "Save it as UTF-8.") from None
        notes.append(f"{path}: not UTF-8, read as Windows-1252; look whether its letters are right.")
    part = target.with_name(f".{uuid.uuid4().hex}{target.suffix}")
    try:
        part.write_text(text.replace("\r\n", "\n").replace("\r", "\n"), "utf-8", newline="\n")
        measure(part, str(path), "text")
        put_in_place(part, target)
    finally:
        part.unlink(missing_ok=True)
    return notes


def _sorted_notes(notes: list[str]) -> Iterator[str]:
    """Yield the notes sorted by file, after all jobs have run."""
    yield from sorted(notes)


# Videos


def _reencode(path: Path, target: Path, encoding: EncodingTarget, threads: int) -> list[str]:
    """Write a video for browsers, completely or not at all, and return notes about it."""
    part = target.with_name(f".{target.stem}.{uuid.uuid4().hex}.part")
    try:
        with tempfile.TemporaryDirectory(prefix="beholder-") as scratch:
            source = _remux(path, Path(scratch)) if needs_conversion(path) else path
            clip = read_clip(source, "prepared", str(path))
            timing = cadence(source, clip.rate)
            gain = LoudnessGain()
            if clip.has_sound and encoding.loudness is not None:
                gain = gain_to_loudness(source, "video", encoding.loudness)
            is_interlaced = _INTERLACED.search(run_ffmpeg([*READ_VIDEO, "-i", file_argument(source)]).log) is not None
            size = _size(clip, encoding)
            graph = _graph(clip, timing, encoding, size, is_interlaced)
            sound = _audio_arguments(source, encoding.codec, gain, str(path)) if clip.has_sound else []
            run = run_ffmpeg(
                [
                    "-v", "error", "-y", *READ_VIDEO, "-i", file_argument(source), "-map", "0:V:0",
                    "-vf", graph, *sound,
                    *_encoding(clip, encoding.rate or timing.rate, encoding, threads), file_argument(part),
                ]
            )  # fmt: skip
            if run.code != 0:
                raise StimuliError(Problem(str(path), f"cannot be prepared: ffmpeg says {run.error_line()}"))
            _read_back(part, timing, encoding, str(path))
            put_in_place(part, target)
    finally:
        part.unlink(missing_ok=True)
    return [f"{path}: {note}" for note in (*_notes(clip, timing, encoding, size, is_interlaced), *gain.notes)]


def _remux(path: Path, scratch: Path) -> Path:
    """Return the path of a copy in Matroska, for containers that studies do not take."""
    wrapped = scratch / "wrapped.mkv"
    run = run_ffmpeg(
        [
            "-v", "error", *_READ_OTHER, "-fflags", "+genpts", "-i", file_argument(path), "-map", "0:V:0",
            "-map", "0:a:0?", "-c", "copy", "-allow_raw_vfw", "1", file_argument(wrapped),
        ]
    )  # fmt: skip
    if run.code != 0:
        raise read_error(str(path), "video", f"ffmpeg says {run.error_line()}")
    return wrapped


def _size(clip: Clip, encoding: EncodingTarget) -> tuple[int, int]:
    """Return the target size: even numbers, cropped by one pixel where nothing else is set."""
    if encoding.height is None:
        return max(2, clip.width // 2 * 2), max(2, clip.height // 2 * 2)
    return max(2, 2 * round(clip.width * encoding.height / clip.height / 2)), encoding.height


def _graph(clip: Clip, timing: Cadence, encoding: EncodingTarget, size: tuple[int, int], is_interlaced: bool) -> str:
    """Return the filter graph."""
    whole = (clip.width, clip.height) if encoding.height is None else size
    span = f"in_range={colour_range(clip.full_range)}:out_range=tv"
    return ",".join(
        [
            *(["bwdif=mode=send_frame:deint=all"] if is_interlaced else []),
            f"fps=fps={encoding.rate or timing.rate}:start_time=0",
            f"scale={whole[0]}:{whole[1]}:flags=lanczos+accurate_rnd+full_chroma_int"
            f":in_color_matrix={clip.matrix}:out_color_matrix={clip.matrix}:{span}",
            "setsar=1",
            f"crop={size[0]}:{size[1]}:0:0",
            "format=yuv420p",
        ]
    )


def _audio_arguments(source: Path, codec: _Codec, gain: LoudnessGain, where: str) -> list[str]:
    channels = measure(source, where, "video").probe.channels
    filters = ",".join([*gain.filters, f"aresample=async=1:first_pts=0,aformat={_RATES}"])
    name = "aac" if codec == "h264" else "libopus"
    return ["-map", "0:a:0", "-af", filters, "-c:a", name, "-b:a", f"{_BITS_A_CHANNEL * channels}k"]


def _encoding(clip: Clip, rate: Fraction, encoding: EncodingTarget, threads: int) -> list[str]:
    """Return the encoder's options: a constant quality and a key frame every second, as the P.910 crowd study had."""
    common = ["-r", str(rate), "-g", str(max(1, round(rate))), "-crf", str(encoding.crf), "-pix_fmt", "yuv420p"]
    common += [*colour_tags(clip.matrix, False), "-threads", str(threads)]
    if encoding.codec == "h264":
        # More than four references are beyond level 4.1 at 1080 lines, and so beyond many hardware decoders.
        return ["-c:v", "libx264", "-preset", "slow", "-refs", "4", "-sc_threshold", "0", *common, *MP4_OUTPUT]
    return [
        "-c:v",
        "libvpx-vp9",
        "-b:v",
        "0",
        "-deadline",
        "good",
        "-cpu-used",
        "2",
        *common,
        *NO_METADATA,
        "-f",
        "webm",
    ]


def _read_back(part: Path, timing: Cadence, encoding: EncodingTarget, where: str) -> None:
    measured: Measurement = measure(part, where, "video")
    problem = playback_problem(measured, where)
    if problem is not None:
        raise StimuliError(problem)
    rate = encoding.rate or timing.rate
    if abs(measured.frames - timing.end * rate) > 1.5:
        what = "cannot be prepared: not all of its frames can be decoded"
        raise StimuliError(Problem(where, what, "", "Export it again."))


def _notes(
    clip: Clip, timing: Cadence, encoding: EncodingTarget, size: tuple[int, int], is_interlaced: bool
) -> list[str]:
    notes = []
    rate = f"{float(encoding.rate or timing.rate):.5g}"
    if not timing.is_constant:
        notes.append(f"frames of unequal length, now {rate} a second.")
    elif encoding.rate is not None and encoding.rate != timing.rate:
        notes.append(f"{float(timing.rate):.5g} frames a second, now {rate}.")
    if is_interlaced:
        notes.append("interlaced, now whole frames.")
    if encoding.height is not None and encoding.height != clip.height:
        notes.append(f"scaled from {clip.height} to {encoding.height} lines.")
    elif encoding.height is None and size != (clip.width, clip.height):
        notes.append(f"cut from {clip.width}x{clip.height} to {size[0]}x{size[1]}, for both have to be even.")
    return notes
