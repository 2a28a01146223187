"""The command line of the demonstration: `beholder demo`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from beholder.cli.options import PORT
from beholder.cli.printing import Bar, print_news, print_scores, print_table
from beholder.demo import METHOD

if TYPE_CHECKING:
    from beholder.analyse.results import Results
    from beholder.recruit.fake.reckoning import Reckoning
    from beholder.simulate.truth import Truth
    from beholder.study.money import Sum


@click.command()
@click.argument("method", default=METHOD)
@click.option("--prolific", is_flag=True, help="On a Prolific of play money, with people who come, leave and are paid.")
@click.option(
    "--folder", type=click.Path(path_type=Path), help="Where; beholder-demo or beholder-demo-METHOD when left out."
)
@click.option("--exit", "leave", is_flag=True, help="Stop after the report instead of serving on.")
@PORT
def demo(method: str, prolific: bool, folder: Path | None, leave: bool, port: int) -> None:
    """Show the whole way with sample stimuli and robots."""
    import beholder

    click.echo("Making sample stimuli …")
    if prolific:
        click.echo("Then everything that `beholder run --publish` does, on a Prolific of play money on this machine.\n")

    def on_link(link: str) -> None:
        click.echo(f"Still serving. Look at the study: {link}" if prolific else f"Participants: {link}")

    def on_result(truth: Truth, results: Results) -> None:
        progress.close()
        if prolific:
            click.echo("\nWhat people said, beside the quality that was planted:\n")
        print_scores(results, truth.conditions)
        click.echo(f"\nReport: {results.report}")
        for words in results.waiting:
            click.echo(f"Waiting for a person: {words}")
        if prolific and not results.waiting:
            click.echo("Nothing waits for a person.")
        if not leave and not prolific:
            click.echo("Still serving. Take the study yourself, or stop with Ctrl-C.")

    with Bar("Robots") as progress:
        beholder.demo(
            method, folder, prolific=prolific, stay=not leave, port=port, on_link=on_link, on_result=on_result,
            on_money=_print_money, news=print_news, progress=progress,
        )  # fmt: skip


def _print_money(found: Reckoning) -> None:
    """Print what was paid to whom, and whether ledger and wallet tell the same."""
    spent = found.before._replace(minor=found.before.minor - found.after.minor)
    rows = [
        _row("approved", found.approved.amount, found.approved.people),
        _row("did not fit", found.screened_out.amount, found.screened_out.people),
        _row("bonuses", found.bonuses.amount, found.bonuses.people),
        _row("fees and tax", found.fees),
        _row("in all", spent),
    ]
    click.echo(f"\nThe money of {found.came} people who came to {found.places} places:\n")
    print_table(rows)
    click.echo(f"\nWallet: {found.before} before, {found.after} after.")
    for words in found.differences:
        click.echo(f"Ledger and wallet differ: {words}.")
    if not found.differences:
        click.echo("Ledger and wallet agree: every payment is in both, once.")


def _row(name: str, amount: Sum, people: int | str = "") -> dict[str, str]:
    return {"paid (play money)": name, "people": f"{people:>6}", "amount": f"{amount!s:>11}"}
