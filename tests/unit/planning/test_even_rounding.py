"""Even picks: sums of shares are rounded in every group, and overall."""

from __future__ import annotations

import numpy as np
import pytest

from beholder.planning.even_rounding import Partition, families, pick


@pytest.mark.parametrize("seed", range(5))
def test_every_sum_of_shares_is_rounded_up_or_down(seed: int) -> None:
    lists, trials, contents = 11, 6, 7
    rng = np.random.default_rng(seed)
    content = np.concatenate([rng.permutation(contents)[:trials] for _ in range(lists)])
    of_list = np.repeat(np.arange(lists), trials)
    share = np.full(content.size, 0.4)
    left, right = [Partition(content, contents)], families(of_list, lists)
    mask = pick(share, left, right, rng)
    for groups in (*left, *right, Partition(np.zeros_like(content), 1)):
        picked = np.bincount(groups.of, weights=mask, minlength=groups.number)
        wanted = np.bincount(groups.of, weights=share, minlength=groups.number)
        assert (np.floor(wanted + 1e-6) <= picked).all()
        assert (picked <= np.ceil(wanted - 1e-6)).all()


def test_the_same_seed_picks_the_same_items() -> None:
    groups = Partition(np.arange(12) // 4, 3), Partition(np.arange(12) % 4, 4)
    masks = [pick(np.full(12, 0.5), groups[:1], groups[1:], np.random.default_rng(seed)).tolist() for seed in (1, 1, 2)]
    assert masks[0] == masks[1]
    assert masks[0] != masks[2]
