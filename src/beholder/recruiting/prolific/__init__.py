"""Prolific: people recruited, paid and thanked through its API."""
