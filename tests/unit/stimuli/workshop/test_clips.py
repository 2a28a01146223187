"""Videos measured before they are encoded again: rates, colours, HDR."""

from __future__ import annotations

from pathlib import Path

from support.workshop_files import H264, counter, film, refused


def test_hdr_is_not_stacked(tmp_path: Path) -> None:
    tags = ("-color_trc", "smpte2084", "-color_primaries", "bt2020", "-colorspace", "bt2020nc")
    bright = film(tmp_path / "bright.mp4", counter(3), codec=(*H264, *tags))
    plain = film(tmp_path / "plain.mp4", counter(3))
    assert refused("stack", plain, bright, "--out", tmp_path / "out", "--sound", "none") == [
        f"{bright}  is HDR video, which cannot be stacked. Allowed: standard dynamic range. Convert it to BT.709 first."
    ]
