"""The shrunken rater model."""

from __future__ import annotations

import numpy as np
import pytest

from beholder.stats.rater_models import RaterVotes
from beholder.stats.shrinkage import shrunken
from support.rater_votes import coded, table


def test_vqeg_hd3_equals_the_reference_of_the_shrunken_model() -> None:
    votes, raters, stimuli = coded(table("vqeghd3_raw.csv"))
    fitted = shrunken(votes)
    known = table("vqeghd3_shrunken_quality.csv").set_index("stimulus").loc[list(stimuli)]
    people = table("vqeghd3_shrunken_subjects.csv").set_index("subject").loc[list(raters)]
    np.testing.assert_allclose(fitted.quality, known["quality"], atol=1e-8)
    np.testing.assert_allclose(fitted.se, known["se"], atol=1e-8)
    np.testing.assert_allclose(fitted.bias, people["bias"], atol=1e-8)
    np.testing.assert_allclose(fitted.inconsistency, people["inconsistency"], atol=1e-8)


def crossed(raters: int, stimuli: int, seed: int = 1) -> RaterVotes:
    """Return the votes of raters with biases who all rated everything."""
    rng = np.random.default_rng(seed)
    rater, stimulus = (axis.ravel() for axis in np.indices((raters, stimuli)))
    value = rng.normal(3, 1, stimuli)[stimulus] + rng.normal(0, 0.5, raters)[rater] + rng.normal(0, 0.6, len(rater))
    return RaterVotes(value, rater, stimulus, raters, stimuli)


def test_intervals_know_that_raters_are_a_sample_with_biases_of_their_own() -> None:
    votes = crossed(40, 25)
    fitted = shrunken(votes)
    half = (fitted.high - fitted.low) / 2
    # The mean bias of these raters is unknown, whatever they rated, and adds its variance to every stimulus.
    bias = float(np.square(fitted.bias).mean())
    known = 1.96 * np.sqrt(fitted.se**2 + bias / 40)
    np.testing.assert_allclose(half, known, rtol=0.03)
    np.testing.assert_allclose((fitted.high + fitted.low) / 2, fitted.quality)


def test_the_errors_of_biases_are_the_same_whichever_side_is_solved_for() -> None:
    """With more raters than stimuli the stimuli are solved for; one rater less than stimuli is the other way round."""
    wide, narrow = (shrunken(crossed(raters, 20)) for raters in (21, 19))
    halves = [float((one.high - one.low).mean()) * np.sqrt(raters) for one, raters in ((wide, 21), (narrow, 19))]
    assert halves[0] == pytest.approx(halves[1], rel=0.15)


@pytest.mark.parametrize(("raters", "stimuli"), [(24, 60), (60, 24)])
def test_interval_widths_are_those_of_generalised_least_squares(raters: int, stimuli: int) -> None:
    """With raters who are alike all weights are the same, and the covariance can be written down."""
    votes = crossed(raters, stimuli, 2)
    kept = np.random.default_rng(3).random(len(votes.value)) < 0.5
    votes = votes._replace(value=votes.value[kept], rater=votes.rater[kept], stimulus=votes.stimulus[kept])
    fitted = shrunken(votes)
    noise, bias = fitted.inconsistency[votes.rater] ** 2, float(np.square(fitted.bias).mean())
    # The variance of biases itself is a little above the mean square of what is left of them after shrinking.
    z, x = np.eye(raters)[votes.rater], np.eye(stimuli)[votes.stimulus]
    covariance = np.diag(noise) + 1.1 * bias * z @ z.T
    known = np.sqrt(np.diag(np.linalg.inv(x.T @ np.linalg.solve(covariance, x))))
    np.testing.assert_allclose((fitted.high - fitted.low) / 2, 1.97 * known, rtol=0.06)
