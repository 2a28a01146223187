"""The commands `desk` and `access`: the researcher's pages in the browser, and who may come in there."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from beholder.cli.command import StageCommand, StageGroup, is_json, is_to_open, open_in_browser, print_document
from beholder.cli.printing import HOST, STORE, STUDY, print_table
from beholder.errors import Problem, UserError

if TYPE_CHECKING:
    from beholder.desk.access_file import AccessFile

ACCOUNTS = click.option(
    "--accounts",
    type=click.Path(path_type=Path, dir_okay=False),
    envvar="BEHOLDER_ACCOUNTS",
    help="The file of accounts, sessions and tokens; ~/.config/beholder/desk.sqlite when left out.",
)


@click.command(cls=StageCommand, stage="run", has_open=True)
@click.argument("studies", nargs=-1, type=click.Path(path_type=Path), metavar="[FOLDER]...")
@STORE
@HOST
@click.option("--port", default=8800, show_default=True, type=click.IntRange(0, 65535), help="0 takes a free one.")
@click.option("--public-url", help="Where the desk is reached from elsewhere, by https, such as https://desk.lab.org.")
@click.option("--proxy", "proxies", multiple=True, metavar="ADDRESS", help="A proxy in front; repeatable.")
@click.option("--name", default="owner", show_default=True, help="Who you are: acts are recorded under this name.")
@ACCOUNTS
@click.option("--to", "place", metavar="USER@HOST", help="The desk of a study on another machine, through ssh.")
@click.option("--companion", is_flag=True, hidden=True)
def desk(
    studies: tuple[Path, ...],
    store: str | None,
    host: str,
    port: int,
    public_url: str | None,
    proxies: tuple[str, ...],
    name: str,
    accounts: Path | None,
    place: str | None,
    companion: bool,
) -> None:
    """Watch, replay, decide and share in the browser.

    FOLDER is the folder of a study, or one with such folders in it; this folder when left out. The link that is
    printed logs you in, once. Ctrl-C stops the desk; a study that is being served goes on.
    """
    from beholder.aio import block_on

    def tell(link: str) -> None:
        if is_json():
            print_document({"link": link})
        lines = f"Desk:         {link}\nThe link logs you in once. Ctrl-C stops the desk and nothing else."
        click.echo(lines, err=is_json())
        if is_to_open():
            open_in_browser(link)

    if place is not None:
        from beholder.desk.companion import desk_there

        if len(studies) > 1:
            raise UserError(Problem("--to", "is about one study", "one FOLDER"))
        with desk_there(place, studies[0] if studies else Path()) as link:
            tell(link)
            block_on(asyncio.Event().wait())
        return
    from beholder.desk.desk_server import desk_until_stopped

    block_on(
        desk_until_stopped(
            studies or (Path(),), store=store, host=host, port=port, public_url=public_url, accounts=accounts,
            name=name, tell=tell, proxies=proxies, is_companion=companion,
        )
    )  # fmt: skip


@contextmanager
def shown_desk(study: Path, store: str | None, *, is_shown: bool) -> Iterator[None]:
    """Run a desk beside what is served, and print its link; or nothing."""
    if not is_shown:
        yield
        return
    from beholder.desk.companion import desk_beside

    with desk_beside(study, store=store) as link:
        click.echo(f"{'Desk:':<14}{link}", err=is_json())
        again = shlex.join(["beholder", "open", "desk", *([] if study == Path("study.yaml") else [str(study)])])
        click.echo(f"{'':<14}It logs you in once; `{again}` opens the desk again.", err=is_json())
        yield


@click.group(cls=StageGroup, stage="run")
def access() -> None:
    """Say who may come to the desk: accounts, tokens, shares.

    What is revoked here ends at once, also on a desk that runs.
    """


@contextmanager
def _open(path: Path | None) -> Iterator[AccessFile]:
    from beholder.desk.access_file import AccessFile, default_access_file

    file = AccessFile(path or default_access_file())
    try:
        yield file
    finally:
        file.close()


@access.command("list", has_quiet=False)
@ACCOUNTS
def list_(accounts: Path | None) -> object:
    """List accounts, sessions, shares and tokens."""
    from beholder.desk import accounts as known
    from beholder.desk.logins import open_sessions
    from beholder.desk.shares import open_shares
    from beholder.desk.tokens import open_tokens

    with _open(accounts) as file:
        people = [{"name": one.name, "role": one.role} for one in known.accounts(file)]
        sessions = [
            {"id": one.id, "name": one.viewer.name, "role": one.viewer.role, "by": one.kind,
             "until": f"{one.ends_at:%Y-%m-%d %H:%M}"}
            for one in open_sessions(file)
        ]  # fmt: skip
        shares = [
            {"id": one.id, "for": one.label, "study": one.study, "shows": ", ".join(one.scopes),
             "until": f"{one.ends_at:%Y-%m-%d %H:%M}"}
            for one in open_shares(file)
        ]  # fmt: skip
        tokens = [
            {"id": one.id, "for": one.label, "may": ", ".join(one.scopes), "until": f"{one.ends_at:%Y-%m-%d %H:%M}"}
            for one in open_tokens(file)
        ]
    document = {"accounts": people, "sessions": sessions, "shares": shares, "tokens": tokens}
    for heading, rows in document.items():
        click.echo(f"{heading.capitalize()}: none" if not rows else f"{heading.capitalize()}\n")
        print_table(rows)
        click.echo("")
    return document


@access.command()
@click.argument("name")
@click.option("--role", default="viewer", show_default=True, help="owner, decider or viewer.")
@click.option(
    "--password", envvar="BEHOLDER_PASSWORD", help="Asked for when left out; BEHOLDER_PASSWORD keeps it from others."
)
@ACCOUNTS
def add(name: str, role: str, password: str | None, accounts: Path | None) -> object:
    """Add an account, or give it another role and password."""
    from beholder.desk.accounts import add_account

    if password is None:
        password = click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
    with _open(accounts) as file:
        account = add_account(file, name, role, str(password))
    click.echo(f"{account.name} may log in as {account.role}.")
    return {"name": account.name, "role": account.role}


@access.command()
@click.argument("what", metavar="NAME|ID")
@ACCOUNTS
def revoke(what: str, accounts: Path | None) -> object:
    """Remove an account, or end a session, a share or a token by its id."""
    from beholder.desk.accounts import remove_account
    from beholder.desk.logins import end_session
    from beholder.desk.shares import revoke_share
    from beholder.desk.tokens import revoke_token

    with _open(accounts) as file:
        kinds = {"account": remove_account, "session": end_session, "share": revoke_share, "token": revoke_token}
        gone = [kind for kind, end in kinds.items() if end(file, what)]
    if not gone:
        raise UserError(Problem(what, "is no account, session, share or token", "", "`beholder access list` has all."))
    words = f"Revoked: {', '.join(gone)} {what}."
    click.echo(words)
    return {"revoked": gone, "words": words}


_SCOPES = click.option("--scope", "scopes", multiple=True, help="What it may; may be given several times.")
_UNTIL = click.option("--until", metavar="DAY", help="The last day, such as 2026-12-04; in a fortnight when left out.")


@access.command()
@click.argument("name")
@STUDY
@_SCOPES
@_UNTIL
@click.option("--blinded", is_flag=True, help="Keep code names of conditions also when the study is unblinded.")
@click.option("--desk", "address", default="http://localhost:8800", show_default=True, help="Where the desk is.")
@click.option("--by", default="owner", show_default=True, help="Who shares it.")
@STORE
@ACCOUNTS
def share(
    name: str,
    study: Path,
    scopes: tuple[str, ...],
    until: str | None,
    blinded: bool,
    address: str,
    by: str,
    store: str | None,
    accounts: Path | None,
) -> object:
    """Make a read-only link to a study for NAME.

    It shows now and study when no --scope is named; the others are people, replay, decisions and results.
    """
    from beholder.desk.access_routes import share_link
    from beholder.desk.desk_study import study_places
    from beholder.desk.shares import make_share
    from beholder.methods import load_study

    load_study(study)  # which says more of a study that is not there
    (place,) = study_places([study], store)
    with _open(accounts) as file:
        secret, made = make_share(
            file, study=place.key, identity=place.identity, label=name, scopes=scopes or ("now", "study"),
            until=until or _in_a_fortnight(file), made_by=by, stays_blinded=blinded,
        )  # fmt: skip
    link = share_link(address.rstrip("/"), secret)
    click.echo(f"{link}\nIt shows {', '.join(made.scopes)} until {made.ends_at:%Y-%m-%d %H:%M} UTC, and is seen once.")
    return {"id": made.id, "link": link, "scopes": made.scopes, "until": made.ends_at}


@access.command()
@click.argument("name")
@_SCOPES
@_UNTIL
@click.option("--by", default="owner", show_default=True, help="Who makes it.")
@ACCOUNTS
def token(name: str, scopes: tuple[str, ...], until: str | None, by: str, accounts: Path | None) -> object:
    """Make a token for a program, called NAME.

    It may read now when no --scope is named. The desk describes its HTTP API at /api/openapi.json.
    """
    from beholder.desk.tokens import make_token

    with _open(accounts) as file:
        secret, made = make_token(
            file, label=name, scopes=scopes or ("now",), until=until or _in_a_fortnight(file), made_by=by
        )
    click.echo(f"{secret}\nIt may {', '.join(made.scopes)} until {made.ends_at:%Y-%m-%d %H:%M} UTC, and is seen once.")
    return {"id": made.id, "token": secret, "scopes": made.scopes, "until": made.ends_at}


@access.command()
@STUDY
@click.option("--by", required=True, metavar="NAME", help="Who wants to see the names of conditions.")
@click.option("--reason", required=True, help="Why, in a few words; it is kept.")
@STORE
def unblind(study: Path, by: str, reason: str, store: str | None) -> object:
    """Let the desk show the names of conditions; it is recorded."""
    from beholder.aio import block_on
    from beholder.desk.unblinding import record_unblinding
    from beholder.recruiting.context import open_context

    async def work() -> tuple[str, ...]:
        async with open_context(study, store) as context:
            return await record_unblinding(context, by, reason)

    words = block_on(work())
    for line in words:
        click.echo(line)
    return {"words": words}


def _in_a_fortnight(file: AccessFile) -> str:
    return f"{file.now() + timedelta(days=14):%Y-%m-%d}"
