"""Commands for analyses beyond one report: better, board, compare, dimensions, metrics, power, extend."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Literal

import click

from beholder.cli.command import CommandResult, StageCommand
from beholder.cli.completion import StudyPath, complete_condition
from beholder.cli.printing import FROM, IDEAL, Bar, population_source, print_table, print_table_notes, takes_table
from beholder.errors import Problem, UserError

_EXIT_CODES = {"yes": 0, "no": 3, "undecided": 4}


@click.command(cls=StageCommand, stage="analyse")
@click.argument("study", metavar="[STUDY]", type=StudyPath())
@click.argument("condition", metavar="A", shell_complete=complete_condition)
@click.argument("other", metavar="B", required=False, shell_complete=complete_condition)
@click.option("--question", help="Which question; may be left out where there is one only.")
@click.pass_context
def better(ctx: click.Context, study: Path, condition: str, other: str | None, question: str | None) -> CommandResult:
    """Ask whether A is better than B, for scripts.

    A and B are conditions. The answer of the report, with its evidence: exit code 0 is yes, 3 is no (A is worse), 4 is
    undecided. STUDY is an analysed study, or its folder; study.yaml in this folder when left out. Nothing is written.
    """
    import beholder

    if other is None:  # two conditions of the study that is here; or a study, and one condition
        if study.exists():
            raise click.MissingParameter(ctx=ctx, param=next(one for one in ctx.command.params if one.name == "other"))
        study, condition, other = Path("study.yaml"), str(study), condition
    found = beholder.better(study, condition, other, question=question)
    click.echo(found.words)
    return CommandResult(found, code=_EXIT_CODES[found.answer])


@click.command(cls=StageCommand, stage="analyse", has_open=True)
@click.argument("source", default="study.yaml", type=StudyPath(), metavar="[STUDY | VOTES]")
@click.option("--out", type=click.Path(path_type=Path), help="Where to write; board/ beside the study when left out.")
@click.option("--question", help="Which question; may be left out where there is one only.")
@click.option("--retired", multiple=True, help="A condition that left the arena; may be given several times.")
@click.option("--minimum", default=20, show_default=True, help="People who must have compared a condition for a rank.")
@click.option("--store", help="Where answers are kept; store/ in the study when left out.")
@takes_table
def board(source: Path, **options: Any) -> CommandResult:
    """Rank conditions by votes, however often you look.

    STUDY is a study.yaml or its folder, whose answers are cleaned first; VOTES a table of votes. Writes one page that
    needs no network, with sets of ranks, strengths, history and pairs, and every vote.
    """
    import beholder
    from beholder.leaderboard.folder import shown

    with Bar("Figures") as progress:
        made = beholder.board(source, **options, progress=progress)
    print_table_notes(made.notes)
    print_table([{str(name): cell for name, cell in row.items()} for row in shown(made.conditions).to_dict("records")])
    click.echo("")
    for line in (*made.words, *made.warnings):
        click.echo(line)
    click.echo(f"\nPage: {made.page}")
    tables = {"conditions": made.conditions, "pairs": made.pairs, "history": made.history, **made.also}
    return CommandResult(
        {"words": made.words, "warnings": made.warnings, "tables": tables, "page": made.page}, made.page
    )


@click.command(cls=StageCommand, stage="analyse", has_open=True)
@click.argument("sides", nargs=-1, required=True, metavar="SIDE...")
@click.option("--out", type=click.Path(path_type=Path), help="Where to write; compare/ beside the first side.")
@click.option(
    "--margin", type=float, help="Within so many points sides are equivalent; 5 % of the scale when left out."
)
@click.option("--question", "questions", multiple=True, help="Only this one; may be given several times.")
@click.option("--runs", is_flag=True, help="Every study stands for its runs; runs of one number are one side.")
@takes_table
def compare(sides: tuple[str, ...], **options: Any) -> CommandResult:
    """Hold scores against a run, a lab or another study.

    A SIDE is a study.yaml or its folder, one run of it (study.yaml@2) or all (study.yaml@all), a table of ratings, or
    a table of scores (stimulus or condition, and mean). NAME=PATH names it. A study alone stands for all its runs. A
    table is CSV, TSV, Excel or Parquet.
    """
    import beholder

    with Bar("Figures") as progress:
        comparison = beholder.compare(*sides, **options, progress=progress)
    for line in comparison.words:
        click.echo(line)
    for note in comparison.notes.get("tables", ()):
        click.echo(f"\n{note}")
    click.echo(f"\nPage: {comparison.page}")
    return CommandResult(
        {"words": comparison.words, "agreement": comparison.agreement, "page": comparison.page}, comparison.page
    )


@click.command(cls=StageCommand, stage="analyse", has_open=True)
@click.argument("studies", nargs=-1, metavar="[STUDY ...]")
@click.option("--split", metavar="QUESTION:NUMBER", help="Everything once more above and below, as realistic:2.")
@click.option("--metrics", type=click.Path(path_type=Path), help="A CSV of objective metrics, as metrics/values.csv.")
@click.option("--factor", help="A column of the manifest: profiles for each of its levels, and averaged over them.")
@click.option("--of", help="The question against which the others are held; the most typical when left out.")
@click.option("--components", type=int, help="Keep so many, in place of those above chance.")
@click.option(
    "--over",
    type=click.Choice(["condition", "stimulus"]),
    default="condition",
    show_default=True,
    help="What spread and relations are of: a dot for each.",
)
@click.option("--out", type=click.Path(path_type=Path), help="Where to write; dimensions/ beside the first study.")
def dimensions(
    studies: tuple[str, ...],
    split: str | None,
    metrics: Path | None,
    factor: str | None,
    of: str | None,
    components: int | None,
    over: Literal["condition", "stimulus"],
    out: Path | None,
) -> CommandResult:
    """Tell what many questions measure together.

    Also which few of them would do. A STUDY is a study.yaml or its folder, a run of it (study.yaml@2), or a CSV of
    ratings or scores. Several are joined by condition.
    """
    import beholder

    with Bar("Figures") as progress:
        result = beholder.dimensions(
            *studies, split=_split(split), metrics=metrics, factor=factor, of=of, components=components, over=over,
            out=out, progress=progress,
        )  # fmt: skip
    for line in result.words:
        click.echo(line)
    click.echo(f"\nPage: {result.page}")
    return CommandResult({"words": result.words, "tables": result.tables, "page": result.page}, result.page)


def _split(text: str | None) -> tuple[str, float] | None:
    """Return the question and the number; a question may have a colon in its name."""
    if text is None:
        return None
    question, sign, threshold = text.rpartition(":")
    try:
        number = float(threshold)
    except ValueError:
        number = math.nan
    if not sign or not question or not math.isfinite(number):
        raise UserError(Problem("--split", f"is {text}", "a question, a colon and a number, as realistic:2"))
    return question, number


@click.command(cls=StageCommand, stage="analyse", has_open=True)
@click.argument("source", default="study.yaml", type=StudyPath(), metavar="[STUDY | RATINGS.CSV]")
@click.option(
    "--metric", multiple=True, help="Which to measure, with commas between, as psnr,vmaf; all that fit when left out."
)
@click.option("--values", multiple=True, type=click.Path(path_type=Path), help="A CSV of values measured elsewhere.")
@click.option("--regions", type=click.Path(path_type=Path), help="A CSV of boxes and masks: face, torso, background.")
@click.option(
    "--landmarks", type=click.Path(path_type=Path), help="A CSV of points by frame, for metrics of landmarks."
)
@click.option("--reference", help="The condition to compare with, where none has that role.")
@click.option("--out", type=click.Path(path_type=Path), help="Where to write; metrics/ in the study when left out.")
@click.option("--jobs", type=click.IntRange(1), help="Pairs measured at a time; one for each core when left out.")
def metrics(source: Path, metric: tuple[str, ...], **options: Any) -> CommandResult:
    """Hold PSNR, SSIM, VMAF and others beside the ratings.

    Each stimulus is compared with the reference of its content. What was measured before is not measured again.
    """
    import beholder

    names = [name.strip() for one in metric for name in one.split(",") if name.strip()]
    with Bar("Pairs") as progress, Bar("Figures") as drawing:
        result = beholder.metrics(source, metric=names, **options, progress=progress, drawing=drawing)
    print_table(result.shown)
    for line in ("", *result.words):
        click.echo(line)
    click.echo(f"\nPage: {result.page}")
    tables = {name: getattr(result, name) for name in ("correlations", "comparisons", "values")}
    return CommandResult({"words": result.words, "tables": tables, "page": result.page}, result.page)


@click.command(cls=StageCommand, stage="try", has_open=True)
@click.argument("study", default="study.yaml", type=StudyPath())
@click.option("--participants", help="Numbers to try; 10,20,40,80 and the study's own when left out.")
@click.option("--difference", type=float, help="Points between neighbours; 5 % of the scale, or the pilot's.")
@click.option("--repetitions", default=200, show_default=True, help="Studies to imagine with each number.")
@FROM
@IDEAL
@click.option("--people", default="", help="Changes to them, as taste:0.1,lapse:0.02.")
@click.option("--methods", help="Hold these against the study's own; parallel,acr,pair when left out, or none.")
@click.option("--pages", help="Stimuli on a page to hold against each other, as 4,8; those of its groups, or none.")
@click.option(
    "--contents", type=click.Choice(["random", "fixed"]),
    help="Whether a finding is to hold for other contents as well; as analyse.claim has it when left out.",
)  # fmt: skip
@click.option("--rate", help='Pay for an hour, as "12.00 GBP"; recruit.reward for a session when left out.')
@click.option("--seed", default=1, show_default=True, help="Of the simulated people.")
@click.option("--out", type=click.Path(path_type=Path), help="Where to write; power/ beside study.yaml when left out.")
def power(study: Path, methods: str | None, source: str | None, ideal: bool, **options: Any) -> CommandResult:
    """How many participants, at what cost, by which method.

    The study is imagined many times with simulated people and analysed as the real one would be.
    """
    import beholder

    names = None if methods is None else [] if methods == "none" else [name.strip() for name in methods.split(",")]
    with Bar("Studies") as progress, Bar("Stimuli") as stimuli:
        result = beholder.power(
            study,
            methods=names,
            source=population_source(source, ideal=ideal),
            progress=progress,
            stimuli=stimuli,
            **options,
        )
    print_table([{str(name): cell for name, cell in row.items()} for row in result.shown.to_dict("records")])
    click.echo("")
    for line in (*result.words, *result.notes["notes"]):
        click.echo(line)
    click.echo(f"\nPage: {result.page}")
    words = (*result.words, *result.notes["notes"])
    tables = {name: getattr(result, name) for name in ("power", "sizes", "needed", "methods", "looks")}
    return CommandResult({"words": words, "tables": tables, "page": result.page}, result.page)


@click.command(cls=StageCommand, stage="run")
@click.argument("study", default="study.yaml", type=StudyPath(), metavar="[STUDY]")
@click.option("--participants", type=click.IntRange(1), help="Add lists for so many more, by the same design.")
@click.option("--store", metavar="URL", help="Where facts are: a folder, or postgresql://…; store/ when left out.")
@click.option("--robots", is_flag=True, help="Judge the rehearsal; nothing is written where people have come.")
@click.option("--dry-run", is_flag=True, help="Only say what would be added.")
def extend(study: Path, participants: int | None, store: str | None, robots: bool, dry_run: bool) -> object:
    """Add lists for what cleaning left short, or for more people.

    Without --participants, exactly the votes that are missing. Stimuli may have been added to the study; nothing of
    what is there is changed.
    """
    import beholder
    from beholder.planning.balance import balance_table

    with Bar("Stimuli") as progress:
        extension = beholder.extend(
            study, participants=participants, store=store, robots=robots, dry_run=dry_run, progress=progress
        )
    for line in extension.words:
        click.echo(line)
    if extension.added:
        head, *rows = balance_table(extension.balance)
        click.echo()
        print_table([dict(zip(head[:-1], row[:-1], strict=True)) for row in rows])
    return extension
