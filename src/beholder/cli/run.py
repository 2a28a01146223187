"""Commands that run whole studies: run, chain, simulate, demo."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from beholder.cli.command import CommandResult, StageCommand
from beholder.cli.completion import MethodHelp, MethodName
from beholder.cli.desk import shown_desk
from beholder.cli.printing import (
    FROM,
    HOST,
    IDEAL,
    LOOK_PORT,
    PORT,
    PUBLIC,
    RATERS,
    SEED,
    STORE,
    STUDY,
    Bar,
    live_printer,
    population_source,
    print_news,
    print_scores,
    print_table,
    results_document,
)
from beholder.workflow.demo import DEFAULT_METHOD

if TYPE_CHECKING:
    from beholder.analysis.result import Results
    from beholder.recruiting.fake.demo import MoneySummary
    from beholder.simulation.truth import Truth
    from beholder.study.recruitment import Sum


_PUBLISH = click.option(
    "--publish", is_flag=True, help="On a platform: open it, ask for more people, pay, close; all within the budget."
)
_BUDGET = click.option("--budget", metavar="AMOUNT", help='The most that it may cost, such as "120 GBP".')
_EVERY = click.option(
    "--every", default=60.0, show_default=True, type=click.FloatRange(0.05), help="Seconds between looks at a platform."
)


@click.command(cls=StageCommand, stage="run", has_open=True)
@STUDY
@click.option(
    "--stimuli",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Ask about the files of any folder in place of the study's own, as <condition>/<content>.",
)
@click.option(
    "--folder",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="With --stimuli or --play-money: where this run works; runs/ and a hash of study and stimuli when left out.",
)
@click.option(
    "--to", metavar="PLACE", help="A machine behind ssh: deploy, run to the end there, bring home, take down."
)
@STORE
@HOST
@PORT
@PUBLIC
@click.option("--participants", type=click.IntRange(1), help="How many must finish; as the study says when left out.")
@_PUBLISH
@click.option(
    "--play-money", is_flag=True, help="What --publish does, with simulated people on a platform of play money here."
)
@_BUDGET
@click.option("--after", metavar="STUDY", help="Ask only the pairs that another study left open, and other people.")
@_EVERY
@click.option("--simulate", "with_robots", is_flag=True, help="Robots instead of people.")
@RATERS
@SEED
@FROM
@IDEAL
@click.option("--runs", "count", type=int, metavar="N", help="N times, each with other people, and compare the runs.")
@click.option("--against", metavar="SIDE", help="With --runs: what they are held against too, such as lab.csv.")
def run(
    study: Path,
    with_robots: bool,
    count: int | None,
    against: str | None,
    source: str | None,
    ideal: bool,
    **options: Any,
) -> CommandResult:
    """Take a study from its file to the report.

    Checks, plans, serves until enough have finished, cleans, analyses, reports. On a platform it also launches, and
    with --publish it decides, pays and closes. Ctrl-C and again continues. With --stimuli the same study asks about
    other files, in a folder of its own, for a training loop.
    """
    import beholder
    from beholder.errors import Problem, UserError

    options["source"] = population_source(source, ideal=ideal)
    if count is None and against is not None:
        fix = "Give the number of runs too, or `beholder compare` afterwards."
        raise UserError(Problem("--against", f"is {against}, without --runs", "", fix))
    if count is not None and options["to"] is not None:
        raise UserError(Problem("--to", "and --runs are both given", "one of the two"))
    if count is not None and options["play_money"]:
        raise UserError(Problem("--play-money", "and --runs are both given", "one of the two"))
    if count is not None:
        del options["play_money"], options["to"]
        return _take_runs(study, count, against, with_robots=with_robots, **options)
    with Bar("Robots", shown=with_robots) as progress, Bar("Stimuli") as making:
        results = beholder.run(
            study, simulate=with_robots, progress=progress, making=making, news=print_news,
            tell=None if with_robots or options["to"] else live_printer(), **options,
        )  # fmt: skip
    if options["play_money"]:
        click.echo("A rehearsal with simulated people and play money, not a result.\n")
    _print_results(results, is_rehearsal=with_robots)
    return CommandResult(results_document(results, is_rehearsal=with_robots), results.report)


def _take_runs(study: Path, count: int, against: str | None, *, with_robots: bool, **options: Any) -> CommandResult:
    import beholder
    from beholder.workflow.runs import people_by_run

    with Bar("Robots", shown=with_robots) as progress, Bar("Stimuli") as making, Bar("Figures") as drawing:
        repeated = beholder.runs(
            study, count, against=against, simulate=with_robots, progress=progress, making=making, drawing=drawing,
            news=print_news, tell=None if with_robots else live_printer(), **options,
        )  # fmt: skip
    if with_robots:
        click.echo("A rehearsal with robots, not a result.\n")
    click.echo(people_by_run(repeated))
    for line in repeated.comparison.words:
        click.echo(line)
    for words in repeated.waiting:
        click.echo(f"Waiting: {words}")
    click.echo(f"\nReport of the last run: {repeated.results[-1].report}")
    page = repeated.comparison.page
    click.echo(f"Page: {page}")
    runs = [results_document(one) for one in repeated.results]
    return CommandResult(
        {"is_rehearsal": with_robots, "runs": runs, "words": repeated.comparison.words, "page": page}, page
    )


@click.command(cls=StageCommand, stage="run")
@click.argument("file", default="chain.yaml", type=click.Path(path_type=Path), metavar="[CHAIN]")
@HOST
@PORT
@PUBLIC
@_PUBLISH
@_BUDGET
@_EVERY
@click.option("--simulate", "with_robots", is_flag=True, help="Robots instead of people.")
@RATERS
@SEED
@FROM
@IDEAL
def chain(file: Path, with_robots: bool, source: str | None, ideal: bool, **options: Any) -> object:
    """Run studies that follow from one another, with new people in each and one budget over all.

    CHAIN is chain.yaml in this folder when left out. Ctrl-C and again continues.
    """
    import beholder

    with Bar("Robots", shown=with_robots) as progress, Bar("Stimuli") as making:
        results_by_name = beholder.chain(
            file, simulate=with_robots, source=population_source(source, ideal=ideal), progress=progress, making=making,
            news=print_news,
            tell=None if with_robots else live_printer(), **options,
        )  # fmt: skip
    for name, results in results_by_name.items():
        click.echo(f"\n{name}\n")
        _print_results(results, is_rehearsal=with_robots)
    studies = {name: results_document(results) for name, results in results_by_name.items()}
    return {"is_rehearsal": with_robots, "studies": studies}


def _print_results(results: Results, *, is_rehearsal: bool) -> None:
    if is_rehearsal:
        click.echo("A rehearsal with robots, not a result.\n")
    print_scores(results, {})
    rated, used = (rows["participant"].nunique() for rows in (results.ratings, results.ratings[results.ratings["use"]]))
    if used < rated:
        click.echo(f"\n{used} of the {rated} who rated are used; clean/sessions.csv says why the others are not.")
    for words in results.waiting:
        click.echo(f"Waiting: {words}")
    click.echo(f"\nReport: {results.report}")


@click.command(cls=StageCommand, stage="try", has_open=True)
@STUDY
@STORE
@click.option("--participants", type=click.IntRange(1), help="How many robots; one for each list when left out.")
@click.option("--raters", default="honest", show_default=True, help="A mixture, as honest:0.9,careless:0.1.")
@click.option("--seed", default=1, show_default=True, help="Of the simulated people.")
@FROM
@IDEAL
@click.option("--people", default="", help="What they are like, as fatigue:0.5,lapse:0.02,leaving:0.01.")
@click.option("--memory", is_flag=True, help="Without a server: the same answers, to rehearsal/ratings.csv.")
@click.option(
    "--browser",
    type=click.IntRange(1),
    metavar="N",
    help="Let N robots take the study in real browsers, with a picture of every step in storyboard/.",
)
def simulate(
    study: Path,
    participants: int | None,
    browser: int | None,
    memory: bool,
    source: str | None,
    ideal: bool,
    people: str,
    **how: Any,
) -> object:
    """Rehearse with robots, and compare with the truth."""
    import beholder
    from beholder.errors import Problem, UserError
    from beholder.simulation.variance import planted_words, read_source

    if participants and browser:
        raise UserError(Problem("--participants", "and --browser are both given", "one of the two"))
    if browser and memory:
        raise UserError(Problem("--memory", "opens no page, and --browser does", "one of the two"))
    population = read_source(population_source(source, ideal=ideal), people)
    if source or ideal or people:
        print_table(population.rows())
        click.echo()
    how |= {"participants": participants or browser, "source": population}
    with Bar("Robots") as progress:
        if browser:
            story = beholder.simulate(study, **how, browser=True, progress=progress)
        elif memory:
            rehearsal = beholder.simulate(study, **how, memory=True, progress=progress)
        else:
            crowd = beholder.simulate(study, **how, progress=progress)
    if browser:
        click.echo(f"Every step in pictures: {story.page}")
        return CommandResult({"page": story.page}, story.page)
    if memory:
        assert rehearsal.path is not None
        click.echo(planted_words(rehearsal.truth, population) + "\n")
        results = beholder.analyse(rehearsal.path)
        print_scores(results, rehearsal.truth.conditions)
        click.echo(f"\nRatings of robots, none of them judged by a check: {rehearsal.path}")
        return results_document(results, truth=rehearsal.truth.conditions, ratings=rehearsal.path)
    click.echo(planted_words(crowd.truth, population) + "\n")
    beholder.clean(study, store=how["store"], robots=True)
    results = beholder.analyse(study, robots=True)
    print_scores(results, crowd.truth.conditions)
    return results_document(results, truth=crowd.truth.conditions)


@click.command(cls=MethodHelp, stage="try", has_open=True)
@click.argument("method", default=DEFAULT_METHOD, type=MethodName())
@click.option("--prolific", is_flag=True, help="On a Prolific of play money, with people who come, leave and are paid.")
@click.option(
    "--folder", type=click.Path(path_type=Path), help="Where; beholder-demo or beholder-demo-METHOD when left out."
)
@IDEAL
@click.option("--exit", "leave", is_flag=True, help="Stop after the report instead of serving on.")
@LOOK_PORT
def demo(method: str, prolific: bool, folder: Path | None, leave: bool, port: int | None, ideal: bool) -> CommandResult:
    """Show the whole way with sample stimuli and robots."""
    import beholder
    from beholder.simulation.variance import planted_words, read_source
    from beholder.workflow.demo import usual_folder

    source = population_source(None, ideal=ideal)

    click.echo("Making sample stimuli …")
    if prolific:
        click.echo("Then everything that `beholder run --publish` does, on a Prolific of play money on this machine.\n")

    def on_link(link: str) -> None:
        click.echo(f"Still serving. Look at the study: {link}" if prolific else f"Participants: {link}")
        if not leave:
            where = folder or Path(usual_folder(method, prolific=prolific))
            beside.enter_context(shown_desk(where / "study.yaml", None, is_shown=True))

    done: list[Results] = []
    money: dict[str, object] = {}

    def on_money(summary: MoneySummary) -> None:
        _print_money(summary)
        money["money"] = summary

    def on_result(truth: Truth, results: Results) -> None:
        progress.close()
        done.append(results)
        if prolific:
            click.echo("\nWhat people said, beside the quality that was planted:\n")
        click.echo(planted_words(truth, read_source(source)) + "\n")
        print_scores(results, truth.conditions)
        click.echo(f"\nReport: {results.report}")
        for words in results.waiting:
            click.echo(f"Waiting for a person: {words}")
        if prolific and not results.waiting:
            click.echo("Nothing waits for a person.")
        if not leave and not prolific:
            click.echo("Still serving. Take the study yourself, or stop with Ctrl-C.")

    with contextlib.ExitStack() as beside, Bar("Robots") as progress:
        beholder.demo(
            method, folder, prolific=prolific, source=source, stay=not leave, port=port, on_link=on_link,
            on_result=on_result, on_money=on_money, news=print_news, progress=progress,
        )  # fmt: skip
    return CommandResult(results_document(done[-1], **money), done[-1].report)


def _print_money(summary: MoneySummary) -> None:
    """Print what was paid, and whether ledger and wallet agree."""
    spent = summary.before._replace(minor=summary.before.minor - summary.after.minor)
    rows = [
        _row("approved", summary.approved.amount, summary.approved.people),
        _row("did not fit", summary.screened_out.amount, summary.screened_out.people),
        _row("bonuses", summary.bonuses.amount, summary.bonuses.people),
        _row("fees and tax", summary.fees),
        _row("in all", spent),
    ]
    click.echo(f"\nThe money of {summary.came} people who came to {summary.places} places:\n")
    print_table(rows)
    click.echo(f"\nWallet: {summary.before} before, {summary.after} after.")
    for words in summary.differences:
        click.echo(f"Ledger and wallet differ: {words}.")
    if not summary.differences:
        click.echo("Ledger and wallet agree: every payment is in both, once.")


def _row(name: str, amount: Sum, people: int | str = "") -> dict[str, str]:
    return {"paid (play money)": name, "people": f"{people:>6}", "amount": f"{amount!s:>11}"}
