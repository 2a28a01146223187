"""What a rater model takes, and what it gives."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Codes: TypeAlias = NDArray[np.intp]
Z = 1.959963984540054
"""Half the width of a 95 % interval in standard errors."""


class Votes(NamedTuple):
    """Votes in long form: one of a rater on a stimulus at each place."""

    value: Floats
    rater: Codes
    """From 0 to raters - 1."""
    stimulus: Codes
    raters: int
    stimuli: int

    def of_rater(self, weights: Floats | None = None) -> Floats:
        """Return the sum over each rater's votes: of these weights, or how many votes they are."""
        return np.bincount(self.rater, weights, self.raters).astype(float, copy=False)

    def of_stimulus(self, weights: Floats | None = None) -> Floats:
        """Return the sum over each stimulus' votes: of these weights, or how many votes they are."""
        return np.bincount(self.stimulus, weights, self.stimuli).astype(float, copy=False)


class Fitted(NamedTuple):
    """What a model makes of votes; NaN where it has no such number."""

    quality: Floats
    """Of each stimulus, as all that follows up to `high`."""
    se: Floats
    low: Floats
    high: Floats
    bias: Floats
    """Of each rater, as all that follows: how far above the others."""
    inconsistency: Floats
    """Standard deviation round bias and quality."""
    inconsistency_low: Floats
    inconsistency_high: Floats
    is_rejected: NDArray[np.bool_]
    component: Codes
    """Of each stimulus: parts of the design that share no rater have qualities that cannot be compared."""
    iterations: int = 0
    is_settled: bool = True
    """Whether the last of them changed nothing any more."""
    above: Floats | None = None
    """Of each rater, where a model counts them: votes far above the others' on the same stimulus."""
    below: Floats | None = None

    @property
    def far(self) -> Floats:
        """How many votes of each rater are far above or far below; none where the model does not count them."""
        nothing = np.zeros(len(self.bias))
        return nothing if self.above is None or self.below is None else self.above + self.below


def ratio(above: Floats | Codes, below: Floats | Codes) -> Floats:
    """Return the quotient, 0 where there is nothing to divide by."""
    return np.divide(above, below, out=np.zeros(above.shape), where=below > 0)


def known(values: Floats, is_known: NDArray[np.bool_]) -> Floats:
    """Return the values, NaN where nothing is known."""
    return np.where(is_known, values, np.nan)
