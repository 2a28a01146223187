"""The command line of forgetting: `beholder forget` and `beholder purge`."""

from __future__ import annotations

from pathlib import Path

import click

from beholder.cli.options import STORE, STUDY

_DRY = click.option("--dry-run", is_flag=True, help="Only say what would be erased.")


@click.command()
@click.argument("receipt")
@STUDY
@_DRY
@STORE
def forget(receipt: str, study: Path, dry_run: bool, store: str | None) -> None:
    """Erase everything of the person who has RECEIPT.

    Answers, events and the link to who it is go for good; that it was done stays known. Case, spaces and dashes of a
    receipt do not matter.
    """
    import beholder

    for line in beholder.forget(receipt, study, store=store, dry_run=dry_run).words:
        click.echo(line)


@click.command()
@STUDY
@_DRY
@STORE
def purge(study: Path, dry_run: bool, store: str | None) -> None:
    """Erase what the study's `retention` no longer lets be kept."""
    import beholder

    for line in beholder.purge(study, store=store, dry_run=dry_run).words:
        click.echo(line)
