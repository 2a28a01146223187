"""What a file holds, whatever its medium."""

from __future__ import annotations

from dataclasses import replace

import pytest

from beholder.stimuli.catalogue import Probe
from beholder.stimuli.probe import measure
from support.video_studies import H264, Make


def test_a_probe_holds_what_the_file_holds(make: Make) -> None:
    path = make("sound.mp4", *H264, "-c:a", "aac", "-ac", "2", sound=True)
    probe, size = measure(path, "x").probe, path.stat().st_size
    assert replace(probe, loudness=None) == Probe(size, "mp4", 400, 64, 48, 25.0, "h264", "aac", 2, 44100)
    assert probe.loudness == pytest.approx(-21, abs=2)
