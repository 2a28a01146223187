"""Sample images: each condition visible."""

from __future__ import annotations

import numpy as np

from beholder.stimuli.samples.image import render


def test_each_condition_of_an_image_can_be_seen() -> None:
    def detail(condition: str) -> float:
        return float(np.square(np.diff(np.asarray(render(1, condition, (320, 200)), dtype=float), axis=1)).mean())

    def edges_of_blocks(condition: str) -> float:
        steps = np.abs(np.diff(np.asarray(render(1, condition, (320, 200)).convert("L"), dtype=float), axis=1))
        return float(steps[:, 7::8].mean() / steps.mean())

    assert detail("soft") < 0.7 * detail("pristine")
    assert detail("grainy") > 1.8 * detail("pristine")
    assert edges_of_blocks("blocked") > 1.8 * edges_of_blocks("pristine")
