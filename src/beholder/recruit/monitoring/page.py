"""A view as people read it in a terminal."""

from __future__ import annotations

from datetime import datetime
from io import StringIO

from rich.columns import Columns
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.text import Text

from beholder.recruit.monitoring import sections
from beholder.recruit.monitoring.found import View

_WIDE = 110
"""From so many columns on there are two beside each other."""


class _Page:
    """The whole view, in one or two columns as there is room."""

    def __init__(self, view: View) -> None:
        self._view = view

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        view = self._view
        yield _head(view)
        for alarm in view.alarms:
            yield Text(f"! {alarm}", style="bold red")
        if not view.arrived:
            yield Text(f"\n{_nobody(view)}")
            if view.platform is not None:
                yield _section("On the platform", sections.platform(view.platform))
            return
        numbers = [
            _section("Progress", sections.progress(view)),
            *([_section("Pay and cost", sections.pay(view))] if view.earned or view.cost else []),
            *([_section("On the platform", sections.platform(view.platform))] if view.platform else []),
        ]
        steps = [_section("How far people came", sections.funnel(view)), *sections.left(view)]
        ratings = _section("Ratings by condition", sections.votes(view.conditions))
        checks = [_section("Checks", sections.checks(view))] if view.checks else []
        if options.max_width >= _WIDE:
            half = (options.max_width - 4) // 2
            yield Columns([Group(*numbers, ratings), Group(*steps, *checks)], width=half, padding=(0, 2))
        else:
            # What matters most comes first.
            yield Group(numbers[0], *steps, *numbers[1:], ratings, *checks)


def page(view: View) -> RenderableType:
    """Return the view as something that a terminal shows, in one or two columns."""
    return _Page(view)


def as_text(view: View, width: int = 80) -> str:
    """Return the view as plain text."""
    console = Console(file=StringIO(), width=width, color_system=None, force_terminal=False, legacy_windows=False)
    console.print(page(view))
    file = console.file
    assert isinstance(file, StringIO)
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines()) + "\n"


def _head(view: View) -> RenderableType:
    run = f", run {view.run}" if view.run > 1 else ""
    who = "  a rehearsal: robots" if view.population == "robots" else ""
    return Text.assemble(
        (view.title, "bold"), (f"\n{view.study}{run}, {view.mode}, {_moment(view.at)}", "dim"), (who, "yellow"),
    )  # fmt: skip


def _nobody(view: View) -> str:
    if view.population == "robots":
        return "No robots have come yet. Send some with `beholder simulate --participants 20`."
    link = f" Link: {view.link}" if view.link else " `beholder launch` says how to bring people."
    return f"Nobody has come yet.{link}"


def _section(title: str, body: RenderableType) -> RenderableType:
    return Group(Text(f"\n{title}", style="bold cyan"), body)


def _moment(moment: datetime) -> str:
    return f"{moment.astimezone():%Y-%m-%d %H:%M}"
