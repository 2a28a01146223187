"""Checks: one file each, from a session's evidence to a verdict with its reason."""
