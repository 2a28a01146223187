"""A video encoded again in its own codec: as coarse as it may be, as near to the one before as it has to be."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

NEAR_DB, NEAREST_DB = 42.0, 40.5
"""Peak signal-to-noise ratio of all that should not change, together and in its worst frame."""
_MOST_DB = 30.0


@dataclass(frozen=True)
class Encoder:
    """How a codec is written: its settings, the qualities to try, and how many steps of them make a decibel."""

    settings: tuple[str, ...]
    option: tuple[str, ...]
    """What the number of the quality is given to."""
    coarse: int
    fine: int
    a_decibel: float

    def at(self, quality: int) -> list[str]:
        """Return the arguments of ffmpeg for a quality."""
        return [*self.settings, *(word for option in self.option for word in (option, str(quality)))]


ENCODERS: Mapping[str, Encoder] = {
    "h264": Encoder(
        # Units of type 6 hold user data: x264 writes its version and every setting there.
        ("-c:v", "libx264", "-preset", "medium", "-bsf:v", "filter_units=remove_types=6"),
        ("-crf",), 26, 1, 1.1,
    ),
    # A hidden frame of VP8 would be a packet of its own, and count as a picture.
    "vp8": Encoder(
        ("-c:v", "libvpx", "-deadline", "good", "-cpu-used", "2", "-auto-alt-ref", "0", "-b:v", "1G"),
        ("-qmin", "-qmax"), 30, 0, 2.5,
    ),
    "vp9": Encoder(
        ("-c:v", "libvpx-vp9", "-deadline", "good", "-cpu-used", "4", "-row-mt", "1", "-b:v", "0"),
        ("-crf",), 36, 2, 2.5,
    ),
    "av1": Encoder(("-c:v", "libaom-av1", "-cpu-used", "8", "-row-mt", "1", "-b:v", "0"), ("-crf",), 36, 2, 2.5),
}  # fmt: skip


def refine(encoder: Encoder, write: Callable[[Sequence[str]], None], likeness: Callable[[], Sequence[float]]) -> bool:
    """Return whether what was written is like what it was made of, after writing it finer and finer until it is.

    `likeness` returns the ratio of each frame in decibels.
    """
    quality = encoder.coarse
    while True:
        write(encoder.at(quality))
        lacking = _lacking(likeness())
        if lacking <= 0 or quality <= encoder.fine:
            return lacking <= 0
        quality = max(encoder.fine, quality - max(1, round(min(lacking, _MOST_DB) * encoder.a_decibel)))


def _lacking(frames: Sequence[float]) -> float:
    """Return how many decibels are missing; endlessly many where nothing could be compared."""
    if not frames:
        return math.inf
    error = sum(10 ** (-ratio / 10) for ratio in frames) / len(frames)
    together = -10 * math.log10(error) if error > 0 else math.inf
    return max(NEAR_DB - together, NEAREST_DB - min(frames))
