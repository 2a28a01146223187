"""What commands print: tables, live counts, progress bars, summaries; and the options that they share."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from beholder.cli.command import is_json, is_quiet, is_to_open, open_in_browser, print_document, terminal
from beholder.cli.completion import StudyPath
from beholder.formats import interval, join_names, number, plain_count, plural, printable
from beholder.words import english_name, provenance

if TYPE_CHECKING:
    from click._termui_impl import ProgressBar

    from beholder.analysis.result import Results
    from beholder.cleaning import Cleaned
    from beholder.exporting import Exported
    from beholder.planning.model import Plan
    from beholder.recruiting.collection import RunProgress
    from beholder.server import ServerStatus
    from beholder.stimuli.workshop import WorkshopResult
    from beholder.study.model import Study
    from beholder.types import Role
    from beholder.workflow.check import Checked, GroupShare, StimulusCount


STUDY = click.argument("study", default="study.yaml", type=StudyPath())
STORE = click.option(
    "--store",
    envvar="BEHOLDER_STORE",
    help="A PostgreSQL URL, or another folder; store/ beside study.yaml when left out.",
)
HOST = click.option("--host", default="127.0.0.1", show_default=True, help="0.0.0.0 to be reached from elsewhere.")
PORT = click.option(
    "--port", default=8000, show_default=True, type=click.IntRange(0, 65535), help="0 takes a free one."
)
LOOK_PORT = click.option(
    "--port", type=click.IntRange(0, 65535), help="8000 when left out, or a free one if that is in use."
)
PUBLIC = click.option(
    "--public-url",
    envvar="BEHOLDER_PUBLIC_URL",
    help="The address under which participants reach this server.",
)
SEED = click.option("--seed", default=1, show_default=True, help="Of the simulated people.")
IDEAL = click.option("--ideal", is_flag=True, help="Well-behaved robots, who agree more than people do.")
FROM = click.option(
    "--from", "source", help="Where their numbers come from: public, ideal, or the study.yaml of a pilot."
)
RATERS = click.option("--raters", default="honest", show_default=True, help="A mixture, as honest:0.9,careless:0.1.")

_TABLE_OPTIONS = (
    click.option(
        "--columns",
        multiple=True,
        metavar="ROLE=NAME,...",
        help='Of a table: what its columns are, as "participant=Subject,value=Score".',
    ),
    click.option("--scale", metavar="NAME|LOW..HIGH", help="Of a table: its scale, as acr5 or 1..5."),
    click.option("--reference", metavar="CONDITION", help="Of a table: the condition that is the reference."),
    click.option("--missing", metavar="CELL,...", help="Of a table: cells that are no answers, as 0,99."),
    click.option("--sheet", metavar="NAME", help="Of a workbook: which sheet."),
)


def takes_table(command: Callable[..., Any]) -> Callable[..., Any]:
    """Return a command with the options that say what is in a table of one's own."""
    for option in reversed(_TABLE_OPTIONS):
        command = option(command)
    return command


def print_table_notes(notes: Mapping[str, Any]) -> None:
    """Print how a table was read; nothing where it is as we write them."""
    if notes.get("read"):
        click.echo(f"{notes['file']}: {'; '.join(notes['read'])}.\n")


def print_sanity(notes: Mapping[str, Any]) -> None:
    """Print what is odd in a table, or that nothing is."""
    from beholder.analysis.sanity import LOOKED_FOR

    findings = notes.get("sanity") or ()
    if not findings:
        click.echo(f"Nothing odd in the table: no {LOOKED_FOR}.")
        return
    click.echo("Look at the table before you believe the scores:")
    for one in findings:
        click.echo(f"- {one['words']} {one['meaning']}".rstrip())


def population_source(source: str | None, *, ideal: bool) -> str | None:
    """Return where the numbers of simulated people come from; raise UserError if both options name it."""
    from beholder.errors import Problem, UserError

    if ideal and source is not None:
        raise UserError(Problem("--ideal", f"and --from {source} are both given", "one of the two"))
    return "ideal" if ideal else source


def print_made_files(result: WorkshopResult) -> object:
    """Print how many files were made, and how many existed; return them as a document."""
    for note in result.notes:
        click.echo(f"Note: {note}", err=True)
    kept = f" {len(result.kept)} already there." if result.kept else ""
    click.echo(f"Made {plain_count(len(result.written), 'file')}.{kept}")
    return result


_COUNTED = {"live": "under way", "completed": "finished"}
"""What counts are called where they are read, if not as in data."""


