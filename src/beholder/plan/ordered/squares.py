"""Latin and Williams' squares: every item in every position equally often, and after every other one."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.random import Generator

from beholder.plan.dealing.flow import Ints

Square = Literal["latin", "williams"]


def rows_of_squares(items: int, lists: int, rounds: int, square: Square, rng: Generator) -> Ints:
    """Return the items of each list in order: `rounds` rows of squares, one after the other.

    Every item stands in every position equally often, within one. In Williams' squares it also follows every other
    item within a row equally often: within one where their number is even, else within two, and equally often in
    every two squares, of which the second is the first one mirrored. No row begins with what the one before it ended
    with.
    """
    blocks: list[Ints] = []
    labels = np.zeros((rounds, items), dtype=np.int64)
    is_turned = bool(rng.integers(2))
    for number in range(-(-lists // items)):
        # A square of an odd number and its mirror image are two halves of one thing.
        if number % 2 == 0 or items % 2 == 0 or square == "latin":
            labels = rng.permuted(np.tile(np.arange(items), (rounds, 1)), axis=1)
        is_turned = not is_turned
        block: list[Ints] = []
        for turn in range(rounds):
            way = rng.permutation(items) if square == "latin" else zigzag(items)
            if is_turned and square == "williams":
                way = way[::-1]
            rows = labels[turn][(rng.permutation(items)[:, None] + way[None, :]) % items]
            block.append(_apart_from(block[-1][:, -1], rows) if block else rows)
        blocks.append(np.concatenate(block, axis=1))
    return np.concatenate(blocks)[:lists]


def zigzag(items: int) -> Ints:
    """Return 0, 1, -1, 2, -2, ...: an order whose steps all differ where the number is even (Williams, 1949)."""
    step = np.arange(items)
    return np.asarray(np.where(step % 2 == 1, (step + 1) // 2, -(step // 2)) % items, dtype=np.int64)


def _apart_from(last: Ints, rows: Ints) -> Ints:
    """Return the rows in an order in which none begins with what the row before it ended with, where that can be."""
    meets = np.flatnonzero(rows[:, 0] == last)
    if len(meets) == 1 and len(rows) > 1:
        meets = np.array([meets[0], (meets[0] + 1) % len(rows)])
    order = np.arange(len(rows))
    # Ends and beginnings are both a permutation of the items: whoever is moved on by one meets somebody else.
    order[meets] = np.roll(meets, 1)
    return rows[order]
