"""The dashboard: a snapshot as tables and sentences in a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from io import StringIO

from rich.columns import Columns
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from beholder.cleaning.decisions import reason_words
from beholder.formats import FEW, plain_count, plural, printable, typical
from beholder.recruiting.monitor_snapshot import MonitorSnapshot, PlatformCounts, VoteProgress
from beholder.study.recruitment import source_of

_WIDE = 110
"""The width from which there are two columns."""


class _MonitorPage:
    """The whole snapshot, in one or two columns depending on the width."""

    def __init__(self, view: MonitorSnapshot) -> None:
        self._view = view

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for part in self._parts(options):
            # Names of conditions and answers of a platform: none of them may steer the terminal.
            for segment in console.render(part, options):
                yield segment if segment.control else Segment(printable(segment.text), segment.style)

    def _parts(self, options: ConsoleOptions) -> Iterator[RenderableType]:
        view = self._view
        yield _head(view)
        for alarm in view.alarms:
            yield Text(f"! {alarm}", style="bold red")
        if not view.arrived:
            yield Text(f"\n{_nobody_text(view)}")
            if view.platform is not None:
                yield _section("On the platform", _platform(view.platform))
            return
        numbers = [
            _section("Progress", _progress(view)),
            *([_section("Pay and cost", _pay(view))] if view.earned or view.cost else []),
            *([_section("On the platform", _platform(view.platform))] if view.platform else []),
        ]
        steps = [_section("How far people came", _funnel(view)), *_drop_outs(view)]
        ratings = _section("Ratings by condition", _votes(view.conditions))
        checks = [_section("Checks", _checks(view))] if view.checks else []
        if options.max_width >= _WIDE:
            half = (options.max_width - 4) // 2
            yield Columns([Group(*numbers, ratings), Group(*steps, *checks)], width=half, padding=(0, 2))
        else:
            # What matters most comes first.
            yield Group(numbers[0], *steps, *numbers[1:], ratings, *checks)


def page(view: MonitorSnapshot) -> RenderableType:
    """Return the snapshot as something that a terminal shows, in one or two columns."""
    return _MonitorPage(view)


def as_text(view: MonitorSnapshot, width: int = 80) -> str:
    """Return the snapshot as plain text."""
    console = Console(file=StringIO(), width=width, color_system=None, force_terminal=False, legacy_windows=False)
    console.print(page(view))
    file = console.file
    assert isinstance(file, StringIO)
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines()) + "\n"


def _head(view: MonitorSnapshot) -> RenderableType:
    run = f", run {view.run}" if view.run > 1 else ""
    who = "  a rehearsal: robots" if view.population == "robots" else ""
    return Text.assemble(
        (view.title, "bold"), (f"\n{view.study}{run}, {view.mode}, {_moment(view.at)}", "dim"), (who, "yellow"),
    )  # fmt: skip


def _nobody_text(view: MonitorSnapshot) -> str:
    if view.population == "robots":
        return "No robots have come yet. Send some with `beholder simulate --participants 20`."
    link = f" Link: {view.link}" if view.link else " `beholder launch` says how to bring people."
    return f"Nobody has come yet.{link}"


def _section(title: str, body: RenderableType) -> RenderableType:
    return Group(Text(f"\n{title}", style="bold cyan"), body)


def _moment(moment: datetime) -> str:
    return f"{moment.astimezone():%Y-%m-%d %H:%M}"


# Sections


_BAR = 20
_MOST = 12
"""Conditions that are listed."""
_STATUSES = {
    "reserved": "reserved", "active": "under way", "timed_out": "timed out", "awaiting_review": "to be decided",
    "approved": "approved", "partially_approved": "paid in part", "returned": "returned", "rejected": "rejected",
    "screened_out": "screened out", "unknown": "unknown",
}  # fmt: skip
_STATES = {
    "draft": "a draft: nobody sees it", "scheduled": "scheduled", "publishing": "being published", "active": "open",
    "paused": "paused", "completed": "full or stopped", "unknown": "in a state that is not known",
}  # fmt: skip
_Rows = list[list[str | Text]]


def _table(heads: Sequence[str], rows: _Rows) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), show_header=any(heads), header_style="dim", pad_edge=False)
    for place, head in enumerate(heads):
        table.add_column(head, justify="left" if place == 0 else "right", no_wrap=place > 0)
    for row in rows:
        table.add_row(*map(_plain, row))
    return table


def _pairs(rows: Sequence[tuple[str, str | Text]]) -> Table:
    """Return names with their values, which may need several lines."""
    table = Table(box=None, padding=(0, 2, 0, 0), show_header=False, pad_edge=False)
    table.add_column(no_wrap=True)
    table.add_column()
    for name, value in rows:
        table.add_row(name, _plain(value))
    return table


def _plain(cell: str | Text) -> Text:
    """Return a cell as it is: brackets in a name are no markup."""
    return Text(cell) if isinstance(cell, str) else cell


def _bar(share: float) -> Text:
    full = round(max(0.0, min(1.0, share)) * _BAR)
    return Text.assemble(("█" * full, "green"), ("░" * (_BAR - full), "dim"))


def _funnel(view: MonitorSnapshot) -> Table:
    """Return the number of participants at each step."""
    rows: _Rows = [
        [row.title, f"{row.reached}", _or_dash(row.here), _loss_cell(row.left), _or_dash(row.ended)]
        for row in view.steps
    ]
    return _table(["step", "came to it", "under way", "left", "ended"], rows)


def _or_dash(n: int) -> str:
    return f"{n}" if n else "–"


def _loss_cell(n: int) -> Text:
    return Text(_or_dash(n), style="yellow" if n else "")


def _drop_outs(view: MonitorSnapshot) -> list[RenderableType]:
    """Return at which trials participants left, and how sessions ended otherwise."""
    lines = []
    trials = sorted((row for row in view.trials if row.left), key=lambda row: (-row.left, view.trials.index(row)))
    if trials:
        parts = ", ".join(f"{row.title.lower()} ({row.left})" for row in trials[:5])
        lines.append(f"Left while rating, at {parts}{' and later' * (len(trials) > 5)}.")
    if view.ended:
        parts = ", ".join(f"{reason_words(f'complete:{outcome}').lower()} {n}" for outcome, n in view.ended.items())
        lines.append(f"Ended: {parts}.")
    return [Text("\n".join(["", *lines]))] if lines else []


def _progress(view: MonitorSnapshot) -> Table:
    """Return arrivals, how full the plan is, the duration of a session, and the pace."""
    lists = view.lists
    share = lists.finished / lists.planned if lists.planned else 0.0
    rows: list[tuple[str, str | Text]] = [
        ("came", f"{plain_count(view.arrived, 'session')} of {plain_count(view.people, 'person', 'people')}"),
        ("here now", f"{view.present}{_away_text(view.here - view.present)}"),
        ("finished", f"{view.completed}"),
        ("lists", Text.assemble(_bar(share), f" {lists.finished} of {lists.planned}, {lists.coming} coming")),
        ("a session takes", _duration_text(view)),
        ("pace", _pace_text(view)),
    ]
    if view.unverified:
        # Nothing to say where the platform has listed everybody.
        rows.insert(1, ("visits", f"{view.verified} verified by the platform, {view.unverified} unverified"))
    return _pairs(rows)


def _away_text(away: int) -> str:
    """Return how many have begun and sent nothing for two minutes, and may come back."""
    return f", and {away} who {plural(away, 'has', 'have')} sent nothing for two minutes" if away else ""


def _duration_text(view: MonitorSnapshot) -> str:
    if view.minutes is None:
        return "–"
    stated = f", people are told {view.told_minutes:g}" if view.told_minutes else ""
    platform_minutes = view.platform.minutes if view.platform is not None else None
    clock = f" ({platform_minutes:.1f} by the platform's clock)" if platform_minutes is not None else ""
    took = typical(view.durations or [view.minutes] * (FEW + 1), 1, "minutes")
    return f"{took}{clock}{stated}"


def _pace_text(view: MonitorSnapshot) -> str:
    if view.lists.planned and view.lists.finished >= view.lists.planned:
        return "every list is finished"
    if view.per_hour is None:
        return "nobody has finished in the last 6 hours"
    ends = f"; all finished {_time_left(view.finished_at, view.at)} if it goes on so" if view.finished_at else ""
    return f"{view.per_hour:g} an hour{ends}"


def _time_left(moment: datetime, now: datetime) -> str:
    minutes = (moment - now).total_seconds() / 60
    if minutes < 90:
        return f"in {plain_count(max(1, round(minutes)), 'minute')}"
    return f"in {minutes / 60:.0f} hours" if minutes < 48 * 60 else f"in {minutes / 60 / 24:.0f} days"


def _pay(view: MonitorSnapshot) -> Table:
    """Return what an hour pays, and the cost."""
    earned, cost = view.earned, view.cost
    rows: list[tuple[str, str | Text]] = []
    if earned is not None:
        rows.append(("reward", f"{earned.reward}"))
        both = [f"{earned.hourly}" if earned.hourly else "–"]
        both += [f"{earned.platform_hourly} by the platform's clock"] if earned.platform_hourly else []
        floor = f", at least {earned.floor}" if earned.floor else ""
        rows.append(("an hour pays", Text(", ".join(both) + floor, style="bold red" if earned.top_up else "")))
    if cost is not None:
        rows.append(("paid so far", f"{cost.paid}"))
        if cost.committed is not None:
            fees = ", with fees" if source_of(view.mode).is_platform else ""
            rows.append(("published for", f"{cost.committed} at most{fees}"))
        if cost.budget is not None:
            rows.append(("budget", f"{cost.budget}"))
    return _pairs(rows)


def _platform(platform: PlatformCounts) -> Table:
    """Return the numbers on the platform."""
    ordered = sorted(platform.statuses.items(), key=lambda item: -item[1])
    counts = ", ".join(f"{n} {_STATUSES[status]}" for status, n in ordered)
    return _pairs(
        [
            ("it is", _STATES[platform.state]),
            ("places", f"{platform.taken} of {platform.places} taken"),
            ("submissions", counts or "none yet"),
        ]
    )


def _votes(votes: Sequence[VoteProgress]) -> RenderableType:
    """Return the ratings by condition, at most a dozen of them."""
    rows: _Rows = [
        [one.name, f"{one.finished}", _or_dash(one.coming), f"{one.planned}", _bar(one.finished / one.planned)]
        for one in votes[:_MOST]
    ]
    table = _table(["condition", "finished", "coming", "planned", ""], rows)
    more = len(votes) - _MOST
    return Group(table, Text(f"and {more} more; `--json` has all of them")) if more > 0 else table


def _checks(view: MonitorSnapshot) -> Table:
    """Return how many met, failed and ended at each check."""
    rows: _Rows = [[one.title, f"{one.met}", _or_dash(one.failed), _loss_cell(one.ended)] for one in view.checks]
    return _table(["check", "met", "failed", "turned away"], rows)
