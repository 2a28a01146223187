"""A spoken message: words laid over the middle of a sound, or of the sound of a video whose pictures are copied."""

from __future__ import annotations

import math
import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from beholder.errors import Problem, StimuliError
from beholder.stimuli.anchors import read_sound, write_wav
from beholder.stimuli.clip import READ, clip_format, measure_clip, unplayable_clip
from beholder.stimuli.ffmpeg import feed_ffmpeg, file_argument, run_ffmpeg
from beholder.stimuli.loudness import hear
from beholder.stimuli.measured import Measured
from beholder.stimuli.messages.message import Message
from beholder.stimuli.messages.mixing import FAINT_LUFS, LARGEST_SHARE, TOLERANCE_DB, Mixed, lay_over
from beholder.stimuli.messages.voice import FASTEST, WORDS_PER_MINUTE, Speech, speak
from beholder.stimuli.stripping import put_in_place
from beholder.types import Medium

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_FASTER = 20
_ATTEMPTS = 3
_APART_S = 0.03
"""Containers that write milliseconds count what an encoder puts before the first sample, or do not."""
_START = re.compile(r"^\s*Duration: .*?, start: (-?[0-9.]+)", re.MULTILINE)
_DECODED = re.compile(r"Audio: pcm_f64le.*?, (\d+) Hz")
_ENCODERS: Mapping[str, tuple[str, ...]] = {
    "aac": ("aac", "-b:a", "256k"),
    "flac": ("flac",),
    "mp3": ("libmp3lame", "-q:a", "0"),
    "opus": ("libopus", "-b:a", "256k"),
    "vorbis": ("libvorbis", "-q:a", "8"),
}
"""Every codec of sound that browsers play with pictures, so fine that nobody hears that it was used twice."""


def put_voice(source: Path, target: Path, medium: Medium, message: Message, where: str = "", threads: int = 1) -> None:
    """Write a copy of a sound or a video in whose middle the message is spoken, whole or not at all.

    Of a sound, rate, channels, depth and length stay, and all samples outside the message. Of a video, every picture is
    copied as it is; its sound is encoded again with its own codec.
    """
    place = where or str(source)
    if medium == "audio":
        sound = read_sound(source, place)
        # What a lossy codec decodes to may lie beyond full scale; the copy that participants get of it does not.
        voiced = _with_voice(sound.samples.clip(-1, 1), sound.rate, message, place)
        write_wav(target, voiced.samples, sound.rate, sound.bits)
    else:
        _put_in_video(source, target, message, place, threads)


def _with_voice(samples: NDArray[np.float64], rate: int, message: Message, where: str) -> Mixed:
    return lay_over(samples, rate, _speak_within(message, len(samples) / rate, where), where)


def _speak_within(message: Message, seconds: float, where: str) -> Speech:
    """Return the message as slowly as a sound of this length allows."""
    for words_per_minute in range(WORDS_PER_MINUTE, FASTEST + 1, _FASTER):
        speech = speak(message.words, message.language, words_per_minute=words_per_minute, where=where)
        if speech.seconds <= LARGEST_SHARE * seconds:
            return speech
    needed = math.ceil(10 * speech.seconds / LARGEST_SHARE) / 10
    raise StimuliError(
        Problem(
            where,
            f"lasts {seconds:.1f} s, too short for a message that takes {speech.seconds:.1f} s to say",
            f"{needed:.1f} s or more",
            "Choose a longer clip or fewer words.",
        )
    )


