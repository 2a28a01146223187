"""Files that many tests of stimuli read: made once for a test session, or for one test."""

from __future__ import annotations

from pathlib import Path

import pytest

from beholder.stimuli.copies import write_copy
from beholder.stimuli.ffmpeg import run_ffmpeg
from beholder.stimuli.media_formats import medium_of
from beholder.stimuli.messages.message import insert_message, message_suffix
from beholder.stimuli.probe import measure
from beholder.stimuli.workshop import make_prepared
from support import message_clips
from support.blinded_files import FORMATS, SOURCES
from support.message_clips import ASK, CODECS
from support.prepared_files import RAW, film
from support.sound_files import MARKS
from support.variants import variant
from support.video_studies import H264, Make


@pytest.fixture(scope="session", params=FORMATS)
def clip(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy as participants get it, before its filler."""
    folder, suffix = tmp_path_factory.mktemp("clip"), request.param
    source, path = folder / f"source{SOURCES.get(suffix, suffix)}", folder / f"clip{suffix}"
    if suffix == ".txt":
        source.write_text("Some *words*.\n\nMore of them.")
    else:
        assert run_ffmpeg([*FORMATS[suffix], str(source)]).code == 0
    medium = medium_of(source.name)
    assert medium is not None
    write_copy(source, path, measure(source, "x"), "x", medium)
    return path


@pytest.fixture(scope="session", params=["h264", "vp9", variant("vp8"), variant("av1")])
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A clip of each codec, and its copy with a message."""
    folder = tmp_path_factory.mktemp(request.param)
    name, *arguments = CODECS[request.param]
    clip = message_clips.film(folder / name, *arguments)
    target = folder / f"made{message_suffix(clip)}"
    insert_message(clip, target, "video", ASK)
    return clip, target


@pytest.fixture(scope="session")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as a researcher may have it: what browsers do not play, a note, what is no medium."""
    folder = tmp_path_factory.mktemp("preparing") / "raw"
    for name, options in RAW.items():
        film(folder / name, *options, rate=50 if "fields" in name else 25)
    (folder / "list.csv").write_text("file", "utf-8")
    (folder / ".hidden.mp4").write_bytes(b"no video")
    return folder


@pytest.fixture(scope="session")
def stimuli(raw: Path) -> Path:
    """The same, prepared."""
    out = raw.parent / "stimuli"
    made = make_prepared([raw], out)
    assert len(made.written) == len(RAW)
    assert made.notes == (
        f"{raw / 'b/below/uneven.mp4'}: frames of unequal length, now 25 a second.",
        f"{raw / 'b/fields.mp4'}: interlaced, now whole frames.",
        f"{raw / 'b/odd.mp4'}: cut from 97x55 to 96x54, for both have to be even.",
    )
    return out


@pytest.fixture(scope="session")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Make:
    """Return a maker of short sounds: stereo, 44.1 kHz, 0.5 s by default."""
    folder = tmp_path_factory.mktemp("sounds")

    def make(name: str, *options: str, seconds: float = 0.5, channels: int = 2, rate: int = 44100) -> Path:
        path = folder / name
        if not path.exists():
            tone = ("-f", "lavfi", "-i", f"sine=d={seconds}:r={rate}")
            ran = run_ffmpeg(["-v", "error", *tone, "-ac", str(channels), *MARKS, *options, str(path)])
            assert ran.code == 0, ran.log
        return path

    return make


@pytest.fixture(scope="session")
def video(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("video") / "tiny.mp4"
    picture = ("-f", "lavfi", "-i", "testsrc2=s=64x48:d=0.4:r=25")
    assert run_ffmpeg([*picture, "-c:v", "libx264", "-pix_fmt", "yuv420p", str(path)]).code == 0
    return path.read_bytes()


@pytest.fixture(scope="session")
def make(tmp_path_factory: pytest.TempPathFactory) -> Make:
    """Return a maker of tiny videos: 64 x 48, 0.4 s, 25 frames a second by default."""
    folder = tmp_path_factory.mktemp("videos")

    def make(name: str, *options: str, size: str = "64x48", seconds: float = 0.4, sound: bool = False) -> Path:
        path = folder / name
        if not path.exists():
            tone = ("-f", "lavfi", "-i", f"sine=d={seconds}") if sound else ()
            picture = ("-f", "lavfi", "-i", f"testsrc2=s={size}:d={seconds}:r=25")
            ran = run_ffmpeg(["-v", "error", *picture, *tone, *(options or H264), str(path)])
            assert ran.code == 0, ran.log
        return path

    return make
