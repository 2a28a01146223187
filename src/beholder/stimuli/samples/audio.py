"""Instruments of the sample tunes: each returns one note as it would sound, made of sines and noise."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Wave: TypeAlias = NDArray[np.float64]
Instrument: TypeAlias = Callable[[float, float, np.random.Generator], Wave]
"""Frequency in Hz, length in seconds, chance -> samples."""

RATE = 48_000
_TOP = 16_000.0
_VOWELS = {
    "a": ((800, 1.0), (1200, 0.6), (2600, 0.25), (3500, 0.12)),
    "e": ((450, 1.0), (2000, 0.4), (2600, 0.3), (3600, 0.12)),
    "i": ((300, 1.0), (2300, 0.35), (3000, 0.3), (3700, 0.12)),
    "o": ((480, 1.0), (850, 0.6), (2500, 0.12), (3500, 0.08)),
}
"""Where a voice resonates, in Hz, and how strongly."""


def pluck(hertz: float, seconds: float, rng: np.random.Generator) -> Wave:
    """Return a plucked string: bright at first, its high partials gone soon."""
    time, order = _time(seconds), _partials(hertz)
    stiff = order * hertz * np.sqrt(1 + 6e-5 * order**2)
    strength = np.sin(np.pi * order * 0.21) / order**1.1
    tone = _sum(stiff, strength, 1.2 + 0.16 * order**1.35, time)
    return tone + 0.25 * _noise(time, rng) * np.exp(-time * 190)


def bell(hertz: float, seconds: float, rng: np.random.Generator) -> Wave:
    """Return a struck bell, whose partials are no multiples of each other."""
    time = _time(seconds)
    ratio = np.array([0.5, 1.0, 1.19, 1.5, 2.0, 2.74, 3.76, 5.2, 6.8, 8.9, 11.3])
    ratio = ratio[ratio * hertz < _TOP]
    strength = 0.9 ** np.arange(len(ratio)) * rng.uniform(0.7, 1.0, len(ratio))
    return _sum(ratio * hertz, strength, 0.9 + 0.75 * ratio, time) + 0.3 * _noise(time, rng) * np.exp(-time * 320)


def bow(hertz: float, seconds: float, rng: np.random.Generator) -> Wave:
    """Return three bowed strings that are not quite in tune."""
    time, order = _time(seconds), _partials(hertz)
    strength = 1 / order * (1 + 0.8 * np.exp(-(((order * hertz - 2600) / 900) ** 2)))
    tone = np.zeros_like(time)
    for detune in (-0.0022, 0.0, 0.0019):
        swing = 0.0028 * np.sin(2 * np.pi * (5.3 * time + rng.uniform()))
        phase = 2 * np.pi * hertz * np.cumsum(1 + detune + swing) / RATE
        tone += _harmonics(phase, strength)
    return (tone / 3 + 0.02 * _noise(time, rng)) * _swell(time, 0.09, 0.08)


def breath(hertz: float, seconds: float, rng: np.random.Generator) -> Wave:
    """Return a flute: few partials, and the air around them."""
    time = _time(seconds)
    phase = 2 * np.pi * hertz * np.cumsum(1 + 0.004 * np.sin(2 * np.pi * 4.8 * time)) / RATE
    tone = _harmonics(phase, np.array([1.0, 0.45, 0.3, 0.1, 0.06, 0.03]))
    air = _noise(time, rng)
    return (tone + 0.03 * (air - 0.8 * np.roll(air, 1))) * _swell(time, 0.05, 0.07)


def drum(hertz: float, seconds: float, rng: np.random.Generator) -> Wave:
    """Return a kick below 80 Hz, a snare below 300 Hz, a cymbal above."""
    time, noise = _time(seconds), _noise(_time(seconds), rng)
    if hertz < 80:
        return np.asarray(1.6 * np.sin(2 * np.pi * (hertz * time + 2.2 * (1 - np.exp(-time * 38)))) * np.exp(-time * 9))
    if hertz < 300:
        body = np.sin(2 * np.pi * hertz * time) * np.exp(-time * 22)
        return np.asarray(0.7 * body + 0.6 * noise * np.exp(-time * 17))
    bright = noise - 1.6 * np.roll(noise, 1) + 0.8 * np.roll(noise, 2)
    return np.asarray(0.22 * bright * np.exp(-time * 26))


def voice(hertz: float, seconds: float, rng: np.random.Generator) -> Wave:
    """Return one sung syllable: a hiss, then one vowel that turns into another."""
    time, order = _time(seconds), _partials(hertz)
    vibrato = 0.012 * np.sin(2 * np.pi * 5.5 * time) * np.clip(time / 0.3, 0, 1)
    phase = 2 * np.pi * hertz * np.cumsum(1 + vibrato - 0.02 * np.exp(-time * 20)) / RATE
    first, second = rng.choice(list(_VOWELS), 2, replace=False)
    turn = 1 / (1 + np.exp(-(time - 0.45 * seconds) * 14))
    sung = [_harmonics(phase, _formed(order * hertz, vowel)) for vowel in (first, second)]
    tone = (1 - turn) * sung[0] + turn * sung[1]
    noise = _noise(time, rng)
    hiss = (noise - 0.95 * np.roll(noise, 1)) * np.exp(-(((time - 0.035) / 0.03) ** 2))
    return np.asarray(tone * _swell(np.maximum(time - 0.05, 0), 0.03, 0.06) + 0.13 * hiss)


INSTRUMENTS: Mapping[str, Instrument] = {
    "pluck": pluck, "bell": bell, "bow": bow, "breath": breath, "drum": drum, "voice": voice,
}  # fmt: skip


def _time(seconds: float) -> Wave:
    return np.asarray(np.arange(max(1, round(seconds * RATE))) / RATE)


def _partials(hertz: float) -> Wave:
    return np.arange(1, max(2, int(_TOP / hertz)), dtype=np.float64)[:48]


def _sum(hertz: Wave, strength: Wave, decay: Wave, time: Wave) -> Wave:
    """Return partials that die away, each as powers of one complex number, which is quicker than sines."""
    tone = np.zeros_like(time)
    for h, s, d in zip(hertz, strength, decay, strict=True):
        heard = min(len(time), int(9 / d * RATE) + 1)  # after that it is 78 dB down
        turns = np.full(heard, np.exp((2j * np.pi * h - d) / RATE))
        turns[0] = s
        tone[:heard] += np.multiply.accumulate(turns).imag
    return tone


def _harmonics(phase: Wave, strength: Wave) -> Wave:
    """Return the sum of s[k] sin(k phase), by the recurrence of Chebyshev: one sine in place of dozens."""
    before, here, twice = np.zeros_like(phase), np.sin(phase), 2 * np.cos(phase)
    tone: Wave = strength[0] * here
    for s in strength[1:]:
        before, here = here, twice * here - before
        tone = tone + s * here
    return tone


def _formed(hertz: Wave, vowel: str) -> Wave:
    resonance = sum(g * np.exp(-(((hertz - f) / (0.09 * f + 60)) ** 2)) for f, g in _VOWELS[vowel])
    return np.asarray((resonance + 0.012) / (hertz / hertz[0]) ** 0.35)


def _noise(time: Wave, rng: np.random.Generator) -> Wave:
    return rng.standard_normal(len(time))


def _swell(time: Wave, rise: float, fall: float) -> Wave:
    left = time[-1] - time
    return np.asarray(np.clip(time / rise, 0, 1) ** 0.7 * np.clip(left / fall, 0, 1))
