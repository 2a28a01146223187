"""The command line of whole studies and of chains: `beholder run`, `beholder chain`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from beholder.cli.options import HOST, PORT, PUBLIC, RATERS, SEED, STORE, STUDY
from beholder.cli.printing import Bar, live_teller, print_news, print_scores

if TYPE_CHECKING:
    from beholder.analyse.results import Results

PUBLISH = click.option(
    "--publish", is_flag=True, help="On a platform: open it, ask for more people, pay, close; all within the budget."
)
BUDGET = click.option("--budget", metavar="AMOUNT", help='The most that it may cost, such as "120 GBP".')
EVERY = click.option(
    "--every", default=60.0, show_default=True, type=click.FloatRange(0.05), help="Seconds between looks at a platform."
)


@click.command()
@STUDY
@STORE
@HOST
@PORT
@PUBLIC
@click.option("--participants", type=click.IntRange(1), help="How many must finish; as the study says when left out.")
@PUBLISH
@BUDGET
@click.option("--after", metavar="STUDY", help="Ask only the pairs that another study left open, and other people.")
@EVERY
@click.option("--simulate", "with_robots", is_flag=True, help="Robots instead of people.")
@RATERS
@SEED
def run(study: Path, with_robots: bool, **options: Any) -> None:
    """Take a study from its file to the report.

    Checks, plans, serves until enough have finished, cleans, analyses, reports. On a platform it also launches, and
    with --publish it decides, pays and closes. Ctrl-C and again continues.
    """
    import beholder

    with Bar("Robots", shown=with_robots) as progress, Bar("Stimuli") as making:
        results = beholder.run(
            study, simulate=with_robots, progress=progress, making=making, news=print_news,
            tell=None if with_robots else live_teller(), **options,
        )  # fmt: skip
    _print(results, is_rehearsal=with_robots)


@click.command()
@click.argument("file", default="chain.yaml", type=click.Path(path_type=Path), metavar="[CHAIN]")
@HOST
@PORT
@PUBLIC
@PUBLISH
@BUDGET
@EVERY
@click.option("--simulate", "with_robots", is_flag=True, help="Robots instead of people.")
@RATERS
@SEED
def chain(file: Path, with_robots: bool, **options: Any) -> None:
    """Run studies that follow from one another, with new people in each and one budget over all.

    CHAIN is chain.yaml in this folder when left out. Ctrl-C and again continues.
    """
    import beholder

    with Bar("Robots", shown=with_robots) as progress, Bar("Stimuli") as making:
        found = beholder.chain(
            file, simulate=with_robots, progress=progress, making=making, news=print_news,
            tell=None if with_robots else live_teller(), **options,
        )  # fmt: skip
    for name, results in found.items():
        click.echo(f"\n{name}\n")
        _print(results, is_rehearsal=with_robots)


def _print(results: Results, *, is_rehearsal: bool) -> None:
    if is_rehearsal:
        click.echo("A rehearsal with robots, not a result.\n")
    print_scores(results, {})
    came, used = (rows["participant"].nunique() for rows in (results.ratings, results.ratings[results.ratings["use"]]))
    if used < came:
        click.echo(f"\n{used} of the {came} who rated are used; clean/sessions.csv says why the others are not.")
    for words in results.waiting:
        click.echo(f"Waiting: {words}")
    click.echo(f"\nReport: {results.report}")
