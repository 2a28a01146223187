"""Samples of every medium: real files, different under each condition, the same each time."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from beholder.errors import StimuliError
from beholder.stimuli.pcm import read_sound
from beholder.stimuli.probe import measure
from beholder.stimuli.samples import QUALITIES, SAMPLE_CONDITIONS, content_name, make_samples
from beholder.stimuli.samples.audio import sound
from beholder.stimuli.samples.image import render
from beholder.stimuli.samples.text import passage
from beholder.stimuli.samples.video import frames
from beholder.types import Medium

SMALL = (96, 54)
MEDIA: list[Medium] = ["video", "audio", "image", "text"]
SUFFIX = {"video": ".mp4", "audio": ".wav", "image": ".png", "text": ".txt"}


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
    names = [name for rows in QUALITIES.values() for name in rows]
    assert sorted(names) == sorted(SAMPLE_CONDITIONS)
    assert not [name for name in names if name.startswith("lowpass")]


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


def test_each_condition_can_be_heard() -> None:
    def above(hertz: float, condition: str) -> float:
        samples = sound(0, condition, 1.0)
        power = np.abs(np.fft.rfft(samples[:, 0])) ** 2
        return float(power[np.fft.rfftfreq(len(samples), 1 / 48_000) > hertz].sum() / power.sum())

    def silence(condition: str) -> float:
        return float(np.mean(np.abs(sound(3, condition, 1.0)).max(axis=1)[1000:-3000] < 1e-4))

    def unlike(condition: str) -> float:
        clean, worse = sound(0, "original", 1.0), sound(0, condition, 1.0)
        return 1 - float(np.corrcoef(clean[:, 0], worse[:, 0])[0, 1])

    assert above(12_500, "original") > 100 * above(12_500, "light")
    assert above(8_000, "light") > 100 * above(8_000, "medium")
    assert above(5_500, "medium") > 100 * above(5_500, "strong")
    assert 0 < unlike("light") < unlike("medium") < unlike("strong")
    assert silence("medium") < 0.005 < 0.02 < silence("strong")


def test_sounds_are_equally_loud_and_never_clip(tmp_path: Path) -> None:
    make_samples(tmp_path, contents=6, conditions=["original", "strong"], seconds=0.5)
    for path in tmp_path.rglob("*.wav"):
        heard = read_sound(path, path.name)
        assert (heard.rate, heard.bits, heard.samples.shape) == (48_000, 16, (24_000, 2))
        assert float(np.sqrt(np.mean(heard.samples**2))) == pytest.approx(0.1, rel=0.05)
        assert float(np.abs(heard.samples).max()) < 0.96


def test_each_condition_of_an_image_can_be_seen() -> None:
    def detail(condition: str) -> float:
        return float(np.square(np.diff(np.asarray(render(1, condition, (320, 200)), dtype=float), axis=1)).mean())

    def edges_of_blocks(condition: str) -> float:
        steps = np.abs(np.diff(np.asarray(render(1, condition, (320, 200)).convert("L"), dtype=float), axis=1))
        return float(steps[:, 7::8].mean() / steps.mean())

    assert detail("soft") < 0.7 * detail("pristine")
    assert detail("grainy") > 1.8 * detail("pristine")
    assert edges_of_blocks("blocked") > 1.8 * edges_of_blocks("pristine")


def test_each_condition_of_a_text_says_it_in_other_words() -> None:
    for content in range(6):
        versions = [passage(content, name) for name in QUALITIES["text"]]
        assert len(set(versions)) == 4
        assert all(30 <= len(text.split()) <= 75 for text in versions)
        shared = set.intersection(*({word.strip(".,:;").casefold() for word in text.split()} for text in versions))
        assert len(shared) >= 4


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
        "original, light, medium, strong, pristine, soft, grainy, blocked, edited, plain, clumsy, garbled. "
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
