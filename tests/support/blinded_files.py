"""Files of every served format, before and after blinding."""

from __future__ import annotations

PICTURE = ("-f", "lavfi", "-i", "testsrc2=s=64x48:d=0.4:r=25")


FORMATS = {
    ".mp4": (*PICTURE, "-c:v", "libx264", "-pix_fmt", "yuv420p", "-movflags", "+faststart"),
    ".webm": (*PICTURE, "-c:v", "libvpx-vp9", "-cpu-used", "8"),
    ".wav": ("-f", "lavfi", "-i", "sine=d=0.4"),
    ".webp": (*PICTURE, "-frames:v", "1", "-f", "image2", "-c:v", "png"),
    ".txt": (),
}


SOURCES = {".wav": ".flac", ".webp": ".png", ".txt": ".txt"}