def live_printer(*, as_document: bool = False) -> Callable[[ServerStatus], None]:
    """Return a function that prints the links once and then the counts, on one line in a terminal.

    With --json the links are the document of a command that only serves; for others they go to stderr.
    """
    first = True

    def tell(live: ServerStatus) -> None:
        nonlocal first
        if is_json() and as_document:
            if first:
                print_document({name: value for name, value in vars(live).items() if name != "counts"})
            first = False
            return
        if first:
            own = "by a link of their own; `beholder launch` writes launch/links.csv"
            links = live.lab or ({} if live.shut else {"Participants": own if live.is_personal else live.link})
            shown = [f"{f'{name}:':<14}{link}" for name, link in {**links, "Preview": live.preview_link}.items()]
            lines = [*filter(None, [live.shut]), *shown, "Ctrl-C stops; nothing is lost."]
            click.echo("\n".join(lines), err=is_json())
            if is_to_open():
                open_in_browser(live.preview_link)
            first = False
        _print_over(_counts_line(live.counts), err=is_json())

    return tell


def _counts_line(counts: Mapping[str, int]) -> str:
    """Return counts of people, then of lists: both have some that are finished."""
    people = {name: count for name, count in counts.items() if name not in ("finished", "lists")}
    lists = [f"lists {counts['finished']} of {counts['lists']}"] if counts.get("lists") else []
    return "  ".join([*(f"{_COUNTED.get(name, name)} {count}" for name, count in people.items()), *lists])


def print_news(news: RunProgress) -> None:
    """Print the progress of a run as one line."""
    line = f"{news.stage:<8} {news.words}"
    _print_over(line)
    if sys.stdout.isatty():
        click.echo()


def _print_over(line: str, *, err: bool = False) -> None:
    """Print a line over the one before it in a terminal, or below it elsewhere."""
    stream = sys.stderr if err else sys.stdout
    if sys.stdout.isatty():
        click.echo(f"\r{printable(line):<70}", file=terminal(stream), nl=False)
    else:
        click.echo(line, file=stream)


class Bar:
    """A progress bar, drawn only in a terminal."""

    def __init__(self, label: str, shown: bool = True) -> None:
        self._label, self._shown = label, shown and sys.stderr.isatty() and not is_quiet()
        self._stack = contextlib.ExitStack()
        self._bar: ProgressBar[int] | None = None

    def __enter__(self) -> Bar:
        return self

    def __call__(self, done: int, total: int) -> None:
        if not self._shown:
            return
        if self._bar is None or self._bar.length != total:
            self.close()  # other work needs a new bar
            bar: ProgressBar[int] = click.progressbar(length=total, label=self._label, file=terminal(sys.stderr))
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
    """Print how many sessions are used and paid, the losses by rule, and proposals."""
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
                "lost at": lost.label,
                "sessions": lost.sessions,
                "only for this": lost.only,
                "ratings": lost.ratings,
            }
            for lost in cleaned.lost
        ]
    )
    lines = [
        f"{counts['short_votes']} of {counts['planned_votes']} stimuli and questions are short of votes; "
        f"`beholder extend` adds lists for them." * (counts["short_votes"] > 0),
        f"Bonus: {plain_count(counts['bonuses'], 'person', 'people')}, {cleaned.bonus}, "
        "in clean/bonus.csv." * (counts["bonuses"] > 0),
        "The whole account: clean/account.md.",
    ]
    click.echo("\n".join([*[""][: len(cleaned.lost)], *filter(None, lines)]))


def print_exported(exported: Exported) -> None:
    """Print the tables with their numbers of rows, and the notes."""
    print_table([{"table": name, "rows": rows} for name, rows in exported.rows.items()])
    click.echo("\n".join(["", *exported.notes, f"Tables, dictionary and how to read them: {exported.folder}"]))


def print_scores(results: Results, truth: Mapping[str, float]) -> None:
    """Print the conditions with their intervals, best first, and the planted truth if there is one."""
    from beholder.workflow.demo import planted_values

    planted = planted_values(results, truth) if truth else {}
    notes = results.notes
    names = {metric["name"] for metric in notes["metrics"].values()}
    mean = names.pop() if len(names) == 1 else "mean"  # the metric's name if there is only one
    places = {question: place for place, question in enumerate(notes["questions"])}
    ordered = results.conditions.assign(place=results.conditions["question"].map(places))
    # Over one content, and without intervals, there is nothing to tell beside.
    shown = results.conditions
    has_these = bool(len(shown)) and bool((shown["contents"] > 1).all() and shown["these_low"].notna().all())
    rows = []
    for row in ordered.sort_values(["place", "mean"], ascending=[True, False]).to_dict("records"):
        line = {
            "question": results.question_name(row["question"]),
            "condition": results.display_name(row["condition"]),
            "n": f"{row['n']:.0f}",
            mean: number(row["mean"], 2),
            "95 % interval": interval(row["ci_low"], row["ci_high"], 2),
        }
        if has_these:
            line["these contents"] = interval(row["these_low"], row["these_high"], 2)
        if planted:
            line["planted difference" if results.is_identification else "planted"] = planted[
                row["question"], row["condition"]
            ]
        rows.append(line)
    print_table(rows)
    if results.interim_words:
        click.echo(f"\n{results.interim_words}")
    if notes.get("is_earlier_run"):
        click.echo(f"\nThese are the ratings of run {notes['run']}, as clean/ has them; the study is at another run.")
    if not rows:
        counts = notes["ratings"]
        click.echo(
            f"No scores, as no rating is left: of {counts['rows']} rows {counts['missing']} have no value, "
            f"{counts['not_used']} are not used, and {counts['other_kinds']} are of checks or of other kinds."
        )


