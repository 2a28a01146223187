"""`beholder media prepare`: files of every medium converted to what browsers play, without metadata."""

from __future__ import annotations

import codecs
import re
import tempfile
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

from beholder.errors import Problem, StimuliError
from beholder.stimuli.audio import READ_AUDIO
from beholder.stimuli.audio import RECIPE as SOUND
from beholder.stimuli.catalogue import Probe
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
    left_out,
    needs_conversion,
    raise_problems,
    recipe_of,
    run_jobs,
)
from beholder.types import Medium

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
_UNIFORM = ("-profile:v", "high", "-level:v", "5.1", "-bf", "2", "-b_strategy", "0", "-video_track_timescale", "90000")
_FPS_HINT = "Frames a second are --fps."
_COARSEST: dict[_Codec, int] = {"h264": 51, "vp9": 63}


@dataclass(frozen=True)
class EncodingTarget:
    """How videos are encoded; None keeps what a video has."""

    codec: _Codec
    crf: int
    height: int | None = None
    rate: Fraction | None = None
    loudness: float | None = None
    sample_rate: int | None = None
    channels: int | None = None
    trim: bool = False
    """Whether the silence at both ends of sounds is cut off."""
    uniform: bool = False
    """Whether nothing of how a video is encoded depends on what it shows."""

    def recipe_text(self) -> str:
        """Return the settings as they stand in recipes. The text stays as it is: files made earlier are known by it."""
        settings = f"codec={self.codec!r}, crf={self.crf!r}, height={self.height!r}, rate={self.rate!r}"
        return f"Wanted({settings}, loudness={self.loudness!r})"

    @property
    def sound_filters(self) -> tuple[str, ...]:
        """The filters of ffmpeg for rate and channels."""
        rate = () if self.sample_rate is None else (f"aresample={self.sample_rate}",)
        layouts = {1: "mono", 2: "stereo"}
        return rate if self.channels is None else (*rate, f"aformat=channel_layouts={layouts[self.channels]}")


def make_prepared(
    files: Iterable[Path],
    out: Path,
    *,
    codec: Literal["h264", "vp9"] = "h264",
    crf: int | None = None,
    height: int | None = None,
    fps: float | None = None,
    loudness: float | None = None,
    rate: int | None = None,
    channels: int | None = None,
    trim: bool = False,
    shortest: bool = False,
    uniform: bool = False,
    progress: Progress | None = None,
) -> WorkshopResult:
    """Write each file as a study takes it into `out`, keep the layout of folders, and return the result.

    With `shortest`, files of the same name in different folders are cut to the shortest of them. With `uniform` they
    get the largest size, rates and number of channels among them, and one way of encoding. Files that the same recipe
    made are kept, and a file that cannot be prepared does not stop the others.
    """
    problems = list(_bad_options(codec, crf, height, fps, loudness, rate, channels))
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
    encoding = EncodingTarget(
        codec,
        _CRF[codec] if crf is None else crf,
        height,
        None if fps is None else exact_rate(fps),
        None if loudness is None else float(loudness),
        rate,
        channels,
        trim,
        uniform,
    )
    limits = _shortest_lengths(media_files, trim) if shortest else {}
    notes = left_out(named, without=out)
    common = _common_targets(media_files, encoding) if uniform else {}
    jobs = [
        _job(file, targets[file.path], common.get(file.path, encoding), limits.get(file.path), notes)
        for file in media_files
    ]
    return run_jobs(jobs, out, _sorted_notes(notes), progress)


def _shortest_lengths(files: Iterable[MediaFile], trim: bool) -> dict[Path, float]:
    """Return the seconds that each sound and video is cut to: those of the shortest of its name, in any folder."""
    named: dict[tuple[str, Medium], dict[Path, int]] = {}
    for file in files:
        if file.medium in ("audio", "video") and not needs_conversion(file.path):
            try:
                probe = measure(file.path, str(file.path), file.medium).probe
            except StimuliError:
                continue  # told when it is made
            cut = probe.silence_before_ms + probe.silence_after_ms if trim and file.medium == "audio" else 0
            length_ms = probe.duration_ms if probe.is_silent else probe.duration_ms - cut
            named.setdefault((file.place.stem, file.medium), {})[file.path] = length_ms
    return {path: min(lengths.values()) / 1000 for lengths in named.values() for path in lengths}


