"""Sample sounds: synthesised phrases of instruments and a voice, and their degradations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from beholder.stimuli.pcm import write_wav

_TUNES: Mapping[str, tuple[tuple[str, str], ...]] = {
    "guitar": (("pluck", "0:52:2 .33:59:2 .66:64:2 1:67:2 1.33:64:1.6 1.66:59:1.4 2:50:1.5 2.33:57:1.2 2.66:66:.9"),),
    "choir": (("voice", "0:57:.7 .7:60:.6 1.3:62:.5 1.8:60:.5 2.3:57:.7"), ("voice", "0:45:1.3 1.3:50:1 2.3:45:.7")),
    "band": (
        ("drum", "0:31:.4 .5:52:.4 1:31:.4 1.25:31:.4 1.5:52:.4 2:31:.4 2.5:52:.4"),
        ("drum", "0:80:.2 .25:80:.2 .5:80:.2 .75:80:.2 1:80:.2 1.25:80:.2 1.5:80:.2 1.75:80:.2 2:80:.2 2.5:80:.2"),
        ("pluck", "0:40:.5 .5:47:.5 1:43:.5 1.5:50:.5 2:45:.5 2.5:52:.5"),
    ),
    "strings": (
        ("bow", "0:55:1.5 1.5:57:1.5"),
        ("bow", "0:62:1.5 1.5:60:1.5"),
        ("bow", "0:71:.75 .75:74:.75 1.5:72:1.5"),
    ),
    "bells": (("bell", "0:76:2 .4:72:2 .8:74:2 1.2:67:1.8 1.8:67:1.2 2.2:74:.8"),),
    "flute": (("breath", "0:74:.4 .4:76:.3 .7:78:.3 1:79:.6 1.6:78:.3 1.9:74:1.1"), ("pluck", "0:50:1.5 1.5:55:1.5")),
}  # fmt: skip
"""Voices of each tune: an instrument, and its notes as start in seconds : MIDI number : length in seconds."""

CONTENTS = tuple(_TUNES)


@dataclass(frozen=True)
class _Damage:
    """What is left and what is added: the band, noise that follows the sound (as the MNRU of ITU-T P.810), holes."""

    band_hz: float
    noise_db: float
    holes_per_second: float = 0.0


_DAMAGES: Mapping[str, _Damage | None] = {
    "original": None,
    "light": _Damage(11_000, -27),
    "medium": _Damage(7_000, -17),
    "strong": _Damage(4_500, -9, holes_per_second=2.0),
}


def write(target: Path, content: int, condition: str, seconds: float) -> None:
    """Write one sample as 16-bit stereo WAV, whole or not at all."""
    write_wav(target, sound(content, condition, seconds), _RATE)


def sound(content: int, condition: str, seconds: float) -> _Wave:
    """Return the samples of one sample, a column for each ear; every condition is equally loud."""
    clean = _play(content, seconds)
    damage = _DAMAGES[condition]
    if damage is None:
        return clean
    # A seed of its own for each: the same playing under each condition, other noise in each.
    rng = np.random.default_rng([content, 1 + list(_DAMAGES).index(condition)])
    worse = _low_pass(clean * (1 + 10 ** (damage.noise_db / 20) * rng.standard_normal(clean.shape)), damage.band_hz)
    worse = worse * _holes(len(worse), damage.holes_per_second, rng)[:, None]
    return _normalise(worse)


def _play(content: int, seconds: float) -> _Wave:
    """Return a tune in stereo, in a small room."""
    rng = np.random.default_rng([content, 0])
    frames = max(1, round(seconds * _RATE))
    lift = content // len(CONTENTS) % 12
    mixed = np.zeros((frames, 2))
    voices = _TUNES[CONTENTS[content % len(CONTENTS)]]
    for number, (instrument, notes) in enumerate(voices):
        side = 0.5 + 0.32 * (number / max(1, len(voices) - 1) - 0.5)
        for note in notes.split():
            start, pitch, length = (float(part) for part in note.split(":"))
            first = round(start * _RATE)
            if first >= frames:
                continue
            hertz = 440 * 2 ** ((pitch - 69 + (0 if instrument == "drum" else lift)) / 12)
            tone = _INSTRUMENTS[instrument](hertz, min(length, (frames - first) / _RATE), rng)[: frames - first]
            mixed[first : first + len(tone), 0] += np.cos(side * np.pi / 2) * tone
            mixed[first : first + len(tone), 1] += np.sin(side * np.pi / 2) * tone
    return _normalise(_reverberate(mixed, rng))


def _reverberate(dry: _Wave, rng: np.random.Generator) -> _Wave:
    time = np.arange(round(0.35 * _RATE)) / _RATE
    echo = rng.standard_normal((len(time), 2)) * np.exp(-time * 16)[:, None]
    echo[: round(0.006 * _RATE)] = 0
    size = len(dry) + len(echo)
    wet = np.fft.irfft(np.fft.rfft(dry, size, axis=0) * np.fft.rfft(echo, size, axis=0), size, axis=0)[: len(dry)]
    return dry + 0.012 * wet


def _low_pass(samples: _Wave, hertz: float) -> _Wave:
    frequency = np.fft.rfftfreq(len(samples), 1 / _RATE)
    keep = 0.5 - 0.5 * np.tanh((frequency - hertz) / (0.03 * hertz))
    return np.asarray(np.fft.irfft(np.fft.rfft(samples, axis=0) * keep[:, None], len(samples), axis=0))


def _holes(frames: int, per_second: float, rng: np.random.Generator) -> _Wave:
    """Return a gain that falls to nothing for some 45 ms now and then, once at least where asked for."""
    gain = np.ones(frames)
    count = max(1, round(per_second * frames / _RATE)) if per_second else 0
    edge = np.hanning(2 * 96)
    for place in rng.uniform(0.1, 0.9, count) * frames:
        first, last = int(place), min(frames, int(place) + round(0.045 * _RATE))
        gain[first:last] = 0
    return np.convolve(gain, edge / edge.sum(), mode="same") if frames > len(edge) else gain


def _normalise(samples: _Wave) -> _Wave:
    """Return samples at -20 dB of full scale on average, with soft ends, below full scale everywhere."""
    ends = min(len(samples) // 2, round(0.03 * _RATE))
    gain = np.ones(len(samples))
    if ends:
        gain[-ends:] = np.linspace(1, 0, ends)
    shaped = samples * gain[:, None]
    level = float(np.sqrt(np.mean(shaped**2)))
    scaled = shaped * (0.1 / level) if level else shaped
    peak = float(np.abs(scaled).max(initial=0.0))
    return scaled * (0.95 / peak) if peak > 0.95 else scaled


# Instruments: each returns one note, made of sines and noise

_Wave: TypeAlias = NDArray[np.float64]
_Instrument: TypeAlias = Callable[[float, float, np.random.Generator], _Wave]
"""Frequency in Hz, length in seconds, chance -> samples."""

_RATE = 48_000
_TOP = 16_000.0
_VOWELS = {
    "a": ((800, 1.0), (1200, 0.6), (2600, 0.25), (3500, 0.12)),
    "e": ((450, 1.0), (2000, 0.4), (2600, 0.3), (3600, 0.12)),
    "i": ((300, 1.0), (2300, 0.35), (3000, 0.3), (3700, 0.12)),
    "o": ((480, 1.0), (850, 0.6), (2500, 0.12), (3500, 0.08)),
}
"""Where a voice resonates, in Hz, and how strongly."""


def _pluck(hertz: float, seconds: float, rng: np.random.Generator) -> _Wave:
    """Return a plucked string: bright at first, its high partials gone soon."""
    time, order = _time(seconds), _partials(hertz)
    stiff = order * hertz * np.sqrt(1 + 6e-5 * order**2)
    strength = np.sin(np.pi * order * 0.21) / order**1.1
    tone = _sum(stiff, strength, 1.2 + 0.16 * order**1.35, time)
    return tone + 0.25 * _noise(time, rng) * np.exp(-time * 190)


def _bell(hertz: float, seconds: float, rng: np.random.Generator) -> _Wave:
    """Return a struck bell, whose partials are no multiples of each other."""
    time = _time(seconds)
    ratio = np.array([0.5, 1.0, 1.19, 1.5, 2.0, 2.74, 3.76, 5.2, 6.8, 8.9, 11.3])
    ratio = ratio[ratio * hertz < _TOP]
    strength = 0.9 ** np.arange(len(ratio)) * rng.uniform(0.7, 1.0, len(ratio))
    return _sum(ratio * hertz, strength, 0.9 + 0.75 * ratio, time) + 0.3 * _noise(time, rng) * np.exp(-time * 320)


def _bow(hertz: float, seconds: float, rng: np.random.Generator) -> _Wave:
    """Return three bowed strings that are not quite in tune."""
    time, order = _time(seconds), _partials(hertz)
    strength = 1 / order * (1 + 0.8 * np.exp(-(((order * hertz - 2600) / 900) ** 2)))
    tone = np.zeros_like(time)
    for detune in (-0.0022, 0.0, 0.0019):
        swing = 0.0028 * np.sin(2 * np.pi * (5.3 * time + rng.uniform()))
        phase = 2 * np.pi * hertz * np.cumsum(1 + detune + swing) / _RATE
        tone += _harmonics(phase, strength)
    return (tone / 3 + 0.02 * _noise(time, rng)) * _swell(time, 0.09, 0.08)


def _breath(hertz: float, seconds: float, rng: np.random.Generator) -> _Wave:
    """Return a flute: few partials, and the air around them."""
    time = _time(seconds)
    phase = 2 * np.pi * hertz * np.cumsum(1 + 0.004 * np.sin(2 * np.pi * 4.8 * time)) / _RATE
    tone = _harmonics(phase, np.array([1.0, 0.45, 0.3, 0.1, 0.06, 0.03]))
    air = _noise(time, rng)
    return (tone + 0.03 * (air - 0.8 * np.roll(air, 1))) * _swell(time, 0.05, 0.07)


def _drum(hertz: float, seconds: float, rng: np.random.Generator) -> _Wave:
    """Return a kick below 80 Hz, a snare below 300 Hz, a cymbal above."""
    time, noise = _time(seconds), _noise(_time(seconds), rng)
    if hertz < 80:
        return np.asarray(1.6 * np.sin(2 * np.pi * (hertz * time + 2.2 * (1 - np.exp(-time * 38)))) * np.exp(-time * 9))
    if hertz < 300:
        body = np.sin(2 * np.pi * hertz * time) * np.exp(-time * 22)
        return np.asarray(0.7 * body + 0.6 * noise * np.exp(-time * 17))
    bright = noise - 1.6 * np.roll(noise, 1) + 0.8 * np.roll(noise, 2)
    return np.asarray(0.22 * bright * np.exp(-time * 26))


def _voice(hertz: float, seconds: float, rng: np.random.Generator) -> _Wave:
    """Return one sung syllable: a hiss, then one vowel that turns into another."""
    time, order = _time(seconds), _partials(hertz)
    vibrato = 0.012 * np.sin(2 * np.pi * 5.5 * time) * np.clip(time / 0.3, 0, 1)
    phase = 2 * np.pi * hertz * np.cumsum(1 + vibrato - 0.02 * np.exp(-time * 20)) / _RATE
    first, second = rng.choice(list(_VOWELS), 2, replace=False)
    turn = 1 / (1 + np.exp(-(time - 0.45 * seconds) * 14))
    sung = [_harmonics(phase, _formants(order * hertz, vowel)) for vowel in (first, second)]
    tone = (1 - turn) * sung[0] + turn * sung[1]
    noise = _noise(time, rng)
    hiss = (noise - 0.95 * np.roll(noise, 1)) * np.exp(-(((time - 0.035) / 0.03) ** 2))
    return np.asarray(tone * _swell(np.maximum(time - 0.05, 0), 0.03, 0.06) + 0.13 * hiss)


_INSTRUMENTS: Mapping[str, _Instrument] = {
    "pluck": _pluck, "bell": _bell, "bow": _bow, "breath": _breath, "drum": _drum, "voice": _voice,
}  # fmt: skip


def _time(seconds: float) -> _Wave:
    return np.asarray(np.arange(max(1, round(seconds * _RATE))) / _RATE)


def _partials(hertz: float) -> _Wave:
    return np.arange(1, max(2, int(_TOP / hertz)), dtype=np.float64)[:48]


def _sum(hertz: _Wave, strength: _Wave, decay: _Wave, time: _Wave) -> _Wave:
    """Return partials that die away, each as powers of one complex number, which is quicker than sines."""
    tone = np.zeros_like(time)
    for h, s, d in zip(hertz, strength, decay, strict=True):
        heard = min(len(time), int(9 / d * _RATE) + 1)  # after that it is 78 dB down
        turns = np.full(heard, np.exp((2j * np.pi * h - d) / _RATE))
        turns[0] = s
        tone[:heard] += np.multiply.accumulate(turns).imag
    return tone


def _harmonics(phase: _Wave, strength: _Wave) -> _Wave:
    """Return the sum of s[k] sin(k phase), by the recurrence of Chebyshev: one sine in place of dozens."""
    before, here, twice = np.zeros_like(phase), np.sin(phase), 2 * np.cos(phase)
    tone: _Wave = strength[0] * here
    for s in strength[1:]:
        before, here = here, twice * here - before
        tone = tone + s * here
    return tone


def _formants(hertz: _Wave, vowel: str) -> _Wave:
    resonance = sum(g * np.exp(-(((hertz - f) / (0.09 * f + 60)) ** 2)) for f, g in _VOWELS[vowel])
    return np.asarray((resonance + 0.012) / (hertz / hertz[0]) ** 0.35)


def _noise(time: _Wave, rng: np.random.Generator) -> _Wave:
    return rng.standard_normal(len(time))


def _swell(time: _Wave, rise: float, fall: float) -> _Wave:
    left = time[-1] - time
    return np.asarray(np.clip(time / rise, 0, 1) ** 0.7 * np.clip(left / fall, 0, 1))
