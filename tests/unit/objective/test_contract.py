"""What a metric declares, and what it may note of a pair."""

from __future__ import annotations

import math

from beholder.objective.contract import ComparedPair, mean_over_frames
from beholder.objective.frames import PSNR
from beholder.objective.learned import FID
from support.method_studies import catalogue_of, make_study


def test_a_metric_is_of_a_stimulus_or_of_a_condition() -> None:
    assert PSNR.per == "stimulus"
    assert FID.per == "condition"


def test_a_note_is_of_all_metrics_or_of_those_that_it_names() -> None:
    one = next(iter(catalogue_of(make_study("acr")).by_cell.values()))
    pair = ComparedPair(one, one)
    pair.note("held")
    pair.note("cut", "vmaf")
    pair.note("held")
    assert pair.notes_of("vmaf") == ("held", "cut")
    assert pair.notes_of("psnr") == ("held",)


def test_frames_without_a_value_do_not_count() -> None:
    assert mean_over_frames([1.0, math.nan, 3.0]) == 2
    assert math.isnan(mean_over_frames([]))
