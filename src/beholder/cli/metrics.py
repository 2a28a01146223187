"""The command line of `beholder metrics`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from beholder.cli.printing import Bar, print_table


@click.command()
@click.argument("source", default="study.yaml", type=click.Path(path_type=Path), metavar="[STUDY | RATINGS.CSV]")
@click.option(
    "--metric", multiple=True, help="Which to measure, with commas between, as psnr,vmaf; all that fit when left out."
)
@click.option("--values", multiple=True, type=click.Path(path_type=Path), help="A CSV of values measured elsewhere.")
@click.option("--regions", type=click.Path(path_type=Path), help="A CSV of boxes and masks: face, head and torso.")
@click.option("--reference", help="The condition to compare with, where none has that role.")
@click.option("--out", type=click.Path(path_type=Path), help="Where to write; metrics/ in the study when left out.")
@click.option("--jobs", type=click.IntRange(1), help="Pairs measured at a time; one for each core when left out.")
def metrics(source: Path, metric: tuple[str, ...], **options: Any) -> None:
    """Hold PSNR, SSIM, VMAF and others beside the ratings.

    Each stimulus is compared with the reference of its content. What was measured before is not measured again.
    """
    import beholder

    names = [name.strip() for one in metric for name in one.split(",") if name.strip()]
    with Bar("Pairs") as progress, Bar("Figures") as drawing:
        found = beholder.metrics(source, metric=names, **options, progress=progress, drawing=drawing)
    print_table(found.shown)
    for line in ("", *found.words):
        click.echo(line)
    click.echo(f"\nPage: {found.page}")
