"""The command `desk`: the researcher's pages in the browser."""

from __future__ import annotations

from pathlib import Path

import click

from beholder.cli.command import StageCommand, is_json, is_to_open, open_in_browser, print_document
from beholder.cli.printing import HOST, STORE

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
@click.option("--name", default="owner", show_default=True, help="Who you are: acts are recorded under this name.")
@ACCOUNTS
def desk(
    studies: tuple[Path, ...],
    store: str | None,
    host: str,
    port: int,
    public_url: str | None,
    name: str,
    accounts: Path | None,
) -> None:
    """Watch, replay, decide and share in the browser.

    FOLDER is the folder of a study, or one with such folders in it; this folder when left out. The link that is
    printed logs you in, once. Ctrl-C stops the desk; a study that is being served goes on.
    """
    from beholder.aio import block_on
    from beholder.desk.desk_server import desk_until_stopped

    def tell(link: str) -> None:
        if is_json():
            print_document({"link": link})
        lines = f"Desk:         {link}\nThe link logs you in once. Ctrl-C stops the desk and nothing else."
        click.echo(lines, err=is_json())
        if is_to_open():
            open_in_browser(link)

    block_on(
        desk_until_stopped(
            studies or (Path(),), store=store, host=host, port=port, public_url=public_url, accounts=accounts,
            name=name, tell=tell,
        )
    )  # fmt: skip
