"""`beholder words`: our texts for participants in other languages, for translators."""

from __future__ import annotations

from pathlib import Path

import click

from beholder.cli.command import StageCommand
from beholder.cli.printing import print_table
from beholder.errors import Problem, UserError
from beholder.formats import plain_count


@click.command(cls=StageCommand, stage="help")
@click.option("--language", metavar="CODE", help="What is missing in this language, such as de or pt-BR.")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE.po",
    help="Write all texts of it for translators.",
)  # fmt: skip
@click.option("--missing", is_flag=True, help="Write only those that it lacks.")
@click.option("--read", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE.po",
    help="Take translated texts from this file.",
)  # fmt: skip
@click.option(
    "--into", type=click.Path(path_type=Path), metavar="FOLDER",
    help="Where to write them, laid out as the package; the package itself when left out.",
)  # fmt: skip
def words(
    language: str | None, out: Path | None, missing: bool, read: Path | None, into: Path | None
) -> dict[str, object]:
    """Say in which languages participants can be addressed, and what is missing in one.

    Translators get a PO file, which Weblate and Poedit read, with the English beside each text, and hand it back.
    """
    from beholder.translation.po_files import read_translation, write_translation
    from beholder.translation.text_files import faults, known_language, language_table

    if language is None:
        if out or read:
            raise UserError(Problem("--language", "is missing", "a code such as de or pt-BR", ""))
        table = language_table()
        print_table(table)
        return {"languages": table, "language": None, "faults": [], "written": []}
    written = [] if read is None else read_translation(read, language, into)
    for path in written:
        click.echo(f"Wrote {path}")
    found = list(faults(known_language(language)))
    if out is not None:
        write_translation(language, out, only_missing=missing)
        click.echo(f"Wrote {out}")
    for fault in found:
        click.echo(str(fault))
    click.echo(f"{language}: {plain_count(len(found), 'text')} to look at." if found else f"{language}: complete.")
    return {"languages": [], "language": language, "faults": found, "written": [*written, *([out] if out else [])]}
