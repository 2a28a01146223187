"""The command line of the end: `beholder close`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from beholder.cli.options import STORE, STUDY


@click.command()
@STUDY
@STORE
@click.option("--dry-run", is_flag=True, help="Only say what holds it up; nothing is stopped or written.")
def close(study: Path, store: str | None, dry_run: bool) -> None:
    """Stop recruiting, verify that all is paid, and export.

    Then close/summary.md says how it was done. While anybody waits for a decision or for money it says who, and is
    not over; nobody can begin any more nevertheless. On Prolific only more places open it again; otherwise
    `beholder launch --resume` does. Run again it finishes the rest.
    """
    import beholder

    found = beholder.close(study, store=store, dry_run=dry_run)
    for problem in found.open:
        click.echo(str(problem), err=True)
    for line in found.words:
        click.echo(line)
    if not found.is_closed:
        sys.exit(2)
