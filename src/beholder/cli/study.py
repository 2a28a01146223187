"""The group `beholder`, and the commands from the study file to the report."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from beholder.cli.analysis import better, compare, dimensions, extend, metrics, power
from beholder.cli.examples import examples
from beholder.cli.media import media
from beholder.cli.participants import participants
from beholder.cli.printing import (
    HOST,
    PORT,
    PUBLIC,
    STORE,
    STUDY,
    Bar,
    live_printer,
    print_checked,
    print_cleaned,
    print_exported,
    print_lists,
    print_message_stimuli,
    print_scores,
    print_table,
)
from beholder.cli.recruiting import close, decide, forget, launch, monitor, pay, purge
from beholder.cli.run import chain, demo, run, simulate
from beholder.errors import UserError

if TYPE_CHECKING:
    from beholder.server import ServerStatus


_ROBOTS = click.option("--robots", is_flag=True, help="Look at the rehearsal, although people have answered.")


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="beholder")
def cli() -> None:
    """Subjective evaluation that is as easy to run as an objective metric.

    STUDY is study.yaml in this folder when left out. `beholder demo` shows the whole way.
    """


cli.add_command(better)
cli.add_command(close)
cli.add_command(launch)
cli.add_command(media)
cli.add_command(compare)
cli.add_command(decide)
cli.add_command(demo)
cli.add_command(dimensions)
cli.add_command(examples)
cli.add_command(extend)
cli.add_command(forget)
cli.add_command(metrics)
cli.add_command(monitor)
cli.add_command(participants)
cli.add_command(pay)
cli.add_command(power)
cli.add_command(run)
cli.add_command(chain)
cli.add_command(purge)
cli.add_command(simulate)


def main() -> None:
    """Run the command line: exit 0 done, 1 our fault, 2 yours, 130 interrupted; `better` also 3 no, 4 undecided."""
    try:
        cli(standalone_mode=False)
    except UserError as error:
        click.echo(str(error), err=True)
        sys.exit(2)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except (click.Abort, KeyboardInterrupt):
        click.echo("\nStopped.", err=True)
        sys.exit(130)


@cli.command()
@click.argument("method")
@click.argument("folder", type=click.Path(path_type=Path))
def new(method: str, folder: Path) -> None:
    """Write a study that runs, with sample stimuli."""
    import beholder

    study = beholder.new(method, folder)
    click.echo(f"Wrote {study}. Next:\n  cd {folder}")
    for line, purpose in (("preview", "look at it"), ("run --simulate", "rehearse it"), ("serve", "put people on it")):
        click.echo(f"  beholder {line:<20} {purpose}")


@cli.command()
def schema() -> None:
    """Print the JSON Schema of study.yaml, for editors."""
    import beholder

    click.echo(json.dumps(beholder.schema(), indent=2, ensure_ascii=False))


@cli.command()
@STUDY
@click.option("--resolved", is_flag=True, help="Print the study with every default filled in.")
@click.option("--make", is_flag=True, help="Make all stimuli that ask for an answer, and say how many there are.")
def check(study: Path, resolved: bool, make: bool) -> None:
    """Find every problem, or say what participants meet. What is missing in media/ is written."""
    import beholder
    from beholder.study.serialization import resolved_yaml

    with Bar("Stimuli") as progress:
        checked = beholder.check(study, make=make, progress=progress)
    for warning in checked.warnings:
        click.echo(f"Warning: {warning}", err=True)
    if resolved:
        click.echo(resolved_yaml(checked.study), nl=False)
        return
    if make:
        print_message_stimuli(checked.asking)
        return
    print_checked(checked)


@cli.command()
@STUDY
@click.option("--report", "has_report", is_flag=True, help="Also draw the counts as heat maps: plan/report/index.html.")
def plan(study: Path, has_report: bool) -> None:
    """Write the balanced plan and print how balanced it is."""
    import beholder
    from beholder.methods import load_study

    with Bar("Stimuli") as progress, Bar("Figures") as drawing:
        planned = beholder.plan(study, report=has_report, progress=progress, drawing=drawing)
    loaded = load_study(study)
    print_lists(planned, loaded)
    with (loaded.folder / "plan" / "balance.csv").open(encoding="utf-8", newline="") as table:
        print_table(list(csv.DictReader(table)))
    if has_report:
        click.echo(f"\nReport: {loaded.folder / 'plan' / 'report' / 'index.html'}")


@cli.command()
@STUDY
@STORE
@HOST
@PORT
@PUBLIC
@click.option(
    "--workers",
    default=1,
    show_default=True,
    type=click.IntRange(1, 64),
    help="Processes; more than one needs PostgreSQL.",
)
@click.option("--as-worker", is_flag=True, hidden=True)
def serve(
    study: Path, store: str | None, host: str, port: int, public_url: str | None, workers: int, as_worker: bool
) -> None:
    """Serve the study to participants until Ctrl-C."""
    import beholder

    if as_worker:
        from beholder.recruiting.abandoned_lists import release_abandoned
        from beholder.server.process import serve_as_worker

        serve_as_worker(
            study, store=store or "", host=host, port=port, public_url=public_url or "", open_release=release_abandoned
        )
        return
    with Bar("Stimuli") as progress:
        beholder.serve(
            study, store=store, host=host, port=port, public_url=public_url, workers=workers, tell=live_printer(),
            progress=progress,
        )  # fmt: skip


@cli.command()
@STUDY
@HOST
@PORT
def preview(study: Path, host: str, port: int) -> None:
    """Look at every step; nothing is stored."""
    import beholder

    def tell(live: ServerStatus) -> None:
        click.echo(f"Preview: {live.preview_link}\nNothing is stored. Ctrl-C stops.")

    with Bar("Stimuli") as progress:
        beholder.serve(study, host=host, port=port, preview=True, tell=tell, progress=progress)


@cli.command()
@STUDY
@STORE
@_ROBOTS
@click.option("--run", type=click.IntRange(1), help="Look at another run than the one in the study file.")
def clean(study: Path, store: str | None, robots: bool, run: int | None) -> None:
    """Judge every session: paid, used, and why not."""
    import beholder

    with Bar("Sessions") as progress:
        cleaned = beholder.clean(study, store=store, robots=robots, run=run, progress=progress)
    print_cleaned(cleaned)


@cli.command()
@click.argument("source", default="study.yaml", type=click.Path(path_type=Path), metavar="[STUDY | RATINGS.CSV]")
@click.option("--out", type=click.Path(path_type=Path), help="Where to write; analyse/ beside the file when left out.")
@click.option(
    "--model",
    multiple=True,
    help="Add the quality of every stimulus to scores.csv: bradley-terry, bt500, mos, p910, p913, shrunken or "
    "thurstone. Can be given several times.",
)
@click.option("--store", metavar="URL", help="Where the ratings are from, if a database: looks are recorded there.")
@_ROBOTS
def analyse(source: Path, out: Path | None, model: tuple[str, ...], store: str | None, robots: bool) -> None:
    """Compute scores with intervals and all pairs."""
    import beholder
    from beholder.cleaning import rehearsal_of

    with Bar("Tables") as progress:
        results = beholder.analyse(source, out=out, model=model, store=store, robots=robots, progress=progress)
    print_scores(results, {})
    beside = rehearsal_of(source).outputs if robots else source if source.is_dir() else source.parent
    folder = out or beside / "analyse"
    click.echo(f"\nTables, and in notes.json how each was made: {folder}")


@cli.command()
@STUDY
@_ROBOTS
def report(study: Path, robots: bool) -> None:
    """Write the report: one HTML page, figures, tables, ratings."""
    import beholder

    with Bar("Figures") as progress:
        page = beholder.report(study, robots=robots, progress=progress)
    click.echo(page)


@cli.command()
@STUDY
@STORE
@click.option("--out", type=click.Path(path_type=Path), help="Where to write; export/ in the study when left out.")
@click.option(
    "--format", default="csv", show_default=True, type=click.Choice(["csv", "parquet"]), help="Of the tables."
)
@click.option("--robots", is_flag=True, help="Take the rehearsal, although people have answered.")
@click.option("--with-texts", is_flag=True, help="With what people wrote in their own words; look through it first.")
@click.option("--p910", is_flag=True, help="Add the tables of the P.910 toolkit: votes_per_clip and the like.")
def export(study: Path, **options: Any) -> None:
    """Write every fact as tidy tables, with a data dictionary."""
    import beholder

    with Bar("Tables") as progress:
        exported = beholder.export(study, progress=progress, **options)
    print_exported(exported)
