"""Sample videos: the same talk under each condition, and each condition visible."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from beholder.stimuli.samples.video import frames

SMALL = (96, 54)


def test_each_condition_can_be_seen() -> None:
    def restlessness(condition: str) -> float:
        pictures = [np.asarray(image, dtype=float) for image in frames(1, condition, 1.2, SMALL)]
        return float(np.mean([np.abs(b - a).mean() for a, b in pairwise(pictures)]))

    def detail(condition: str) -> float:
        picture = np.asarray(next(frames(1, condition, 0.2, SMALL)), dtype=float)
        return float(np.abs(np.diff(picture, axis=1)).max())

    moved = {name: restlessness(name) for name in ("natural", "smooth", "noisy", "frozen")}
    assert moved["frozen"] < 0.3 * moved["natural"]
    assert moved["smooth"] < 0.9 * moved["natural"]
    assert moved["noisy"] > 1.2 * moved["natural"]
    assert detail("blurred") < 0.6 * detail("natural")
    jerky = [image.tobytes() for image in frames(1, "jerky", 1.2, SMALL)]
    assert [a == b for a, b in pairwise(jerky)].count(False) == len(jerky) // 6 - 1
