"""Fixtures of the tests of `beholder.cleaning`."""

from support.store_tables import study

__all__ = ["study"]
