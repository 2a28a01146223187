"""The sample figure: real videos, different under each condition, the same each time."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from beholder.errors import StimuliError
from beholder.stimuli.probe import measure
from beholder.stimuli.samples import SAMPLE_CONDITIONS, content_name, frames, make_samples

SMALL = (96, 54)


def test_samples_are_h264_videos_in_condition_folders(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    planted = make_samples(
        tmp_path, contents=2, conditions=["natural", "frozen"], seconds=0.4, size=(95, 54),
        progress=lambda done, total: seen.append((done, total)),
    )  # fmt: skip
    files = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.*"))
    assert files == ["frozen/greeting.mp4", "frozen/story.mp4", "natural/greeting.mp4", "natural/story.mp4"]
    assert planted == {"natural": SAMPLE_CONDITIONS["natural"], "frozen": SAMPLE_CONDITIONS["frozen"]}
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]
    measured = measure(tmp_path / "natural" / "story.mp4", "x")
    probe = measured.probe
    assert (probe.codec, measured.pixels, probe.width, probe.height) == ("h264", "yuv420p", 96, 54)
    assert (probe.fps, probe.duration_ms, measured.frames) == (25.0, 400, 10)


def test_samples_are_the_same_each_time(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        make_samples(tmp_path / folder, contents=1, conditions=["noisy"], seconds=0.4, size=SMALL)
    one, two = ((tmp_path / folder / "noisy" / "greeting.mp4").read_bytes() for folder in ("one", "two"))
    assert one == two


def test_planted_qualities_lie_between_0_and_1_best_first() -> None:
    qualities = list(SAMPLE_CONDITIONS.values())
    assert len(qualities) >= 6
    assert qualities == sorted(set(qualities), reverse=True)
    assert 0 <= qualities[-1] < qualities[0] <= 1


def test_each_condition_can_be_seen() -> None:
    def restlessness(condition: str) -> float:
        pictures = [np.asarray(image, dtype=float) for image in frames(1, condition, 1.2, SMALL)]
        return float(np.mean([np.abs(b - a).mean() for a, b in pairwise(pictures)]))

    def detail(condition: str) -> float:
        picture = np.asarray(next(frames(1, condition, 0.2, SMALL)), dtype=float)
        return float(np.abs(np.diff(picture, axis=1)).max())

    moved = {name: restlessness(name) for name in ("natural", "smooth", "noisy", "frozen")}
    assert moved["frozen"] < 0.3 * moved["natural"]
    assert moved["smooth"] < 0.9 * moved["natural"]
    assert moved["noisy"] > 1.2 * moved["natural"]
    assert detail("blurred") < 0.6 * detail("natural")
    jerky = [image.tobytes() for image in frames(1, "jerky", 1.2, SMALL)]
    assert [a == b for a, b in pairwise(jerky)].count(False) == len(jerky) // 6 - 1


def test_contents_differ_and_have_names_without_end() -> None:
    first = [next(frames(content, "natural", 0.04, SMALL)).tobytes() for content in range(8)]
    assert len(set(first)) == 8
    assert [content_name(number) for number in (0, 7, 8, 16)] == ["greeting", "farewell", "greeting-2", "greeting-3"]


def test_an_unknown_sample_condition_is_explained(tmp_path: Path) -> None:
    with pytest.raises(StimuliError) as caught:
        make_samples(tmp_path, conditions=["natural", "jerk"])
    assert str(caught.value) == (
        "sample conditions  jerk is unknown. Allowed: natural, smooth, jerky, blurred, noisy, blocky, frozen. "
        "Did you mean jerky?"
    )
    assert list(tmp_path.iterdir()) == []
