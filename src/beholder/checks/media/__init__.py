"""media: the browser decodes the stimuli, and has full screen and sound where they are needed (reference: checks 3)."""

from __future__ import annotations

import io
import tempfile
import wave
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import ClassVar

from numpy.random import Generator
from pydantic import Field

from beholder.checks.contract import Verdict
from beholder.checks.page_contract import (
    Attempt,
    CheckContext,
    CheckTask,
    DrawnFile,
    PageCheck,
    RobotAbilities,
    read_flag,
)
from beholder.errors import StimuliError
from beholder.stimuli.media_formats import SERVED
from beholder.study.qualification import CheckOptions
from beholder.types import Json

SAMPLE = "sample"
_DROPPED = 0.05
_PLAYS = 3
"""How often the page plays the sample while too many frames are dropped."""
_NAMES = {
    "avc1": "H.264", "hvc1": "H.265", "vp8": "VP8", "vp9": "VP9", "vp09": "VP9", "av01": "AV1", "mp4a": "AAC",
    "mp3": "MP3", "opus": "Opus", "vorbis": "Vorbis", "flac": "FLAC", "1": "WAV",
}  # fmt: skip


class Media(PageCheck):
    name = "media"
    title = "Playback in the browser"
    summary = "Whether the browser plays what the study shows."
    reasons: ClassVar[Mapping[str, str]] = {
        "codec": "a codec is missing",
        "decode": "a sample would not play",
        "fullscreen": "no full screen",
        "sound": "no sound",
        "dropped": "many frames dropped",
    }
    decodes = True
    variants = ("fullscreen", "sound")
    stage = "device"
    order = 40
    scope = "device"
    seconds = 5
    is_of_device = True
    screens = 0

    class Options(CheckOptions):
        """Whether the browser decodes what the study shows, and can fill the screen where the study needs it."""

        attempts: int = Field(default=3, ge=1, le=20, description="How often it can be tried, also in another browser.")

    options: Options

    def pose(self, rng: Generator, context: CheckContext) -> CheckTask:
        needs = context.needs
        public: dict[str, Json] = {
            "codecs": list(needs.codecs), "medium": needs.medium, "plays": _PLAYS, "dropped": _DROPPED,
        }  # fmt: skip
        private: dict[str, Json] = {
            "codecs": list(needs.codecs), "medium": needs.medium, "fullscreen": needs.fullscreen, "sound": needs.sound,
            SAMPLE: list(needs.sample) if needs.sample else None,
        }  # fmt: skip
        has_sample = needs.sample is not None or needs.medium in ("audio", "image")
        return CheckTask(public, private, (SAMPLE,) if has_sample else ())

    def draw(self, private: Mapping[str, Json], name: str) -> DrawnFile:
        if private["medium"] == "audio":
            return sound()
        if private["medium"] == "image":
            return picture()
        recipe = private[SAMPLE]
        if name != SAMPLE or not isinstance(recipe, list | tuple):
            return super().draw(private, name)
        codec, container, width, height, fps = recipe
        assert isinstance(width, int)
        assert isinstance(height, int)
        assert isinstance(fps, int | float)
        return clip(str(codec), str(container), width, height, float(fps))

    def read(self, private: Mapping[str, Json], answer: Json) -> Mapping[str, Json]:
        assert isinstance(answer, Mapping)
        reported, codecs = answer.get("playable"), private["codecs"]
        assert isinstance(codecs, list | tuple)
        playable = reported if isinstance(reported, Mapping) else {}
        if set(playable) != set(codecs) or not all(isinstance(one, bool) for one in playable.values()):
            raise self.refuse("playable", "not_told_whether_playable", "true or false for each codec")
        return {
            "playable": {str(codec): playable[str(codec)] for codec in codecs},
            "fullscreen": read_flag(answer, "fullscreen"),
            "sound": read_flag(answer, "sound"),
            "decoded": read_flag(answer, "decoded"),
            "plays": self._read_plays(answer.get("plays")),
        }

    def _read_plays(self, value: Json) -> list[Json]:
        """Return the frames and dropped frames of each play of the sample."""
        plays = value if isinstance(value, list | tuple) else []
        if len(plays) > _PLAYS or not all(_is_play(play) for play in plays):
            raise self.refuse("plays", "no_frames", f"up to {_PLAYS} times [frames, dropped]")
        return [list(play) for play in plays if isinstance(play, list | tuple)]

    def judge(self, attempt: Attempt) -> Verdict:
        answer, private = attempt.answer, attempt.private
        playable, plays = answer["playable"], answer["plays"]
        assert isinstance(playable, Mapping)
        assert isinstance(plays, list | tuple)
        missing: list[Json] = [codec for codec, plays_it in playable.items() if not plays_it]
        needed = private["codecs"]
        if missing:
            return self.verdict("fail", "codec", measured=missing, needed=needed)
        for part in ("fullscreen", "sound"):
            if private[part] and answer[part] is False:
                return self.verdict("fail", part, measured=False, needed=True)
        if answer["decoded"] is False:
            return self.verdict("fail", "decode", measured=False, needed=needed)
        if private["medium"] != "video" or not private[SAMPLE]:
            return self.verdict("pass", needed=needed)
        shares = [_share(play) for play in plays]
        if not shares:
            return self.verdict("unknown", "frames", needed=needed)
        dropped = min(shares)
        if dropped <= _DROPPED:
            return self.verdict("pass", measured=dropped, needed=_DROPPED)
        if attempt.number < self.options.attempts:
            return self.verdict("unknown", "dropped", measured=dropped, needed=_DROPPED, again=True)
        return self.verdict("fail", "dropped", measured=dropped, needed=_DROPPED, action="flag")

    def message_values(self, verdict: Verdict) -> Mapping[str, str | float]:
        return {"what": codec_names(verdict.measured), "plays": codec_names(verdict.needed)}

    def respond(self, task: CheckTask, robot: RobotAbilities, rng: Generator) -> Json:
        codecs = task.private["codecs"]
        assert isinstance(codecs, list | tuple)
        plays: list[Json] = [[30, 0]]
        return {
            "playable": {str(codec): robot.can(self.name) for codec in codecs},
            "fullscreen": robot.can(f"{self.name}:fullscreen"), "sound": robot.can(f"{self.name}:sound"),
            "decoded": bool(codecs) or robot.can(self.name), "plays": plays,
        }  # fmt: skip


