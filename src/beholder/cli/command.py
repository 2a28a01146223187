"""What every command shares: its stage in the help, --json, --quiet and --open, and errors that say what was meant.

The contract of the options, over all commands (docs/commands.md):

--json    stdout is one JSON document and nothing else: what was done, or `{"problems": [...]}`. Links and counts of a
          running server go to stderr. Exit codes stay the same.
--quiet   nothing is printed but warnings and problems.
--open    what the command writes or serves for people to look at is opened in the browser.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, TextIO, cast

import click

from beholder.errors import Problem, UserError, did_you_mean
from beholder.formats import listed, printable

STAGES = {
    "make": "Make a study",
    "try": "Try it out",
    "run": "Run it with people",
    "decide": "Decide and pay",
    "analyse": "Analyse and report",
    "help": "Around it",
}
"""The stages of a study with their headings, in the order of the help."""

_JSON, _QUIET, _OPEN, _OUT = (f"beholder.{name}" for name in ("json", "quiet", "open", "out"))


@dataclass(frozen=True)
class CommandResult:
    """What a command returns that does more than to print: its document, its page for --open, and how it ended."""

    document: Any
    page: str | Path | None = None
    code: int = 0
    problems: Sequence[Problem] = ()


class PlainStream:
    """A stream of text on which characters that steer a terminal are written as they are called, `\\u001b`.

    Names of files, answers of platforms and words of participants come out of it as they went in, but none of them
    moves the cursor, sets a title or hides a line. What draws, such as a progress bar, draws on `terminal(stream)`.
    """

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        return self.stream.write(printable(text))

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        if name == "buffer":  # click would write past us
            raise AttributeError(name)
        return getattr(self.stream, name)


@contextlib.contextmanager
def plain_output() -> Iterator[None]:
    """Let everything that is printed in a block be plain text, also what libraries and the log print."""
    with (
        contextlib.redirect_stdout(cast("TextIO", PlainStream(sys.stdout))),
        contextlib.redirect_stderr(cast("TextIO", PlainStream(sys.stderr))),
    ):
        yield


def terminal(stream: TextIO) -> TextIO:
    """Return the stream to draw on; whatever comes from elsewhere has to be `printable` first."""
    return stream.stream if isinstance(stream, PlainStream) else stream


class StageCommand(click.Command):
    """A command with a stage and the shared options: all have --json and --quiet unless told otherwise."""

    def __init__(
        self,
        *arguments: Any,
        stage: str = "",
        has_json: bool = True,
        has_quiet: bool = True,
        has_open: bool = False,
        **options: Any,
    ) -> None:
        shared = [
            *[_flag("--open", _OPEN, "Open it in the browser.")] * has_open,
            *[_flag("--json", _JSON, "Print one JSON document, for programs.")] * has_json,
            *[_flag("--quiet", _QUIET, "Print nothing but warnings and problems.", "-q")] * has_quiet,
        ]
        options["params"] = [*(options.get("params") or ()), *shared]
        super().__init__(*arguments, **options)
        self.stage = stage

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            raise UserError(_unknown_option(ctx, error)) from error

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; print its document instead of its words, or nothing, where that is asked for."""
        if not (ctx.meta.get(_JSON) or ctx.meta.get(_QUIET)):
            _finish(ctx, super().invoke(ctx))
            return
        ctx.meta[_OUT] = sys.stdout
        with contextlib.redirect_stdout(io.StringIO()):
            result = super().invoke(ctx)
        _finish(ctx, result)


