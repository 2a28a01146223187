"""Henderson's mixed model equations of crossed groups, from counts and sums only.

A value is the sum of one effect for each factor that it falls under, fixed or random, and of noise. Random effects are
written as √ratio · b with b as variable as the noise, so that a ratio of zero is a number like any other. One factor,
best the largest, is eliminated, as its own block is diagonal, and so is then a factor in which it is nested, such as
participants once participants x conditions are gone; the remaining system is as large as the other factors.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import lapack

from beholder.stats.clustered import sums_by

CITATION = "Henderson (1953), Biometrics 9; Bates et al. (2015), Journal of Statistical Software 67"
Floats: TypeAlias = NDArray[np.float64]
Codes: TypeAlias = NDArray[np.intp]
_MAX_CELLS = 30_000_000
"""Numbers that a table in memory may have."""
_MANY = 500
"""Groups of a factor from which on it is worth while to look for those that are alike."""
_ALIKE = 1 / 4
"""With more tables than so many for each group, it takes longer to add these up than to go through all groups."""
_SMALL = 10_000
"""Numbers up to which a table with many zeros is multiplied faster as it is than as a sparse one."""
_NO_RESIDUAL = 1e-12
"""What is left of the squares, as a share, where a model explains everything but for the last bits."""


class Factor(NamedTuple):
    """Into which group each value falls, from 0, every number up to `size` being there; -1 is in none."""

    code: Codes
    size: int
    is_random: bool


class Solution(NamedTuple):
    """The equations solution at given ratios; effects of random factors are b, and not yet √ratio · b."""

    squares: float
    """What is left of them, with those of b."""
    effects: tuple[Floats, ...]
    """Of each factor in the order of the equations, the eliminated ones first."""
    logdet: float
    """Of the covariance of the values in units of noise; for REML with that of the information on fixed effects."""
    slopes: Floats
    """By how much `logdet` grows with the logarithm of the ratio of each random factor."""
    inverse: Floats
    """Of what is left after the elimination."""
    elimination: _Elimination


class _Elimination(NamedTuple):
    """What the elimination needs again: √ratio, diagonal and what each eliminated factor shares with the rest."""

    scale: Floats
    """√ratio of each group of the rest, 1 where it is fixed."""
    root: float
    """√ratio of the eliminated factor; 1 where it is fixed."""
    diagonal: Floats
    kept: Floats
    """Which share of the values of each eliminated group is left for the factor in which it is nested."""
    outer_root: float
    outer_diagonal: Floats
    """Of the factor in which the eliminated one is nested, once that is gone; empty without one."""
    outer_shared: Floats
    """What is left of the values that the rest shares with it; empty where products of groups that are alike do."""

    @property
    def weight(self) -> Floats:
        """How much the sum of a group of the eliminated factor takes from what is left."""
        return self.root**2 / self.diagonal

    @property
    def outer_weight(self) -> Floats:
        """The same of the factor in which it is nested."""
        return self.outer_root**2 / self.outer_diagonal


def factor(code: Codes, *, is_random: bool) -> Factor:
    """Return a factor of these codes."""
    return Factor(code, int(code.max(initial=-1)) + 1, is_random)


class _OuterProducts(NamedTuple):
    """Cross products of what the rest shares with each group of `outer`, where many of these groups are alike.

    Alike are those with as many eliminated groups of every size. Whatever an eliminated group weighs by its size, and
    `outer` by its pattern, the product is a sum of a few tables, which need not be made from all groups each time.
    """

    first: Codes
    """One group of `outer` for each pattern."""
    pattern: Codes
    """Of each table: the pattern, and the sizes of the eliminated groups on either side."""
    one: Codes
    other: Codes
    tables: Floats
    """A row for each: the upper half of the products of one size with another, both ways round added up."""

    def shares(self, one: Floats, other: Floats, weight: Floats) -> Floats:
        """Return how often each table is in a product, by weights of sizes on either side and of groups of `outer`."""
        both = one[self.one] * other[self.other] + one[self.other] * other[self.one]
        return np.asarray(both / 2 * weight[self.first][self.pattern], np.float64)

    def traces(self, table: Floats) -> Floats:
        """Return the trace of a symmetric table times each of these tables."""
        upper = (2 * table - np.diag(np.diag(table)))[np.triu_indices(len(table))]
        return np.asarray(self.tables @ upper, np.float64)


@dataclass(frozen=True)
class Equations:
    """Everything that the likelihood of a mixed model needs of the values."""

    n: int
    mean: float
    squares: float
    """Of the values round their mean."""
    eliminated: Factor
    outer: Factor | None
    """A random factor in which the eliminated one is nested, and which is eliminated after it."""
    owner: Codes
    """The group of `outer` into which each group of the eliminated factor falls; empty without one."""
    rest: tuple[Factor, ...]
    """Random factors first."""
    counts: Floats
    """Values in each group of the eliminated factor."""
    sums: Floats
    rest_counts: Floats
    """Values that any two groups of the rest share."""
    rest_sums: Floats
    shared: Any
    """Values that each group of the rest shares with each of the eliminated factor; sparse where it is large."""
    size_of: Codes
    """Groups of the eliminated factor with as many values have the same number."""
    products: Floats | None
    """For each of these numbers the cross products of `shared`, where they fit into memory."""
    outer_products: _OuterProducts | None

    @property
    def factors(self) -> tuple[Factor, ...]:
        """All factors in the order of their effects."""
        return (self.eliminated, *([self.outer] if self.outer else []), *self.rest)

    @property
    def randoms(self) -> tuple[Factor, ...]:
        """The random factors in the order of their ratios."""
        return tuple(one for one in self.factors if one.is_random)

    @property
    def fixed(self) -> int:
        """The number of fixed effects."""
        return sum(one.size for one in self.factors if not one.is_random)

    @cached_property
    def _nested(self) -> Any:
        """Into which group of `outer` each group of the eliminated factor falls; sparse where it is large."""
        shape = (len(self.owner), self.outer.size if self.outer else 0)
        if shape[0] * shape[1] <= _SMALL:
            return np.equal.outer(self.owner, np.arange(shape[1])).astype(float)
        return sparse.csr_array((np.ones(shape[0]), (np.arange(shape[0]), self.owner)), shape=shape)

    @cached_property
    def _filled(self) -> Any:
        """`shared` without its zeros."""
        return sparse.csr_array(self.shared)

    @property
    def _shared(self) -> Any:
        """`shared`, without its zeros where these are many."""
        return self.shared if self.outer_products is None else self._filled

    def solve(self, ratios: Floats, *, is_reml: bool) -> Solution:
        """Return the solution where each random factor varies by this multiple of the noise; ML is for one of them."""
        gone, ridge = self._eliminate(ratios)
        scale, weight, outer_weight = gone.scale, gone.weight, gone.outer_weight
        outer_sums = self._sum_by_owner(gone.kept * self.sums)
        left = self.rest_counts - self._product(weight) - self._outer_product(gone)
        left = scale[:, None] * left * scale
        left[np.diag_indices_from(left)] += ridge
        right = self.rest_sums - self._shared @ (weight * self.sums) - self._of_outer(gone, outer_weight * outer_sums)
        right = scale * right
        logs, inverse = _inverted(left)
        effects_of_rest = inverse @ right
        known = self._shared.T @ (scale * effects_of_rest)
        outer_known = self._to_outer(gone, scale * effects_of_rest, known)
        outer_effects = gone.outer_root / gone.outer_diagonal * (outer_sums - outer_known)
        if self.outer:
            known = known + gone.outer_root * self.counts * outer_effects[self.owner]
        effects_eliminated = gone.root / gone.diagonal * (self.sums - known)
        squares = self.squares - float((weight * self.sums**2).sum()) - float((outer_weight * outer_sums**2).sum())
        squares -= float((right * effects_of_rest).sum())
        if is_reml:
            logdet = float(logs.sum() + np.log(gone.diagonal).sum() + np.log(gone.outer_diagonal).sum())
            slopes = self._slopes(gone, inverse)
        else:
            own = self.counts if self.eliminated.is_random else np.diag(self.rest_counts)[: self.rest[0].size]
            logdet = float(np.log1p(ratios[0] * own).sum())
            slopes = np.array([(ratios[0] * own / (1 + ratios[0] * own)).sum()])
        ends = np.cumsum([one.size for one in self.rest])[:-1]
        squares = max(squares, _NO_RESIDUAL * max(self.squares, _NO_RESIDUAL))
        outer = [outer_effects] if self.outer else []
        effects = (effects_eliminated, *outer, *np.split(effects_of_rest, ends))
        return Solution(squares, effects, logdet, slopes, inverse, gone)

    def variance_shares(self, solution: Solution, weights: Floats) -> list[Floats]:
        """Return what each random factor has in the covariance of weighted sums of the last effects.

        In units of noise, in the order of the ratios; what is left of the covariance is the noise's own.
        """
        rows = weights @ solution.inverse[-weights.shape[1] :]
        gone = solution.elimination
        scaled = rows * gone.scale
        known = scaled @ self.shared
        pulls = [gone.root / gone.diagonal * known]
        if self.outer:
            if self.outer_products is None:
                outer_known = scaled @ gone.outer_shared
            else:
                outer_known = sums_by(self.owner, gone.kept * known, self.outer.size)
            outer = gone.outer_root / gone.outer_diagonal * outer_known
            pulls[0] = pulls[0] - gone.outer_root * gone.root / gone.diagonal * self.counts * outer[:, self.owner]
            pulls.append(outer)
        pulls = pulls if self.eliminated.is_random else []
        start = 0
        for one in self.rest:
            if one.is_random:
                pulls.append(rows[:, start : start + one.size])
            start += one.size
        return [own @ own.T for own in pulls]

    def _eliminate(self, ratios: Floats) -> tuple[_Elimination, Floats]:
        """Return the diagonals of what is eliminated, and what b adds to the diagonal of each group of the rest."""
        roots = iter(np.sqrt(ratios))
        root = float(next(roots)) if self.eliminated.is_random else 1.0
        outer_root = float(next(roots)) if self.outer else 0.0
        scale = np.concatenate([np.full(one.size, next(roots) if one.is_random else 1.0) for one in self.rest])
        ridge = np.concatenate([np.full(one.size, float(one.is_random)) for one in self.rest])
        diagonal = float(self.eliminated.is_random) + root**2 * self.counts
        kept = 1 - root**2 / diagonal * self.counts
        outer_diagonal = 1 + outer_root**2 * self._sum_by_owner(kept * self.counts)
        has_shared = self.outer_products is None
        outer_shared = self._share_by_owner(kept) if has_shared else np.zeros((len(self.rest_counts), 0))
        return _Elimination(scale, root, diagonal, kept, outer_root, outer_diagonal, outer_shared), ridge

    def _slopes(self, gone: _Elimination, inverse: Floats) -> Floats:
        """Return for each random factor its groups minus the trace of its block of the inverse."""
        slopes = []
        scale, diagonal = gone.scale, gone.diagonal
        if self.eliminated.is_random:
            between = scale[:, None] * self._product(gone.weight / diagonal) * scale
            trace = float((1 / diagonal).sum()) + float((inverse * between).sum())
            if self.outer:
                # What the eliminated factor, and then the rest, have with the one in which it is nested.
                own, outer_diagonal = gone.weight / diagonal * self.counts, gone.outer_diagonal
                both = gone.outer_root**2 * self._sum_by_owner(own * self.counts) / outer_diagonal
                if self.outer_products is None:
                    crossed = gone.outer_root * scale[:, None] * gone.outer_shared
                    solved = inverse @ crossed
                    joint = gone.outer_root * scale[:, None] * self._share_by_owner(own)
                    inner = np.einsum("ij,ij->j", solved, crossed) / outer_diagonal
                    trace += float((both * (1 + inner)).sum())
                    trace -= 2 * float((np.einsum("ij,ij->j", solved, joint) / outer_diagonal).sum())
                    outer_trace = float(((1 + inner) / outer_diagonal).sum())
                else:
                    kept, products = self._by_size(gone.kept), self.outer_products
                    traces = products.traces(gone.outer_root**2 * scale[:, None] * inverse * scale)
                    inner_sum, outer_sum, joint_sum = (
                        float(products.shares(kept, other, weight) @ traces)
                        for other, weight in (
                            (kept, both / outer_diagonal), (kept, outer_diagonal**-2),
                            (self._by_size(own), 1 / outer_diagonal),
                        )
                    )  # fmt: skip
                    trace += float(both.sum()) + inner_sum - 2 * joint_sum
                    outer_trace = float((1 / outer_diagonal).sum()) + outer_sum
            slopes.append(len(diagonal) - trace)
            if self.outer:
                slopes.append(self.outer.size - outer_trace)
        start = 0
        for one in self.rest:
            if one.is_random:
                slopes.append(one.size - float(np.diag(inverse)[start : start + one.size].sum()))
            start += one.size
        return np.array(slopes)

    def _product(self, weight: Floats) -> Floats:
        """Return the cross products of `shared`, each group of the eliminated factor weighing so much."""
        if self.products is not None:
            return np.asarray(np.einsum("k,kij->ij", self._by_size(weight), self.products), np.float64)
        return _dense((self.shared * weight) @ self.shared.T)

    def _by_size(self, weight: Floats) -> Floats:
        """Return what groups of the eliminated factor weigh, which have the same weight where they are of one size."""
        by_size = np.zeros(int(self.size_of.max()) + 1)
        by_size[self.size_of] = weight
        return by_size

    def _outer_product(self, gone: _Elimination) -> Floats:
        """Return the cross products of what the rest shares with `outer`, each group of that weighing what it takes."""
        if self.outer_products is None:
            return np.asarray((gone.outer_shared * gone.outer_weight) @ gone.outer_shared.T, np.float64)
        kept = self._by_size(gone.kept)
        upper = self.outer_products.shares(kept, kept, gone.outer_weight) @ self.outer_products.tables
        whole = np.zeros(self.rest_counts.shape)
        whole[np.triu_indices(len(whole))] = upper
        return whole + np.triu(whole, 1).T

    def _of_outer(self, gone: _Elimination, values: Floats) -> Floats:
        """Return what groups of the rest have of values of the groups of `outer`."""
        if self.outer_products is None:
            return np.asarray(gone.outer_shared @ values, np.float64)
        return np.asarray(self._shared @ (gone.kept * values[self.owner]), np.float64)

    def _to_outer(self, gone: _Elimination, values: Floats, known: Floats) -> Floats:
        """Return what groups of `outer` have of values of the rest, of which the eliminated ones have what is known."""
        if self.outer_products is None:
            return np.asarray(gone.outer_shared.T @ values, np.float64)
        return self._sum_by_owner(gone.kept * known)

    def _sum_by_owner(self, values: Floats) -> Floats:
        """Return the sum over the groups of the eliminated factor in each of `outer`."""
        size = self.outer.size if self.outer else 0
        return np.asarray(np.bincount(self.owner, values, size), np.float64) if size else np.zeros(0)

    def _share_by_owner(self, weight: Floats) -> Floats:
        """Return what the rest shares with each group of `outer`, groups of the eliminated factor weighing so much."""
        if not self.outer:
            return np.zeros((self.shared.shape[0], 0))
        if not sparse.issparse(self._nested):
            return _dense((self.shared * weight) @ self._nested)
        # Hardly a group shares anything with another: a table of mostly zeros would be copied for each solution.
        filled = self._filled
        weighted = sparse.csr_array((filled.data * weight[filled.indices], filled.indices, filled.indptr), filled.shape)
        return np.asfortranarray(_dense(weighted @ self._nested))


def equations(value: Floats, eliminated: Factor, rest: Sequence[Factor], *, outer: Factor | None = None) -> Equations:
    """Return the equations of these values; `outer` is a random factor in which the eliminated one is nested."""
    rest = tuple(sorted(rest, key=lambda one: not one.is_random))
    mean = float(value.mean())
    centred = value - mean
    counts = np.bincount(eliminated.code, minlength=eliminated.size).astype(float)
    shared = _stacked([_table(one, eliminated) for one in rest])
    joint_counts = [np.hstack([_dense(_table(one, other)) for other in rest]) for one in rest]
    sizes, size_of = np.unique(counts, return_inverse=True)
    products = None
    if len(sizes) * shared.shape[0] ** 2 <= _MAX_CELLS:
        mine = [shared[:, np.flatnonzero(size_of == place)] for place in range(len(sizes))]
        products = np.stack([_dense(one @ one.T) for one in mine])
    owner = np.zeros(0, np.intp)
    if outer:
        owner = np.zeros(eliminated.size, np.intp)
        owner[eliminated.code] = outer.code
    return Equations(
        len(value), mean, float(np.square(centred).sum()), eliminated, outer, owner, rest, counts,
        _sums(eliminated, centred), np.vstack(joint_counts),
        np.concatenate([_sums(one, centred) for one in rest]), shared, np.asarray(size_of, np.intp), products,
        _outer_products(shared, np.asarray(size_of, np.intp), owner, outer.size) if outer else None,
    )  # fmt: skip


def _outer_products(shared: Any, size_of: Codes, owner: Codes, size: int) -> _OuterProducts | None:
    """Return the products of what the rest shares with groups of `outer`.

    None where there are few groups, which take no time, and where hardly any of them are alike.
    """
    if size < _MANY:
        return None
    sizes = int(size_of.max()) + 1
    having = np.bincount(owner * sizes + size_of, minlength=size * sizes).reshape(size, sizes)
    _, first, pattern_of = np.unique(having, axis=0, return_index=True, return_inverse=True)
    pattern_of = np.asarray(pattern_of, np.intp).ravel()
    pairs = [
        (pattern, one, other)
        for pattern, group in enumerate(first)
        for one in range(sizes)
        for other in range(one, sizes)
        if having[group, one] and having[group, other]
    ]
    upper = np.triu_indices(shared.shape[0])
    if len(pairs) > size * _ALIKE or len(pairs) * len(upper[0]) > _MAX_CELLS:
        return None
    filled = sparse.csr_array(shared)
    by_size = []
    for number in range(sizes):
        mine = np.flatnonzero(size_of == number)
        nested = sparse.csr_array((np.ones(len(mine)), (np.arange(len(mine)), owner[mine])), shape=(len(mine), size))
        by_size.append((filled[:, mine] @ nested).tocsc())
    tables = np.empty((len(pairs), len(upper[0])))
    for row, (number, first_size, second_size) in enumerate(pairs):
        alike = np.flatnonzero(pattern_of == number)
        product = _dense(by_size[first_size][:, alike] @ by_size[second_size][:, alike].T)
        tables[row] = (product if first_size == second_size else product + product.T)[upper]
    pattern, one, other = np.array(pairs, np.intp).reshape(-1, 3).T
    return _OuterProducts(np.asarray(first, np.intp), pattern, one, other, tables)


def count_components(one: Codes, other: Codes) -> int:
    """Return into how many parts two factors fall that share no group of either."""
    first = int(one.max(initial=-1)) + 1
    both = first + int(other.max(initial=-1)) + 1
    graph = sparse.coo_array((np.ones(len(one)), (one, other + first)), shape=(both, both))
    return int(sparse.csgraph.connected_components(graph, directed=False)[0])


def _sums(own: Factor, value: Floats) -> Floats:
    # What is in no group comes first, and is dropped.
    return np.asarray(np.bincount(own.code + 1, weights=value, minlength=own.size + 1)[1:], np.float64)


def _table(one: Factor, other: Factor) -> Any:
    """Return how many values fall into each group of one and each of another; sparse where it is large."""
    shape = (one.size + 1, other.size + 1)
    joint = (one.code + 1) * shape[1] + other.code + 1
    if shape[0] * shape[1] <= _MAX_CELLS:
        return np.bincount(joint, minlength=shape[0] * shape[1]).reshape(shape)[1:, 1:].astype(float)
    table = sparse.coo_array((np.ones(len(joint)), np.divmod(joint, shape[1])), shape=shape)
    return table.tocsr()[1:, 1:]


def _stacked(tables: Sequence[Any]) -> Any:
    is_sparse = any(sparse.issparse(one) for one in tables)
    return sparse.vstack(tables, format="csr") if is_sparse else np.vstack(tables)


def _dense(table: Any) -> Floats:
    return np.asarray(table.toarray() if sparse.issparse(table) else table, np.float64)


def _inverted(table: Floats) -> tuple[Floats, Floats]:
    """Return logarithms whose sum is that of the determinant, and the inverse, of a positive definite matrix."""
    if not len(table):
        return np.zeros(0), table
    root, fault = lapack.dpotrf(table, lower=1)
    if fault:
        raise np.linalg.LinAlgError("effects that cannot be told apart")
    # Not dpotri: on a busy machine its threads wait for each other a hundred times longer than this takes.
    back, _ = lapack.dtrtri(root, lower=1)
    back = np.tril(back)
    return 2 * np.log(np.diag(root)), back.T @ back


# Variances of maximum likelihood, by ML or REML


_MIN_LOG_RATIO, _MAX_LOG_RATIO = -20.0, 16.0
"""Logarithms between which ratios are looked for."""
_NEAR_ZERO = -9.0
"""Where the likelihood still grows towards a ratio of zero from here, it is highest at zero."""
_START = -1.0
_STEP, _MAX_STEP, _TOLERANCE, _MAX_ITERATIONS = 1e-4, 3.0, 1e-8, 60


class MixedModelFit(NamedTuple):
    """The variances at the maximum of the likelihood, and the equations solution there."""

    noise: float
    variances: Floats
    """Of each random factor, in the order of the equations."""
    llf: float
    """The logarithm of the likelihood; REML's can only be compared between models with the same fixed effects."""
    ratios: Floats
    """The variances in units of noise."""
    solution: Solution
    is_exact: bool
    """Whether the model leaves nothing to chance, so that nothing can be said of errors."""


