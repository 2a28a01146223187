"""Fixtures of the tests of comparisons."""

from support.compared_sides import compared, three

__all__ = ["compared", "three"]