class StageGroup(click.Group):
    """A group whose help lists commands by stage, and which says what was meant by an unknown one."""

    command_class = StageCommand

    def __init__(self, *arguments: Any, stage: str = "", **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.stage = stage

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands, stage by stage in the order of a study."""
        by_stage: dict[str, list[tuple[str, str]]] = {}
        for name, command in self.commands.items():
            if not command.hidden:
                row = name, command.short_help or _first_sentence(command.help)
                by_stage.setdefault(getattr(command, "stage", ""), []).append(row)
        width = max(len(name) for name in self.commands)
        for stage in ["", *STAGES]:
            if rows := by_stage.get(stage):
                with formatter.section(STAGES.get(stage, "Commands")):
                    formatter.write_dl([(name.ljust(width), words) for name, words in rows])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if self.get_command(ctx, name) is None and not name.startswith("-") and not ctx.resilient_parsing:
            raise UserError(_unknown_command(ctx, name, list(self.commands)))
        return super().resolve_command(ctx, args)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args and not ctx.resilient_parsing:
            click.echo(ctx.get_help())
            ctx.exit()
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            raise UserError(_unknown_option(ctx, error)) from error


def is_quiet() -> bool:
    """Return whether progress and words for people are left out: with --quiet, and with --json."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(_JSON) or context.meta.get(_QUIET))


def is_json() -> bool:
    """Return whether a JSON document is printed."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(_JSON))


def is_to_open() -> bool:
    """Return whether the page or link is to be opened in the browser."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(_OPEN))


def ask_to_open() -> None:
    """Let this command open what it serves, as with --open."""
    click.get_current_context().meta[_OPEN] = True


def print_document(document: Any, file: IO[str] | None = None) -> None:
    """Print a document as JSON; also from inside a command that goes on, such as one that serves."""
    from beholder.recruiting.monitor_snapshot import to_json

    context = click.get_current_context(silent=True)
    out = file or (context.meta.get(_OUT) if context is not None else None)
    click.echo(json.dumps(to_json(document), indent=2, ensure_ascii=False, allow_nan=False), file=out)


def open_in_browser(page: str | Path) -> None:
    """Open a page or a link in the browser, or say where it is where there is none."""
    import webbrowser

    link = page.resolve().as_uri() if isinstance(page, Path) else page
    if not webbrowser.open(link):
        click.echo(f"There is no browser to open here. Look at it at {link}", err=True)


def print_problems(problems: Iterable[Problem]) -> None:
    """Print what is to be fixed, as JSON where the command line asks for it."""
    problems = list(problems)
    # Read from the words themselves: a command line that cannot be parsed has no options yet.
    arguments = sys.argv[1 : sys.argv.index("--")] if "--" in sys.argv else sys.argv[1:]
    if "--json" in arguments:
        print_document({"problems": problems}, sys.stdout)
    else:
        click.echo("\n".join(str(problem) for problem in problems), err=True)


_EXTRA = re.compile(r"Got unexpected extra arguments? \((.*)\)")
"""What click says where more is written than a command takes."""


def usage_problem(error: click.ClickException) -> Problem:
    """Return what is wrong with a command line, in the shape of every other message."""
    context = getattr(error, "ctx", None)
    where = context.command_path if context is not None else "beholder"
    fix = f"`{where} --help` shows how." if context is not None else ""
    parameter = getattr(error, "param", None)
    name = _parameter_name(parameter) if parameter is not None else ""
    usage = " ".join([where, *context.command.collect_usage_pieces(context)]) if context is not None else where
    if extra := _EXTRA.fullmatch(error.message):
        return Problem(where, f"takes nothing more, and {extra[1]} is written", "", f"Write `{usage}`.")
    if isinstance(error, click.MissingParameter) and parameter is not None:
        allowed = getattr(parameter.type, "allowed", "")
        return Problem(where, f"{name} is missing", allowed, f"Write `{usage}`; `--help` shows more.")
    if isinstance(error, click.BadParameter) and name:
        choices = getattr(parameter.type, "choices", None) if parameter is not None else None
        if choices:
            value = _given(error)
            return Problem(where, f"{name} is {value}", listed(list(choices)), did_you_mean(value, list(choices)))
        if allowed := _allowed_numbers(parameter.type if parameter is not None else None):
            return Problem(where, f"{name} is {_given(error)}", allowed)
        return Problem(where, f"{name}: {error.message.rstrip('.')}", "", fix)
    return Problem(where, error.format_message().rstrip("."), "", fix)


def _given(error: click.BadParameter) -> str:
    """Return the value that was refused: the first word of click's message, which quotes it where it is text."""
    parts = error.message.split("'")
    return parts[1] if len(parts) > 1 else error.message.split(" ")[0]


def _allowed_numbers(kind: object) -> str:
    """Return `a whole number, 0 to 65535`; empty for what is no number."""
    if not isinstance(kind, click.types.IntParamType | click.types.FloatParamType):
        return ""
    noun = "a whole number" if isinstance(kind, click.types.IntParamType) else "a number"
    low, high = getattr(kind, "min", None), getattr(kind, "max", None)
    if low is not None and high is not None:
        return f"{noun}, {low:g} to {high:g}"
    return f"{noun}, {low:g} or more" if low is not None else noun


def _parameter_name(parameter: click.Parameter) -> str:
    """Return `--port`, or `METHOD` for an argument."""
    return parameter.opts[0] if isinstance(parameter, click.Option) else parameter.human_readable_name.strip("[]")


def _flag(name: str, key: str, words: str, *short: str) -> click.Option:
    def keep(context: click.Context, parameter: click.Parameter, value: bool) -> None:
        context.meta[key] = value

    return click.Option([name, *short], is_flag=True, expose_value=False, callback=keep, is_eager=True, help=words)


def _finish(ctx: click.Context, returned: Any) -> None:
    """Print the document, open the page, and end with the code of a result."""
    result = returned if isinstance(returned, CommandResult) else CommandResult(returned)
    if ctx.meta.get(_JSON) and result.document is not None:
        print_document({**result.document, "problems": result.problems} if result.problems else result.document)
    elif result.problems:
        raise UserError(result.problems)
    if result.page is not None and ctx.meta.get(_OPEN):
        open_in_browser(result.page)
    if result.code:
        sys.exit(result.code)


def _first_sentence(text: str | None) -> str:
    return " ".join((text or "").split("\n\n")[0].split()).partition(". ")[0].rstrip(".") + "."


def _unknown_command(ctx: click.Context, name: str, known: Sequence[str]) -> Problem:
    """Return the commands that are near, also in case; all of them where none is."""
    near = did_you_mean(name, known, most=3)
    allowed = "" if near else listed(sorted(known))
    return Problem(
        ctx.command_path, f"has no command {name}", allowed, near or f"`{ctx.command_path} --help` says more."
    )


def _unknown_option(ctx: click.Context, error: click.NoSuchOption) -> Problem:
    """Return the options that are near, also in case; or the commands that have it; or all options."""
    name = error.option_name
    own = [option for parameter in _shown_options(ctx.command) for option in parameter.opts if option.startswith("--")]
    others = [path for path, command in _all_commands(ctx.find_root().command) if name in _names(command)]
    if others:
        named = [f"`beholder {path}`" for path in others[:4]] + ["others"] * (len(others) > 4)
        fix = f"{name} is an option of {listed(named, 'and')}."
        return Problem(ctx.command_path, f"has no option {name}", "", fix)
    if near := did_you_mean(name, own, most=3):
        return Problem(ctx.command_path, f"has no option {name}", "", near)
    return Problem(ctx.command_path, f"has no option {name}", listed([*own, "--help"], "and"))


def _shown_options(command: click.Command) -> list[click.Option]:
    return [one for one in command.params if isinstance(one, click.Option) and not one.hidden]


def _names(command: click.Command) -> set[str]:
    return {name for option in _shown_options(command) for name in option.opts}


def _all_commands(command: click.Command, before: str = "") -> Iterator[tuple[str, click.Command]]:
    """Yield every command by its full name; a group stands for the commands in it."""
    for name, inner in command.commands.items() if isinstance(command, click.Group) else ():
        if isinstance(inner, click.Group):
            yield from _all_commands(inner, f"{before}{name} ")
        else:
            yield f"{before}{name}", inner
