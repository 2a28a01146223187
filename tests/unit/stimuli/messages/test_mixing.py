"""Speech mixed into a sound: clear, the whole as loud as before, nothing else changed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from beholder.stimuli.messages.mixing import mix_speech
from beholder.stimuli.messages.speech import speak
from beholder.stimuli.pcm import read_sound
from support.spoken_messages import SHORT, Samples, lufs, noise, voiced
from support.variants import variant


@pytest.mark.parametrize(("rate", "channels", "bits"), [(8000, 1, 16), (44_100, 2, 16), variant(48_000, 6, 24)])
def test_nothing_but_the_middle_of_a_sound_changes(tmp_path: Path, rate: int, channels: int, bits: int) -> None:
    after = read_sound(voiced(tmp_path, noise(4, rate, channels), rate, bits=bits), "")
    before = read_sound(tmp_path / "before.wav", "")
    assert (after.rate, after.bits, after.samples.shape) == (rate, bits, (4 * rate, channels))
    changed = np.flatnonzero((before.samples != after.samples).any(axis=1))
    # A message of 2 s and a ramp of 0.05 s on each side, as far from the beginning as from the end.
    assert 1.5 * rate < changed[-1] - changed[0] < 2.8 * rate
    assert abs(changed[0] - (4 * rate - changed[-1])) < 0.01 * rate
    assert sorted(path.name for path in tmp_path.iterdir()) == ["after.wav", "before.wav"]


def shaped(kind: str) -> Samples:
    """Return four seconds of sound whose middle differs from the rest in some way."""
    rate = 24_000
    time = np.arange(4 * rate) / rate
    middle = np.abs(time - 2) < 1.2
    envelope = {
        "even": np.ones_like(time),
        "loud": np.full_like(time, 3.0),
        "soft": np.full_like(time, 0.1),
        "quiet middle": np.where(middle, 0.03, 1.0),
        "softer middle": np.where(middle, 0.4, 1.0),
        "loud middle": np.where(middle, 1.0, 0.03),
        "beats": np.exp(-8 * (time % 0.5)),
    }[kind]
    return np.asarray(noise(4, rate) * envelope[:, None])


@pytest.mark.parametrize(
    "kind", ["even", "quiet middle", "loud middle", *map(variant, ("loud", "soft", "softer middle", "beats"))]
)
def test_the_whole_is_as_loud_as_before_and_never_beyond_full_scale(tmp_path: Path, kind: str) -> None:
    after = voiced(tmp_path, shaped(kind), 24_000)
    # Measured by ffmpeg, not by the meter that the mix was made with.
    assert abs(lufs(after) - lufs(tmp_path / "before.wav")) < 0.5
    assert float(np.abs(read_sound(after, "").samples).max()) < 1


def test_the_speech_stands_out_from_what_is_left_under_it() -> None:
    rate, speech = 24_000, speak(SHORT.words, "en")
    tone = 0.3 * np.sin(2 * np.pi * 3000 * np.arange(4 * rate) / rate)[:, None]
    mixed = mix_speech(tone, rate, speech, "")
    middle = slice(mixed.start + rate // 10, mixed.end - rate // 10)
    left = float(np.dot(mixed.samples[middle, 0], tone[middle, 0]) / np.dot(tone[middle, 0], tone[middle, 0]))
    said = mixed.samples[middle, 0] - left * tone[middle, 0]
    assert 10 * np.log10((said**2).mean() / ((left * tone[middle, 0]) ** 2).mean()) > 10
    np.testing.assert_array_equal(mixed.samples[: mixed.start], tone[: mixed.start])
    np.testing.assert_array_equal(mixed.samples[mixed.end :], tone[mixed.end :])


@pytest.mark.parametrize("peak", [0.0, 0.003])
def test_in_silence_the_message_has_the_level_of_broadcasts(tmp_path: Path, peak: float) -> None:
    after = voiced(tmp_path, noise(4, 24_000, peak=peak), 24_000)
    assert lufs(after) == pytest.approx(-23, abs=0.3)
