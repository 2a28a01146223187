"""Sample sounds: equally loud under each condition, and each condition audible."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from beholder.stimuli.pcm import read_sound
from beholder.stimuli.samples import make_samples
from beholder.stimuli.samples.audio import sound


@pytest.mark.variant
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