class _Point(NamedTuple):
    """Minus twice the log-likelihood, but for a constant, and how it grows with the logarithm of each ratio."""

    deviance: float
    slope: Floats
    solution: Solution


def fit(model: Equations, *, is_reml: bool, near: Floats | None = None) -> MixedModelFit:
    """Return the fit of a mixed model; a variance is zero where the likelihood is highest there.

    `near` are ratios to begin with, such as those of a similar model.
    """
    free = model.n - model.fixed if is_reml else model.n
    ratios = np.exp(_maximise(model, free, is_reml, near))
    best = _evaluate(model, ratios, free, is_reml)
    for place in np.flatnonzero(ratios < math.exp(_NEAR_ZERO)):
        without = np.where(np.arange(len(ratios)) == place, 0.0, ratios)
        other = _evaluate(model, without, free, is_reml)
        if other.deviance <= best.deviance + _TOLERANCE:
            ratios, best = without, other
    noise = best.solution.squares / free
    llf = -0.5 * (best.deviance + free * (math.log(2 * math.pi / free) + 1))
    is_exact = best.solution.squares <= 1e3 * _NO_RESIDUAL * max(model.squares, _NO_RESIDUAL)
    return MixedModelFit(noise, noise * ratios, llf, ratios, best.solution, is_exact)


