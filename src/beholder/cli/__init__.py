"""The command line: one command per verb, no logic.

study         the group `beholder`, and the commands from the study file to the report; preregister, open
run           run, chain, simulate, demo
deployment    deploy
backups       backup, restore
recruiting    launch, monitor, decide, pay, close, forget, purge
participants  participants
desk          desk
analysis      better, board, compare, dimensions, metrics, power, extend
media         media
examples      examples
translation   words
printing      what commands print, and the arguments that they share
command       what every command has: a stage in the help, --json, --quiet, --open, and errors that say what was meant
completion    completion, and what completes studies, methods and conditions
"""

from beholder.cli.study import cli, main

__all__ = ["cli", "main"]
