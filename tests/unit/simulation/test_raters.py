"""Rater models and mixtures of kinds."""

from __future__ import annotations

import statistics

import numpy as np
import pytest

from beholder.errors import UserError
from beholder.simulation.raters import RATERS, perceive, read_mixture
from beholder.simulation.truth import IDEAL, Truth
from support.data import DATA, ROOT

HONEST = ("sharp", "honest", "sloppy")


@pytest.fixture
def tools(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))


def truth_of(values: list[float]) -> Truth:
    quality = np.array(values)[:, None]
    return Truth(quality, {f"s{n}": n for n in range(len(values))}, {"q": 0}, {})


@pytest.mark.usefixtures("tools")
def test_honest_people_are_as_fitted_to_the_laboratory() -> None:
    """The model of the fit, with our numbers: bias and inconsistency on five points come out as they were measured."""
    from fit_raters import fit, measure, read_ratings

    path = DATA / "ratings" / "vqeghd3_raw.csv"
    if not path.is_file():
        pytest.skip(f"ratings/vqeghd3_raw.csv is not in {DATA}; set BEHOLDER_TEST_DATA")
    real = read_ratings(path)
    felt, rated = fit(real), measure(real)
    # What people give who are shown the same videos.
    truth = truth_of(((felt.quality - 1) / 4).tolist())
    for kind, percentile in zip(HONEST, (0.1, 0.5, 0.95), strict=True):
        votes = np.array([1 + np.rint(4 * perceive(kind, truth, 1, str(n), people=IDEAL)[:, 0]) for n in range(800)])
        ours = measure(votes)
        expected = float(np.quantile(rated.inconsistencies, percentile))
        # Everybody of a kind is alike, so the mean over many is that of the one person at the percentile.
        assert statistics.fmean(ours.inconsistencies) == pytest.approx(expected, abs=0.03)
        assert ours.bias_sd == pytest.approx(rated.bias_sd, rel=0.1)


def test_a_second_look_keeps_the_bias_and_wavers_anew() -> None:
    truth = truth_of([0.5] * 400)
    once, again = (perceive("honest", truth, 1, "p", again=again) for again in (False, True))
    assert abs(once.mean() - again.mean()) < 0.03
    assert abs(np.corrcoef(once[:, 0], again[:, 0])[0, 1]) < 0.15
    assert (perceive("straight", truth, 1, "p") == perceive("straight", truth, 1, "p", again=True)).all()
    assert (perceive("middle", truth, 1, "p") == 0.5).all()


def test_every_kind_can_be_named() -> None:
    assert list(read_mixture(",".join(RATERS))) == list(RATERS)


@pytest.mark.parametrize("share", ["0", "-1", "nan", "inf", "many"])
def test_a_share_is_a_number_above_zero(share: str) -> None:
    with pytest.raises(UserError) as caught:
        read_mixture(f"careless:0.1,honest:{share}")
    assert str(caught.value) == f"--raters  '{share}' is no share. Allowed: a number above 0, as in honest:0.9."


# Time
