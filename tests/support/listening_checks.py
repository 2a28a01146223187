"""Tasks and answers of listening checks, and their sounds as samples."""

from __future__ import annotations

import io
import wave
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beholder.checks.contract import Verdict
from beholder.checks.page_contract import Attempt, CheckContext, CheckTask, DrawnFile, PageCheck


def pose(check: PageCheck, seed: int = 1) -> CheckTask:
    return check.pose(np.random.default_rng(seed), CheckContext())


def samples(drawn: DrawnFile) -> tuple[NDArray[np.float64], int]:
    """Return samples x channels of a WAV file, read by the standard library, and its rate."""
    assert drawn.content_type == "audio/wav"
    with wave.open(io.BytesIO(drawn.body)) as file:
        assert file.getsampwidth() == 2
        data = np.frombuffer(file.readframes(file.getnframes()), "<i2").reshape(-1, file.getnchannels())
        return data / 32768, file.getframerate()


def played(check: PageCheck, posed: CheckTask) -> Iterator[tuple[NDArray[np.float64], int, int]]:
    """Yield every sound of an attempt, its rate, and its position from 0."""
    for place, name in enumerate(posed.media):
        yield *samples(check.draw(posed.private, name)), place


def rms(wave: NDArray[np.float64]) -> float:
    return float(np.sqrt(np.mean(wave**2)))


def answer(check: PageCheck, posed: CheckTask, given: Any) -> Verdict:
    """Return the verdict on an answer as its page would send it."""
    read = check.read(posed.private, given)
    return check.judge(Attempt(posed.private, read))


def message_of(check: PageCheck, verdict: Verdict) -> str:
    return check.texts("en")[f"told.{verdict.reason}"].format_map(check.message_values(verdict))