def _common_targets(files: Iterable[MediaFile], encoding: EncodingTarget) -> dict[Path, EncodingTarget]:
    """Return the target of each sound and video: what is not set is that of the largest of its name, in any folder."""
    named: dict[tuple[str, Medium], dict[Path, Probe]] = {}
    for file in files:
        if file.medium in ("audio", "video") and not needs_conversion(file.path):
            try:
                probe = measure(file.path, str(file.path), file.medium).probe
            except StimuliError:
                continue  # told when it is made
            named.setdefault((file.place.stem, file.medium), {})[file.path] = probe
    targets = {}
    for (_, medium), probes in named.items():
        height = max(probe.height for probe in probes.values()) // 2 * 2
        heard = [probe for probe in probes.values() if probe.channels]
        changes: dict[str, Any] = {}
        if medium == "video":
            changes["height"] = encoding.height or height
            changes["rate"] = encoding.rate or exact_rate(max(probe.fps for probe in probes.values()))
        if heard:
            changes["sample_rate"] = encoding.sample_rate or max(probe.sample_rate for probe in heard)
            changes["channels"] = encoding.channels or min(2, max(probe.channels for probe in heard))
        targets.update(dict.fromkeys(probes, replace(encoding, **changes)))
    return targets


def _bad_options(
    codec: _Codec,
    crf: int | None,
    height: int | None,
    fps: float | None,
    loudness: float | None,
    rate: int | None,
    channels: int | None,
) -> Iterator[Problem]:
    if crf is not None and not 1 <= crf <= _COARSEST[codec]:
        yield Problem("--crf", f"is {crf}", f"1 to {_COARSEST[codec]}; less is finer, as {_CRF[codec]}")
    if height is not None and (height % 2 or not 16 <= height <= 4320):
        yield Problem("--height", f"is {height}", "an even number of lines from 16 to 4320, as 1080")
    if fps is not None and not 1 <= fps <= 240:
        yield Problem("--fps", f"is {fps:g}", "1 to 240 frames a second, as 30")
    if loudness is not None and not -60 <= loudness <= -5:
        yield Problem("--loudness", f"is {loudness:g}", "-60 to -5 LUFS, as -23")
    if rate is not None and not 8000 <= rate <= 192_000:
        yield Problem("--rate", f"is {rate}", "8000 to 192000 samples a second, as 48000", _FPS_HINT * (rate <= 240))
    if channels is not None and channels not in (1, 2):
        yield Problem("--channels", f"is {channels}", "1 or 2")


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


def _job(
    file: MediaFile, target: Path, encoding: EncodingTarget, seconds: float | None, notes: list[str]
) -> WorkshopJob:
    path, medium = file.path, file.medium
    settings: tuple[object, ...] = ()
    # Settings that came later stand in a recipe only where they are used: files made earlier are known by theirs.
    later = (*encoding.sound_filters, *((seconds,) if seconds is not None else ()))
    later = (*later, *(("uniform",) if encoding.uniform and medium == "video" else ()))
    if medium == "video":
        settings = (encoding.recipe_text(), *later)
    elif medium == "audio":
        later = (*later, *(("trim",) if encoding.trim else ()))
        settings = (encoding.loudness, *later)
    elif medium == "image" and encoding.height is not None:
        settings = (encoding.height,)

    def make(threads: int) -> None:
        if medium == "video":
            notes.extend(_reencode(path, target, encoding, seconds, threads))
        elif medium == "audio" and (encoding.loudness is not None or later):
            notes.extend(_write_sound(path, target, encoding, seconds))
        elif medium == "text":
            notes.extend(_write_utf8(path, target))
        elif medium == "image" and encoding.height is not None:
            notes.extend(_write_scaled(path, target, encoding.height))
        else:
            write_copy(path, target, measure(path, str(path), medium), str(path), medium)

    return WorkshopJob(target, recipe_of((_RECIPE, medium, *settings), (path,)), make)


def _write_sound(path: Path, target: Path, encoding: EncodingTarget, seconds: float | None) -> list[str]:
    """Write a sound as WAV with this rate, channels, length and loudness, and return notes about it."""
    measured = measure(path, str(path), "audio")
    filters = [*_cut_filters(measured.probe, encoding.trim, seconds), *encoding.sound_filters]
    gain = LoudnessGain()
    if encoding.loudness is not None:
        gain = gain_to_loudness(path, "audio", encoding.loudness, filters)
    part = target.with_name(f".{target.stem}.{uuid.uuid4().hex}.part")
    depth = "pcm_s24le" if measured.is_deep else "pcm_s16le"
    filters += gain.filters
    graph = ["-af", ",".join(filters)] if filters else []
    arguments = [*READ_AUDIO, "-i", file_argument(path), *graph, "-c:a", depth, *SOUND[1:], file_argument(part)]
    try:
        run = run_ffmpeg(["-v", "error", "-y", *arguments])
        if run.code != 0:
            raise StimuliError(Problem(str(path), f"cannot be prepared: ffmpeg says {run.error_line()}"))
        put_in_place(part, target)
    finally:
        part.unlink(missing_ok=True)
    return [f"{path}: {note}" for note in gain.notes]


