"""Finding and starting ffmpeg."""

from __future__ import annotations

import errno
import os

import pytest

from beholder.errors import StimuliError
from beholder.stimuli.ffmpeg import run_ffmpeg
from support.video_studies import Make


def test_an_ffmpeg_that_is_not_there_is_said_plainly(monkeypatch: pytest.MonkeyPatch, make: Make) -> None:
    monkeypatch.setenv("IMAGEIO_FFMPEG_EXE", str(make("a.mp4").parent / "none"))
    with pytest.raises(StimuliError) as caught:
        run_ffmpeg(["-version"])
    assert str(caught.value) == (
        f"ffmpeg  cannot be started: {os.strerror(errno.ENOENT)}. Set IMAGEIO_FFMPEG_EXE to an ffmpeg that runs here."
    )
