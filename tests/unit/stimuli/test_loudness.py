"""Loudness: both meters agree, and one gain brings a sound to a target without clipping."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from beholder.stimuli.loudness import integrated_loudness, measure_loudness
from beholder.stimuli.pcm import read_sound, write_wav
from beholder.stimuli.probe import measure
from beholder.stimuli.workshop import WorkshopResult, make_prepared
from support import spoken_messages
from support.prepared_files import X264, film, noise, run
from support.spoken_messages import lufs


@pytest.mark.parametrize(("rate", "channels"), [(16_000, 1), (44_100, 2), (96_000, 1)])
def test_the_meter_of_the_mix_reads_what_that_of_ffmpeg_reads(tmp_path: Path, rate: int, channels: int) -> None:
    samples = spoken_messages.noise(3, rate, channels) * np.linspace(0.02, 1, 3 * rate)[:, None]
    write_wav(tmp_path / "a.wav", samples, rate, 24)
    assert integrated_loudness(samples, rate) == pytest.approx(lufs(tmp_path / "a.wav"), abs=0.2)


def test_what_is_too_short_for_a_gate_still_has_a_loudness() -> None:
    # 997 Hz at full scale is -3.01 LUFS by definition (BS.1770, annex 1).
    tone = np.sin(2 * np.pi * 997 * np.arange(9600) / 48_000)
    assert integrated_loudness(tone[:, None], 48_000) == pytest.approx(-3.01, abs=0.2)


def test_loudness_is_brought_to_what_is_asked_for(tmp_path: Path) -> None:
    soft, loud = noise(tmp_path / "in" / "soft.wav", 0.1), noise(tmp_path / "in" / "loud.wav", 2, bits=24)
    clip = film(tmp_path / "in" / "clip.mp4", *X264, "-pix_fmt", "yuv420p", "-c:a", "aac")
    assert measure_loudness(soft, "audio").lufs != pytest.approx(measure_loudness(loud, "audio").lufs, abs=10)
    out = tmp_path / "out"
    assert run("prepare", tmp_path / "in", "--loudness", -23, "--out", out).output == "Made 3 files.\n"
    for name in ("soft.wav", "loud.wav"):
        assert measure_loudness(out / name, "audio").lufs == pytest.approx(-23, abs=0.5)
    assert measure_loudness(out / "clip.mp4", "video").lufs == pytest.approx(-23, abs=0.5)
    assert read_sound(out / "loud.wav", "").bits == 24
    before, after = read_sound(soft, "").samples, read_sound(out / "soft.wav", "").samples
    ratio = float((after * before).sum() / (before**2).sum())
    np.testing.assert_allclose(after, ratio * before, atol=2**-15)
    assert make_prepared([tmp_path / "in"], out, loudness=-23) == WorkshopResult(
        (), tuple(out / name for name in ("clip.mp4", "loud.wav", "soft.wav"))
    )
    assert measure(clip, "").frames == measure(out / "clip.mp4", "").frames


def test_nothing_is_made_louder_than_full_scale(tmp_path: Path) -> None:
    click = np.zeros((48_000, 1))
    click[:, 0] = 0.01 * np.sin(np.arange(48_000) / 10)
    click[24_000] = 0.9
    write_wav(tmp_path / "in" / "click.wav", click, 48_000)
    write_wav(tmp_path / "in" / "mute.wav", np.zeros(48_000), 48_000)
    noise(tmp_path / "in" / "short.wav", 1, seconds=0.2)
    made = make_prepared([tmp_path / "in"], tmp_path / "out", loudness=-20)
    peak = measure_loudness(tmp_path / "out" / "click.wav", "audio")
    assert peak.peak_db <= 0
    assert peak.lufs is not None
    assert made.notes == (
        f"{tmp_path / 'in' / 'click.wav'}: {peak.lufs:.1f} LUFS instead of -20, for louder would go beyond full scale.",
        f"{tmp_path / 'in' / 'mute.wav'}: silent or shorter than 0.4 s, so its loudness stays as it is.",
        f"{tmp_path / 'in' / 'short.wav'}: silent or shorter than 0.4 s, so its loudness stays as it is.",
    )