_RESULT_KEYS = ("conditions", "pairs", "waiting", "report")


def results_document(results: Results, **more: object) -> dict[str, object]:
    """Return results for --json: conditions and pairs, what waits for a person, and the report's page."""
    return {**{name: getattr(results, name) for name in _RESULT_KEYS}, **more}


def balance_numbers(rows: Iterable[Mapping[str, str]]) -> list[dict[str, str | int | None]]:
    """Return the rows of plan/balance.csv for --json: counts and the promised difference as numbers, null for none."""
    read: dict[str, Callable[[str], str | int | None]] = dict.fromkeys(("cells", "least", "most", "difference"), int)
    read["promised"] = lambda words: int(words.rpartition(" ")[2]) if words else None
    return [{name: read.get(name, str)(cell) for name, cell in row.items()} for row in rows]


def print_table(rows: list[dict[str, Any]]) -> None:
    """Print rows as a table with headings."""
    if not rows:
        return
    heads = list(rows[0])
    widths = [max(len(head), *(len(str(row[head])) for row in rows)) for head in heads]
    for cells in [heads, ["-" * width for width in widths], *([str(row[head]) for head in heads] for row in rows)]:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip())


def _in_range(low: int, high: int) -> str:
    """Return `3 to 5`, or `3` if both are equal."""
    return f"{low}" if low == high else f"{low} to {high}"


# Summary of a checked study


def print_checked(checked: Checked) -> None:
    """Print the stages of a session, the number of ratings, and the cost."""
    click.echo(f"{checked.study.title}\n")
    width = max(42, *(len(stage.name) for stage in checked.stages))
    for stage in checked.stages:
        click.echo(f"  {stage.name:<{width}} {stage.minutes:5.1f} min")
    click.echo(f"  {'together about':<{width}} {checked.minutes:5.1f} min\n")
    screens = plain_count(checked.screens_before, "screen")
    click.echo(f"About {_in_minutes(checked.minutes_before)} and {screens} before the first rating.")
    conditions = f"{len(checked.conditions)} conditions ({', '.join(checked.conditions)})"
    click.echo(f"{checked.stimuli} stimuli: {checked.contents} contents, {conditions}")
    most_pairs = len(checked.conditions) * (len(checked.conditions) - 1) // 2
    if 0 < checked.pairs < most_pairs:
        click.echo(f"{checked.pairs} of {most_pairs} pairs of conditions are compared.")
    if checked.bound:
        click.echo(f"{checked.bound}.")
    for line in _gives(checked):
        click.echo(line)
    _print_groups(checked.groups)
    if cost := _cost(checked):
        click.echo(cost)
    print_message_stimuli(checked.asking)
    if checked.default_texts:
        names = join_names(checked.default_texts)
        keys = join_names([f"texts.{name}" for name in checked.default_texts])
        click.echo(f"Participants read our default {names}. An ethics board will want your own: write {keys}.")
    for language in checked.study.all_languages:
        if language != "en":
            click.echo(f"What we say on the pages in {english_name(language)}: {provenance(language)}.")
    if checked.study.contact is None:
        click.echo("Participants have nobody to ask: write contact, an e-mail or web address.")
    n = len(checked.warnings)
    click.echo(f"No errors, {plain_count(n, 'warning')}." if n else "No problems found.")