def _maximise(model: Equations, free: int, is_reml: bool, near: Floats | None) -> Floats:
    """Return the logarithms of the ratios at the maximum, by a quasi-Newton method with halved steps."""
    many = len(model.randoms)
    logs = np.full(many, _START) if near is None else np.log(np.maximum(near, math.exp(_NEAR_ZERO)))
    here = _evaluate(model, np.exp(logs), free, is_reml)
    ahead = [_evaluate(model, np.exp(logs + _STEP * unit), free, is_reml).slope for unit in np.eye(many)]
    hessian = (np.array(ahead) - here.slope) / _STEP
    for _ in range(_MAX_ITERATIONS):
        lengths, axes = np.linalg.eigh((hessian + hessian.T) / 2)
        # Where the likelihood bends the wrong way, its slope still says where to go.
        step = -axes @ ((axes.T @ here.slope) / np.maximum(np.abs(lengths), _TOLERANCE))
        step = np.clip(step, -_MAX_STEP, _MAX_STEP)
        step[(logs < _NEAR_ZERO) & (here.slope > 0)] = _MIN_LOG_RATIO
        while True:
            there = np.clip(logs + step, _MIN_LOG_RATIO, _MAX_LOG_RATIO)
            new = _evaluate(model, np.exp(there), free, is_reml)
            if new.deviance <= here.deviance + _TOLERANCE or np.abs(step).max() < _TOLERANCE:
                break
            step = step / 2
        moved = there - logs
        hessian = _update_hessian(hessian, moved, new.slope - here.slope)
        logs, here = there, new
        if np.abs(moved).max() < _TOLERANCE:
            break
    return logs


def _update_hessian(hessian: Floats, moved: Floats, change: Floats) -> Floats:
    """Return the bend of the likelihood after a step over which its slope changed so (symmetric rank one)."""
    residual = change - hessian @ moved
    weight = float(residual @ moved)
    if abs(weight) <= _TOLERANCE * float(np.linalg.norm(residual) * np.linalg.norm(moved)) or not weight:
        return hessian
    return hessian + np.outer(residual, residual) / weight


def _evaluate(model: Equations, ratios: Floats, free: int, is_reml: bool) -> _Point:
    solution = model.solve(ratios, is_reml=is_reml)
    own = [np.square(b).sum() for one, b in zip(model.factors, solution.effects, strict=True) if one.is_random]
    slope = solution.slopes - free * np.array(own) / solution.squares
    return _Point(free * math.log(solution.squares) + solution.logdet, slope, solution)
