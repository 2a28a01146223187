"""One second in a study's own codec, to see whether a browser can decode it: a moving pattern, silence, a picture."""

from __future__ import annotations

import io
import tempfile
import wave
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from beholder.checks.contract import Drawn
from beholder.errors import StimuliError

_FAST = ("-deadline", "realtime", "-threads", "2", "-b:v", "1M", "-pix_fmt", "yuv420p")
_ENCODERS: Mapping[str, tuple[str, ...]] = {
    "h264": ("-c:v", "libx264", "-preset", "ultrafast", "-crf", "30", "-pix_fmt", "yuv420p"),
    "hevc": ("-c:v", "libx265", "-preset", "ultrafast", "-crf", "30", "-pix_fmt", "yuv420p", "-tag:v", "hvc1"),
    "vp8": ("-c:v", "libvpx", "-cpu-used", "16", *_FAST),
    "vp9": ("-c:v", "libvpx-vp9", "-cpu-used", "8", "-row-mt", "1", *_FAST),
    "av1": ("-c:v", "libaom-av1", "-usage", "realtime", "-cpu-used", "8", "-row-mt", "1", *_FAST[2:]),
}
_MUXERS = {"mp4": ("-movflags", "+faststart"), "webm": ()}
_RATE = 48_000
NOTHING = Drawn(b"", "application/octet-stream")


@lru_cache(4)
def clip(codec: str, container: str, width: int, height: int, fps: float) -> Drawn:
    """Return a moving pattern of one second; nothing where this ffmpeg has no encoder for the codec."""
    from beholder.stimuli.ffmpeg import file_argument, run_ffmpeg

    if codec not in _ENCODERS or container not in _MUXERS:
        return NOTHING
    with tempfile.TemporaryDirectory(prefix="beholder-") as folder:
        file = Path(folder) / f"sample.{container}"
        source = f"testsrc=size={width}x{height}:rate={fps:g}:duration=1"
        line = ["-v", "error", "-y", "-f", "lavfi", "-i", source, "-an", *_ENCODERS[codec], *_MUXERS[container]]
        try:
            code = run_ffmpeg([*line, "-fflags", "+bitexact", "-f", container, file_argument(file)]).code
        except StimuliError:
            return NOTHING
        return Drawn(file.read_bytes(), f"video/{container}") if code == 0 else NOTHING


def sound() -> Drawn:
    """Return a second of silence."""
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setnchannels(2)
        out.setsampwidth(2)
        out.setframerate(_RATE)
        out.writeframes(bytes(4 * _RATE))
    return Drawn(file.getvalue(), "audio/wav")


def picture() -> Drawn:
    """Return a small lossless WebP."""
    from PIL import Image

    file = io.BytesIO()
    Image.linear_gradient("L").resize((32, 32)).convert("RGB").save(file, "WEBP", lossless=True)
    return Drawn(file.getvalue(), "image/webp")
