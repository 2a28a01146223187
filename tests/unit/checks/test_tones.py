"""Counting tones: as many as are heard, of every pitch and level."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from beholder.checks.tones import Tones
from support.listening_checks import answer, message_of, played, pose, rms


def tones_in(sound: NDArray[np.float64], rate: int) -> list[tuple[int, int]]:
    """Return where tones are by their energy alone: the samples at which each begins and ends."""
    window = rate // 100
    energy = np.sqrt(np.convolve(sound**2, np.ones(window) / window, "same"))
    on = np.concatenate([[False], energy > 10 ** (-60 / 20), [False]]).astype(int)
    return list(zip(np.flatnonzero(np.diff(on) == 1), np.flatnonzero(np.diff(on) == -1), strict=True))


def test_the_tones_that_are_heard_are_as_many_as_are_counted() -> None:
    check = Tones(Tones.Options(clips=4))
    counts = set()
    for seed in range(25):
        posed = pose(check, seed)
        clips: Any = posed.private["clips"]
        for sound, rate, place in played(check, posed):
            assert len(sound) == 8 * rate
            tones = tones_in(sound[:, 0], rate)
            assert len(tones) == len(clips[place])
            counts.add(len(tones))
            for (begin, end), (at, _, _) in zip(tones, clips[place], strict=True):
                assert begin / rate == pytest.approx(at, abs=0.02)
                assert (end - begin) / rate == pytest.approx(0.3, abs=0.04)
            for (_, end), (begin, _) in pairwise(tones):
                assert (begin - end) / rate > 0.3
    assert counts == {4, 5, 6, 7, 8}


def test_pitch_and_level_vary_and_the_softest_is_equally_soft_in_every_clip() -> None:
    check = Tones(Tones.Options())
    for seed in range(10):
        posed = pose(check, seed)
        clips: Any = posed.private["clips"]
        for sound, rate, place in played(check, posed):
            levels, pitches = [], []
            for (begin, end), (_, hertz, _) in zip(tones_in(sound[:, 0], rate), clips[place], strict=True):
                middle = sound[(begin + end) // 2 - rate // 20 : (begin + end) // 2 + rate // 20, 0]
                levels.append(20 * np.log10(rms(middle)))
                spectrum = np.abs(np.fft.rfft(middle * np.hanning(len(middle)), 8 * rate))
                pitches.append(np.argmax(spectrum) / 8)
                assert pitches[-1] == pytest.approx(hertz, abs=3)
            assert 400 <= min(pitches) < max(pitches) <= 2000
            # 4 to 24 dB below the test sound of the volume page, which is 26 dB below full scale in each ear.
            assert (max(levels), min(levels)) == (pytest.approx(-30, abs=0.2), pytest.approx(-50, abs=0.2))


def test_counts_have_to_be_exact_and_too_few_is_told_as_tones_that_were_missed() -> None:
    check = Tones(Tones.Options())
    posed = pose(check)
    right = [len(clip) for clip in posed.private["clips"]]  # type: ignore[union-attr, arg-type]
    assert answer(check, posed, {"counts": right}).verdict == "pass"
    missed = answer(check, posed, {"counts": [right[0] - 1, right[1]]})
    assert (missed.verdict, missed.reason, missed.measured, missed.needed) == (
        "fail", "missed", [right[0] - 1, right[1]], right,
    )  # fmt: skip
    more = answer(check, posed, {"counts": [right[0] - 1, right[1] + 1]})
    assert (more.verdict, more.reason) == ("fail", "count")
    assert not any(str(number) in message_of(check, one) for number in right for one in (missed, more))
