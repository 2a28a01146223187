"""Trials in a given order: Latin and Williams' squares, and blocks."""
