"""Spoken messages, inserted into sounds and videos."""

from __future__ import annotations

import math
import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from beholder.errors import Problem, StimuliError
from beholder.stimuli.copies import put_in_place
from beholder.stimuli.ffmpeg import feed_ffmpeg, file_argument, run_ffmpeg
from beholder.stimuli.loudness import measure_loudness
from beholder.stimuli.messages.message import Message
from beholder.stimuli.messages.mixing import FAINT_LUFS, LARGEST_SHARE, TOLERANCE_DB, SpeechMix, mix_speech
from beholder.stimuli.messages.synthesis import installed_synthesis
from beholder.stimuli.pcm import read_sound, write_wav
from beholder.stimuli.streams import Measurement
from beholder.stimuli.video import READ_VIDEO, measure_video, video_format, video_playback_problem
from beholder.types import Medium

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


_WORDS_PER_MINUTE = 140
_MAX_WORDS_PER_MINUTE = 220
"""Words a minute; faster than this, numbers are no longer understood at first hearing."""

_LISTED_LANGUAGES = ("en", "de", "fr", "es", "it", "nl", "pl", "pt", "sv", "tr", "zh")

_SILENT_DB, _MARGIN_S = -45, 0.01


@dataclass(frozen=True, eq=False)
class Speech:
    """Spoken words: samples between -1 and 1 of one channel, without silence at either end."""

    samples: NDArray[np.float64]
    rate: int

    @property
    def seconds(self) -> float:
        return len(self.samples) / self.rate


def speak(words: str, language: str, *, words_per_minute: int = _WORDS_PER_MINUTE, where: str = "") -> Speech:
    """Return words as speech, or raise StimuliError naming `where`: the key or the file that asked for it."""
    import numpy as np

    problem = voice_problem(language, where)
    if problem is not None:
        raise StimuliError(problem)
    synthesis = installed_synthesis()
    try:
        samples = synthesis.samples(words, language, words_per_minute)
    except OSError as error:
        raise StimuliError(_not_started(where or "the message", error)) from None
    spoken = np.frombuffer(samples, dtype=np.int16) / 2**15
    trimmed = _trim(spoken, synthesis.rate)
    if not len(trimmed):
        raise StimuliError(Problem(where or "the message", "has no words that can be spoken", "letters or digits"))
    return Speech(trimmed, synthesis.rate)


def voice_problem(language: str, where: str = "") -> Problem | None:
    """Return why nothing can be spoken in a language here, None when it can."""
    where = where or "the message"
    try:
        synthesis = installed_synthesis()
    except ImportError:
        fix = "Run pip install 'beholder[voice]', or show the words as text."
        return Problem(where, "asks for a voice, and no speech synthesis is installed", fix=fix)
    except OSError as error:
        return _not_started(where, error)
    if synthesis.voice_of(language) is None:
        allowed = f"{', '.join(_LISTED_LANGUAGES)} and other codes of languages"
        return Problem(where, f"asks for a voice that speaks {language}, and there is none", allowed)
    return None


def _not_started(where: str, error: OSError) -> Problem:
    fix = "Install espeakng-loader again, in a folder with a short path, or show the words as text."
    return Problem(where, f"asks for a voice, and the speech synthesis cannot be started: {error}", fix=fix)


def _trim(samples: NDArray[np.float64], rate: int) -> NDArray[np.float64]:
    """Return samples without the silence before and after them."""
    import numpy as np

    loud = np.flatnonzero(np.abs(samples) > np.abs(samples).max(initial=0.0) * 10 ** (_SILENT_DB / 20))
    if not len(loud):
        return samples[:0]
    margin = round(_MARGIN_S * rate)
    return samples[max(0, loud[0] - margin) : loud[-1] + margin]


# Messages spoken over sounds and videos

_RATE_STEP = 20
_ATTEMPTS = 3
_DURATION_TOLERANCE_S = 0.03
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


def insert_speech(
    source: Path, target: Path, medium: Medium, message: Message, where: str = "", threads: int = 1
) -> None:
    """Write a copy of a sound or a video in whose middle the message is spoken, whole or not at all.

    Of a sound, rate, channels, depth and length stay, and all samples outside the message. Of a video, every picture is
    copied as it is; its sound is encoded again with its own codec.
    """
    place = where or str(source)
    if medium == "audio":
        sound = read_sound(source, place)
        # What a lossy codec decodes to may lie beyond full scale; the copy that participants get of it does not.
        voiced = _mix_message(sound.samples.clip(-1, 1), sound.rate, message, place)
        write_wav(target, voiced.samples, sound.rate, sound.bits)
    else:
        _insert_in_video(source, target, message, place, threads)


