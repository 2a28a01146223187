"""Copies for participants: the same pictures and sound, no metadata."""

from __future__ import annotations

from pathlib import Path

import pytest

from beholder.stimuli.ffmpeg import run_ffmpeg
from beholder.stimuli.ingestion import load_catalogue
from beholder.stimuli.probe import measure
from support.video_studies import H264, MARKS, VP9, Make, problems_of, put, study_in


def frames_in(path: Path) -> list[str]:
    ran = run_ffmpeg(["-v", "error", "-i", str(path), "-map", "0:v", "-f", "framemd5", "pipe:1"])
    assert (ran.code, ran.log) == (0, "")
    return [line.rpartition(b",")[2].decode().strip() for line in ran.out.splitlines() if not line.startswith(b"#")]


@pytest.mark.parametrize(
    ("name", "options", "served"),
    [
        ("MARKNAME.mp4", (*H264, "-c:a", "aac"), ".mp4"),
        ("MARKNAME.mov", (*H264, "-c:a", "aac"), ".mp4"),
        ("MARKNAME.mkv", (*H264, "-c:a", "aac"), ".mp4"),
        ("MARKNAME.webm", (*VP9, "-c:a", "libopus"), ".webm"),
    ],
)
def test_served_copies_keep_the_pictures_and_no_trace_of_their_origin(
    make: Make, tmp_path: Path, name: str, options: tuple[str, ...], served: str
) -> None:
    source = make(name, *options, *MARKS, sound=True)
    put(source, tmp_path / "stimuli" / "MARKCONDITION" / name)
    (stimulus,) = load_catalogue(study_in(tmp_path)).stimuli
    data = stimulus.served.read_bytes()
    assert b"MARKTITLE" in source.read_bytes()
    assert [mark for mark in (b"MARK", b"x264", b"libvpx", b"crf=", b"2019", b"Lavf61") if mark in data] == []
    assert stimulus.served.suffix == served
    assert stimulus.served.parent == tmp_path / "media"
    assert frames_in(stimulus.served) == frames_in(source)
    assert len(frames_in(source)) == 10
    before, after = measure(source, "x").probe, measure(stimulus.served, "x").probe
    assert (after.duration_ms, after.audio_codec) == (before.duration_ms, before.audio_codec)


def test_a_clip_that_would_not_play_once_stripped_is_refused(make: Make, tmp_path: Path) -> None:
    whole = make("open.mp4", *H264, "-x264-params", "open-gop=1:keyint=25:bframes=3", seconds=4.0)
    target = tmp_path / "stimuli" / "a" / "cut.mp4"
    target.parent.mkdir(parents=True)
    run_ffmpeg(["-ss", "2.5", "-i", str(whole), "-c", "copy", str(target)])
    assert problems_of(study_in(tmp_path)) == [
        "stimuli/a/cut.mp4  cannot be copied without its metadata: the copy does not play like it, as with clips cut "
        "between two key frames. Re-encode it with beholder media prepare."
    ]
    assert [path.name for path in (tmp_path / "media").iterdir()] == ["catalogue.json"]
