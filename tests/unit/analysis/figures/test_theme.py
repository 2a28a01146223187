"""What all figures share: colours and the bands of a scale."""

from __future__ import annotations

from beholder.analysis.figures.theme import axis_of_scale, ramp, scale_bands
from beholder.study.questions import Scale


def test_colours_go_from_orange_to_blue_and_are_all_different() -> None:
    for n in (1, 2, 5, 7, 11):
        assert len(set(ramp(n))) == n
    assert (ramp(5)[0], ramp(5)[-1]) == ("#b35806", "#3a57ad")


def test_bands_of_a_category_scale_reach_half_a_step_beyond_its_ends() -> None:
    low, high, bands = scale_bands(Scale.model_validate({"min": 1, "max": 3, "labels": ["bad", "fair", "good"]}))
    assert (low, high) == (0.5, 3.5)
    assert [(band.start, band.stop) for band in bands] == [(0.5, 1.5), (1.5, 2.5), (2.5, 3.5)]


def test_an_axis_has_a_tick_where_neither_side_is_favoured() -> None:
    scale = Scale.model_validate({"min": -100, "max": 100})
    assert axis_of_scale(scale, 0).ticks(8) == [-100, -50, 0, 50, 100]
    assert axis_of_scale(scale).ticks(8) == [-100, -60, -20, 20, 60, 100]
    assert axis_of_scale(Scale.model_validate({"min": 0, "max": 100}), 33).ticks(8) == [0, 20, 40, 60, 80, 100]
