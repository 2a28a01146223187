"""Reliability: how far raters say the same of the same things (reference: statistics 2.7, 6)."""
