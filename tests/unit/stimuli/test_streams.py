"""What ffmpeg reports about a file: truncated ends, and encoder names inside streams."""

from __future__ import annotations

from pathlib import Path

import pytest

from beholder.errors import StimuliError
from beholder.stimuli.ffmpeg import run_ffmpeg
from beholder.stimuli.ingestion import load_catalogue
from beholder.stimuli.probe import measure
from support.video_studies import MARKS, VP9, Make, put, study_in


def sound_in(path: Path) -> bytes:
    ran = run_ffmpeg(["-v", "warning", "-i", str(path), "-map", "0:a", "-f", "md5", "pipe:1"])
    assert (ran.code, ran.log) == (0, "")
    return ran.out


def test_a_webm_that_is_cut_off_is_named(make: Make, tmp_path: Path) -> None:
    whole = make("long.webm", *VP9, size="320x240", seconds=1.0).read_bytes()
    (tmp_path / "half.webm").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(StimuliError, match=r"^half\.webm  cannot be read as video: it is cut off or damaged\."):
        measure(tmp_path / "half.webm", "half.webm")


def test_vorbis_sound_is_copied_without_its_comments(make: Make, tmp_path: Path) -> None:
    source = make("vorbis.webm", *VP9, "-c:a", "libvorbis", *MARKS, "-metadata:s:a", "title=MARKSOUND", sound=True)
    put(source, tmp_path / "stimuli" / "a" / "city.webm")
    (stimulus,) = load_catalogue(study_in(tmp_path)).stimuli
    assert b"Xiph.Org libVorbis" in source.read_bytes()
    assert [mark for mark in (b"MARK", b"Xiph", b"Lavc") if mark in stimulus.served.read_bytes()] == []
    assert stimulus.encoders == ()
    assert sound_in(stimulus.served) == sound_in(source)
