"""What the command line prints: tables, counts that live, bars."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from click._termui_impl import ProgressBar

    from beholder.analyse.results import Results
    from beholder.clean import Cleaned
    from beholder.export import Exported
    from beholder.recruit.unattended.told import Progress
    from beholder.serve import Live
    from beholder.stimuli.workshop import Made


def tell_made(made: Made) -> None:
    """Print what a verb of the workshop made, and what was there already."""
    for note in made.notes:
        click.echo(f"Note: {note}", err=True)
    kept = f" {len(made.kept)} already there." if made.kept else ""
    click.echo(f"Made {len(made.written)} file{'s' * (len(made.written) != 1)}.{kept}")


def live_teller() -> Callable[[Live], None]:
    """Return what prints the links once and then the counts, on one line where this is a terminal."""
    first = True

    def tell(live: Live) -> None:
        nonlocal first
        if first:
            own = "by a link of their own; `beholder launch` writes launch/links.csv"
            links = live.lab or ({} if live.shut else {"Participants": own if live.is_personal else live.link})
            shown = [f"{f'{name}:':<14}{link}" for name, link in {**links, "Preview": live.preview_link}.items()]
            click.echo("\n".join([*filter(None, [live.shut]), *shown, "Ctrl-C stops; nothing is lost."]))
            first = False
        line = "  ".join(f"{name} {count}" for name, count in live.counts.items())
        click.echo(f"\r{line:<70}" if sys.stdout.isatty() else line, nl=not sys.stdout.isatty())

    return tell


def print_news(news: Progress) -> None:
    """Print one line of news of a run on a platform."""
    click.echo(f"{news.stage:<8} {news.words}")


class Bar:
    """A progress bar, drawn only where somebody watches."""

    def __init__(self, label: str, shown: bool = True) -> None:
        self._label, self._shown = label, shown and sys.stderr.isatty()
        self._stack = contextlib.ExitStack()
        self._bar: ProgressBar[int] | None = None

    def __enter__(self) -> Bar:
        return self

    def __call__(self, done: int, total: int) -> None:
        if not self._shown:
            return
        if self._bar is None or self._bar.length != total:
            self.close()  # other work than before: a bar of its own
            bar: ProgressBar[int] = click.progressbar(length=total, label=self._label, file=sys.stderr)
            self._bar = self._stack.enter_context(bar)
        self._bar.update(done - self._bar.pos)
        if done == total:
            self.close()

    def close(self) -> None:
        self._stack.close()
        self._bar = None

    def __exit__(self, *error: object) -> None:
        self.close()


def print_cleaned(cleaned: Cleaned) -> None:
    """Print who is used and paid, what was lost at which rule, and what is proposed."""
    counts = cleaned.counts
    click.echo(
        f"{f'Run {cleaned.run}: ' if cleaned.run > 1 else ''}"
        f"{counts['used_sessions']} of {counts['sessions']} sessions ({cleaned.population}) are used: "
        f"{counts['used_ratings']} ratings.\n"
        f"To be paid: {counts['accepted_sessions']}; not to be paid, as a proposal: {counts['rejected_sessions']}; "
        f"for you to look at: {counts['look_sessions']}.\n"
    )
    print_table(
        [
            {
                "lost at": lost.told,
                "sessions": lost.sessions,
                "only for this": lost.only,
                "ratings": lost.ratings,
            }
            for lost in cleaned.lost
        ]
    )
    told = [
        f"{counts['short_votes']} of {counts['planned_votes']} stimuli and questions are short of votes; "
        f"`beholder extend` adds lists for them." * (counts["short_votes"] > 0),
        f"Bonus: {counts['bonuses']} {'person' if counts['bonuses'] == 1 else 'people'}, {cleaned.bonus}, "
        "in clean/bonus.csv." * (counts["bonuses"] > 0),
        "The whole account: clean/account.md.",
    ]
    click.echo("\n".join([*[""][: len(cleaned.lost)], *filter(None, told)]))


def print_exported(exported: Exported) -> None:
    """Print the tables with their rows, and what a reader has to know."""
    print_table([{"table": name, "rows": rows} for name, rows in exported.rows.items()])
    click.echo("\n".join(["", *exported.notes, f"Tables, dictionary and how to read them: {exported.folder}"]))


def print_scores(results: Results, truth: Mapping[str, float]) -> None:
    """Print the conditions with their intervals, best first, and the planted truth where there is one."""
    from beholder.demo import planted

    told = planted(results, truth) if truth else {}
    notes = results.notes
    names = {metric["name"] for metric in notes["metrics"].values()}
    mean = names.pop() if len(names) == 1 else "mean"  # what it is, where it is one thing
    places = {question: place for place, question in enumerate(notes["questions"])}
    ordered = results.conditions.assign(place=results.conditions["question"].map(places))
    rows = []
    for row in ordered.sort_values(["place", "mean"], ascending=[True, False]).to_dict("records"):
        line = {
            "question": row["question"],
            "condition": results.told(row["condition"]),
            "n": f"{row['n']:.0f}",
            mean: f"{row['mean']:.2f}",
            "95 % interval": f"{row['ci_low']:.2f} to {row['ci_high']:.2f}" if row["ci_low"] == row["ci_low"] else "–",
        }
        if told:
            line["planted difference" if results.is_told_apart else "planted"] = told[row["question"], row["condition"]]
        rows.append(line)
    print_table(rows)
    if notes.get("is_earlier_run"):
        click.echo(f"\nThese are the ratings of run {notes['run']}, as clean/ has them; the study is at another run.")
    if not rows:
        counts = notes["ratings"]
        click.echo(
            f"No scores, as no rating is left: of {counts['rows']} rows {counts['missing']} have no value, "
            f"{counts['not_used']} are not used, and {counts['other_kinds']} are of checks or of other kinds."
        )


def print_table(rows: list[dict[str, Any]]) -> None:
    """Print rows under their heads, in columns."""
    if not rows:
        return
    heads = list(rows[0])
    widths = [max(len(head), *(len(str(row[head])) for row in rows)) for head in heads]
    for cells in [heads, ["-" * width for width in widths], *([str(row[head]) for head in heads] for row in rows)]:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip())


def in_range(low: int, high: int) -> str:
    """Return `3 to 5`, or `3` where there is nothing between."""
    return f"{low}" if low == high else f"{low} to {high}"