def _cut_filters(probe: Probe, trim: bool, seconds: float | None) -> Iterator[str]:
    """Yield the filters that cut off silence at both ends, and then what is beyond so many seconds."""
    if trim and not probe.is_silent and probe.silence_before_ms + probe.silence_after_ms:
        end = (probe.duration_ms - probe.silence_after_ms) / 1000
        yield f"atrim=start={probe.silence_before_ms / 1000}:end={end}"
        yield "asetpts=PTS-STARTPTS"
    if seconds is not None:
        yield f"atrim=end={seconds}"


def _write_scaled(path: Path, target: Path, height: int) -> list[str]:
    """Write a picture with so many lines and return notes about it."""
    from PIL import Image

    with tempfile.TemporaryDirectory(prefix="beholder-") as scratch:
        upright = Path(scratch) / f"upright{target.suffix}"
        write_copy(path, upright, measure(path, str(path), "image"), str(path), "image")
        with Image.open(upright) as image:
            before = image.size
            width = max(1, round(image.width * height / image.height))
            scaled = Path(scratch) / "scaled.png"
            image.resize((width, height), Image.Resampling.LANCZOS).save(scaled)
        write_copy(scaled, target, measure(scaled, str(path), "image"), str(path), "image")
    return [f"{path}: scaled from {before[0]}x{before[1]} to {width}x{height}."] if before[1] != height else []


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


def _reencode(path: Path, target: Path, encoding: EncodingTarget, seconds: float | None, threads: int) -> list[str]:
    """Write a video for browsers, completely or not at all, and return notes about it."""
    part = target.with_name(f".{target.stem}.{uuid.uuid4().hex}.part")
    try:
        with tempfile.TemporaryDirectory(prefix="beholder-") as scratch:
            source = _remux(path, Path(scratch)) if needs_conversion(path) else path
            clip = read_clip(source, "prepared", str(path))
            timing = cadence(source, clip.rate)
            gain = LoudnessGain()
            if clip.has_sound and encoding.loudness is not None:
                gain = gain_to_loudness(source, "video", encoding.loudness, encoding.sound_filters)
            is_interlaced = _INTERLACED.search(run_ffmpeg([*READ_VIDEO, "-i", file_argument(source)]).log) is not None
            size = _size(clip, encoding)
            graph = _graph(clip, timing, encoding, size, is_interlaced)
            sound = _audio_arguments(source, encoding, gain, str(path)) if clip.has_sound else []
            length = [] if seconds is None else ["-t", f"{seconds}"]
            run = run_ffmpeg(
                [
                    "-v", "error", "-y", *READ_VIDEO, "-i", file_argument(source), "-map", "0:V:0",
                    "-vf", graph, *sound, *length,
                    *_encoding(clip, encoding.rate or timing.rate, encoding, threads), file_argument(part),
                ]
            )  # fmt: skip
            if run.code != 0:
                raise StimuliError(Problem(str(path), f"cannot be prepared: ffmpeg says {run.error_line()}"))
            end = timing.end if seconds is None else min(timing.end, Fraction(seconds))
            _read_back(part, end * (encoding.rate or timing.rate), str(path))
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


def _audio_arguments(source: Path, encoding: EncodingTarget, gain: LoudnessGain, where: str) -> list[str]:
    channels = encoding.channels or measure(source, where, "video").probe.channels
    changes = (*encoding.sound_filters, *gain.filters)
    filters = ",".join([*changes, f"aresample=async=1:first_pts=0,aformat={_RATES}"])
    name = "aac" if encoding.codec == "h264" else "libopus"
    return ["-map", "0:a:0", "-af", filters, "-c:a", name, "-b:a", f"{_BITS_A_CHANNEL * channels}k"]


def _encoding(clip: Clip, rate: Fraction, encoding: EncodingTarget, threads: int) -> list[str]:
    """Return the encoder's options: a constant quality and a key frame every second, as the P.910 crowd study had."""
    common = ["-r", str(rate), "-g", str(max(1, round(rate))), "-crf", str(encoding.crf), "-pix_fmt", "yuv420p"]
    common += [*colour_tags(clip.matrix, False), "-threads", str(threads)]
    if encoding.codec == "h264":
        # More than four references are beyond level 4.1 at 1080 lines, and so beyond many hardware decoders.
        # x264 else sets B-frames and weights by what it sees, and a profile by what it used.
        fixed = _UNIFORM if encoding.uniform else ()
        return ["-c:v", "libx264", "-preset", "slow", "-refs", "4", "-sc_threshold", "0", *fixed, *common, *MP4_OUTPUT]
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


def _read_back(part: Path, frames: Fraction, where: str) -> None:
    measured: Measurement = measure(part, where, "video")
    problem = playback_problem(measured, where)
    if problem is not None:
        raise StimuliError(problem)
    if abs(measured.frames - frames) > 1.5:
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
