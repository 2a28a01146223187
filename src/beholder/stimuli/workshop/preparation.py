"""Files made ready for browsers: encoded again where that is needed, cleared of metadata, folders kept as they are."""

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
from beholder.stimuli.formats import served_suffix
from beholder.stimuli.loudness import LoudnessGain, gain_to_loudness
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

# --- Videos encoded again so that every browser plays them: upright, square pixels, equal frames, 4:2:0, no metadata.


_Codec = Literal["h264", "vp9"]
_SUFFIXES: dict[_Codec, str] = {"h264": ".mp4", "vp9": ".webm"}

_INTERLACED = re.compile(r": Video: .*\b(?:top|bottom) (?:coded )?first")
_READ_OTHER = ("-format_whitelist", "avi,mpeg,mpegts,mpegvideo,asf,flv,yuv4mpegpipe", "-protocol_whitelist", "file")
_RATES = "sample_rates=48000|44100|32000|24000|22050|16000|12000|11025|8000"
"""Above these some browsers are silent."""
_BITS_A_CHANNEL = 128


@dataclass(frozen=True)
class EncodingTarget:
    """How videos are to be encoded; None leaves what they have."""

    codec: _Codec
    crf: int
    height: int | None = None
    rate: Fraction | None = None
    loudness: float | None = None

    def recipe_text(self) -> str:
        """Return the settings as they stand in recipes. The text stays as it is: files made earlier are known by it."""
        settings = f"codec={self.codec!r}, crf={self.crf!r}, height={self.height!r}, rate={self.rate!r}"
        return f"Wanted({settings}, loudness={self.loudness!r})"


def _reencode(path: Path, target: Path, wanted: EncodingTarget, threads: int) -> list[str]:
    """Write a video for browsers, whole or not at all; return what is worth knowing about it."""
    part = target.with_name(f".{target.stem}.{uuid.uuid4().hex}.part")
    try:
        with tempfile.TemporaryDirectory(prefix="beholder-") as scratch:
            source = _remux(path, Path(scratch)) if needs_conversion(path) else path
            clip = read_clip(source, "prepared", str(path))
            pace = cadence(source, clip.rate)
            levelled = LoudnessGain()
            if clip.has_sound and wanted.loudness is not None:
                levelled = gain_to_loudness(source, "video", wanted.loudness)
            is_interlaced = _INTERLACED.search(run_ffmpeg([*READ_VIDEO, "-i", file_argument(source)]).log) is not None
            size = _size(clip, wanted)
            graph = _graph(clip, pace, wanted, size, is_interlaced)
            sound = _audio_arguments(source, wanted.codec, levelled, str(path)) if clip.has_sound else []
            ran = run_ffmpeg(
                [
                    "-v", "error", "-y", *READ_VIDEO, "-i", file_argument(source), "-map", "0:V:0",
                    "-vf", graph, *sound,
                    *_encoding(clip, wanted.rate or pace.rate, wanted, threads), file_argument(part),
                ]
            )  # fmt: skip
            if ran.code != 0:
                raise StimuliError(Problem(str(path), f"cannot be prepared: ffmpeg says {ran.error_line()}"))
            _read_back(part, pace, wanted, str(path))
            put_in_place(part, target)
    finally:
        part.unlink(missing_ok=True)
    return [f"{path}: {note}" for note in (*_notes(clip, pace, wanted, size, is_interlaced), *levelled.notes)]


def _remux(path: Path, scratch: Path) -> Path:
    """Return the streams of a rare container in one that is read everywhere here."""
    wrapped = scratch / "wrapped.mkv"
    ran = run_ffmpeg(
        [
            "-v", "error", *_READ_OTHER, "-fflags", "+genpts", "-i", file_argument(path), "-map", "0:V:0",
            "-map", "0:a:0?", "-c", "copy", "-allow_raw_vfw", "1", file_argument(wrapped),
        ]
    )  # fmt: skip
    if ran.code != 0:
        raise read_error(str(path), "video", f"ffmpeg says {ran.error_line()}")
    return wrapped


