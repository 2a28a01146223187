"""Tiny models in place of the networks of LPIPS, FID and FVD."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from beholder.objective.learned import DistanceMap, Features


def squared_difference() -> DistanceMap:
    """Return a model whose distance at a pixel is its squared difference, mean over colours."""
    return lambda own, other: ((own - other) ** 2).mean(axis=1, keepdims=True)


def channel_features() -> Features:
    """Return a model of six features: mean and spread of each colour."""
    return _moments


def clip_features() -> Features:
    """Return a model of the same features of a whole clip."""
    return lambda batch: _moments(batch / 255)


def _moments(batch: NDArray[Any]) -> NDArray[Any]:
    import numpy as np

    rows = batch.reshape(len(batch), batch.shape[1], -1)
    return np.concatenate([rows.mean(axis=2), rows.std(axis=2)], axis=1)
