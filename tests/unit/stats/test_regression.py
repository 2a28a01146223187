"""One question against another: the line, and whether a curve with a dip fits better."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from beholder.stats.regression import cubic, dip, line, line_band

NUMBERS = st.integers(-40, 40).map(lambda value: value / 8)
POINTS = st.lists(st.tuples(NUMBERS, NUMBERS), min_size=0, max_size=14)


def valley(x: Any) -> Any:
    """Return a curve that rises, falls and rises again, as Mori drew it."""
    return x + 1.6 * np.exp(-(((x - 2.8) / 0.5) ** 2)) - 2.2 * np.exp(-(((x - 3.9) / 0.5) ** 2))


def test_line_is_that_of_scipy() -> None:
    rng = np.random.default_rng(7)
    x = rng.normal(size=12)
    y = 0.4 * x + rng.normal(size=12)
    known, actual = stats.linregress(x, y), line(x, y)
    reach = stats.t.ppf(0.975, 10) * known.stderr
    assert actual.n == 12
    np.testing.assert_allclose(
        [actual.slope, actual.low, actual.high, actual.intercept, actual.r_squared, actual.p],
        [known.slope, known.slope - reach, known.slope + reach, known.intercept, known.rvalue**2, known.pvalue],
        rtol=1e-10,
    )
    low, high = line_band(x, y, [x.mean()])
    assert (low + high)[0] / 2 == pytest.approx(y.mean())


@given(POINTS)
def test_no_points_break_it(points: list[tuple[float, float]]) -> None:
    x, y = [one for one, _ in points], [other for _, other in points]
    actual, dipped = line(x, y), dip(x, y)
    assert not any(math.isinf(value) for value in actual)
    assert not any(math.isinf(value) for value in dipped[1:9])
    assert dipped.verdict in ("yes", "no", "undecided")
    assert math.isnan(actual.r_squared) or -1e-12 <= actual.r_squared <= 1
    if not math.isnan(dipped.depth):
        assert 0 <= dipped.depth <= dipped.depth_most
    if dipped.verdict == "yes":
        curve = cubic(x, y)
        assert curve is not None
        assert min(x) < dipped.high_at < dipped.low_at < max(x)
        top, bottom = curve.at([dipped.high_at, dipped.low_at])
        assert top > bottom


@given(POINTS.filter(lambda points: len({x for x, _ in points}) > 1), NUMBERS, st.integers(1, 9))
def test_moved_and_stretched_it_is_the_same(points: list[tuple[float, float]], by: float, times: int) -> None:
    x, y = (np.array(one) for one in zip(*points, strict=True))
    plain, moved = dip(x, y), dip(times * x + by, y)
    if not 0.049 < plain.p < 0.051:
        assert moved.verdict == plain.verdict
    if not math.isnan(plain.p):
        assert moved.p == pytest.approx(plain.p, abs=1e-6)
        assert moved.low_at == pytest.approx(times * plain.low_at + by, nan_ok=True, abs=1e-6)


@pytest.mark.long
def test_a_line_has_no_dip_and_a_valley_has(whole: bool) -> None:
    draws, rng = 2000 if whole else 150, np.random.default_rng(3)
    text: dict[str, Counter[str]] = {"line": Counter(), "valley": Counter(), "falling": Counter()}
    below = 0
    for _ in range(draws):
        x = rng.uniform(1, 5, 24)
        noise = rng.normal(0, 0.3, 24)
        actual = dip(x, x + noise)
        below += actual.p < 0.05
        text["line"][actual.verdict] += 1
        text["valley"][dip(x, valley(x) + noise).verdict] += 1
        text["falling"][dip(x, noise - x).verdict] += 1
    # The F test errs in 5 %; that the curve also turns twice inside the data makes a dip that is none much rarer.
    assert abs(below / draws - 0.05) < 3 * math.sqrt(0.05 * 0.95 / draws)
    for shape in ("line", "falling"):
        assert text[shape]["yes"] <= 0.02 * draws
        assert text[shape]["no"] >= 0.85 * draws
    assert text["valley"]["yes"] >= 0.8 * draws
    assert text["valley"]["no"] <= 0.05 * draws


def test_noise_decides_nothing() -> None:
    rng = np.random.default_rng(4)
    text = Counter(dip(rng.normal(size=9), rng.normal(size=9)).verdict for _ in range(200))
    assert text["undecided"] >= 0.9 * 200


def test_aicc_prefers_what_was_planted() -> None:
    rng = np.random.default_rng(5)
    x = np.linspace(1, 5, 30)
    noise = rng.normal(0, 0.2, 30)
    straight, bent = dip(x, x + noise), dip(x, valley(x) + noise)
    assert straight.aicc_line < straight.aicc_curve
    assert bent.aicc_curve < bent.aicc_line
    assert 3.3 < bent.low_at < 4.5
    assert 0.3 < bent.depth < bent.depth_most


@pytest.mark.parametrize(
    ("x", "y", "why"),
    [
        ([], [], "too few for a dip: 0 points, 6 are needed"),
        ([1.0] * 5, [2.0] * 5, "too few for a dip: 5 points, 6 are needed"),
        ([1.0, 2, 3] * 3, list(range(9)), "too few different values for a dip: 4 are needed"),
        (list(range(9)), [3.0] * 9, "all values are equal"),
        ([math.nan, 1, 2, 3, 4, 5], list(range(6)), "too few for a dip: 5 points, 6 are needed"),
    ],
)
def test_what_hinders_it_is_said(x: list[float], y: list[float], why: str) -> None:
    actual = dip(x, y)
    assert (actual.verdict, actual.why) == ("undecided", why)


def test_points_on_a_line_or_on_a_curve() -> None:
    x = np.arange(8.0)
    straight, bent = dip(x, 2 * x), dip(x, (x - 1) * (x - 3) * (x - 6))
    assert (straight.verdict, straight.p) == ("no", 1)
    assert (bent.verdict, bent.p) == ("yes", 0)
    assert line(x, 2 * x).p == 0
    assert line(x, 2 * x).r_squared == 1
