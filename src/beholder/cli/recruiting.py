"""The command line of paying: `beholder pay`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from beholder.cli.options import STORE, STUDY
from beholder.cli.printing import print_table
from beholder.errors import RecruitError

if TYPE_CHECKING:
    from beholder.recruit.paying.found import Payment


@click.command()
@STUDY
@STORE
@click.option("--send", is_flag=True, help="Pay; where a platform cannot, write pay/payments.csv.")
@click.option("--dry-run", is_flag=True, help="Only show what is owed, as without --send.")
@click.option("--paid", is_flag=True, help="Say that everything in pay/payments.csv has been paid.")
@click.option("--top-up", is_flag=True, help="Add what is missing to the least pay for an hour.")
@click.option(
    "--resend", multiple=True, metavar="PAYMENT", help="Send an unknown payment once more, such as B2: nobody got it."
)
@click.option(
    "--settle", multiple=True, metavar="PAYMENT", help="Say that you have made up an unknown payment by hand."
)
def pay(
    study: Path,
    store: str | None,
    send: bool,
    dry_run: bool,
    paid: bool,
    top_up: bool,
    resend: tuple[str, ...],
    settle: tuple[str, ...],
) -> None:
    """Show what is owed to whom, or pay it.

    Only what was signed is sent, and never twice: what is unsure is read first. Without --send nothing is sent.
    """
    import beholder

    if dry_run:
        send, paid, resend, settle = False, False, (), ()
    found = beholder.pay(
        study, send=send, resend=resend, settle=settle, paid=paid, top_up=top_up, store=store,
        tell=lambda words: click.echo(words, err=True),
    )  # fmt: skip
    _print(found)
    if found.problems:
        raise RecruitError(found.problems)


def _print(found: Payment) -> None:
    shown = [
        {
            "person": line.participant or "–",
            "submission": line.submission,
            "what": line.what,
            "amount": str(line.amount) if line.amount.minor else "–",
            "state": line.standing
            + (f" in {line.payment}" if line.payment and line.standing in ("sent", "unknown") else ""),
        }
        for line in found.of("owed", "sent", "refused", "unknown")
    ]
    print_table(shown)
    if shown:
        click.echo()
    for line in found.words:
        click.echo(line)
