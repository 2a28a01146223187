"""Sounds with a spoken message in their middle."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import signal

from beholder.stimuli.loudness import measure_loudness
from beholder.stimuli.media_formats import medium_of
from beholder.stimuli.messages.message import Message
from beholder.stimuli.messages.speech import insert_speech
from beholder.stimuli.pcm import write_wav

Samples = NDArray[np.float64]


def lufs(path: Path) -> float:
    """Return the loudness of a file as ffmpeg measures it."""
    value = measure_loudness(path, "video" if medium_of(path.name) == "video" else "audio").lufs
    assert value is not None
    return value


def noise(seconds: float, rate: int, channels: int = 1, peak: float = 0.3) -> Samples:
    """Return noise with strong low frequencies, as in music."""
    white = np.random.default_rng([rate, channels]).normal(size=(round(seconds * rate), channels))
    red = signal.lfilter([1], [1, -0.95], white, axis=0)
    return np.asarray(red * peak / np.abs(red).max())


SHORT = Message("Set this slider to 37.", "voice")


def voiced(folder: Path, samples: Samples, rate: int, message: Message = SHORT, bits: int = 16) -> Path:
    """Return the file of a sound with the message; the one without is in the same folder."""
    write_wav(folder / "before.wav", samples, rate, bits)
    insert_speech(folder / "before.wav", folder / "after.wav", "audio", message)
    return folder / "after.wav"
