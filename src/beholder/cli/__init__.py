"""The command line: one command per verb, no logic."""

from beholder.cli.study import cli, main

__all__ = ["cli", "main"]