def _mix_message(samples: NDArray[np.float64], rate: int, message: Message, where: str) -> SpeechMix:
    return mix_speech(samples, rate, _speak_within(message, len(samples) / rate, where), where)


def _speak_within(message: Message, seconds: float, where: str) -> Speech:
    """Return the message as slowly as a sound of this length allows."""
    for words_per_minute in range(_WORDS_PER_MINUTE, _MAX_WORDS_PER_MINUTE + 1, _RATE_STEP):
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


def _insert_in_video(source: Path, target: Path, message: Message, where: str, threads: int) -> None:
    if not source.is_file():
        raise StimuliError(Problem(where, "does not exist", fix="Look for a slip in the name."))
    measured = measure_video(source, where)
    problem = video_playback_problem(measured, where)
    if problem is None and not measured.probe.audio_codec:
        problem = Problem(where, "has no sound to speak over", fix="Show the message as text, or add a sound track.")
    if problem is not None:
        raise StimuliError(problem)
    track = _read_track(source, measured)
    voiced = _mix_message(track.samples, track.rate, message, where).samples
    part = target.with_name(f".{target.stem}.{uuid.uuid4().hex}.part")
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        for _ in range(_ATTEMPTS):
            _encode(source, part, measured, replace(track, samples=voiced), where, threads)
            excess = measure_video(part, where).probe.duration_ms - measured.probe.duration_ms
            if excess <= 0:
                break
            # An encoder fills its last packet up, and a decoder gives that back: it must not add up.
            voiced = voiced[: -math.ceil(excess * track.rate / 1000)]
        _check_copy(source, part, measured, where)
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


def _read_track(source: Path, measured: Measurement) -> _Track:
    import numpy as np

    start = _START.search(run_ffmpeg([*READ_VIDEO, "-i", file_argument(source)]).log)
    clock = ("-copyts",) if start is not None and float(start[1]) < 0 else ()
    run = run_ffmpeg(
        [
            *clock, *READ_VIDEO, "-i", file_argument(source), "-map", "0:a:0", "-af", "aresample=async=1:first_pts=0",
            "-c:a", "pcm_f64le", "-f", "f64le", "pipe:1",
        ]
    )  # fmt: skip
    match = _DECODED.search(run.log)
    assert match is not None, run.log
    return _Track(np.frombuffer(run.out, dtype="<f8").reshape(-1, measured.probe.channels), int(match[1]), clock)


def _encode(source: Path, part: Path, measured: Measurement, track: _Track, where: str, threads: int) -> None:
    """Write the old pictures with the new sound."""
    served = video_format(measured.probe)
    arguments = [
        "-v", "error", "-y", *track.clock, *READ_VIDEO, "-i", file_argument(source),
        "-f", "f64le", "-ar", str(track.rate), "-ac", str(measured.probe.channels), "-i", "pipe:0",
        "-map", "0:V:0", "-map", "1:a:0", "-c:v", "copy", "-c:a", *_ENCODERS[measured.probe.audio_codec],
        "-threads", str(threads), "-map_metadata", "-1", "-map_chapters", "-1",
        "-fflags", "+bitexact", "-flags:v", "+bitexact", "-flags:a", "+bitexact",
        *(("-movflags", "+faststart", "-write_tmcd", "0") if served.format == "mp4" else ()),
        "-f", served.format, file_argument(part),
    ]  # fmt: skip
    run = feed_ffmpeg(arguments, [track.samples.astype("<f8").tobytes()])
    if run.code != 0:
        raise StimuliError(Problem(where, f"cannot be given a voice: ffmpeg says {run.error_line()}"))


def _check_copy(source: Path, part: Path, measured: Measurement, where: str) -> None:
    """Raise StimuliError where what was written does not last as long as its source, or is not as loud."""
    copy = measure_video(part, where)
    difference_s = abs(copy.probe.duration_ms - measured.probe.duration_ms) / 1000
    if copy.frames != measured.frames or difference_s > max(_DURATION_TOLERANCE_S, 1 / measured.probe.fps):
        fix = "Re-encode it, for example with beholder media prepare."
        raise StimuliError(Problem(where, "cannot be given a voice: the copy does not last as long", fix=fix))
    before, after = measure_loudness(source, "video").lufs, measure_loudness(part, "video").lufs
    if before is None or after is None:
        return  # too short to have a loudness
    if before > FAINT_LUFS and abs(after - before) > TOLERANCE_DB:
        what = f"cannot be given a voice: its sound would be {abs(after - before):.1f} dB louder or softer"
        raise StimuliError(Problem(where, what, f"{TOLERANCE_DB:g} dB"))
