"""Commands for recruiting: launch, monitor, decide, pay, close, forget, purge."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from beholder.cli.command import CommandResult, StageCommand, is_json, terminal
from beholder.cli.printing import STORE, STUDY, print_table
from beholder.errors import Problem, UserError

if TYPE_CHECKING:
    from beholder.recruiting.contract import Pay
    from beholder.recruiting.debts import Payment
    from beholder.recruiting.decisions import Decisions


@click.command(cls=StageCommand, stage="run")
@STUDY
@STORE
@click.option("--public-url", help="Where participants reach the server; remembered. http://127.0.0.1:8000 at first.")
@click.option("--places", type=click.IntRange(1), help="How many people in all; as the study says when left out.")
@click.option("--publish", metavar="AMOUNT", help='Open it for this amount, such as "54.00 GBP": that of the quote.')
@click.option("--temporary", metavar="WORDS", help="Why its address may end with your own machine; kept.")
@click.option("--pause", is_flag=True, help="Let nobody begin for now; whoever has begun goes on.")
@click.option("--resume", is_flag=True, help="Let people begin again; what that costs on top is named with --publish.")
@click.option("--dry-run", is_flag=True, help="Only check and quote.")
def launch(
    study: Path,
    store: str | None,
    public_url: str | None,
    places: int | None,
    publish: str | None,
    temporary: str | None,
    pause: bool,
    resume: bool,
    dry_run: bool,
) -> object:
    """Check, quote what it costs, and put it up as a draft.

    Nothing is published, and no place is added, before its amount has been named with --publish. Run again it finds
    what is there.
    """
    import beholder

    if pause or resume:
        if (pause and (resume or publish)) or places:
            raise UserError(
                Problem("beholder launch", "--pause and --resume stand alone", "one of the two, without --places")
            )
        from beholder.recruiting import turn

        which: Literal["pause", "resume"] = "pause" if pause else "resume"
        change = turn(study, which, publish=publish, store=store, dry_run=dry_run)
        for line in change.words:
            click.echo(line)
        return change
    launched = beholder.launch(
        study, publish=publish, places=places, public_url=public_url, temporary=temporary, store=store, dry_run=dry_run,
    )  # fmt: skip
    for warning in launched.warnings:
        click.echo(f"Warning: {warning}", err=True)
    for line in launched.words:
        click.echo(line)
    return launched


@click.command(cls=StageCommand, stage="run", has_quiet=False)
@STUDY
@STORE
@click.option("--once", is_flag=True, help="Print how it stands now, and leave.")
@click.option("--robots", is_flag=True, help="Look at the rehearsal.")
def monitor(study: Path, store: str | None, once: bool, robots: bool) -> object:
    """Watch how a study goes while people are at it.

    Arrivals, steps, drop-outs, balance, failures, pay, cost, and when it will be done. Changes nothing, and may be
    used while a server runs. Ctrl-C leaves.
    """
    import beholder

    if is_json():
        return beholder.monitor(study, store=store, robots=robots).to_json()
    if not sys.stdout.isatty():
        click.echo(str(beholder.monitor(study, store=store, robots=robots)), nl=False)
    elif once:
        from rich.console import Console

        Console(highlight=False, file=terminal(sys.stdout)).print(beholder.monitor(study, store=store, robots=robots))
    else:
        _watch(study, store, robots)
    return None


def _watch(study: Path, store: str | None, robots: bool) -> None:
    """Show the monitor on the alternate screen until Ctrl-C; the last view stays in the terminal."""
    from rich.console import Console
    from rich.live import Live

    from beholder.aio import block_on
    from beholder.recruiting.context import open_context
    from beholder.recruiting.monitor_snapshot import MonitorSnapshot
    from beholder.recruiting.monitoring import watch

    console, last = Console(highlight=False, file=terminal(sys.stdout)), list[MonitorSnapshot]()

    async def work() -> None:
        async with open_context(study, store) as context:
            with Live(console=console, auto_refresh=False, screen=True, vertical_overflow="crop") as shown:

                def show(view: MonitorSnapshot) -> None:
                    last[:] = [view]
                    shown.update(view, refresh=True)

                await watch(context, show, robots=robots)

    try:
        block_on(work())
    finally:
        for view in last:
            console.print(view)


_PAY_TEXTS: Mapping[Pay, str] = {
    "approve": "pay the reward",
    "screen_out": "pay what those earn who did not fit",
    "bonus": "pay the reward as a bonus",
    "reject": "do not pay, with a message",
    "return": "ask the person to return it",
    "wait": "it is not over",
    "look": "you have to decide",
    "nothing": "nothing is left to do",
}


@click.command(cls=StageCommand, stage="decide")
@STUDY
@click.option(
    "--submissions", type=click.Path(path_type=Path), help="The list of a platform as CSV: who came, what they pasted."
)
@click.option("--sign", metavar="NAME", help="Sign what decide/decisions.csv says; only that is ever sent.")
@click.option("--dry-run", is_flag=True, help="Only print; write and sign nothing.")
@STORE
def decide(study: Path, submissions: Path | None, sign: str | None, dry_run: bool, store: str | None) -> object:
    """Propose whom to pay and whom to use, with reasons.

    Writes decide/decisions.csv. Change pay, use, category and message there: what you changed is kept when this runs
    again. Nothing is sent by it; signed with --sign, `beholder pay` may send it.
    """
    import beholder

    decisions = beholder.decide(study, submissions=submissions, sign=sign, store=store, dry_run=dry_run)
    _print_decisions(decisions)
    return {"file": decisions.file, "counts": decisions.counts, "rows": decisions.rows, "words": decisions.words}


def _print_decisions(decisions: Decisions) -> None:
    counts = decisions.counts
    print_table([{"pay": pay, "rows": counts[pay], "": _PAY_TEXTS[pay]} for pay in _PAY_TEXTS if pay in counts])
    if waiting := decisions.for_a_person:
        click.echo("\nFor you:")
        print_table(
            [{"submission": row.submission, "pay": row.pay, "use": _yes(row.use), "why": row.words} for row in waiting]
        )
    click.echo("\n".join(["", *decisions.words] if decisions.rows else decisions.words))


def _yes(is_so: bool) -> str:
    return "yes" if is_so else "no"


@click.command(cls=StageCommand, stage="decide")
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
) -> object:
    """Show what is owed to whom, or pay it.

    Only what was signed is sent, and never twice: what is unsure is read first. Without --send nothing is sent.
    """
    import beholder

    if dry_run:
        send, paid, resend, settle = False, False, (), ()
    payment = beholder.pay(
        study, send=send, resend=resend, settle=settle, paid=paid, top_up=top_up, store=store,
        tell=lambda words: click.echo(words, err=True),
    )  # fmt: skip
    _print_payment(payment)
    document = {"lines": payment.lines, "file": payment.file, "is_sent": payment.is_sent, "words": payment.words}
    return CommandResult(document, code=2, problems=payment.problems) if payment.problems else document


def _print_payment(payment: Payment) -> None:
    shown = [
        {
            "person": line.participant or "–",
            "submission": line.submission,
            "what": line.what,
            "amount": str(line.amount) if line.amount.minor else "–",
            "state": line.status
            + (f" in {line.payment}" if line.payment and line.status in ("sent", "unknown") else ""),
        }
        for line in payment.of("owed", "sent", "refused", "unknown")
    ]
    print_table(shown)
    if shown:
        click.echo()
    for line in payment.words:
        click.echo(line)


@click.command(cls=StageCommand, stage="decide")
@STUDY
@STORE
@click.option("--dry-run", is_flag=True, help="Only say what holds it up; nothing is stopped or written.")
@click.option("--remove-media", is_flag=True, help="Remove the stimuli from where `media` in the study says.")
def close(study: Path, store: str | None, dry_run: bool, remove_media: bool) -> object:
    """Stop recruiting, verify that all is paid, and export.

    Then close/summary.md says how it was done. While anybody waits for a decision or for money it says who, and is
    not over; nobody can begin any more nevertheless. On Prolific only more places open it again; otherwise
    `beholder launch --resume` does. Run again it finishes the rest.
    """
    import beholder

    closure = beholder.close(study, store=store, dry_run=dry_run, remove_media=remove_media)
    for line in closure.words:
        click.echo(line)
    document = {name: getattr(closure, name) for name in ("is_closed", "summary", "exported", "words")}
    return document if closure.is_closed else CommandResult(document, code=2, problems=closure.open)


_DRY = click.option("--dry-run", is_flag=True, help="Only say what would be erased.")


@click.command(cls=StageCommand, stage="decide")
@click.argument("receipt")
@STUDY
@_DRY
@STORE
def forget(receipt: str, study: Path, dry_run: bool, store: str | None) -> object:
    """Erase everything of the person who has RECEIPT.

    Answers, events and the link to who it is go for good; that it was done stays known. Case, spaces and dashes of a
    receipt do not matter.
    """
    import beholder

    erased = beholder.forget(receipt, study, store=store, dry_run=dry_run)
    for line in erased.words:
        click.echo(line)
    return _finished(erased, erased.remains)


@click.command(cls=StageCommand, stage="decide")
@STUDY
@_DRY
@STORE
def purge(study: Path, dry_run: bool, store: str | None) -> object:
    """Erase what the study's `retention` no longer lets be kept."""
    import beholder

    erased = beholder.purge(study, store=store, dry_run=dry_run)
    for line in erased.words:
        click.echo(line)
    return _finished(erased, erased.remains)


def _finished(erased: object, remains: str) -> object:
    """Return a result that says what is still to be done, with exit code 2, where bytes are left on the disk."""
    if not remains:
        return erased
    fix = "End what reads the store, or make room, and run it again; a running server tries again by itself."
    return CommandResult(
        vars(erased), code=2, problems=[Problem("store", "still holds bytes of what was erased", "", fix)]
    )
