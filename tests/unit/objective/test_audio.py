"""Metrics of sounds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import beholder
from support.measured_stimuli import note, value, write


def test_sounds_are_measured_by_what_is_left_of_the_signal(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    time = np.arange(32_000) / 16_000
    clean = sum(np.sin(2 * np.pi * f * time) for f in (220, 440, 1760)) * (1 + np.sin(2 * np.pi * 3 * time)) / 8
    noise = rng.normal(0, 0.05, len(time))
    for condition, signal in (("original", clean), ("noisy", 0.5 * (clean + noise)), ("silent", 0 * clean)):
        path = tmp_path / "stimuli" / condition / "talk.wav"
        path.parent.mkdir(parents=True)
        write_wav(path, signal)
    path = write(tmp_path, [{"name": "original", "role": "reference"}, "noisy", "silent"])
    found = beholder.metrics(path, metric=["si-sdr", "stoi", "estoi"]).values
    rest = noise - clean * (noise @ clean) / (clean @ clean)
    expected = 10 * np.log10((clean @ clean) / (rest @ rest))
    assert value(found, "noisy/talk", "si-sdr") == pytest.approx(expected, abs=0.05)
    assert 0 < value(found, "noisy/talk", "estoi") < value(found, "noisy/talk", "stoi") < 1
    assert np.isnan(value(found, "silent/talk", "si-sdr"))
    assert note(found, "silent/talk", "si-sdr") == "nothing to measure"


def write_wav(path: Path, signal: np.ndarray[tuple[int], np.dtype[np.float64]]) -> None:
    import wave

    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16_000)
        file.writeframes((np.clip(signal, -1, 1) * 32767).round().astype("<i2").tobytes())
