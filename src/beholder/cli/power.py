"""The command line of power analyses: `beholder power`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from beholder.cli.printing import Bar, print_table


@click.command()
@click.argument("study", default="study.yaml", type=click.Path(path_type=Path))
@click.option("--participants", help="Numbers to try; 10,20,40,80 and the study's own when left out.")
@click.option("--difference", type=float, help="Points between neighbours; 5 % of the scale, or the pilot's.")
@click.option("--repetitions", default=200, show_default=True, help="Studies to imagine with each number.")
@click.option("--from", "source", help="The study.yaml of a pilot, or public: whose ratings people are taken from.")
@click.option("--people", default="", help="Changes to them, as taste:0.1,lapse:0.02.")
@click.option("--methods", help="Hold these against the study's own; parallel,acr,pair when left out, or none.")
@click.option(
    "--contents", default="random", show_default=True, type=click.Choice(["random", "fixed"]),
    help="Whether a finding is to hold for other contents as well.",
)  # fmt: skip
@click.option("--rate", help='Pay for an hour, as "12.00 GBP"; recruit.reward for a session when left out.')
@click.option("--seed", default=1, show_default=True, help="Of the simulated people.")
@click.option("--out", type=click.Path(path_type=Path), help="Where to write; power/ beside study.yaml when left out.")
def power(study: Path, methods: str | None, **options: Any) -> None:
    """How many participants, at what cost, by which method.

    The study is imagined many times with simulated people and analysed as the real one would be.
    """
    import beholder

    names = None if methods is None else [] if methods == "none" else [name.strip() for name in methods.split(",")]
    with Bar("Studies") as progress, Bar("Stimuli") as stimuli:
        found = beholder.power(study, methods=names, progress=progress, stimuli=stimuli, **options)
    print_table([{str(name): cell for name, cell in row.items()} for row in found.shown.to_dict("records")])
    click.echo("")
    for line in (*found.words, *found.notes["notes"]):
        click.echo(line)
    click.echo(f"\nPage: {found.page}")
