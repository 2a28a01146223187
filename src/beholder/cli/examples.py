"""`beholder examples`: the studies of published papers, run again."""

from __future__ import annotations

from pathlib import Path

import click

from beholder.cli.command import CommandResult, StageGroup
from beholder.cli.completion import complete_example
from beholder.cli.printing import Bar, print_table

_NAME = click.argument("name", shell_complete=complete_example)
_FOLDER = click.option(
    "--folder", type=click.Path(path_type=Path), help="Where to write; named after the example when left out."
)


@click.group(cls=StageGroup, stage="make")
def examples() -> None:
    """Run the studies of published papers again, or begin with one of them."""


@examples.command("list", has_quiet=False)
def list_() -> object:
    """Print the examples."""
    from beholder.examples import examples as all_examples

    rows = [{"name": one.name, "what": one.about, "paper": one.citation} for one in all_examples().values()]
    print_table(rows)
    return {"examples": rows}


@examples.command()
@_NAME
@_FOLDER
def copy(name: str, folder: Path | None) -> object:
    """Copy the study files of an example, to change them and to put your own stimuli beside them."""
    from beholder.examples import copy_example

    written = copy_example(name, folder)
    click.echo(f"Wrote {written}")
    return {"folder": written}


@examples.command(has_open=True)
@_NAME
@_FOLDER
@click.option("--small", is_flag=True, help="Fewer stimuli and people than the paper had: done in a minute.")
@click.option("--pictures", is_flag=True, help="Also take pictures of the pages, with a robot in a real browser.")
def run(name: str, folder: Path | None, small: bool, pictures: bool) -> CommandResult:
    """Take an example from stimuli that are drawn to every table and figure of its paper.

    People are simulated. The page index.html in its folder shows ours beside the paper's numbers, and says of each
    where it comes from.
    """
    from beholder.examples import run_example

    with Bar("") as progress:
        done = run_example(name, folder, small=small, pictures=pictures, tell=click.echo, progress=progress)
    exhibits = [{"exhibit": one.name, "what": one.title, "from": one.origin} for one in done.exhibits]
    print_table(exhibits)
    click.echo(f"Wrote {done.page}")
    return CommandResult({"exhibits": exhibits, "page": done.page}, done.page)