def print_lists(plan: Plan, study: Study) -> None:
    """Print the number of lists, per participant and group."""
    run = f", run {study.run}" if study.run > 1 else ""
    visits, lists = study.design.sessions_per_participant, study.design.dealt_lists or len(plan.lists)
    whom = "one for each participant" if visits == 1 else f"{visits} for each of {-(-lists // visits)} participants"
    groups = f", in {len(plan.groups)} groups; differences are within one" if plan.groups else ""
    dealt = ""
    first = sum(planned.batch is not None and planned.batch.number == 1 for planned in plan.lists)
    if study.design.arena is not None:
        there = plain_count(len(plan.lists), "list is", "lists are")
        many = plain_count(first, "is", "are")
        click.echo(
            f"{there} there now; as long as people come, {many} dealt at a time after the answers so far; "
            f"seed {plan.seed}{run}.\n"
        )
        return
    if study.design.active is not None:
        dealt = f" in the end, dealt {first} at a time after the answers so far"
        dealt += f"; {len(plan.lists)} are there now" if len(plan.lists) > first else f"; the first {first} are planned"
    click.echo(f"{lists} lists, {whom}{groups}{dealt}; seed {plan.seed}{run}.\n")
    from beholder.planning.own_stimuli import describe_bound

    if bound := describe_bound(plan.lists):
        click.echo(f"{bound}. These trials are not in the counts below.\n")


def _gives(checked: Checked) -> Iterator[str]:
    """Yield the number of ratings per stimulus, and of participants needed."""
    design, (low, high) = checked.study.design, checked.ratings_per_stimulus
    groups, each = (f" in {len(checked.groups)} groups", " in each group") if checked.groups else ("", "")
    people = f"{checked.participants} participants{groups}"
    if design.active is not None:
        lists, trials = plain_count(checked.participants, "list"), plain_count(checked.trials, "trial")
        what = f"of {plain_count(checked.pairs, 'pair')} of conditions those" if checked.is_compared else "conditions"
        yield f"{lists} of {trials}, dealt in batches: each compares {what} that tell most after the answers so far."
    elif design.votes is not None or design.sessions_per_participant > 1:
        given = f"{checked.participants} lists of {plain_count(checked.trials, 'trial')}{groups} give each"
        votes = _in_range(*checked.votes)
        ratings = f"{votes} rating" if votes == "1" else f"{votes} ratings"
        yield f"{given} {'pair' if checked.is_compared else 'stimulus'} {ratings}{each}."
        if (visits := design.sessions_per_participant) > 1:
            few = -(-checked.participants // visits)
            yield f"With {visits} sessions each that takes {few} participants; more where some take fewer."
    elif checked.is_compared:
        yield f"{people} compare each stimulus {_in_range(low, high)} times{each}."
    else:
        yield f"{people} give each stimulus {_in_range(low, high)} ratings{each}."


def _cost(checked: Checked) -> str:
    """Return what all sessions earn, and the hourly pay; empty if there is no reward."""
    from beholder.study.recruitment import Sum, announced_minutes, hourly, money

    if checked.study.recruit.reward is None:
        return ""
    reward = money(checked.study.recruit.reward)
    whole = Sum(reward.minor * checked.participants, reward.currency)
    minutes = announced_minutes(checked.study.recruit, checked.minutes)
    at = f"the {minutes} minutes that people are told" if checked.study.recruit.minutes else f"about {minutes} minutes"
    sessions = plain_count(checked.participants, "session")
    pace = f"{hourly(reward, minutes)} an hour at {at}"
    return f"{sessions} at {reward} earn {whole}, {pace}; fees of a platform come on top."


def _print_groups(groups: Sequence[GroupShare]) -> None:
    """Print for each group of participants the number of lists and the length of a session."""
    from beholder.study.groups import group_name

    names = [group_name(one.levels) for one in groups]
    for name, one in zip(names, groups, strict=True):
        lists = plain_count(one.lists, "list")
        click.echo(f"  {name:<{max(map(len, names))}}  {lists}, about {one.minutes:.1f} min")


def print_message_stimuli(asking: Mapping[Role, StimulusCount]) -> None:
    """Print how many stimuli with a message were made, how many existed, and how many are made later."""
    for role, (count, new, unmade) in asking.items():
        if unmade:
            later = "the others are made when the study is first planned or served, or by beholder check --make"
            there = count - unmade
            click.echo(f"{there} of {count} {role} clips {plural(there, 'is', 'are')} there; {later}.")
        elif not new:
            click.echo(f"{plural(count, '1', f'All {count}')} {role} {plural(count, 'clip was', 'clips were')} there.")
        elif new == count:
            click.echo(f"Made {plain_count(count, f'{role} clip')} in media/.")
        else:
            click.echo(f"Made {new} of {count} {role} clips in media/; the others were there.")


def _in_minutes(minutes: float) -> str:
    """Return `4 min 30 s`, to ten seconds."""
    whole, seconds = divmod(max(10, 10 * round(6 * minutes)), 60)
    return " ".join(part for part in (f"{whole} min" * (whole > 0), f"{seconds} s" * (seconds > 0)) if part)
