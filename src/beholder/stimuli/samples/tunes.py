"""Sample sounds: short phrases of instruments and a voice, played and damaged by us."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from beholder.stimuli.anchors import write_wav
from beholder.stimuli.samples.instruments import INSTRUMENTS, RATE, Wave

TUNES: Mapping[str, tuple[tuple[str, str], ...]] = {
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

CONTENTS = tuple(TUNES)


@dataclass(frozen=True)
class Damage:
    """What is left and what is added: the band, noise that follows the sound (as the MNRU of ITU-T P.810), holes."""

    band_hz: float
    noise_db: float
    holes_per_second: float = 0.0


DAMAGES: Mapping[str, Damage | None] = {
    "original": None,
    "light": Damage(11_000, -27),
    "medium": Damage(7_000, -17),
    "strong": Damage(4_500, -9, holes_per_second=2.0),
}


def write(target: Path, content: int, condition: str, seconds: float) -> None:
    """Write one sample as 16-bit stereo WAV, whole or not at all."""
    write_wav(target, sound(content, condition, seconds), RATE)


def sound(content: int, condition: str, seconds: float) -> Wave:
    """Return the samples of one sample, a column for each ear; every condition is equally loud."""
    clean = play(content, seconds)
    damage = DAMAGES[condition]
    if damage is None:
        return clean
    # A seed of its own for each: the same playing under each condition, other noise in each.
    rng = np.random.default_rng([content, 1 + list(DAMAGES).index(condition)])
    worse = _banded(clean * (1 + 10 ** (damage.noise_db / 20) * rng.standard_normal(clean.shape)), damage.band_hz)
    worse = worse * _holes(len(worse), damage.holes_per_second, rng)[:, None]
    return _levelled(worse)


def play(content: int, seconds: float) -> Wave:
    """Return a tune in stereo, in a small room."""
    rng = np.random.default_rng([content, 0])
    frames = max(1, round(seconds * RATE))
    lift = content // len(CONTENTS) % 12
    mixed = np.zeros((frames, 2))
    voices = TUNES[CONTENTS[content % len(CONTENTS)]]
    for number, (instrument, notes) in enumerate(voices):
        side = 0.5 + 0.32 * (number / max(1, len(voices) - 1) - 0.5)
        for note in notes.split():
            start, pitch, length = (float(part) for part in note.split(":"))
            first = round(start * RATE)
            if first >= frames:
                continue
            hertz = 440 * 2 ** ((pitch - 69 + (0 if instrument == "drum" else lift)) / 12)
            tone = INSTRUMENTS[instrument](hertz, min(length, (frames - first) / RATE), rng)[: frames - first]
            mixed[first : first + len(tone), 0] += np.cos(side * np.pi / 2) * tone
            mixed[first : first + len(tone), 1] += np.sin(side * np.pi / 2) * tone
    return _levelled(_in_a_room(mixed, rng))


def _in_a_room(dry: Wave, rng: np.random.Generator) -> Wave:
    time = np.arange(round(0.35 * RATE)) / RATE
    echo = rng.standard_normal((len(time), 2)) * np.exp(-time * 16)[:, None]
    echo[: round(0.006 * RATE)] = 0
    size = len(dry) + len(echo)
    wet = np.fft.irfft(np.fft.rfft(dry, size, axis=0) * np.fft.rfft(echo, size, axis=0), size, axis=0)[: len(dry)]
    return dry + 0.012 * wet


def _banded(samples: Wave, hertz: float) -> Wave:
    frequency = np.fft.rfftfreq(len(samples), 1 / RATE)
    keep = 0.5 - 0.5 * np.tanh((frequency - hertz) / (0.03 * hertz))
    return np.asarray(np.fft.irfft(np.fft.rfft(samples, axis=0) * keep[:, None], len(samples), axis=0))


def _holes(frames: int, per_second: float, rng: np.random.Generator) -> Wave:
    """Return a gain that falls to nothing for some 45 ms now and then, once at least where asked for."""
    gain = np.ones(frames)
    count = max(1, round(per_second * frames / RATE)) if per_second else 0
    edge = np.hanning(2 * 96)
    for place in rng.uniform(0.1, 0.9, count) * frames:
        first, last = int(place), min(frames, int(place) + round(0.045 * RATE))
        gain[first:last] = 0
    return np.convolve(gain, edge / edge.sum(), mode="same") if frames > len(edge) else gain


def _levelled(samples: Wave) -> Wave:
    """Return samples at -20 dB of full scale on average, with soft ends, below full scale everywhere."""
    ends = min(len(samples) // 2, round(0.03 * RATE))
    gain = np.ones(len(samples))
    if ends:
        gain[-ends:] = np.linspace(1, 0, ends)
    shaped = samples * gain[:, None]
    level = float(np.sqrt(np.mean(shaped**2)))
    scaled = shaped * (0.1 / level) if level else shaped
    peak = float(np.abs(scaled).max(initial=0.0))
    return scaled * (0.95 / peak) if peak > 0.95 else scaled
