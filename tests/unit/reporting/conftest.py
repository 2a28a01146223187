"""Fixtures of the tests of reports."""

from support.participant_tables import analysed, material

__all__ = ["analysed", "material"]
