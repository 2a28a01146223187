"""The command line of watching: `beholder monitor`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from beholder.cli.options import STORE, STUDY


@click.command()
@STUDY
@STORE
@click.option("--once", is_flag=True, help="Print how it stands now, and leave.")
@click.option("--json", "as_json", is_flag=True, help="Print that as JSON, and leave.")
@click.option("--robots", is_flag=True, help="Look at the rehearsal.")
def monitor(study: Path, store: str | None, once: bool, as_json: bool, robots: bool) -> None:
    """Watch how a study goes while people are at it.

    Arrivals, steps, drop-outs, balance, failures, pay, cost, and when it will be done. Changes nothing, and may be
    used while a server runs. Ctrl-C leaves.
    """
    import beholder

    if as_json:
        found = beholder.monitor(study, store=store, robots=robots)
        click.echo(json.dumps(found.to_json(), indent=2, ensure_ascii=False))
    elif not sys.stdout.isatty():
        click.echo(str(beholder.monitor(study, store=store, robots=robots)), nl=False)
    elif once:
        from rich.console import Console

        Console(highlight=False).print(beholder.monitor(study, store=store, robots=robots))
    else:
        _watch(study, store, robots)


def _watch(study: Path, store: str | None, robots: bool) -> None:
    """Show the view on a screen of its own until Ctrl-C; what was seen last stays in the terminal."""
    from rich.console import Console
    from rich.live import Live

    from beholder.blocking import block_on
    from beholder.recruit.desk import open_desk
    from beholder.recruit.monitoring.found import View
    from beholder.recruit.monitoring.live import watch

    console, last = Console(highlight=False), list[View]()

    async def work() -> None:
        async with open_desk(study, store) as desk:
            with Live(console=console, auto_refresh=False, screen=True, vertical_overflow="crop") as shown:

                def show(view: View) -> None:
                    last[:] = [view]
                    shown.update(view, refresh=True)

                await watch(desk, show, robots=robots)

    try:
        block_on(work())
    finally:
        for view in last:
            console.print(view)
