"""A card over the middle of a video: the same frames at the same times in the same codec, and sound that is copied."""

from __future__ import annotations

import math
import re
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from beholder.errors import Problem, StimuliError
from beholder.formats import plain_count
from beholder.stimuli.copies import put_in_place
from beholder.stimuli.ffmpeg import feed_ffmpeg, file_argument, run_ffmpeg
from beholder.stimuli.messages.card import MessageCard, draw_card
from beholder.stimuli.messages.message import Message
from beholder.stimuli.probe import measure
from beholder.stimuli.streams import Measurement, blank_vorbis_comment
from beholder.stimuli.text import words_in
from beholder.stimuli.video import READ_VIDEO, video_format, video_playback_problem

_MIN_FRAMES = 3
"""One before the message, one with it, one after it."""

_OVERLAY_FORMATS = {
    "yuv420p": "yuv420", "yuvj420p": "yuv420", "yuv420p10le": "yuv420p10", "yuv422p": "yuv422",
    "yuv422p10le": "yuv422p10", "yuv444p": "yuv444", "gbrp": "gbrp",
}  # fmt: skip
"""Pixel formats that a card can be laid over without a conversion, and what the filter calls them."""
_BRIGHTNESS = {"smpte2084": 0.58, "arib-std-b67": 0.75}
"""The level of white on paper where the brightest is far brighter (ITU-R BT.2408)."""
_TIMES = ("-fps_mode", "passthrough", "-enc_time_base", "demux")
_PREPARE = "Re-encode it with beholder media prepare."
_SHORTEST_S, _WORDS_A_SECOND, _LOOK_S = 2.0, 2.5, 1.0
_SIZE = re.compile(r"^#dimensions 0: (\d+)x(\d+)$", re.MULTILINE)
_ASPECT = re.compile(r"^#sar 0: (\d+)/(\d+)$", re.MULTILINE)
_BASE = re.compile(r"^#tb 0: (\d+/\d+)$", re.MULTILINE)
_FULL = re.compile(r": Video: .*?, \w+\((?:[^)]*, )?pc\b")
_RATIO = re.compile(r"\bpsnr_avg:(inf|[0-9.]+)")


@dataclass(frozen=True)
class _Clip:
    """A video as it is decoded."""

    path: Path
    measured: Measurement
    width: int
    height: int
    pixel_aspect: float
    brightness: float
    times: tuple[Fraction, ...]
    """When each frame begins, and when the last one ends, in seconds."""
    is_full_range: bool

    @property
    def frames(self) -> int:
        return len(self.times) - 1


def overlay_card(source: Path, target: Path, message: Message, where: str, threads: int) -> None:
    """Write a video with a card over its middle, completely or not at all."""
    clip = _read_clip(source, where)
    card = draw_card(
        message.words, clip.width, clip.height, where, pixel_aspect=clip.pixel_aspect, brightness=clip.brightness
    )
    during = message_frames(clip.times, words_in(message.words))
    part = target.with_name(f".{target.stem}.{uuid.uuid4().hex}.part")

    def write(quality: Sequence[str]) -> None:
        picture = card.image.tobytes()
        run = feed_ffmpeg(
            [*_overlay_arguments(clip, card, during), *quality, *_output_arguments(clip, threads), file_argument(part)],
            [picture],
        )
        if run.code != 0:
            raise StimuliError(Problem(where, f"cannot take a message: ffmpeg says {run.error_line()}"))

    try:
        is_like = _refine(_ENCODERS[clip.measured.probe.codec], write, lambda: _frame_psnr(clip, part, card, during))
        if not is_like or measure(part, where, "video").frames != clip.frames:
            raise StimuliError(Problem(where, "cannot take a message: the rest would not stay as it is", "", _PREPARE))
        if clip.measured.probe.audio_codec == "vorbis":
            blank_vorbis_comment(part)
        put_in_place(part, target)
    finally:
        part.unlink(missing_ok=True)


