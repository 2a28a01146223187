"""Videos encoded again so that every browser plays them: upright, square pixels, equal frames, 4:2:0, no metadata."""

from __future__ import annotations

import re
import tempfile
import uuid
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Literal

from beholder.errors import Problem, StimuliError
from beholder.stimuli.ffmpeg import file_argument, run_ffmpeg
from beholder.stimuli.measured import Measured, unreadable
from beholder.stimuli.probe import READ, measure, unplayable
from beholder.stimuli.stripping import put_in_place
from beholder.stimuli.workshop.cadence import Cadence, cadence
from beholder.stimuli.workshop.encoding import MP4, UNNAMED, colour_range, colour_tags
from beholder.stimuli.workshop.frames import Clip, look
from beholder.stimuli.workshop.levelling import Levelled, level
from beholder.stimuli.workshop.walking import is_rare

Codec = Literal["h264", "vp9"]
SUFFIXES: dict[Codec, str] = {"h264": ".mp4", "vp9": ".webm"}

_FIELDS = re.compile(r": Video: .*\b(?:top|bottom) (?:coded )?first")
_RARE = ("-format_whitelist", "avi,mpeg,mpegts,mpegvideo,asf,flv,yuv4mpegpipe", "-protocol_whitelist", "file")
_RATES = "sample_rates=48000|44100|32000|24000|22050|16000|12000|11025|8000"
"""Above these some browsers are silent."""
_BITS_A_CHANNEL = 128


@dataclass(frozen=True)
class Wanted:
    """How videos are to be encoded; None leaves what they have."""

    codec: Codec
    crf: int
    height: int | None = None
    rate: Fraction | None = None
    loudness: float | None = None


def reencode(path: Path, target: Path, wanted: Wanted, threads: int) -> list[str]:
    """Write a video for browsers, whole or not at all; return what is worth knowing about it."""
    part = target.with_name(f".{target.stem}.{uuid.uuid4().hex}.part")
    try:
        with tempfile.TemporaryDirectory(prefix="beholder-") as scratch:
            source = _wrapped(path, Path(scratch)) if is_rare(path) else path
            clip = look(source, "prepared", str(path))
            pace = cadence(source, clip.rate)
            levelled = Levelled()
            if clip.has_sound and wanted.loudness is not None:
                levelled = level(source, "video", wanted.loudness)
            is_interlaced = _FIELDS.search(run_ffmpeg([*READ, "-i", file_argument(source)]).log) is not None
            size = _size(clip, wanted)
            graph = _graph(clip, pace, wanted, size, is_interlaced)
            sound = _sound(source, wanted.codec, levelled, str(path)) if clip.has_sound else []
            ran = run_ffmpeg(
                [
                    "-v", "error", "-y", *READ, "-i", file_argument(source), "-map", "0:V:0", "-vf", graph, *sound,
                    *_encoding(clip, wanted.rate or pace.rate, wanted, threads), file_argument(part),
                ]
            )  # fmt: skip
            if ran.code != 0:
                raise StimuliError(Problem(str(path), f"cannot be prepared: ffmpeg says {ran.last_words()}"))
            _read_back(part, pace, wanted, str(path))
            put_in_place(part, target)
    finally:
        part.unlink(missing_ok=True)
    return [f"{path}: {note}" for note in (*_notes(clip, pace, wanted, size, is_interlaced), *levelled.notes)]


def _wrapped(path: Path, scratch: Path) -> Path:
    """Return the streams of a rare container in one that is read everywhere here."""
    wrapped = scratch / "wrapped.mkv"
    ran = run_ffmpeg(
        [
            "-v", "error", *_RARE, "-fflags", "+genpts", "-i", file_argument(path), "-map", "0:V:0", "-map", "0:a:0?",
            "-c", "copy", "-allow_raw_vfw", "1", file_argument(wrapped),
        ]
    )  # fmt: skip
    if ran.code != 0:
        raise unreadable(str(path), "video", f"ffmpeg says {ran.last_words()}")
    return wrapped


def _size(clip: Clip, wanted: Wanted) -> tuple[int, int]:
    """Return an even width and height: as asked, or as it is without the last line or column."""
    if wanted.height is None:
        return max(2, clip.width // 2 * 2), max(2, clip.height // 2 * 2)
    return max(2, 2 * round(clip.width * wanted.height / clip.height / 2)), wanted.height


def _graph(clip: Clip, pace: Cadence, wanted: Wanted, size: tuple[int, int], is_interlaced: bool) -> str:
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


def _sound(source: Path, codec: Codec, levelled: Levelled, where: str) -> list[str]:
    channels = measure(source, where, "video").probe.channels
    filters = ",".join([*levelled.filters, f"aresample=async=1:first_pts=0,aformat={_RATES}"])
    name = "aac" if codec == "h264" else "libopus"
    return ["-map", "0:a:0", "-af", filters, "-c:a", name, "-b:a", f"{_BITS_A_CHANNEL * channels}k"]


def _encoding(clip: Clip, rate: Fraction, wanted: Wanted, threads: int) -> list[str]:
    """Return the encoder's options: a constant quality and a key frame every second, as the P.910 crowd study had."""
    common = ["-r", str(rate), "-g", str(max(1, round(rate))), "-crf", str(wanted.crf), "-pix_fmt", "yuv420p"]
    common += [*colour_tags(clip.matrix, False), "-threads", str(threads)]
    if wanted.codec == "h264":
        # More than four references are beyond level 4.1 at 1080 lines, and so beyond many hardware decoders.
        return ["-c:v", "libx264", "-preset", "slow", "-refs", "4", "-sc_threshold", "0", *common, *MP4]
    return ["-c:v", "libvpx-vp9", "-b:v", "0", "-deadline", "good", "-cpu-used", "2", *common, *UNNAMED, "-f", "webm"]


def _read_back(part: Path, pace: Cadence, wanted: Wanted, where: str) -> None:
    made: Measured = measure(part, where, "video")
    problem = unplayable(made, where)
    if problem is not None:
        raise StimuliError(problem)
    rate = wanted.rate or pace.rate
    if abs(made.frames - pace.end * rate) > 1.5:
        what = "cannot be prepared: not all of its frames can be decoded"
        raise StimuliError(Problem(where, what, "", "Export it again."))


def _notes(clip: Clip, pace: Cadence, wanted: Wanted, size: tuple[int, int], is_interlaced: bool) -> list[str]:
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
