"""SI and TI of videos: the numbers of ITU-T P.910, frame by frame, kept by the hash of the file."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import ndimage

from beholder.errors import StimuliError
from beholder.stimuli.ffmpeg import feed_ffmpeg
from beholder.stimuli.si_ti import keep_si_ti, known_si_ti, measure_si_ti
from beholder.stimuli.workshop import as_table, probe_media
from support.prepared_files import run

HEIGHT, WIDTH = 48, 64
FRAMES = 6


def codes(low: int = 16, high: int = 235) -> list[NDArray[np.uint8]]:
    """Return frames of a ramp that moves, with some noise, all within a range of codes."""
    draw = np.random.default_rng(5)
    ramp = np.add.outer(np.arange(HEIGHT) * 2, np.arange(WIDTH) * 2)
    frames = [16 + (ramp + 7 * n) % 200 + draw.integers(0, 20, (HEIGHT, WIDTH)) for n in range(FRAMES)]
    return [np.clip(frame, low, high).astype(np.uint8) for frame in frames]


def write_video(path: Path, frames: list[NDArray[np.uint8]], *, tagged: str = "", pixels: str = "yuv420p") -> Path:
    """Write a video whose luma is exactly these codes."""
    depth = 4 if pixels.endswith("10le") else 1
    kind = "<u2" if depth > 1 else np.uint8
    grey = np.full(HEIGHT * WIDTH // 2, 128 * depth, kind).tobytes()
    pieces = [(frame.astype(kind) * depth).astype(kind).tobytes() + grey for frame in frames]
    read = ["-f", "rawvideo", "-pix_fmt", pixels, "-s", f"{WIDTH}x{HEIGHT}", "-r", "25", "-i", "pipe:0"]
    range_ = ["-color_range", tagged] if tagged else []
    assert feed_ffmpeg([*read, *range_, "-c:v", "libx264", "-qp", "0", str(path)], pieces).code == 0
    return path


def test_limited_range_gives_the_numbers_of_the_tool_behind_the_recommendation(tmp_path: Path) -> None:
    """Those of siti-tools 0.6.0 of the Video Quality Experts Group, computed once on these frames."""
    found = measure_si_ti(write_video(tmp_path / "limited.mp4", codes()), "limited.mp4")
    assert (found.frames, found.is_full_range) == (FRAMES, False)
    assert (found.pq_si_mean, found.pq_si_max) == pytest.approx((61.442452536505435, 74.58176512440437), rel=1e-6)
    assert (found.pq_ti_mean, found.pq_ti_max) == pytest.approx((19.780438431564523, 23.183641864535613), rel=1e-6)
    assert (found.si_mean, found.si_max) == pytest.approx((107.46239874386661, 131.04896542989934), rel=1e-6)
    assert (found.ti_mean, found.ti_max) == pytest.approx((35.360257494561495, 41.423116574239735), rel=1e-6)


@pytest.mark.parametrize(("tagged", "pixels", "stretch"), [("pc", "yuv420p", 1.0), ("tv", "yuv420p10le", 255 / 219)])
def test_ranges_and_depths_are_read_from_the_file(tmp_path: Path, tagged: str, pixels: str, stretch: float) -> None:
    frames = codes(30, 220)
    found = measure_si_ti(write_video(tmp_path / "clip.mp4", frames, tagged=tagged, pixels=pixels), "clip.mp4")
    levels = [frame * stretch for frame in map(np.float64, frames)]
    gradients = [np.hypot(ndimage.sobel(one, 0), ndimage.sobel(one, 1))[1:-1, 1:-1].std() for one in levels]
    changes = [(later - earlier).std() for earlier, later in pairwise(levels)]
    assert found.is_full_range is (tagged == "pc")
    assert (found.si_mean, found.si_max) == pytest.approx((np.mean(gradients), max(gradients)), rel=1e-6)
    assert (found.ti_mean, found.ti_max) == pytest.approx((np.mean(changes), max(changes)), rel=1e-6)


def test_a_still_has_no_change_and_a_single_frame_no_temporal_information(tmp_path: Path) -> None:
    still = measure_si_ti(write_video(tmp_path / "still.mp4", codes()[:1] * 3), "still.mp4")
    assert (still.ti_mean, still.ti_max, still.pq_ti_max) == (0, 0, 0)
    assert still.si_mean == pytest.approx(still.si_max)
    single = measure_si_ti(write_video(tmp_path / "single.mp4", codes()[:1]), "single.mp4")
    assert math.isnan(single.ti_mean)
    assert math.isnan(single.ti_max)


def test_what_cannot_be_decoded_is_told(tmp_path: Path) -> None:
    broken = tmp_path / "broken.mp4"
    broken.write_bytes(b"nothing to see")
    with pytest.raises(StimuliError, match=r"^broken.mp4  cannot be decoded: ffmpeg says .*Invalid data found"):
        measure_si_ti(broken, "broken.mp4")


def test_a_probe_tells_them_and_a_study_keeps_them_by_hash(tmp_path: Path) -> None:
    study = tmp_path / "study"
    clip = study / "stimuli" / "a" / "clip.mp4"
    clip.parent.mkdir(parents=True)
    (study / "study.yaml").write_text("beholder: 1\n", "utf-8")
    write_video(clip, codes())
    plain = run("probe", clip).output.split()
    assert "SI" not in plain
    told = run("probe", "--si-ti", clip, "--json")
    (row,) = json.loads(told.stdout)["files"]
    assert row["si_ti"]["si_max"] == pytest.approx(131.04896542989934, rel=1e-6)
    ((sha256, kept),) = known_si_ti(study).items()
    assert kept.si_max == row["si_ti"]["si_max"]
    # What is kept is believed, so that nothing is measured twice; a copy elsewhere has the same hash.
    keep_si_ti(study, {sha256: measure_si_ti(write_video(tmp_path / "other.mp4", codes()[:2]), "other.mp4")})
    copy = study / "copy.mp4"
    copy.write_bytes(clip.read_bytes())
    rows, problems = probe_media([copy], si_ti=True)
    assert problems == []
    assert [one.si_ti.frames if one.si_ti else None for one in rows] == [2]
    assert [(one["SI"], one["TI"]) for one in as_table(rows)] == [("92.2", "27.9")]


def test_numbers_that_are_damaged_are_measured_again(tmp_path: Path) -> None:
    (tmp_path / "media").mkdir()
    for text in ("", "[]", '{"format": 0, "files": {}}', '{"format": 1, "files": {"a": {"frames": 3}}}'):
        (tmp_path / "media" / "si-ti.json").write_text(text, "utf-8")
        assert known_si_ti(tmp_path) == {}