def _size(clip: Clip, wanted: EncodingTarget) -> tuple[int, int]:
    """Return an even width and height: as asked, or as it is without the last line or column."""
    if wanted.height is None:
        return max(2, clip.width // 2 * 2), max(2, clip.height // 2 * 2)
    return max(2, 2 * round(clip.width * wanted.height / clip.height / 2)), wanted.height


def _graph(clip: Clip, pace: Cadence, wanted: EncodingTarget, size: tuple[int, int], is_interlaced: bool) -> str:
    """Return what is done to the pictures."""
    whole = (clip.width, clip.height) if wanted.height is None else size
    span = f"in_range={colour_range(clip.full_range)}:out_range=tv"
    return ",".join(
        [
            *(["bwdif=mode=send_frame:deint=all"] if is_interlaced else []),
            f"fps=fps={wanted.rate or pace.rate}:start_time=0",
            f"scale={whole[0]}:{whole[1]}:flags=lanczos+accurate_rnd+full_chroma_int"
            f":in_color_matrix={clip.matrix}:out_color_matrix={clip.matrix}:{span}",
            "setsar=1",
            f"crop={size[0]}:{size[1]}:0:0",
            "format=yuv420p",
        ]
    )


def _audio_arguments(source: Path, codec: _Codec, levelled: LoudnessGain, where: str) -> list[str]:
    channels = measure(source, where, "video").probe.channels
    filters = ",".join([*levelled.filters, f"aresample=async=1:first_pts=0,aformat={_RATES}"])
    name = "aac" if codec == "h264" else "libopus"
    return ["-map", "0:a:0", "-af", filters, "-c:a", name, "-b:a", f"{_BITS_A_CHANNEL * channels}k"]


def _encoding(clip: Clip, rate: Fraction, wanted: EncodingTarget, threads: int) -> list[str]:
    """Return the encoder's options: a constant quality and a key frame every second, as the P.910 crowd study had."""
    common = ["-r", str(rate), "-g", str(max(1, round(rate))), "-crf", str(wanted.crf), "-pix_fmt", "yuv420p"]
    common += [*colour_tags(clip.matrix, False), "-threads", str(threads)]
    if wanted.codec == "h264":
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


def _read_back(part: Path, pace: Cadence, wanted: EncodingTarget, where: str) -> None:
    made: Measurement = measure(part, where, "video")
    problem = playback_problem(made, where)
    if problem is not None:
        raise StimuliError(problem)
    rate = wanted.rate or pace.rate
    if abs(made.frames - pace.end * rate) > 1.5:
        what = "cannot be prepared: not all of its frames can be decoded"
        raise StimuliError(Problem(where, what, "", "Export it again."))


def _notes(clip: Clip, pace: Cadence, wanted: EncodingTarget, size: tuple[int, int], is_interlaced: bool) -> list[str]:
    notes = []
    rate = f"{float(wanted.rate or pace.rate):.5g}"
    if not pace.is_constant:
        notes.append(f"frames of unequal length, now {rate} a second.")
    elif wanted.rate is not None and wanted.rate != pace.rate:
        notes.append(f"{float(pace.rate):.5g} frames a second, now {rate}.")
    if is_interlaced:
        notes.append("interlaced, now whole frames.")
    if wanted.height is not None and wanted.height != clip.height:
        notes.append(f"scaled from {clip.height} to {wanted.height} lines.")
    elif wanted.height is None and size != (clip.width, clip.height):
        notes.append(f"cut from {clip.width}x{clip.height} to {size[0]}x{size[1]}, for both have to be even.")
    return notes


# --- Files made ready for browsers: encoded again where that is needed, cleared of metadata, folders kept as they are.


_RECIPE = "prepare 1"
"""Names this way of preparing in recipes: another way needs another name."""
_CRF: dict[_Codec, int] = {"h264": 17, "vp9": 18}
"""Constant rate factors: that of the P.910 crowd study, and what looks as clear in VP9."""
_COARSEST: dict[_Codec, int] = {"h264": 51, "vp9": 63}


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
    """Return what was made: each file as a study takes it, in `out`; of a folder, where it lies in that folder.

    What is there by the same recipe is left alone, and a file that cannot be prepared keeps no other from it.
    """
    problems = list(_bad_options(codec, crf, height, fps, loudness))
    named = list(files)
    found = find_media(named, problems, without=out)
    if not named:
        problems.append(Problem("FILES", "names nothing", "files, or folders of them"))
    if out.is_file():
        problems.append(Problem("--out", f"is {out}, which is a file", "a folder"))
    if any(path.is_dir() and path.resolve() == out.resolve() for path in named):
        problems.append(Problem("--out", f"is {out}, which is read from", "another folder"))
    targets = {one.path: out / one.place.with_suffix(_suffix(one, codec)) for one in found}
    problems += _duplicate_targets(targets)
    raise_problems(problems)
    rate: Fraction | None = None if fps is None else exact_rate(fps)
    lufs = None if loudness is None else float(loudness)
    wanted = EncodingTarget(codec, _CRF[codec] if crf is None else crf, height, rate, lufs)
    notes: list[str] = []
    jobs = [_job(one, targets[one.path], wanted, notes) for one in found]
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


def _suffix(one: MediaFile, codec: _Codec) -> str:
    if one.medium == "video":
        return _SUFFIXES[codec]
    return one.path.suffix.lower() if one.medium == "text" else served_suffix(one.medium)


def _duplicate_targets(targets: dict[Path, Path]) -> Iterator[Problem]:
    first: dict[Path, Path] = {}
    for path, target in targets.items():
        other = first.setdefault(target, path)
        if other is not path:
            fix = "Rename one, or give the folder above them."
            yield Problem(str(path), f"would become {target}, as {other} would", "names that differ", fix)


def _job(one: MediaFile, target: Path, wanted: EncodingTarget, notes: list[str]) -> WorkshopJob:
    path, medium = one.path, one.medium
    asked: tuple[object, ...] = ()
    if medium == "video":
        asked = (wanted.recipe_text(),)
    elif medium == "audio":
        asked = (wanted.loudness,)

    def make(threads: int) -> None:
        if medium == "video":
            notes.extend(_reencode(path, target, wanted, threads))
        elif medium == "audio" and wanted.loudness is not None:
            notes.extend(_write_levelled(path, target, wanted.loudness))
        elif medium == "text":
            notes.extend(_write_utf8(path, target))
        else:
            write_copy(path, target, measure(path, str(path), medium), str(path), medium)

    return WorkshopJob(target, recipe_of((_RECIPE, medium, *asked), (path,)), make)


def _write_levelled(path: Path, target: Path, lufs: float) -> list[str]:
    """Write a sound as WAV at this loudness; return what is worth knowing about it."""
    measured = measure(path, str(path), "audio")
    levelled = gain_to_loudness(path, "audio", lufs)
    part = target.with_name(f".{target.stem}.{uuid.uuid4().hex}.part")
    depth = "pcm_s24le" if measured.is_deep else "pcm_s16le"
    filters = ["-af", ",".join(levelled.filters)] if levelled.filters else []
    arguments = [*READ_AUDIO, "-i", file_argument(path), *filters, "-c:a", depth, *SOUND[1:], file_argument(part)]
    try:
        ran = run_ffmpeg(["-v", "error", "-y", *arguments])
        if ran.code != 0:
            raise StimuliError(Problem(str(path), f"cannot be prepared: ffmpeg says {ran.error_line()}"))
        put_in_place(part, target)
    finally:
        part.unlink(missing_ok=True)
    return [f"{path}: {note}" for note in levelled.notes]


def _write_utf8(path: Path, target: Path) -> list[str]:
    """Write a text as UTF-8 whose lines end in LF; return what is worth knowing about it."""
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
    """Yield the notes by file, once all are there."""
    yield from sorted(notes)


# --- When the frames of a video are shown: at which rate, from when on, and whether they are all equally long ---
