"""Fixtures of the tests of `beholder.dimensionality`."""

from support.dimensions_page import found
from support.joined_studies import avatars, joined, ratings

__all__ = ["avatars", "found", "joined", "ratings"]