def message_frames(times: Sequence[Fraction], words: int) -> range:
    """Return the frames that show a message of this many words, from the start of each frame and the end of the last.

    They last as long as reading takes, from two seconds on, and half of the clip at most.
    """
    frames = len(times) - 1
    seconds = min(float(times[-1] - times[0]) / 2, max(_SHORTEST_S, _LOOK_S + words / _WORDS_A_SECOND))
    middle = (times[0] + times[-1]) / 2
    inside = [
        place for place in range(1, frames - 1) if abs((times[place] + times[place + 1]) / 2 - middle) <= seconds / 2
    ]
    return range(inside[0], inside[-1] + 1) if inside else range(frames // 2, frames // 2 + 1)


def _read_clip(path: Path, where: str) -> _Clip:
    """Return how a video is decoded, or raise StimuliError where no card can be laid over it."""
    measured = measure(path, where, "video")
    problem = video_playback_problem(measured, where)
    if problem is None and measured.pixels not in _OVERLAY_FORMATS:
        what = f"is {measured.probe.codec.upper()} in {measured.pixels}, which no message can be laid over"
        problem = Problem(where, what, ", ".join(_OVERLAY_FORMATS), _PREPARE)
    if problem is not None:
        raise StimuliError(problem)
    run = run_ffmpeg([*READ_VIDEO, "-i", file_argument(path), "-map", "0:V:0", *_TIMES, "-f", "framecrc", "pipe:1"])
    listing = run.out.decode("ascii", "replace")
    size, aspect, base = (pattern.search(listing) for pattern in (_SIZE, _ASPECT, _BASE))
    rows = [[int(cell) for cell in line.split(",")[2:4]] for line in listing.splitlines() if line and line[0] != "#"]
    if run.code != 0 or size is None or base is None or len(rows) < _MIN_FRAMES:
        what = f"has {plain_count(len(rows), 'frame')}, too few for a message between others"
        raise StimuliError(Problem(where, what, f"{_MIN_FRAMES} frames or more"))
    shown = [begin for begin, _ in rows]
    last = rows[-1][1] or round((shown[-1] - shown[0]) / (len(rows) - 1))
    width, height = int(size[1]), int(size[2])
    if measured.probe.codec == "h264" and (width % 2 or height % 2):
        fix = "Cut or pad it by one line or column."
        raise StimuliError(Problem(where, f"is {width}x{height}", "even numbers of pixels", fix))
    return _Clip(
        path=path,
        measured=measured,
        width=width,
        height=height,
        pixel_aspect=int(aspect[1]) / int(aspect[2]) if aspect and int(aspect[1]) and int(aspect[2]) else 1.0,
        brightness=next((level for name, level in _BRIGHTNESS.items() if name in run.log), 1.0),
        is_full_range=measured.pixels.startswith("yuvj") or _FULL.search(run.log) is not None,
        times=tuple(time * Fraction(base[1]) for time in (*shown, shown[-1] + last)),
    )


def _overlay_arguments(clip: _Clip, card: MessageCard, during: range) -> list[str]:
    """Return the arguments that lay a card on the standard input over a clip."""
    levels = "pc" if clip.is_full_range else "tv"
    graph = f"[1:v]scale=in_range=pc:out_range={levels}[card];[0:V:0][card]{_overlay_filter(clip, card, during)}[v]"
    return [
        "-v", "error", "-y", *READ_VIDEO, "-i", file_argument(clip.path),
        "-f", "rawvideo", "-pix_fmt", "rgba", "-s", f"{card.width}x{card.height}", "-i", "pipe:0",
        "-filter_complex", graph, "-map", "[v]", "-map", "0:a:0?",
    ]  # fmt: skip


def _overlay_filter(clip: _Clip, card: MessageCard, during: range) -> str:
    """Return the filter that lays something over the place of the card while it is shown."""
    begin, end = ((clip.times[place - 1] + clip.times[place]) / 2 for place in (during.start, during.stop))
    return (
        f"overlay=x={card.left}:y={card.top}:format={_OVERLAY_FORMATS[clip.measured.pixels]}"
        f":enable='between(t,{float(begin):.6f},{float(end):.6f})'"
    )


def _output_arguments(clip: _Clip, threads: int) -> list[str]:
    """Return the output arguments: original frame times, no metadata."""
    served = video_format(clip.measured.probe)
    # A blank, for with nothing at all ffmpeg would write its own name.
    unnamed = ("-metadata:s:v:0", "encoder= ") if served.format == "mp4" else ()
    return [
        "-pix_fmt", clip.measured.pixels, *_TIMES, "-threads", str(threads), "-c:a", "copy", "-dn", "-sn",
        "-map_metadata", "-1", "-map_chapters", "-1", "-fflags", "+bitexact", "-flags:v", "+bitexact",
        "-flags:a", "+bitexact", *unnamed, *served.arguments, "-f", served.format,
    ]  # fmt: skip


def _frame_psnr(clip: _Clip, part: Path, card: MessageCard, during: range) -> list[float]:
    """Return the PSNR of each frame of the copy outside the card, in decibels."""
    black = f"color=c=black:s={card.width}x{card.height}:r=1:d=1"
    over, count = _overlay_filter(clip, card, during), "settb=1/25,setpts=N"
    run = run_ffmpeg(
        [
            "-v", "error", *READ_VIDEO, "-i", file_argument(clip.path), *READ_VIDEO, "-i", file_argument(part),
            "-filter_complex",
            f"{black}[b0];{black}[b1];[0:V:0][b0]{over},{count}[old];[1:V:0][b1]{over},{count}[new];"
            "[old][new]psnr=stats_file=-:eof_action=endall[v]",
            "-map", "[v]", "-fps_mode", "passthrough", "-f", "null", "-",
        ]
    )  # fmt: skip
    ratios = [float(ratio) for ratio in _RATIO.findall(run.out.decode("ascii", "replace"))]
    pixels = clip.width * clip.height
    # Under the card both are black: the error there is none, and is not to count.
    left = 10 * math.log10(max(1, pixels - card.width * card.height) / pixels)
    return [ratio + left if place in during else ratio for place, ratio in enumerate(ratios)]


# Encoding

_MIN_PSNR_DB, _MIN_FRAME_PSNR_DB = 42.0, 40.5
"""Peak signal-to-noise ratio of all that should not change, together and in its worst frame."""
_MAX_STEP_DB = 30.0


@dataclass(frozen=True)
class _Encoder:
    """How a codec is written: its settings, the qualities to try, and how many steps of them make a decibel."""

    settings: tuple[str, ...]
    option: tuple[str, ...]
    """What the number of the quality is given to."""
    coarse: int
    fine: int
    a_decibel: float

    def at(self, quality: int) -> list[str]:
        """Return the arguments of ffmpeg for a quality."""
        return [*self.settings, *(word for option in self.option for word in (option, str(quality)))]


_ENCODERS: Mapping[str, _Encoder] = {
    "h264": _Encoder(
        # Units of type 6 hold user data: x264 writes its version and every setting there.
        ("-c:v", "libx264", "-preset", "medium", "-bsf:v", "filter_units=remove_types=6"),
        ("-crf",), 26, 1, 1.1,
    ),
    # A hidden frame of VP8 would be a packet of its own, and count as a picture.
    "vp8": _Encoder(
        ("-c:v", "libvpx", "-deadline", "good", "-cpu-used", "2", "-auto-alt-ref", "0", "-b:v", "1G"),
        ("-qmin", "-qmax"), 30, 0, 2.5,
    ),
    "vp9": _Encoder(
        ("-c:v", "libvpx-vp9", "-deadline", "good", "-cpu-used", "4", "-row-mt", "1", "-b:v", "0"),
        ("-crf",), 36, 2, 2.5,
    ),
    "av1": _Encoder(("-c:v", "libaom-av1", "-cpu-used", "8", "-row-mt", "1", "-b:v", "0"), ("-crf",), 36, 2, 2.5),
}  # fmt: skip


def _refine(encoder: _Encoder, write: Callable[[Sequence[str]], None], likeness: Callable[[], Sequence[float]]) -> bool:
    """Encode with finer and finer quality until the copy is close enough; return whether it is.

    `likeness` returns the PSNR of each frame in decibels.
    """
    quality = encoder.coarse
    while True:
        write(encoder.at(quality))
        lacking = _missing_db(likeness())
        if lacking <= 0 or quality <= encoder.fine:
            return lacking <= 0
        quality = max(encoder.fine, quality - max(1, round(min(lacking, _MAX_STEP_DB) * encoder.a_decibel)))


def _missing_db(frames: Sequence[float]) -> float:
    """Return how many decibels are missing; infinity where no frame could be compared."""
    if not frames:
        return math.inf
    error = sum(10 ** (-ratio / 10) for ratio in frames) / len(frames)
    together = -10 * math.log10(error) if error > 0 else math.inf
    return max(_MIN_PSNR_DB - together, _MIN_FRAME_PSNR_DB - min(frames))
