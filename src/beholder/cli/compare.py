"""The command line of comparisons: `beholder compare`."""

from __future__ import annotations

from pathlib import Path

import click

from beholder.cli.printing import Bar


@click.command()
@click.argument("sides", nargs=-1, required=True, metavar="SIDE...")
@click.option("--out", type=click.Path(path_type=Path), help="Where to write; compare/ beside the first side.")
@click.option(
    "--margin", type=float, help="Within so many points sides are equivalent; 5 % of the scale when left out."
)
@click.option("--question", "questions", multiple=True, help="Only this one; may be given several times.")
def compare(sides: tuple[str, ...], out: Path | None, margin: float | None, questions: tuple[str, ...]) -> None:
    """Hold scores against a run, a lab or another study.

    A SIDE is a study.yaml or its folder, one run of it (study.yaml@2), a CSV of ratings, or a CSV of scores (stimulus
    or condition, and mean). NAME=PATH names it. A study alone stands for all its runs.
    """
    import beholder

    with Bar("Figures") as progress:
        found = beholder.compare(*sides, out=out, margin=margin, questions=questions, progress=progress)
    for line in found.words:
        click.echo(line)
    click.echo(f"\nPage: {found.page}")
