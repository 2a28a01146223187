"""Thresholds of cleaning in place of those of the checks."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from beholder.study.checks import CHECKS, Gold, Variance
from beholder.study.thresholds import Use, UseGold, UseRatio, UseVariance


def test_a_threshold_that_is_left_out_is_that_of_the_check() -> None:
    rule = UseVariance(share=0.4).over(Variance(min=0.2, share=0.6))
    assert (rule.min, rule.share, rule.action) == (0.2, 0.4, "flag")


def test_a_tolerance_of_gold_counts_for_every_gold_stimulus() -> None:
    assert UseGold(tolerance=5).over(Gold()).within == 5
    assert UseGold(action="record").over(Gold()).within is None


def test_a_range_has_its_lower_number_first() -> None:
    with pytest.raises(ValidationError, match="the lower number first"):
        UseRatio(range=(1.2, 0.9))


def test_every_rule_has_thresholds_that_its_options_have_too() -> None:
    assert set(Use.model_fields) == set(CHECKS)
