"""Samples of impairments: each shows its flaw, and is the clean clip everywhere else."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.typing import NDArray

from beholder.cli import cli
from beholder.errors import StimuliError
from beholder.stimuli.ffmpeg import feed_ffmpeg, file_argument, run_ffmpeg
from beholder.stimuli.probe import measure
from beholder.stimuli.workshop import WorkshopResult, make_impaired
from beholder.stimuli.workshop.impairments import KINDS, Timing, displayed_frames, torn_areas

WIDTH, HEIGHT, RATE, FRAMES = 160, 96, 25, 75
Pictures = NDArray[np.float64]


def film(path: Path, frames: int = FRAMES, size: tuple[int, int] = (WIDTH, HEIGHT), *, tone: bool = False) -> Path:
    """Write a clip of a pattern that moves and is nowhere flat."""
    lines, columns = np.mgrid[0 : size[1], 0 : size[0]]
    pictures = (
        (128 + 60 * np.sin((columns + 3 * n) / 9) + 50 * np.cos((lines - 2 * n) / 7)).clip(16, 235).astype(np.uint8)
        for n in range(frames)
    )
    sound = ["-f", "lavfi", "-i", f"sine=frequency=440:sample_rate=48000:duration={frames / RATE}"] if tone else []
    ran = feed_ffmpeg(
        [
            "-v", "error", "-y", "-f", "rawvideo", "-pix_fmt", "gray", "-s", f"{size[0]}x{size[1]}", "-r", str(RATE),
            "-i", "pipe:0", *sound, "-c:v", "libx264", "-preset", "ultrafast", "-crf", "8",
            "-pix_fmt", "yuv444p" if size[0] % 2 else "yuv420p", file_argument(path),
        ],
        (picture.tobytes() for picture in pictures),
    )  # fmt: skip
    assert ran.code == 0, ran.log
    return path


def greys(path: Path) -> Pictures:
    """Return every frame of a video: frames x lines x columns."""
    probe = measure(path, path.name).probe
    ran = run_ffmpeg(["-i", file_argument(path), "-f", "rawvideo", "-pix_fmt", "gray", "pipe:1"])
    return np.frombuffer(ran.out, dtype=np.uint8).reshape(-1, probe.height, probe.width).astype(float)


def psnr(one: Pictures, other: Pictures) -> NDArray[np.float64]:
    """Return how alike the frames are, in decibels, frame by frame."""
    error = ((one - other) ** 2).mean(axis=(1, 2))
    return np.asarray(10 * np.log10(255**2 / np.maximum(error, 1e-6)))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a clean clip and all its samples."""
    folder = tmp_path_factory.mktemp("impaired")
    clip = film(folder / "clean.mp4", tone=True)
    assert make_impaired(clip, KINDS, folder / "out") == WorkshopResult(
        tuple(folder / "out" / f"clean-{kind}.mp4" for kind in KINDS), ()
    )
    return folder


@pytest.mark.parametrize("kind", KINDS)
def test_a_sample_has_the_size_rate_length_and_sound_of_its_clip(made: Path, kind: str) -> None:
    clean, sample = (measure(path, "") for path in (made / "clean.mp4", made / "out" / f"clean-{kind}.mp4"))
    assert (sample.probe.width, sample.probe.height, sample.probe.fps) == (WIDTH, HEIGHT, RATE)
    assert sample.frames == clean.frames == FRAMES
    assert sample.probe.codec == "h264"
    assert sample.probe.audio_codec == "aac"
    assert abs(sample.probe.duration_ms - clean.probe.duration_ms) <= 60


def test_fragmentation_tears_blocks_in_some_places_for_some_time(made: Path) -> None:
    clean, torn = greys(made / "clean.mp4"), greys(made / "out" / "clean-fragmentation.mp4")
    places = torn_areas(Timing(FRAMES, RATE), WIDTH, HEIGHT, np.random.default_rng(0))
    mask = np.zeros_like(clean, dtype=bool)
    for place in places:
        rows, columns = (slice(16 * part.start, 16 * part.stop) for part in (place.rows, place.columns))
        mask[place.first : place.last, rows, columns] = True
    hit = mask.any(axis=(1, 2))
    assert 0.05 < hit.mean() < 0.6
    assert 0.02 < mask[hit].mean() < 0.6
    error = np.abs(clean - torn)
    assert error[mask].mean() > 15
    assert error[~mask].mean() < 2.5
    assert psnr(clean, torn)[hit].max() < 30
    assert psnr(clean, torn)[~hit].min() > 36


def test_discontinuity_stands_still_jumps_and_loses_frames(made: Path) -> None:
    clean, jumpy = greys(made / "clean.mp4"), greys(made / "out" / "clean-discontinuity.mp4")
    shown = displayed_frames(Timing(FRAMES, RATE))
    assert (shown <= np.arange(FRAMES)).all()
    assert (np.diff(shown) >= 0).all()
    assert psnr(clean[shown], jumpy).min() > 34, "each frame is one of the clip, whole"
    still = np.diff(shown) == 0
    steps = np.abs(np.diff(jumpy, axis=0)).mean(axis=(1, 2))
    assert 0.2 < still.mean() < 0.7
    assert steps[still].max() < 2
    assert steps[~still].min() > 2 * steps[still].max()
    runs = [len(run) for run in "".join("s" if one else " " for one in still).split()]
    assert sum(run >= 0.4 * RATE for run in runs) == 2, "two freezes"
    assert np.diff(shown).max() >= 0.4 * RATE, "each followed by a jump"
    assert psnr(clean, jumpy)[shown == np.arange(FRAMES)].min() > 34