def codec_names(types: Json) -> str:
    """Return the common names of the codecs of MIME types, each once."""
    names: dict[str, None] = {}
    for one in types if isinstance(types, list | tuple) else ():
        kind, _, codecs = str(one).partition(";")
        inside = codecs.partition('"')[2].rstrip('"').split(",") if codecs else []
        known = [_NAMES.get(codec.strip().partition(".")[0], codec.strip()) for codec in inside]
        names |= dict.fromkeys(known or [kind.partition("/")[2].upper().replace("WEBP", "WebP")])
    return ", ".join(names)


def _is_play(play: Json) -> bool:
    if not isinstance(play, list | tuple) or len(play) != 2:
        return False
    frames, dropped = play
    if not isinstance(frames, int) or not isinstance(dropped, int) or isinstance(frames, bool):
        return False
    return 0 <= dropped <= frames <= 100_000 and frames > 0


def _share(play: Json) -> float:
    assert isinstance(play, list | tuple)
    frames, dropped = play
    assert isinstance(frames, int)
    assert isinstance(dropped, int)
    return round(dropped / frames, 4)


# Samples: one second in the codec of the study, silence, or a picture

_FAST = ("-deadline", "realtime", "-threads", "2", "-b:v", "1M", "-pix_fmt", "yuv420p")
_ENCODERS: Mapping[str, tuple[str, ...]] = {
    "h264": ("-c:v", "libx264", "-preset", "ultrafast", "-crf", "30", "-pix_fmt", "yuv420p"),
    "hevc": ("-c:v", "libx265", "-preset", "ultrafast", "-crf", "30", "-pix_fmt", "yuv420p", "-tag:v", "hvc1"),
    "vp8": ("-c:v", "libvpx", "-cpu-used", "16", *_FAST),
    "vp9": ("-c:v", "libvpx-vp9", "-cpu-used", "8", "-row-mt", "1", *_FAST),
    "av1": ("-c:v", "libaom-av1", "-usage", "realtime", "-cpu-used", "8", "-row-mt", "1", *_FAST[2:]),
}
_RATE = 48_000
NOTHING = DrawnFile(b"", "application/octet-stream")


@lru_cache(4)
def clip(codec: str, container: str, width: int, height: int, fps: float) -> DrawnFile:
    """Return a moving pattern of one second; an empty file where this ffmpeg has no encoder for the codec."""
    from beholder.stimuli.ffmpeg import file_argument, run_ffmpeg

    served = next((one for one in SERVED if one.format == container), None)
    if codec not in _ENCODERS or served is None:
        return NOTHING
    with tempfile.TemporaryDirectory(prefix="beholder-") as folder:
        file = Path(folder) / f"sample.{container}"
        source = f"testsrc=size={width}x{height}:rate={fps:g}:duration=1"
        line = ["-v", "error", "-y", "-f", "lavfi", "-i", source, "-an", *_ENCODERS[codec], *served.arguments]
        try:
            code = run_ffmpeg([*line, "-fflags", "+bitexact", "-f", container, file_argument(file)]).code
        except StimuliError:
            return NOTHING
        return DrawnFile(file.read_bytes(), f"video/{container}") if code == 0 else NOTHING


def sound() -> DrawnFile:
    """Return a second of silence."""
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setnchannels(2)
        out.setsampwidth(2)
        out.setframerate(_RATE)
        out.writeframes(bytes(4 * _RATE))
    return DrawnFile(file.getvalue(), "audio/wav")


def picture() -> DrawnFile:
    """Return a small lossless WebP."""
    from PIL import Image

    file = io.BytesIO()
    Image.linear_gradient("L").resize((32, 32)).convert("RGB").save(file, "WEBP", lossless=True)
    return DrawnFile(file.getvalue(), "image/webp")
