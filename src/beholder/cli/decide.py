"""The command line of deciding: `beholder decide`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from beholder.cli.options import STORE, STUDY
from beholder.cli.printing import print_table

if TYPE_CHECKING:
    from beholder.recruit.deciding.found import Decisions
    from beholder.recruit.decisions import Pay

_MEANS: Mapping[Pay, str] = {
    "approve": "pay the reward",
    "screen_out": "pay what those earn who did not fit",
    "bonus": "pay the reward as a bonus",
    "reject": "do not pay, with a message",
    "return": "ask the person to return it",
    "wait": "it is not over",
    "look": "you have to decide",
    "nothing": "nothing is left to do",
}


@click.command()
@STUDY
@click.option(
    "--submissions", type=click.Path(path_type=Path), help="The list of a platform as CSV: who came, what they pasted."
)
@click.option("--sign", metavar="NAME", help="Sign what decide/decisions.csv says; only that is ever sent.")
@click.option("--dry-run", is_flag=True, help="Only print; write and sign nothing.")
@STORE
def decide(study: Path, submissions: Path | None, sign: str | None, dry_run: bool, store: str | None) -> None:
    """Propose whom to pay and whom to use, with reasons.

    Writes decide/decisions.csv. Change pay, use, category and message there: what you changed is kept when this runs
    again. Nothing is sent by it; signed with --sign, `beholder pay` may send it.
    """
    import beholder

    found = beholder.decide(study, submissions=submissions, sign=sign, store=store, dry_run=dry_run)
    _print(found)


def _print(found: Decisions) -> None:
    counts = found.counts
    print_table([{"pay": pay, "rows": counts[pay], "": _MEANS[pay]} for pay in _MEANS if pay in counts])
    if waiting := found.for_a_person:
        click.echo("\nFor you:")
        print_table(
            [{"submission": row.submission, "pay": row.pay, "use": _yes(row.use), "why": row.words} for row in waiting]
        )
    click.echo("\n".join(["", *found.words] if found.rows else found.words))


def _yes(is_so: bool) -> str:
    return "yes" if is_so else "no"
