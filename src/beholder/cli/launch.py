"""The command line of launching: `beholder launch`."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from beholder.cli.options import STORE, STUDY


@click.command()
@STUDY
@STORE
@click.option("--public-url", help="Where participants reach the server; remembered. http://127.0.0.1:8000 at first.")
@click.option("--places", type=click.IntRange(1), help="How many people in all; as the study says when left out.")
@click.option("--publish", metavar="AMOUNT", help='Open it for this amount, such as "54.00 GBP": that of the quote.')
@click.option("--pause", is_flag=True, help="Let nobody begin for now; whoever has begun goes on.")
@click.option("--resume", is_flag=True, help="Let people begin again; what that costs on top is named with --publish.")
@click.option("--dry-run", is_flag=True, help="Only check and quote.")
def launch(
    study: Path,
    store: str | None,
    public_url: str | None,
    places: int | None,
    publish: str | None,
    pause: bool,
    resume: bool,
    dry_run: bool,
) -> None:
    """Check, quote what it costs, and put it up as a draft.

    Nothing is published, and no place is added, before its amount has been named with --publish. Run again it finds
    what is there.
    """
    import beholder

    if pause or resume:
        if (pause and (resume or publish)) or places:
            raise click.UsageError("--pause and --resume stand alone.")
        from beholder.recruit import turn

        which: Literal["pause", "resume"] = "pause" if pause else "resume"
        for line in turn(study, which, publish=publish, store=store, dry_run=dry_run).words:
            click.echo(line)
        return
    found = beholder.launch(
        study, publish=publish, places=places, public_url=public_url, store=store, dry_run=dry_run
    )  # fmt: skip
    for warning in found.warnings:
        click.echo(f"Warning: {warning}", err=True)
    for line in found.words:
        click.echo(line)
