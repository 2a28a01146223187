"""Monitor: how a study stands while people are at it."""
