"""Comparisons of two: how often each was preferred, and strengths on one scale (reference: statistics 5)."""
