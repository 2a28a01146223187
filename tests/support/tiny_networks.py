"""Tiny models in place of the networks of LPIPS, FID and FVD."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from beholder.objective.learned import DistanceMap, Features


def squared_difference() -> DistanceMap:
    """Return a model whose distance at a pixel is its squared difference, mean over colours."""
    return lambda own, other: ((own - other) ** 2).mean(axis=1, keepdims=True)


def channel_features() -> Features:
    """Return a model of three features: the mean of each colour."""
    return _means


def clip_features() -> Features:
    """Return a model of the same features of a whole clip."""
    return lambda batch: _means(batch) / 255


def _means(batch: NDArray[Any]) -> NDArray[Any]:
    means: NDArray[Any] = batch.reshape(len(batch), batch.shape[1], -1).mean(axis=2)
    return means
