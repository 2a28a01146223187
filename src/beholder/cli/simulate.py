"""The command `simulate`: robots over HTTP, in memory, or in real browsers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from beholder.cli.printing import Bar, print_scores, print_table


@click.command()
@click.argument("study", default="study.yaml", type=click.Path(path_type=Path))
@click.option("--store", help="A PostgreSQL URL, or another folder; store/ beside study.yaml when left out.")
@click.option("--participants", type=click.IntRange(1), help="How many robots; one for each list when left out.")
@click.option("--raters", default="honest", show_default=True, help="A mixture, as honest:0.9,careless:0.1.")
@click.option("--seed", default=1, show_default=True, help="Of the simulated people.")
@click.option("--from", "source", help="Where their numbers come from: public, or the study.yaml of a pilot.")
@click.option("--people", default="", help="What they are like, as fatigue:0.5,lapse:0.02,leaving:0.01.")
@click.option("--memory", is_flag=True, help="Without a server: the same answers, to rehearsal/ratings.csv.")
@click.option(
    "--browser",
    type=click.IntRange(1),
    metavar="N",
    help="Let N robots take the study in real browsers, with a picture of every step in storyboard/.",
)
def simulate(
    study: Path,
    participants: int | None,
    browser: int | None,
    memory: bool,
    source: str | None,
    people: str,
    **how: Any,
) -> None:
    """Rehearse with robots, and compare with the truth."""
    import beholder
    from beholder.errors import Problem, UserError
    from beholder.simulate.sources import read_source

    if participants and browser:
        raise UserError(Problem("--participants", "and --browser are both given", "one of the two"))
    if browser and memory:
        raise UserError(Problem("--memory", "opens no page, and --browser does", "one of the two"))
    taken = read_source(source, people)
    if source or people:
        print_table(taken.rows())
        click.echo()
    how |= {"participants": participants or browser, "source": taken}
    with Bar("Robots") as progress:
        if browser:
            story = beholder.simulate(study, **how, browser=True, progress=progress)
        elif memory:
            made = beholder.simulate(study, **how, memory=True, progress=progress)
        else:
            crowd = beholder.simulate(study, **how, progress=progress)
    if browser:
        click.echo(f"Every step in pictures: {story.page}")
    elif memory:
        assert made.path is not None
        print_scores(beholder.analyse(made.path), made.truth.conditions)
        click.echo(f"\nRatings of robots, none of them judged by a check: {made.path}")
    else:
        beholder.clean(study, store=how["store"], robots=True)
        print_scores(beholder.analyse(study), crowd.truth.conditions)
