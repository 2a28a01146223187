"""Samples of every medium: real files, different under each condition, the same each time."""

from __future__ import annotations

from pathlib import Path

import pytest

from beholder.errors import StimuliError
from beholder.stimuli.probe import measure
from beholder.stimuli.samples import QUALITIES, SAMPLE_CONDITIONS, content_name, make_samples
from beholder.stimuli.samples.audio import sound
from beholder.stimuli.samples.generation import SPEAKING, SPEECH_QUALITIES, WITH_SOUND
from beholder.stimuli.samples.image import render
from beholder.stimuli.samples.video import frames
from beholder.types import Medium

MEDIA: list[Medium] = ["video", "audio", "image", "text"]
SUFFIX = {"video": ".mp4", "audio": ".wav", "image": ".png", "text": ".txt"}

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


@pytest.mark.parametrize("medium", MEDIA)
def test_samples_are_the_same_each_time_and_of_the_medium_of_their_names(tmp_path: Path, medium: Medium) -> None:
    worse = list(QUALITIES[medium])[-2:]
    for folder in ("one", "two"):
        planted = make_samples(tmp_path / folder, contents=2, conditions=worse, seconds=0.4, size=SMALL)
        assert planted == {name: SAMPLE_CONDITIONS[name] for name in worse}
    expected = {f"{name}/{content_name(number, medium)}{SUFFIX[medium]}" for name in worse for number in range(2)}
    files = [
        {path.relative_to(tmp_path / folder).as_posix(): path.read_bytes() for path in (tmp_path / folder).rglob("*.*")}
        for folder in ("one", "two")
    ]
    assert files[0] == files[1]
    assert set(files[0]) == expected
    assert len(set(files[0].values())) == 4


@pytest.mark.parametrize("medium", MEDIA)
def test_planted_qualities_lie_between_0_and_1_best_first(medium: Medium) -> None:
    qualities = list(QUALITIES[medium].values())
    assert len(qualities) >= 4
    assert qualities == sorted(set(qualities), reverse=True)
    assert 0 <= qualities[-1] < qualities[0] <= 1


def test_no_name_of_a_sample_condition_is_used_twice() -> None:
    names = [name for rows in (*QUALITIES.values(), SPEECH_QUALITIES, WITH_SOUND, SPEAKING) for name in rows]
    assert sorted(names) == sorted(SAMPLE_CONDITIONS)
    assert not [name for name in names if name.startswith("lowpass")]


def test_contents_differ_and_have_names_without_end() -> None:
    first = [next(frames(content, "natural", 0.04, SMALL)).tobytes() for content in range(8)]
    assert len(set(first)) == 8
    assert len({render(content, "pristine", SMALL).tobytes() for content in range(8)}) == 8
    assert len({sound(content, "original", 0.3).tobytes() for content in range(8)}) == 8
    assert [content_name(number) for number in (0, 7, 8, 16)] == ["greeting", "farewell", "greeting-2", "greeting-3"]
    assert [content_name(number, "image") for number in (0, 3, 4)] == ["lake", "street", "lake-2"]


def test_an_unknown_sample_condition_is_explained(tmp_path: Path) -> None:
    with pytest.raises(StimuliError) as caught:
        make_samples(tmp_path, conditions=["natural", "jerk"])
    assert str(caught.value) == (
        "sample conditions  jerk is unknown. Allowed: natural, smooth, jerky, blurred, noisy, blocky, frozen, "
        "original, light, medium, strong, pristine, soft, grainy, blocked, edited, plain, clumsy, garbled, clean, "
        "noise-12db, noise-3db, noise-minus-3db, lifelike, muffled, pixelated, poor, captured, synthesised, still. "
        "Did you mean jerky?"
    )
    assert list(tmp_path.iterdir()) == []


def test_sample_conditions_of_two_media_are_not_mixed(tmp_path: Path) -> None:
    with pytest.raises(StimuliError) as caught:
        make_samples(tmp_path, conditions=["natural", "strong", "jerky"])
    assert str(caught.value) == (
        "sample conditions  are of several media: video (natural, jerky) and audio (strong). "
        "Allowed: conditions of one medium."
    )
    assert list(tmp_path.iterdir()) == []
