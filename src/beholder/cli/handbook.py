"""`beholder docs`: the page that explains a word, offline."""

from __future__ import annotations

import click

from beholder.cli.command import CommandResult, StageCommand, open_in_browser


@click.command(cls=StageCommand, stage="help", has_quiet=False)
@click.argument("word", nargs=-1)
@click.option("--print", "printed", is_flag=True, help="Print the passage here, and open nothing.")
def docs(word: tuple[str, ...], printed: bool) -> CommandResult:
    """Open the page that explains a key, method, check, command or message.

    WORD is a name such as attention, design.pairs or mushra, or a message as it was printed. Without it the first page
    is opened. The pages are those of this version, on this machine.
    """
    from beholder.cli.command import is_json
    from beholder.handbook import docs_passages, find_passages, write_html
    from beholder.handbook.html_pages import html_name

    if not word:
        first, line, others = docs_passages()[0], "", []
    else:
        best, *others = find_passages(" ".join(word))
        first, line = best.passage, best.line
    if printed:
        click.echo("\n\n".join(part for part in (f"{first.place}: {first.heading}", line, first.text) if part))
    else:
        click.echo(f"{first.title}: {first.heading}" if first.anchor else first.title)
    if others:
        click.echo("\nAlso:" if printed else "Also:")
        for one in others:
            click.echo(f"  {one.passage.place}")
    document = {
        "place": first.place, "title": first.title, "heading": first.heading, "line": line, "text": first.text,
        "others": [one.passage.place for one in others],
    }  # fmt: skip
    if not (printed or is_json()):
        page = (write_html() / html_name(first.page)).as_uri()
        open_in_browser(f"{page}#{first.anchor}" if first.anchor else page)
    return CommandResult(document)
