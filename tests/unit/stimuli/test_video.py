"""Videos: measured in every container, and refused where no browser plays them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from beholder.stimuli.ffmpeg import run_ffmpeg
from beholder.stimuli.probe import measure, playback_problem
from support.video_studies import H264, VP9, Make, problems_of, put, study_in


@pytest.mark.parametrize(
    ("name", "options", "container", "codec"),
    [
        ("a.mov", H264, "mov", "h264"),
        ("a.m4v", (*H264, "-f", "mp4"), "mp4", "h264"),
        ("a.mkv", H264, "mkv", "h264"),
        ("a.webm", VP9, "webm", "vp9"),
        ("vp8.webm", ("-c:v", "libvpx"), "webm", "vp8"),
        ("av1.mp4", ("-c:v", "libaom-av1", "-cpu-used", "8"), "mp4", "av1"),
    ],
)
def test_every_container_and_codec_of_browsers_is_read(
    make: Make, name: str, options: tuple[str, ...], container: str, codec: str
) -> None:
    measured = measure(make(name, *options), name)
    probe = measured.probe
    assert (probe.container, probe.codec, probe.duration_ms, probe.fps) == (container, codec, 400, 25.0)
    assert (probe.width, probe.height, measured.frames, playback_problem(measured, name)) == (64, 48, 10, None)


def test_the_size_is_the_one_that_is_shown(make: Make, tmp_path: Path) -> None:
    run_ffmpeg(["-display_rotation", "90", "-i", str(make("a.mp4")), "-c", "copy", str(tmp_path / "turned.mp4")])
    turned = measure(tmp_path / "turned.mp4", "x").probe
    wide = measure(make("wide.mp4", *H264, "-vf", "setsar=2"), "x").probe
    assert (turned.width, turned.height, wide.width, wide.height) == (48, 64, 128, 48)


def test_the_length_is_true_where_the_header_has_none(make: Make, tmp_path: Path) -> None:
    piped = run_ffmpeg(["-v", "error", "-i", str(make("a.webm", *VP9)), "-c", "copy", "-f", "webm", "pipe:1"])
    (tmp_path / "live.webm").write_bytes(piped.out)
    assert measure(tmp_path / "live.webm", "x").probe.duration_ms == 400


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("text.mp4", lambda whole: b"hello", "it is no mp4, mov, webm or mkv, or it is cut off"),
        (
            "list.mp4",
            lambda whole: b"ffconcat version 1.0\nfile a.mp4\n",
            "it is no mp4, mov, webm or mkv, or it is cut off",
        ),
        ("empty.mp4", lambda whole: b"", "the file is empty"),
        ("half.mp4", lambda whole: whole[: len(whole) * 6 // 10], "it is cut off or damaged"),
        ("start.mp4", lambda whole: whole[:200], "it has no picture, or it is cut off"),
    ],
)
def test_a_file_that_is_no_whole_video_is_named(
    make: Make, tmp_path: Path, name: str, data: Callable[[bytes], bytes], reason: str
) -> None:
    whole = make("front.mp4", *H264, "-movflags", "+faststart", size="320x240", seconds=1.0).read_bytes()
    (tmp_path / "stimuli" / "a").mkdir(parents=True)
    (tmp_path / "stimuli" / "a" / name).write_bytes(data(whole))
    assert problems_of(study_in(tmp_path)) == [
        f"stimuli/a/{name}  cannot be read as video: {reason}. Export or copy it again, or take it out."
    ]


ADVICE = "Re-encode it with beholder media prepare."


UNPLAYED = f"which browsers do not play. Allowed: H.264, VP8, VP9, AV1. {ADVICE}"


NOT_BY_ALL = f"which some browsers do not play. Allowed: yuv420p. {ADVICE}"


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("hevc.mp4", ("-c:v", "libx265", "-x265-params", "log-level=none"), f"is HEVC, {UNPLAYED}"),
        ("prores.mov", ("-c:v", "prores"), f"is ProRes, {UNPLAYED}"),
        ("old.mp4", ("-c:v", "mpeg4"), f"is MPEG-4 part 2, {UNPLAYED}"),
        ("full.mp4", ("-c:v", "libx264", "-pix_fmt", "yuv444p"), f"is H.264 in yuv444p, {NOT_BY_ALL}"),
    ],
)
def test_what_browsers_do_not_play_is_a_problem(
    make: Make, tmp_path: Path, name: str, options: tuple[str, ...], message: str
) -> None:
    put(make(name, *options), tmp_path / "stimuli" / "a" / name)
    assert problems_of(study_in(tmp_path)) == [f"stimuli/a/{name}  {message}"]


def test_sound_that_browsers_do_not_play_is_a_problem(make: Make) -> None:
    path = make("pcm.mov", *H264, "-c:a", "pcm_s16le", sound=True)
    assert str(playback_problem(measure(path, "pcm.mov"), "pcm.mov")) == (
        "pcm.mov  has pcm_s16le sound, which browsers do not play with H.264. Allowed: aac, flac, mp3, opus. "
        "Re-encode it with beholder media prepare."
    )
