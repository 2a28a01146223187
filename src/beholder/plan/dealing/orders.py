"""Which of two comes first."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from beholder.plan.dealing.flow import Groups, Ints, families, pick


def order_pairs(dealt: Ints, column: Ints, columns: int, rng: Generator) -> Ints:
    """Return for each trial which of its two stimuli stands first and which second.

    Within one, both orders are equally frequent for every two stimuli, every pair of conditions, and in every list.
    `dealt` holds contents by list and position, `column` the pair of conditions of each trial.
    """
    lists, trials = dealt.shape
    unit = column * (int(dealt.max()) + 1) + dealt.ravel()
    of_list = np.repeat(np.arange(lists), trials)
    left = [Groups(unit, int(unit.max()) + 1), Groups(column, columns)]
    swapped = pick(np.full(unit.size, 0.5), left, families(of_list, lists), rng)
    # Which of the two is meant by `swapped` is a matter of chance, too: an odd one out belongs to neither.
    second = swapped ^ bool(rng.integers(2))
    return np.stack([second, ~second], axis=1).astype(np.int64)
