"""Fixtures of the tests of `beholder.objective`."""

from support.measured_stimuli import material, measured
from support.metric_tables import rated

__all__ = ["material", "measured", "rated"]
