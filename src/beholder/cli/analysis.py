"""The command line of dimensions: `beholder dimensions`."""

from __future__ import annotations

import math
from pathlib import Path

import click

from beholder.cli.printing import Bar
from beholder.errors import Problem, UserError


@click.command()
@click.argument("studies", nargs=-1, metavar="[STUDY ...]")
@click.option("--split", metavar="QUESTION:NUMBER", help="Everything once more above and below, as realistic:2.")
@click.option("--metrics", type=click.Path(path_type=Path), help="A CSV of objective metrics, as metrics/values.csv.")
@click.option("--factor", help="A column of the manifest: profiles for each of its levels, and averaged over them.")
@click.option("--of", help="The question against which the others are held; the most typical when left out.")
@click.option("--components", type=int, help="Keep so many, in place of those above chance.")
@click.option("--out", type=click.Path(path_type=Path), help="Where to write; dimensions/ beside the first study.")
def dimensions(
    studies: tuple[str, ...],
    split: str | None,
    metrics: Path | None,
    factor: str | None,
    of: str | None,
    components: int | None,
    out: Path | None,
) -> None:
    """Tell what many questions measure together.

    Also which few of them would do. A STUDY is a study.yaml or its folder, a run of it (study.yaml@2), or a CSV of
    ratings or scores. Several are joined by condition.
    """
    import beholder

    with Bar("Figures") as progress:
        found = beholder.dimensions(
            *studies, split=_split(split), metrics=metrics, factor=factor, of=of, components=components, out=out,
            progress=progress,
        )  # fmt: skip
    for line in found.words:
        click.echo(line)
    click.echo(f"\nPage: {found.page}")


def _split(text: str | None) -> tuple[str, float] | None:
    """Return the question and the number; a question may have a colon in its name."""
    if text is None:
        return None
    question, sign, threshold = text.rpartition(":")
    try:
        number = float(threshold)
    except ValueError:
        number = math.nan
    if not sign or not question or not math.isfinite(number):
        raise UserError(Problem("--split", f"is {text}", "a question, a colon and a number, as realistic:2"))
    return question, number
