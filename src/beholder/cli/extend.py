"""The command line of extensions: `beholder extend`."""

from __future__ import annotations

from pathlib import Path

import click

from beholder.cli.printing import Bar, print_table


@click.command()
@click.argument("study", default="study.yaml", type=click.Path(path_type=Path), metavar="[STUDY]")
@click.option("--participants", type=click.IntRange(1), help="Add lists for so many more, by the same design.")
@click.option("--store", metavar="URL", help="Where facts are: a folder, or postgresql://…; store/ when left out.")
@click.option("--robots", is_flag=True, help="Judge the rehearsal; nothing is written where people have come.")
@click.option("--dry-run", is_flag=True, help="Only say what would be added.")
def extend(study: Path, participants: int | None, store: str | None, robots: bool, dry_run: bool) -> None:
    """Add lists for what cleaning left short, or for more people.

    Without --participants, exactly the votes that are missing. Stimuli may have been added to the study; nothing of
    what is there is changed.
    """
    import beholder
    from beholder.plan.counting.balance import balance_table

    with Bar("Stimuli") as progress:
        found = beholder.extend(
            study, participants=participants, store=store, robots=robots, dry_run=dry_run, progress=progress
        )
    for line in found.words:
        click.echo(line)
    if found.added:
        head, *rows = balance_table(found.balance)
        click.echo()
        print_table([dict(zip(head[:-1], row[:-1], strict=True)) for row in rows])
