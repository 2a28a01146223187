"""Values without what belongs to one of two crossed groups, such as participants and stimuli."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import LinearOperator, cg

Floats: TypeAlias = NDArray[np.float64]
Codes: TypeAlias = NDArray[np.intp]
_EXACT = 1e-12


class Centred(NamedTuple):
    """Residuals of the columns, and how many degrees of freedom the groups took, the mean's among them."""

    residual: Floats
    taken: int


def centred(value: Floats, one: Codes, other: Codes) -> Centred:
    """Return the least-squares residuals of each column after an effect of every group of both kinds, from 0.

    With all cells filled that is value minus both group means plus the mean; with holes the means alone would leave
    some of each in the other.
    """
    if not len(value):
        return Centred(value, 0)
    ones, others = int(one.max()) + 1, int(other.max()) + 1
    sizes, other_sizes = np.bincount(one, minlength=ones), np.bincount(other, minlength=others)
    met = sparse.csr_array((np.ones(len(one)), (one, other)), shape=(ones, others))
    weight, other_weight = np.maximum(sizes, 1), np.maximum(other_sizes, 1)

    def without(effect: Floats) -> Floats:
        return np.asarray(other_sizes * effect - met.T @ ((met @ effect) / weight), np.float64)

    left = LinearOperator((others, others), matvec=without, dtype=float)
    before = LinearOperator((others, others), matvec=lambda effect: effect / other_weight, dtype=float)
    residual = np.empty_like(value, dtype=float)
    for column in range(value.shape[1]):
        mine = value[:, column] - value[:, column].mean()
        mine = mine - (np.bincount(one, mine, ones) / weight)[one]
        effect, _ = cg(left, np.bincount(other, mine, others), rtol=_EXACT, atol=0.0, M=before)
        mine = mine - effect[other]
        residual[:, column] = mine - (np.bincount(one, mine, ones) / weight)[one]
    both = sparse.block_array([[None, met], [met.T, None]], format="csr")
    is_met = np.concatenate([sizes, other_sizes]) > 0
    islands = connected_components(both, directed=False)[0] - int((~is_met).sum())
    return Centred(residual, int(is_met.sum()) - islands)
