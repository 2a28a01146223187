"""What a file holds, whatever its medium."""

from __future__ import annotations

from beholder.stimuli.catalogue import Probe
from beholder.stimuli.probe import measure
from support.video_studies import H264, Make


def test_a_probe_holds_what_the_file_holds(make: Make) -> None:
    path = make("sound.mp4", *H264, "-c:a", "aac", "-ac", "2", sound=True)
    assert measure(path, "x").probe == Probe(path.stat().st_size, "mp4", 400, 64, 48, 25.0, "h264", "aac", 2)
