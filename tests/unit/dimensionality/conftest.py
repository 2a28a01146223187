"""Fixtures of the tests of `beholder.dimensionality`."""

from support.dimensions_page import dimensions
from support.joined_studies import avatars, joined, ratings

__all__ = ["avatars", "dimensions", "joined", "ratings"]
