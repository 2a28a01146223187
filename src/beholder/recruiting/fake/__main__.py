"""`python -m beholder.recruiting.fake`: run the fake platform as a server, to rehearse a study without money."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from datetime import timedelta
from pathlib import Path

import click

from beholder.errors import UserError
from beholder.recruiting.fake.http import serve_fake
from beholder.recruiting.fake.platform import FakeProlific
from beholder.recruiting.fake.rehearsal import ALL_WELL, USUAL_BEHAVIOURS, RehearsedVisit, draw_behaviours, rehearse
from beholder.recruiting.fake.state import FakeClock
from beholder.study.recruitment import Sum

_WELCOME = """A Prolific without money: {balance} of play money, on {url}
Where beholder runs, set (Windows: `set` in place of `export`)
  export PROLIFIC_TOKEN={token}
  export BEHOLDER_PROLIFIC_URL={url}
then `beholder launch`, and publish. Ctrl-C ends it, and forgets everything."""


@click.command()
@click.option("--port", default=8800, show_default=True, help="Where it answers; 0 takes a free port.")
@click.option("--balance", default=500, show_default=True, help="Play money, in whole pounds or dollars.")
@click.option("--currency", default="GBP", show_default=True, type=click.Choice(["GBP", "USD"]))
@click.option(
    "--openapi", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Hold requests against it."
)
@click.option("--people", default=0, help="How many people come by themselves once a study is open.")
@click.option("--study", type=click.Path(exists=True, path_type=Path), help="The study.yaml that they take.")
@click.option("--store", help="Its store, where it is not in its folder.")
@click.option("--every", default=2.0, show_default=True, help="Seconds from one to the next.")
@click.option("--all-well", is_flag=True, help="Everybody finishes; else some leave, return or lose their code.")
def main(
    port: int,
    balance: int,
    currency: str,
    openapi: Path | None,
    people: int,
    study: Path | None,
    store: str | None,
    every: float,
    all_well: bool,
) -> None:
    """Answer as Prolific does, on this machine, and send people."""
    if people and study is None:
        raise click.UsageError("--people needs --study: who takes a study has to know what it asks.")
    fake = FakeProlific(
        balance=100 * balance,
        currency=currency,
        openapi=openapi,
        clock=FakeClock(runs=True),
        approving_takes=timedelta(seconds=2),
        paying_takes=timedelta(seconds=5),
    )
    try:
        with contextlib.suppress(KeyboardInterrupt):
            asyncio.run(_work(fake, port, people, study, store, every, all_well=all_well))
    except UserError as error:
        click.echo(str(error), err=True)
        sys.exit(2)
    except OSError as error:
        click.echo(f"--port: {port} cannot be had: {error.strerror}. Take another one, or 0 for a free one.", err=True)
        sys.exit(2)


async def _work(
    fake: FakeProlific,
    port: int,
    people: int,
    study: Path | None,
    store: str | None,
    every: float,
    *,
    all_well: bool,
) -> None:
    async with serve_fake(fake, port) as url:
        balance = Sum(fake.balance, fake.wallet.currency)
        click.echo(_WELCOME.format(balance=balance, token=fake.token, url=url))
        if study is not None and people:

            def report_visit(visit: RehearsedVisit) -> None:
                click.echo(f"Person {visit.number} of {people} ({visit.behaviour}): {visit.ending}")

            await rehearse(
                fake,
                study,
                store,
                draw_behaviours(people, ALL_WELL if all_well else USUAL_BEHAVIOURS),
                report_visit,
                every,
            )
        await asyncio.Event().wait()


if __name__ == "__main__":
    main()