def test_uncleanness_is_blur_and_noise_all_over(made: Path) -> None:
    clean, dirty = greys(made / "clean.mp4"), greys(made / "out" / "clean-uncleanness.mp4")
    assert psnr(clean, dirty).max() < 37
    assert psnr(clean, dirty).min() > 12, "the content can still be seen"
    others = greys(made / "out" / "clean-fragmentation.mp4")
    assert np.median(psnr(clean, dirty)) < np.median(psnr(clean, others))


def test_what_is_there_is_not_made_again(made: Path) -> None:
    before = {path.name: path.stat().st_mtime_ns for path in (made / "out").glob("*.mp4")}
    again = make_impaired(made / "clean.mp4", KINDS, made / "out")
    assert (again.written, len(again.kept)) == ((), 3)
    assert {path.name: path.stat().st_mtime_ns for path in (made / "out").glob("*.mp4")} == before


@pytest.mark.variant
def test_the_same_clip_gives_the_same_samples(made: Path, tmp_path: Path) -> None:
    make_impaired(made / "clean.mp4", ["fragmentation"], tmp_path)
    assert (
        np.abs(greys(tmp_path / "clean-fragmentation.mp4") - greys(made / "out" / "clean-fragmentation.mp4")).max() < 30
    )


def test_a_silent_clip_gives_silent_samples(tmp_path: Path) -> None:
    make_impaired(film(tmp_path / "mute.mp4", 30), ["discontinuity"], tmp_path)
    assert measure(tmp_path / "mute-discontinuity.mp4", "").probe.audio_codec == ""


@pytest.mark.parametrize("frames", [25, 26, 400])
@pytest.mark.parametrize("rate", [10.0, 29.97, 120.0])
def test_flaws_fit_into_clips_of_any_length(frames: int, rate: float) -> None:
    timing = Timing(frames, rate)
    shown = displayed_frames(timing)
    assert (shown == np.arange(frames)).mean() > 0.3
    assert (np.diff(shown) == 0).sum() >= 2
    for place in torn_areas(timing, 64, 48, np.random.default_rng(3)):
        assert 0 <= place.first < place.last <= frames
        assert place.rows.stop <= 3
        assert place.columns.stop <= 4


def problems(*arguments: object, **options: object) -> list[str]:
    with pytest.raises(StimuliError) as refused:
        make_impaired(*arguments, **options)  # type: ignore[arg-type]
    return [str(problem) for problem in refused.value.problems]


def test_what_cannot_be_impaired_is_told(tmp_path: Path) -> None:
    clip = film(tmp_path / "clip.mp4", 30)
    assert problems(clip, ["fragmentaton", ""], tmp_path) == [
        "--kinds  has fragmentaton. Allowed: fragmentation, discontinuity, uncleanness. Did you mean fragmentation?",
        "--kinds  has an empty name. Allowed: fragmentation, discontinuity, uncleanness.",
    ]
    assert problems(clip, [], clip) == [
        "--kinds  is empty. Allowed: fragmentation, discontinuity, uncleanness.",
        f"--out  is {clip}, which is a file. Allowed: a folder.",
    ]
    gone = tmp_path / "gone.mp4"
    assert problems(gone, KINDS, tmp_path) == [f"{gone}  does not exist. Look for a slip in the name."]
    assert problems(tmp_path, KINDS, tmp_path) == [f"{tmp_path}  is not a video. Allowed: one video file."]
    short, odd = film(tmp_path / "short.mp4", 10), film(tmp_path / "odd.mp4", 30, (65, 48))
    assert problems(short, KINDS, tmp_path) == [
        f"{short}  lasts 0.40 s, too short to show a flaw. Allowed: 1 s or more."
    ]
    assert problems(odd, KINDS, tmp_path) == [
        f"{odd}  is 65x48. Allowed: even numbers of pixels. Cut or pad it by one line or column."
    ]
    (tmp_path / "clip-uncleanness.mp4").write_bytes(b"mine")
    (message,) = problems(clip, ["uncleanness"], tmp_path)
    assert "is there, and is not what this command made" in message


def test_the_command_makes_them_into_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    film(tmp_path / "clip.mp4", 30)
    result = CliRunner().invoke(cli, ["media", "impair", "clip.mp4", "--kinds", "discontinuity, uncleanness"])
    assert result.output == "Made 2 files.\n"
    assert sorted(path.name for path in (tmp_path / "examples").glob("*.mp4")) == [
        "clip-discontinuity.mp4", "clip-uncleanness.mp4",
    ]  # fmt: skip
