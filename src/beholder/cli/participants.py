"""`beholder participants`: list participants, show one, or act on one."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from beholder.cli.command import StageGroup
from beholder.cli.printing import STORE, STUDY, print_table

if TYPE_CHECKING:
    from beholder.recruiting.moderation import Act
    from beholder.recruiting.participant_records import ParticipantRecord, ParticipantSession

_REASON = click.option("--reason", required=True, help="Why, in a few words; it is kept.")
_BY = click.option("--by", default="", metavar="NAME", help="Who does it; kept with the reason.")
_DRY = click.option("--dry-run", is_flag=True, help="Only say what would be done.")
_VISITS = {True: "verified", False: "unverified", None: "–"}
_WHO = click.argument("who", metavar="ID")


class _ListFirst(StageGroup):
    """A group whose command `list` may be left out."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args or (args[0] not in self.commands and args[0] not in ctx.help_option_names):
            args = ["list", *args]
        return super().parse_args(ctx, args)


@click.group(cls=_ListFirst, stage="run")
def participants() -> None:
    """List who came, look at one, or do something about one.

    ID is a pseudonym, a session, or the beginning of either; or a submission in decide/decisions.csv. Whatever is done
    is recorded with its reason.
    """


@participants.command("list", has_quiet=False)
@STUDY
@STORE
def list_(study: Path, store: str | None) -> object:
    """List everybody who came. This is what `beholder participants` does alone."""
    import beholder

    everybody = beholder.participants(study, store=store)
    if not everybody:
        click.echo("Nobody has come yet.")
    print_table(_rows(everybody))
    return {"participants": everybody}


@participants.command(has_quiet=False)
@_WHO
@STUDY
@STORE
def show(who: str, study: Path, store: str | None) -> object:
    """Show one: steps with times, verdicts with reasons, and what was done."""
    import beholder
    from beholder.recruiting.moderation import find_participant
    from beholder.workflow.chain import folder_of

    person, session = find_participant(beholder.participants(study, store=store), who, folder_of(study))
    if session is not None:
        person = dataclasses.replace(person, sessions=(session,))
    print_table(_rows([person]))
    for visited in person.sessions:
        _show(visited)
    if person.acts:
        click.echo("\nDone about them")
        print_table(
            [
                {"when": _time(one.at), "what": _word(one.kind), "who": one.by or "–", "why": one.reason}
                for one in person.acts
            ]
        )
    return person


@participants.command("resume-link", has_quiet=False)
@_WHO
@STUDY
@click.option("--public-url", help="The address under which participants reach the server, if not as launched.")
@STORE
def resume_link(who: str, study: Path, public_url: str | None, store: str | None) -> object:
    """Print the link with which somebody goes on on another device.

    ID may also be the id with which they came, such as the one on Prolific. Whoever has the link has the session, so
    send it to nobody else.
    """
    from beholder.recruiting import resume_link as link_of

    found = link_of(who, study, public_url=public_url, store=store)
    click.echo(found.link)
    click.echo(found.words)
    return found


def _rows(people: Sequence[ParticipantRecord]) -> list[dict[str, str]]:
    """Return a row for each participant; visits have a column where a platform can be asked about one."""
    rows = [_row(one) for one in people]
    if all(row["visit"] == _VISITS[None] for row in rows):
        return [{head: cell for head, cell in row.items() if head != "visit"} for row in rows]
    return rows


def _row(one: ParticipantRecord) -> dict[str, str]:
    last = one.sessions[-1]
    return {
        "participant": one.participant,
        "mode": one.mode,
        "visit": _VISITS[one.is_verified],
        "sessions": str(len(one.sessions)),
        "where": "shut out" if one.is_shut_out and last.outcome is None else last.at,
        "pay": _accept(last.accept) if last.outcome is not None else "–",
        "use": "yes" if any(session.use for session in one.sessions) else "no",
        "paid": str(one.paid) if one.paid is not None else "–",
        "why": "; ".join(dict.fromkeys(reason for session in one.sessions for reason in session.reasons)) or "–",
    }


def _show(one: ParticipantSession) -> None:
    minutes = f", {one.minutes:g} minutes" if one.minutes is not None else ""
    number = f", list {one.list}" if one.list is not None else ""
    erased = ", erased" if one.is_erased else ""
    click.echo(f"\nSession {one.session}: came {_time(one.began)}, {one.at}{number}{minutes}{erased}")
    print_table([{"step": step.key, "answered": _time(step.at), "seconds": f"{step.seconds:g}"} for step in one.steps])
    if one.rules:
        click.echo("")
    print_table([{"rule": rule.check, "says": rule.verdict, "why": rule.words or "–"} for rule in one.rules])


def _add_act(kind: Act, words: str) -> Callable[..., object]:
    """Add the command for an act."""

    @participants.command(kind.replace("_", "-"), help=words)
    @_WHO
    @STUDY
    @_REASON
    @_BY
    @_DRY
    @STORE
    def command(who: str, study: Path, reason: str, by: str, dry_run: bool, store: str | None) -> object:
        from beholder.recruiting import act

        done = act(kind, who, reason, study, by=by, store=store, dry_run=dry_run)
        click.echo(done.words)
        return done

    return command


_add_act("release", "Give the list of an open session to others.")
_add_act("reset", "Let somebody begin anew, with all attempts at the checks.")
_add_act("let_in", "Let somebody begin again who was shut out, or whose session ended early.")
_add_act("shut_out", "Turn somebody away kindly, also from an open session.")
_add_act("leave_out", "Do not use their answers, whatever the rules say. About use, never about pay.")
_add_act("take_in", "Use their answers, whatever the rules over the session say.")


def _accept(accept: bool | None) -> str:
    return "look" if accept is None else "yes" if accept else "no"


def _word(kind: str) -> str:
    return kind.replace("_", " ")


def _time(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S}"
