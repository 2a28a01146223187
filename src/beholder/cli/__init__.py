"""The command line: one command per verb, no logic."""

from beholder.cli.commands import cli, main

__all__ = ["cli", "main"]
