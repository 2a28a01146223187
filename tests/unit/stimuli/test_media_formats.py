"""Formats that are served, and their content types."""

from __future__ import annotations

from pathlib import Path

import pytest

from beholder.stimuli.blinding import blind

TYPES = {
    ".mp4": "video/mp4",
    ".webm": "video/webm",
    ".wav": "audio/wav",
    ".webp": "image/webp",
    ".txt": "text/plain; charset=utf-8",
}


def test_the_content_type_is_that_of_the_container(clip: Path) -> None:
    assert blind(clip, b"").content_type == TYPES[clip.suffix]


def test_a_container_that_is_never_served_is_our_mistake(tmp_path: Path) -> None:
    (tmp_path / "x.avi").write_bytes(b"")
    with pytest.raises(ValueError, match=r"no served container has the suffix '\.avi'"):
        blind(tmp_path / "x.avi", b"")
