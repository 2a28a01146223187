"""Every objective metric keeps the contract: the built-in ones, adapters on a tiny model, and one of somebody else."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from beholder.objective.contract import ComparedPair, ConditionMetric, Need, PairMetric
from beholder.objective.learned import FrechetInception, FrechetVideo, PerceptualSimilarity
from beholder.objective.registry import names
from beholder.testing import check_metric
from support.installed_packages import install_contrast
from support.tiny_networks import channel_features, clip_features, squared_difference

FIRST = ["psnr", "stoi", "si-sdr", "lmd", "lpips", "fid", "fvd"]
"""One of each class; the others differ in one word that a filter gets."""


@pytest.mark.parametrize("name", FIRST)
def test_a_built_in_metric_keeps_the_contract(name: str) -> None:
    check_metric(name)


@pytest.mark.long
def test_all_other_built_in_metrics_do(whole: bool) -> None:
    others = [name for name in names() if name not in FIRST]
    assert others
    for name in others if whole else others[-1:]:
        check_metric(name)


@pytest.mark.parametrize(
    "metric",
    [PerceptualSimilarity(squared_difference), FrechetInception(channel_features), FrechetVideo(clip_features)],
    ids=["lpips", "fid", "fvd"],
)
def test_an_adapter_keeps_the_contract_with_a_tiny_model(metric: PairMetric | ConditionMetric) -> None:
    check_metric(metric)


def test_a_metric_of_another_package_is_found_and_keeps_the_contract(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_contrast(tmp_path, monkeypatch)
    check_metric("contrast")


class Odd(PairMetric):
    """A metric with one thing wrong at a time."""

    title = "Odd"

    def __init__(self, fault: str) -> None:
        self.fault = fault
        self.name = "Odd one" if fault == "name" else "odd"
        self.tries = 0.0

    def need(self) -> Need | None:
        return Need("which needs luck", "") if self.fault == "need" else None

    def version(self) -> str:
        return "" if self.fault == "version" else "1"

    def measure(self, pair: ComparedPair) -> float:
        values = [float(np.abs(one.own.astype(float) - one.reference).mean()) for one in pair.frames()]
        self.tries += 1
        if self.fault == "drift":
            return self.tries
        if not values:
            return 0.0 if self.fault == "nothing" else math.nan
        return sum(values) if self.fault == "sign" else -sum(values)


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("name", "'Odd one' is not a name of small letters, digits and hyphens"),
        ("need", "odd does not say how to get what it needs"),
        ("version", "odd has no version, so that values of another would be taken for its own"),
        ("drift", "odd is 2.0 and then 4.0 of the same clip"),
        ("sign", "of what is identical, and higher is better"),
        ("nothing", "odd is 0.0 where a mask picks nothing"),
    ],
)
def test_what_is_wrong_with_a_metric_is_said(fault: str, message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        check_metric(Odd(fault))
