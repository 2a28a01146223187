"""Paying: what is owed to whom, sent once, and counted as paid only when it has been seen to arrive."""
