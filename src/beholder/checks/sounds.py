"""Sounds that are made for one attempt at a listening check, and what its page reports about playing them.

Levels are relative to that of the test sound with which people set their volume (web/steps/volume.js), so 0 dB is about
as loud as a clip. The sampling rate is low because nothing here is high: files stay small, and no codec shifts phases.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from beholder.checks.page_contract import BrowserPage, DrawnFile, refuse
from beholder.types import Json

Samples = NDArray[np.float64]
"""One channel, (samples,), or two, (samples, 2): left, right. Full scale is 1."""

RATE = 16_000
LOUDNESS = -23.0
"""LUFS of the test sound of the volume page, as programmes are broadcast (EBU R 128)."""
REFERENCE = 10 ** (LOUDNESS / 20) / 2**0.5
"""Root mean square in each ear of a sound in both ears at this loudness: 26 dB below full scale."""
_FULL = 32767
_HEADER = struct.Struct("<4sI4s4sIHHIIHH4sI")


def amplitude(db: float) -> float:
    """Return the root mean square of a sound at a level in decibels above the reference."""
    return float(REFERENCE * 10 ** (db / 20))


def sample_count(duration: float) -> int:
    """Return the number of samples of a duration."""
    return round(duration * RATE)


def tone(hertz: float, duration: float, db: float, *, ramp: float, phase: float = 0.0) -> Samples:
    """Return a sine with soft onset and offset."""
    turn = 2 * np.pi * hertz * np.arange(sample_count(duration)) / RATE + phase
    return with_ramps(amplitude(db) * 2**0.5 * np.sin(turn), ramp)


def chime(hertz: float, duration: float, db: float, *, ramp: float) -> Samples:
    """Return a tone with harmonics, which is easier to localise than a pure one."""
    turn = 2 * np.pi * hertz * np.arange(sample_count(duration)) / RATE
    wave = np.sin(turn) + 0.5 * np.sin(2 * turn) + 0.33 * np.sin(3 * turn) + 0.25 * np.sin(4 * turn)
    return with_ramps(at_level(wave, db), ramp)


def noise(rng: Generator, duration: float, db: float, *, ramp: float, shifted: tuple[float, float] | None) -> Samples:
    """Return white noise, the same in both ears except for a band that is shifted by 180 degrees in the left one.

    Each ear alone hears noise; both together hear a faint pitch in the middle of the band.
    """
    length = sample_count(duration)
    spectrum = np.fft.rfft(rng.standard_normal(length))
    spectrum[0] = 0
    frequencies = np.fft.rfftfreq(length, 1 / RATE)
    inverted = spectrum.copy()
    if shifted is not None:
        inverted[(frequencies >= shifted[0]) & (frequencies <= shifted[1])] *= -1
    ears = [at_level(np.fft.irfft(ear, length), db) for ear in (inverted, spectrum)]
    return np.stack([with_ramps(ear, ramp) for ear in ears], axis=1)


def at_level(wave: Samples, db: float) -> Samples:
    """Return a wave at a level."""
    level: Samples = wave * (amplitude(db) / np.sqrt(np.mean(wave**2)))
    return level


def with_ramps(wave: Samples, ramp: float) -> Samples:
    """Return a wave with raised-cosine ramps, so that it does not click."""
    length = sample_count(ramp)
    rise = (1 - np.cos(np.pi * (np.arange(length) + 0.5) / length)) / 2
    shaped = wave.copy()
    shaped[:length] *= rise
    shaped[len(shaped) - length :] *= rise[::-1]
    return shaped


def stereo(left: Samples, right: Samples) -> Samples:
    """Return two channels."""
    return np.stack([left, right], axis=1)


def arrange(duration: float, parts: Sequence[tuple[float, Samples]]) -> Samples:
    """Return silence of a duration with parts added at their times."""
    shape = parts[0][1].shape[1:] if parts else ()
    whole = np.zeros((sample_count(duration), *shape))
    for at, part in parts:
        begin = sample_count(at)
        whole[begin : begin + len(part)] += part
    return whole


def wav(samples: Samples) -> DrawnFile:
    """Return 16-bit PCM with nothing in the file but its samples: equal durations are equal sizes."""
    channels = 1 if samples.ndim == 1 else samples.shape[1]
    data = np.round(np.clip(samples, -1, 1) * _FULL).astype("<i2").tobytes()
    frame = 2 * channels
    header = _HEADER.pack(
        b"RIFF", 36 + len(data), b"WAVE", b"fmt ", 16, 1, channels, RATE, RATE * frame, frame, 16, b"data", len(data)
    )
    return DrawnFile(header + data, "audio/wav")


# What the pages report

PLAYS = 2
"""How often a sound may be played to its end: a cough must not cost anybody the study.

A second time does not help with loudspeakers. The page counts, so the number can be forged: evidence only.
"""
_MOST_PLAYS = 99
_WHY = ("start", "decode", "missing")


def read_playback(answer: Mapping[str, Json], number: int) -> dict[str, Json]:
    """Return the number of plays of each sound and the audio output, as they are stored."""
    plays, output = answer.get("plays"), answer.get("output")
    read: dict[str, Json] = {"plays": None, "output": None}
    if isinstance(plays, Sequence) and len(plays) == number and all(_is_whole(one, _MOST_PLAYS) for one in plays):
        read["plays"] = list(plays)
    if isinstance(output, Mapping):
        channels, rate = output.get("channels"), output.get("rate")
        if _is_whole(channels, 64) and _is_whole(rate, 1_000_000):
            read["output"] = {"channels": channels, "rate": rate}
    return read


def read_blocked(answer: Mapping[str, Json]) -> dict[str, Json] | None:
    """Return why no sound could be played, as it is stored; None where it could."""
    if answer.get("blocked") is not True:
        return None
    why = answer.get("why")
    return {"blocked": True, "why": why if why in _WHY else None}


def read_choices(answer: Mapping[str, Json], name: str, number: int, allowed: Sequence[Json]) -> list[Json]:
    """Return one choice for each sound, or raise Refused."""
    choices = answer.get(name)
    words = f"{number} of " + ", ".join(str(one) for one in allowed)
    if not isinstance(choices, list) or len(choices) != number:
        raise refuse(name, "not_one_choice_each", words)
    for one in choices:
        if isinstance(one, bool) or one not in allowed:
            raise refuse(name, "choice_not_offered", words)
    return list(choices)


def _is_whole(value: Json, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= most


async def play(page: BrowserPage) -> None:
    """Play the current sound to its end: its button is then no longer the primary one."""
    await page.press("#play-sound.button-primary")
    await page.find("#play-sound:not(.button-primary)")


async def choose_tiles(page: BrowserPage, choices: Sequence[Json]) -> None:
    """Play each sound in a real browser, and choose a tile for it."""
    for chosen in choices:
        await play(page)
        await page.tick(f'.listen-tiles:not(:disabled) input[value="{chosen}"]')
        await page.leave()