def _put_in_video(source: Path, target: Path, message: Message, where: str, threads: int) -> None:
    if not source.is_file():
        raise StimuliError(Problem(where, "does not exist", fix="Look for a slip in the name."))
    measured = measure_clip(source, where)
    problem = unplayable_clip(measured, where)
    if problem is None and not measured.probe.audio_codec:
        problem = Problem(where, "has no sound to speak over", fix="Show the message as text, or add a sound track.")
    if problem is not None:
        raise StimuliError(problem)
    track = _read_track(source, measured)
    voiced = _with_voice(track.samples, track.rate, message, where).samples
    part = target.with_name(f".{target.stem}.{uuid.uuid4().hex}.part")
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        for _ in range(_ATTEMPTS):
            _encode(source, part, measured, replace(track, samples=voiced), where, threads)
            excess = measure_clip(part, where).probe.duration_ms - measured.probe.duration_ms
            if excess <= 0:
                break
            # An encoder fills its last packet up, and a decoder gives that back: it must not add up.
            voiced = voiced[: -math.ceil(excess * track.rate / 1000)]
        _compare(source, part, measured, where)
        put_in_place(part, target)
    finally:
        part.unlink(missing_ok=True)


@dataclass(frozen=True, eq=False)
class _Track:
    """The sound of a video from the beginning of its clock on."""

    samples: NDArray[np.float64]
    rate: int
    clock: tuple[str, ...]
    """How ffmpeg has to take the times of the video: as they are where sound begins before zero, so that no picture
    moves; otherwise from its first moment on."""


def _read_track(source: Path, measured: Measured) -> _Track:
    import numpy as np

    start = _START.search(run_ffmpeg([*READ, "-i", file_argument(source)]).log)
    clock = ("-copyts",) if start is not None and float(start[1]) < 0 else ()
    ran = run_ffmpeg(
        [
            *clock, *READ, "-i", file_argument(source), "-map", "0:a:0", "-af", "aresample=async=1:first_pts=0",
            "-c:a", "pcm_f64le", "-f", "f64le", "pipe:1",
        ]
    )  # fmt: skip
    found = _DECODED.search(ran.log)
    assert found is not None, ran.log
    return _Track(np.frombuffer(ran.out, dtype="<f8").reshape(-1, measured.probe.channels), int(found[1]), clock)


def _encode(source: Path, part: Path, measured: Measured, track: _Track, where: str, threads: int) -> None:
    """Write the old pictures with the new sound."""
    served = clip_format(measured.probe)
    arguments = [
        "-v", "error", "-y", *track.clock, *READ, "-i", file_argument(source),
        "-f", "f64le", "-ar", str(track.rate), "-ac", str(measured.probe.channels), "-i", "pipe:0",
        "-map", "0:V:0", "-map", "1:a:0", "-c:v", "copy", "-c:a", *_ENCODERS[measured.probe.audio_codec],
        "-threads", str(threads), "-map_metadata", "-1", "-map_chapters", "-1",
        "-fflags", "+bitexact", "-flags:v", "+bitexact", "-flags:a", "+bitexact",
        *(("-movflags", "+faststart", "-write_tmcd", "0") if served.format == "mp4" else ()),
        "-f", served.format, file_argument(part),
    ]  # fmt: skip
    ran = feed_ffmpeg(arguments, [track.samples.astype("<f8").tobytes()])
    if ran.code != 0:
        raise StimuliError(Problem(where, f"cannot be given a voice: ffmpeg says {ran.last_words()}"))


def _compare(source: Path, part: Path, measured: Measured, where: str) -> None:
    """Raise StimuliError where what was written does not last as long as its source, or is not as loud."""
    again = measure_clip(part, where)
    apart_s = abs(again.probe.duration_ms - measured.probe.duration_ms) / 1000
    if again.frames != measured.frames or apart_s > max(_APART_S, 1 / measured.probe.fps):
        fix = "Re-encode it, for example with beholder media prepare."
        raise StimuliError(Problem(where, "cannot be given a voice: the copy does not last as long", fix=fix))
    before, after = hear(source, "video").lufs, hear(part, "video").lufs
    if before is None or after is None:
        return  # too short to have a loudness
    if before > FAINT_LUFS and abs(after - before) > TOLERANCE_DB:
        what = f"cannot be given a voice: its sound would be {abs(after - before):.1f} dB louder or softer"
        raise StimuliError(Problem(where, what, f"{TOLERANCE_DB:g} dB"))
