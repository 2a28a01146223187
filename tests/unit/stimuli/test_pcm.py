"""Low-pass filtered sounds: in step with their source to the sample, flat below the cut-off, silent above."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from beholder.errors import StimuliError
from beholder.stimuli.ffmpeg import file_argument, run_ffmpeg
from beholder.stimuli.pcm import filter_low, lowpass, read_sound, write_wav
from support.variants import variant

Samples = NDArray[np.float64]


def decibels(response: NDArray[np.complex128]) -> Samples:
    return np.asarray(20 * np.log10(np.maximum(np.abs(response), 1e-12)))


@pytest.mark.parametrize(
    ("channels", "rate"),
    [(1, 44_100), (2, 48_000), *(variant(*both) for both in ((1, 48_000), (1, 96_000), (2, 44_100), (2, 96_000)))],
)
def test_an_anchor_is_in_step_and_as_long_as_its_reference(tmp_path: Path, rate: int, channels: int) -> None:
    rng = np.random.default_rng([rate, channels])
    low = filter_low(rng.normal(0, 0.2, (rate // 2 + 7, channels)), rate, 2000)
    write_wav(tmp_path / "reference.wav", low, rate)
    lowpass(tmp_path / "reference.wav", tmp_path / "anchor.wav", 3500)
    before = read_sound(tmp_path / "reference.wav", "")
    after = read_sound(tmp_path / "anchor.wav", "")
    assert (after.rate, after.bits, after.samples.shape) == (rate, 16, before.samples.shape)
    for one, other in zip(before.samples.T, after.samples.T, strict=True):
        lags = range(-200, 201)
        matches = [float(np.dot(one[200:-200], np.roll(other, -lag)[200:-200])) for lag in lags]
        assert lags[int(np.argmax(matches))] == 0
        assert float(np.abs(one - other)[2000:-2000].max()) < 2e-4


@pytest.mark.parametrize("rate", [44_100, 48_000, 96_000])
@pytest.mark.parametrize("hertz", [3500, 7000])
def test_the_pass_band_is_flat_and_the_stop_band_is_silent(tmp_path: Path, rate: int, hertz: int) -> None:
    click = np.zeros((rate, 2))
    click[rate // 2] = 0.9
    write_wav(tmp_path / "click.wav", click, rate, bits=24)
    lowpass(tmp_path / "click.wav", tmp_path / "anchor.wav", hertz)
    sound = read_sound(tmp_path / "anchor.wav", "")
    assert sound.bits == 24
    level = decibels(np.fft.rfft(sound.samples[:, 0]) / 0.9)
    frequency = np.fft.rfftfreq(rate, 1 / rate)
    assert float(np.abs(level[frequency <= hertz]).max()) < 0.1
    assert float(level[frequency >= hertz * 8 / 7].max()) < -60
    np.testing.assert_array_equal(sound.samples[:, 0], sound.samples[:, 1])


def test_an_anchor_never_clips(tmp_path: Path) -> None:
    square = np.where(np.arange(48_000) // 37 % 2, 1.0, -1.0)[:, None] * np.ones((1, 2))
    write_wav(tmp_path / "square.wav", square, 48_000)
    lowpass(tmp_path / "square.wav", tmp_path / "anchor.wav", 3500)
    samples = read_sound(tmp_path / "anchor.wav", "").samples
    peak = float(np.abs(samples).max())
    assert 0.999 < peak < 1
    at_the_top = np.flatnonzero(np.abs(samples[:, 0]) > peak - 1e-4)
    assert int(np.diff(at_the_top).min(initial=9)) > 1


def test_an_anchor_has_the_same_bytes_each_time_and_says_nothing_of_its_maker(tmp_path: Path) -> None:
    write_wav(tmp_path / "reference.wav", np.random.default_rng(1).normal(0, 0.1, 4800), 48_000)
    for name in ("one", "two"):
        lowpass(tmp_path / "reference.wav", tmp_path / "new" / f"{name}.wav", 7000)
    one, two = ((tmp_path / "new" / f"{name}.wav").read_bytes() for name in ("one", "two"))
    assert one == two
    assert len(one) == 44 + 2 * 4800
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["one.wav", "two.wav"]


def test_a_coded_reference_is_decoded_first(tmp_path: Path) -> None:
    tone = 0.4 * np.sin(2 * np.pi * 440 * np.arange(24_000) / 48_000)
    write_wav(tmp_path / "tone.wav", tone, 48_000)
    run_ffmpeg(["-i", file_argument(tmp_path / "tone.wav"), "-c:a", "aac", file_argument(tmp_path / "tone.m4a")])
    lowpass(tmp_path / "tone.m4a", tmp_path / "anchor.wav", 3500)
    coded, anchor = (read_sound(tmp_path / name, "") for name in ("tone.m4a", "anchor.wav"))
    assert anchor.samples.shape == coded.samples.shape
    assert anchor.bits == 16


def test_what_cannot_be_filtered_is_explained(tmp_path: Path) -> None:
    write_wav(tmp_path / "low.wav", np.zeros(800), 8000)
    (tmp_path / "empty.wav").touch()
    (tmp_path / "notes.wav").write_text("not a sound", "utf-8")
    again = "Export or copy it again, or take it out."
    expected = {
        "low.wav": "low.wav  has 8000 samples a second, so that no low-pass at 3800 Hz can be made. "
        "Allowed: 20 to 3600 Hz.",
        "empty.wav": f"empty.wav  cannot be read as audio: the file is empty. {again}",
        "notes.wav": f"notes.wav  cannot be read as audio: it is no wav, mp3, flac, ogg, opus, m4a, aac or aiff, "
        f"or it is cut off. {again}",
        "gone.wav": "gone.wav  does not exist. Look for a slip in the name.",
    }
    for name, words in expected.items():
        with pytest.raises(StimuliError) as caught:
            lowpass(tmp_path / name, tmp_path / "anchor.wav", 3800, where=name)
        assert str(caught.value) == words
    assert not (tmp_path / "anchor.wav").exists()
