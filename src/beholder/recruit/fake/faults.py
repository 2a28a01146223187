"""Faults of the fake, by schedule or by chance: what goes wrong, when, and whether before or after the effect."""

from __future__ import annotations

import random
from collections import defaultdict
from typing import Literal, get_args

Kind = Literal[
    "408_after", "429", "429_wait", "500", "502", "504", "504_after", "html", "html_after", "refused", "cut_before",
    "cut_after", "slow_before", "slow_after", "duplicate", "reordered", "processing",
]  # fmt: skip
"""refused: nobody listens. cut: the connection is reset. slow: the answer does not come in time. `_after`: what was
asked for has happened, and only its answer is lost. duplicate, reordered: of a page of a list. processing: a study
looks `PROCESSING` once, a status that no document names."""
KINDS: tuple[Kind, ...] = get_args(Kind)
AFTER: frozenset[Kind] = frozenset(("408_after", "504_after", "html_after", "cut_after", "slow_after"))
DROPS: frozenset[Kind] = frozenset(("refused", "cut_before", "cut_after", "slow_before", "slow_after"))
"""These have no answer at all."""


class Faults:
    """What will go wrong. An operation is named as `POST /api/v1/bulk-bonus-payments/{id}/pay/`; `*` is any."""

    def __init__(self) -> None:
        self._next: dict[str, list[Kind]] = defaultdict(list)
        self._every: list[tuple[str, tuple[Kind, ...], float, random.Random]] = []
        self.happened: list[tuple[str, Kind]] = []

    def next(self, operation: str, *kinds: Kind) -> None:
        """Let the next calls of an operation fail so, one after the other."""
        assert set(kinds) <= set(KINDS), kinds
        self._next[operation] += kinds

    def every(self, operation: str, *kinds: Kind, share: float, seed: int) -> None:
        """Let a share of all calls of an operation fail in one of these ways, the same ones with the same seed."""
        assert set(kinds) <= set(KINDS), kinds
        self._every.append((operation, kinds, share, random.Random(seed)))

    def clear(self) -> None:
        """Let nothing go wrong any more."""
        self._next.clear()
        self._every.clear()

    def take(self, operation: str) -> Kind | None:
        """Return how the call at hand fails; None where it does not."""
        kind = self._scheduled(operation)
        if kind is not None:
            self.happened.append((operation, kind))
        return kind

    def _scheduled(self, operation: str) -> Kind | None:
        for name in (operation, "*"):
            if self._next[name]:
                return self._next[name].pop(0)
        for name, kinds, share, rng in self._every:
            if name in (operation, "*") and rng.random() < share:
                return rng.choice(kinds)
        return None
