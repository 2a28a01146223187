"""The command line: one command per verb, no logic.

study         the group `beholder`, and the commands from the study file to the report
run           run, chain, simulate, demo
recruiting    launch, monitor, decide, pay, close, forget, purge
participants  participants
analysis      better, compare, dimensions, metrics, power, extend
media         media
examples      examples
printing      what commands print, and the options that they share
"""

from beholder.cli.study import cli, main

__all__ = ["cli", "main"]
