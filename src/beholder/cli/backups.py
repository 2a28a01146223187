"""`beholder backup` and `beholder restore`: encrypted copies of the answers elsewhere, and the way back."""

from __future__ import annotations

from pathlib import Path

import click

from beholder.cli.command import StageGroup
from beholder.cli.printing import STORE, STUDY, print_table
from beholder.errors import Problem, UserError

_TO = click.option("--to", metavar="PLACE", help="Another place than that of the study.")


@click.group(cls=StageGroup, stage="run")
def backup() -> None:
    """Make encrypted copies of the answers, list them, make a key.

    While a study with `backup` is served, they are made by themselves. `beholder restore` is the way back.
    """


@backup.command()
@click.argument("file", required=False, type=click.Path(path_type=Path, dir_okay=False))
def key(file: Path | None) -> object:
    """Make a key, and print its public half for the study.

    FILE gets the secret half, which stays at home: without it no backup can be read, by nobody. When left out, it is
    kept where `restore` looks for it. A key that is there already is kept, and only printed.
    """
    from beholder.backups.encryption import default_identity, make_key

    place = (file or default_identity()).expanduser()
    if any((folder / "study.yaml").is_file() for folder in place.absolute().parents):
        fix = "Keep it elsewhere: whoever gets the study, such as the machine that serves it, could read the backups."
        raise UserError(Problem(str(place), "is in the folder of a study", "", fix))
    made = make_key(place)
    click.echo(f"{'Made' if made.is_new else 'Kept'}: {made.file}")
    click.echo("Copy it to a safe place: without it no backup can be read. Then write into the study:\n")
    click.echo(f"backup:\n  to: s3://bucket/folder   # or sftp://user@host/folder, or a folder\n  key: {made.public}")
    return {"file": made.file, "key": made.public, "is_new": made.is_new}


@backup.command()
@STUDY
@_TO
@STORE
def now(study: Path, to: str | None, store: str | None) -> object:
    """Make a backup now, and verify it."""
    import beholder

    made = beholder.backup(study, to=to, store=store)
    for line in made.words:
        click.echo(line)
    return made


@backup.command("list")
@STUDY
@_TO
def list_(study: Path, to: str | None) -> object:
    """List the backups that are there."""
    import beholder
    from beholder.formats import megabytes

    found = beholder.backup(study, to=to, make=False)
    print_table(
        [
            {
                "made (UTC)": f"{one.at:%Y-%m-%d %H:%M:%S}",
                "size": megabytes(one.size),
                "sessions": str(one.sessions),
                "answers": str(one.answers),
                "encrypted": "yes" if one.keys else "no",
            }
            for one in found.backups
        ]
    )
    click.echo(found.words[-1])
    return found


@click.command(stage="run", cls=backup.command_class)
@click.argument("source", metavar="FROM")
@click.argument("folder", required=False, default=".", type=click.Path(path_type=Path, file_okay=False))
@click.option("--identity", type=click.Path(path_type=Path, dir_okay=False), help="The file of your key.")
@click.option("--at", metavar="TIME", help="The newest backup not later than this, in UTC: 2026-11-18T14:30.")
@click.option("--store", metavar="URL", help="An empty PostgreSQL database, in place of store/.")
@click.option("--anyway", metavar="WORDS", help="Why, although the store there holds more; kept in the ledger.")
@click.option("--list", "only_list", is_flag=True, help="Only list what is there.")
def restore(
    source: str,
    folder: Path,
    identity: Path | None,
    at: str | None,
    store: str | None,
    anyway: str | None,
    only_list: bool,
) -> object:
    """Bring answers back from a backup.

    FROM is the place of the backups, FOLDER the folder of the study; this one when left out. The backup is decrypted
    and verified before anything is changed; who was erased since does not come back; the store that was there is kept.
    """
    import beholder

    done = beholder.restore(
        source, folder, identity=identity, at=at, store=store, anyway=anyway, only_list=only_list
    )  # fmt: skip
    for line in done.words:
        click.echo(line)
    return done
