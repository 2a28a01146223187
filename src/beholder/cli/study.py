"""The group `beholder`, and the commands from the study file to the report."""

from __future__ import annotations

import csv
import errno
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from beholder.cli.analysis import better, board, compare, dimensions, extend, metrics, power
from beholder.cli.backups import backup, restore
from beholder.cli.bundles import bundle, rerun, verify
from beholder.cli.command import (
    CommandResult,
    StageGroup,
    ask_to_open,
    is_json,
    is_to_open,
    open_in_browser,
    plain_output,
    print_document,
    print_problems,
    usage_problem,
)
from beholder.cli.completion import MethodHelp, MethodName, StudyPath, completion
from beholder.cli.deployment import deploy
from beholder.cli.desk import access, desk, shown_desk
from beholder.cli.examples import examples
from beholder.cli.handbook import docs
from beholder.cli.media import media
from beholder.cli.participants import participants
from beholder.cli.printing import (
    HOST,
    LOOK_PORT,
    PORT,
    PUBLIC,
    STORE,
    STUDY,
    Bar,
    balance_numbers,
    live_printer,
    print_checked,
    print_cleaned,
    print_exported,
    print_lists,
    print_message_stimuli,
    print_sanity,
    print_scores,
    print_table,
    print_table_notes,
    results_document,
    takes_table,
)
from beholder.cli.recruiting import close, decide, forget, launch, monitor, pay, purge
from beholder.cli.run import chain, demo, run, simulate
from beholder.cli.translation import words
from beholder.errors import BeholderError, Problem, UserError
from beholder.formats import listed

if TYPE_CHECKING:
    from beholder.server import ServerStatus


_ROBOTS = click.option("--robots", is_flag=True, help="Look at the rehearsal, although people have answered.")


@click.group(cls=StageGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="beholder")
def cli() -> None:
    """Subjective evaluation that is as easy to run as an objective metric.

    Begin with `beholder demo`, which shows the whole way, or with `beholder new METHOD FOLDER`. STUDY is study.yaml in
    this folder when left out. `beholder COMMAND --help` says what a command does.
    """


def main() -> None:
    """Run the command line: exit 0 done, 1 our fault, 2 yours, 130 interrupted; `better` also 3 no, 4 undecided."""
    with plain_output():
        _run()


def _run() -> None:
    try:
        cli(prog_name="beholder", standalone_mode=False)
    except UserError as error:
        print_problems(error.problems)
        sys.exit(2)
    except click.ClickException as error:
        print_problems([usage_problem(error)])
        sys.exit(2)
    except BeholderError as error:
        from beholder.store.contract import StoreUnavailable

        if not isinstance(error, StoreUnavailable):
            raise
        fix = "Make room on its disk, or see that its server runs; nothing that was acknowledged is lost."
        print_problems([Problem("store", f"cannot be reached or written ({error})", "", fix)])
        sys.exit(2)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        print_problems(
            [Problem(str(error.filename or "disk"), "cannot be written: the disk is full", "", "Make room.")]
        )
        sys.exit(2)
    except (click.Abort, KeyboardInterrupt):
        click.echo("\nStopped.", err=True)
        sys.exit(130)


@cli.command(stage="make", cls=MethodHelp)
@click.argument("method", type=MethodName())
@click.argument("folder", required=False, type=click.Path(path_type=Path))
@click.option("--preset", help="Studies that belong together: genea, of mismatch, writes two and their chain.")
@click.option(
    "--language", default="en", metavar="CODE", show_default=True,
    help="Of the texts for participants, such as de; or several, such as en,de.",
)  # fmt: skip
def new(method: str, folder: Path | None, preset: str | None, language: str) -> object:
    """Write a study that runs, with sample stimuli.

    FOLDER is named after the method, or after the preset, when left out.
    """
    import beholder

    folder = folder or Path(preset or method)
    study = beholder.new(method, folder, preset=preset, language=language)
    if preset is not None:
        return _tell_chain(study, folder)
    click.echo(f"Wrote {study}. Next:\n  cd {folder}")
    for line, purpose in (("preview", "look at it"), ("run --simulate", "rehearse it"), ("run", "put people on it")):
        click.echo(f"  beholder {line:<20} {purpose}")
    return {"study": study}


@cli.command("import", stage="make", has_open=True)
@click.argument("source", type=click.Path(path_type=Path))
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--from", "importer", help="Which tool it is of, where that cannot be seen, such as webmushra.")
@click.option(
    "--stimuli", type=click.Path(path_type=Path), help="Where stimuli are: a folder, or a CSV with source and file."
)
@click.option("--partial", is_flag=True, help="Leave out pages of kinds that are not supported.")
@click.option("--keep-ids", is_flag=True, help="Keep platform ids, in the identity file of the store alone.")
@click.option("--drop-untouched", is_flag=True, help="Leave out values that may never have been touched.")
def import_(source: Path, folder: Path, **options: Any) -> CommandResult:
    """Bring a study of another tool along.

    SOURCE is the file or the folder that it wrote: its configuration, its results, or both. FOLDER becomes the study,
    with import-report.html, which says what became of every part.
    """
    import beholder

    done = beholder.import_study(source, folder, **options)
    for line in done.summary().splitlines():
        click.echo(line)
    click.echo(f"\nReport: {done.page}\nNext:\n  cd {folder}")
    steps = (("clean", "judge its sessions"), ("report", "see its results")) if done.sessions else ()
    for line, purpose in (("check", "see what is missing"), *steps):
        click.echo(f"  beholder {line:<20} {purpose}")
    document = {
        "studies": done.studies, "importer": done.importer, "people": done.people, "sessions": done.sessions,
        "answers": done.answers, "counts": done.counts, "uncertain": done.uncertain, "missing": done.missing,
        "to_do": [str(one) for one in done.problems], "page": done.page,
    }  # fmt: skip
    return CommandResult(document, done.page)


def _tell_chain(chain: Path, folder: Path) -> object:
    """Say what studies were written, and what to do with them."""
    studies = sorted(path.parent.name for path in folder.glob("*/study.yaml"))
    click.echo(f"Wrote {chain}, with the studies {' and '.join(studies)}. Next:\n  cd {folder}")
    lines = [(f"preview {name}", "look at it") for name in studies]
    for line, purpose in (*lines, ("chain --simulate", "rehearse both"), ("chain", "put people on them")):
        click.echo(f"  beholder {line:<24} {purpose}")
    return {"chain": chain, "studies": [folder / name / "study.yaml" for name in studies]}


@cli.command(stage="help", has_json=False, has_quiet=False)
def schema() -> None:
    """Print the JSON Schema of study.yaml, for editors."""
    import beholder

    click.echo(json.dumps(beholder.schema(), indent=2, ensure_ascii=False))


@cli.command(stage="help")
@STUDY
@STORE
@click.option("--platform", is_flag=True, help="Also ask the recruiting platform, with your token.")
def doctor(study: Path, store: str | None, platform: bool) -> object:
    """Look at a study's files, store and machine, and say how to mend what is wrong.

    Study file, store (damage, permissions, unfinished erasures), media (missing, or changed since people were served),
    clock, disk, descriptors, versions and platform. Nothing is changed. Exit code 2 where something has to be mended.
    """
    import beholder

    diagnosis = beholder.doctor(study, store=store, platform=platform)
    for one in diagnosis.findings:
        click.echo(one.line)
    document = {"is_well": diagnosis.is_well, "findings": diagnosis.findings}
    wrong = [
        Problem(one.where or one.part, one.words, "", one.fix) for one in diagnosis.findings if one.state == "wrong"
    ]
    # In words they stand above.
    return CommandResult(document, code=0 if diagnosis.is_well else 2, problems=wrong if is_json() else ())


@cli.command(stage="make")
@STUDY
@click.option("--resolved", is_flag=True, help="Print the study with every default filled in.")
@click.option("--make", is_flag=True, help="Make all stimuli that ask for an answer, and say how many there are.")
def check(study: Path, resolved: bool, make: bool) -> object:
    """Find every problem, or say what participants meet. What is missing in media/ is written."""
    import beholder
    from beholder.study.serialization import resolved_yaml

    with Bar("Stimuli") as progress:
        checked = beholder.check(study, make=make, progress=progress)
    for warning in checked.warnings:
        click.echo(f"Warning: {warning}", err=True)
    if resolved:
        click.echo(resolved_yaml(checked.study), nl=False)
        return {"study": checked.study.model_dump(mode="json"), "warnings": checked.warnings}
    if make:
        print_message_stimuli(checked.asking)
    else:
        print_checked(checked)
    return {
        **{name: value for name, value in vars(checked).items() if name != "study"},
        "minutes": checked.minutes,
        "minutes_before": checked.minutes_before,
    }


@cli.command(stage="try", has_open=True)
@STUDY
@click.option("--report", "has_report", is_flag=True, help="Also draw the counts as heat maps: plan/report/index.html.")
def plan(study: Path, has_report: bool) -> object:
    """Write the balanced plan and print how balanced it is."""
    import beholder
    from beholder.methods import load_study

    with Bar("Stimuli") as progress, Bar("Figures") as drawing:
        planned = beholder.plan(study, report=has_report, progress=progress, drawing=drawing)
    loaded = load_study(study)
    print_lists(planned, loaded)
    with (loaded.folder / "plan" / "balance.csv").open(encoding="utf-8", newline="") as table:
        balance = list(csv.DictReader(table))
    print_table(balance)
    document = {"lists": len(planned.lists), "seed": planned.seed, "balance": balance_numbers(balance)}
    if not has_report:
        return document
    page = loaded.folder / "plan" / "report" / "index.html"
    click.echo(f"\nReport: {page}")
    return CommandResult({**document, "report": page}, page)


@cli.command(stage="run")
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
@click.option(
    "--proxy", "proxies", multiple=True, metavar="ADDRESS",
    help="A proxy in front, by address or network; repeatable, or BEHOLDER_PROXY.",
)  # fmt: skip
@click.option(
    "--backup", metavar="PLACE",
    help="Where copies of the answers go, in place of `backup` in the study; none for nowhere. Or BEHOLDER_BACKUP.",
)  # fmt: skip
@click.option(
    "--drain", "seconds", default=0.0, metavar="SECONDS", type=click.FloatRange(0, 3600),
    help="After SIGTERM, say so at /healthz and go on for so long, until a balancer sends nobody here.",
)  # fmt: skip
@click.option("--desk", "has_desk", is_flag=True, help="Run the desk beside it, and print the link that logs you in.")
@click.option("--as-worker", is_flag=True, hidden=True)
def serve(
    study: Path,
    store: str | None,
    host: str,
    port: int,
    public_url: str | None,
    proxies: tuple[str, ...],
    workers: int,
    backup: str | None,
    seconds: float,
    has_desk: bool,
    as_worker: bool,
) -> None:
    """Serve the study to participants until Ctrl-C."""
    import beholder

    if as_worker:
        from beholder.leaderboard.board_cycle import keeping_board
        from beholder.recruiting.abandoned_lists import ask_platform
        from beholder.server.workers import serve_as_worker

        serve_as_worker(
            study, host=host, port=port, public_url=public_url or "", proxies=proxies, open_platform=ask_platform,
            backup=backup, also=keeping_board(study), drain_s=seconds,
        )  # fmt: skip
        return
    with shown_desk(study, store, is_shown=has_desk), Bar("Stimuli") as progress:
        beholder.serve(
            study, store=store, host=host, port=port, public_url=public_url, proxies=proxies, workers=workers,
            backup=backup, drain=seconds, tell=live_printer(as_document=True), progress=progress,
        )  # fmt: skip


@cli.command(stage="run")
@STUDY
@STORE
@HOST
@PORT
@PUBLIC
@click.option("--retire", multiple=True, metavar="CONDITION", help="Deal it no more; its votes stay. Serves nothing.")
@click.option("--return", "back", multiple=True, metavar="CONDITION", help="Deal a retired one again. Serves nothing.")
@click.option("--list", "is_list", is_flag=True, help="Only say which conditions there are, and since when.")
def arena(
    study: Path,
    store: str | None,
    host: str,
    port: int,
    public_url: str | None,
    retire: tuple[str, ...],
    back: tuple[str, ...],
    is_list: bool,
) -> object:
    """Serve a study that does not end; or retire a condition.

    What is new among the stimuli joins when it starts.
    """
    import beholder

    state = beholder.arena(study, retire=retire, bring_back=back, store=store)
    if retire or back or is_list:
        for line in state.words:
            click.echo(line)
        return state
    with Bar("Stimuli") as progress:
        beholder.serve(
            study, store=store, host=host, port=port, public_url=public_url, tell=live_printer(as_document=True),
            progress=progress,
        )  # fmt: skip
    return None


@cli.command(stage="try", has_open=True)
@STUDY
@HOST
@LOOK_PORT
def preview(study: Path, host: str, port: int | None) -> None:
    """Look at every step; nothing is stored."""
    import beholder
    from beholder.server.process import port_for_a_look

    def tell(live: ServerStatus) -> None:
        click.echo(f"Preview: {live.preview_link}\nNothing is stored. Ctrl-C stops.")
        if is_json():
            print_document({"preview_link": live.preview_link})
        if is_to_open():
            open_in_browser(live.preview_link)

    with Bar("Stimuli") as progress:
        beholder.serve(
            study, host=host, port=port_for_a_look(host) if port is None else port, preview=True, tell=tell,
            progress=progress,
        )  # fmt: skip


@cli.command(stage="decide")
@STUDY
@STORE
@_ROBOTS
@click.option("--run", type=click.IntRange(1), help="Look at another run than the one in the study file.")
def clean(study: Path, store: str | None, robots: bool, run: int | None) -> object:
    """Judge every session: paid, used, and why not."""
    import beholder

    with Bar("Sessions") as progress:
        cleaned = beholder.clean(study, store=store, robots=robots, run=run, progress=progress)
    print_cleaned(cleaned)
    return cleaned


@cli.command(stage="analyse")
@click.argument("source", default="study.yaml", type=StudyPath(), metavar="[STUDY | TABLE]")
@click.option("--out", type=click.Path(path_type=Path), help="Where to write; analyse/ beside the file when left out.")
@click.option(
    "--model",
    multiple=True,
    help="Add the quality of every stimulus to scores.csv: bradley-terry, bt500, mos, p910, p913, shrunken or "
    "thurstone. Can be given several times.",
)
@click.option("--store", metavar="URL", help="Where the ratings are from, if a database: looks are recorded there.")
@_ROBOTS
@takes_table
def analyse(source: Path, out: Path | None, robots: bool, **options: Any) -> object:
    """Compute scores with intervals and all pairs.

    A TABLE of your own is CSV, TSV, Excel or Parquet, with a row for each rating or a column for each condition,
    stimulus or person. How it was read is said, and what is odd in it.
    """
    import beholder
    from beholder.cleaning import rehearsal_of

    with Bar("Tables") as progress:
        results = beholder.analyse(source, out=out, robots=robots, **options, progress=progress)
    own = results.notes.get("table")
    if own is not None:
        print_table_notes(own)
    print_scores(results, {})
    if own is not None:
        click.echo()
        print_sanity(own)
    beside = rehearsal_of(source).outputs if robots else source if source.is_dir() else source.parent
    folder = out or beside / "analyse"
    click.echo(f"\nTables, and in notes.json how each was made: {folder}")
    return results_document(results, folder=folder)


@cli.command(stage="analyse", has_open=True)
@click.argument("source", default="study.yaml", type=StudyPath(), metavar="[STUDY | TABLE]")
@click.option("--out", type=click.Path(path_type=Path), help="Of a table: where to write; report/ beside it.")
@_ROBOTS
@takes_table
def report(source: Path, out: Path | None, robots: bool, **options: Any) -> CommandResult:
    """Write the report: one HTML page, figures, tables, ratings.

    Of a study after `analyse`; of a TABLE of your own at once, as `analyse` takes it.
    """
    import beholder
    from beholder.analysis.spreadsheets import is_table

    with Bar("Figures") as progress:
        page = beholder.report(source, out=out, robots=robots, **options, progress=progress)
    if is_table(source):
        own = json.loads((page.parent / "notes.json").read_text(encoding="utf-8"))["table"]
        print_table_notes(own)
        print_sanity(own)
        click.echo()
    click.echo(page)
    return CommandResult({"report": page}, page)


@cli.command(stage="analyse")
@STUDY
@STORE
@click.option("--out", type=click.Path(path_type=Path), help="Where to write; export/ in the study when left out.")
@click.option(
    "--format",
    default="csv",
    show_default=True,
    type=click.Choice(["csv", "parquet", "psych-ds"]),
    help="Of the tables; psych-ds is CSV in the layout of Psych-DS.",
)
@click.option("--robots", is_flag=True, help="Take the rehearsal, although people have answered.")
@click.option("--with-texts", is_flag=True, help="With what people wrote in their own words; look through it first.")
@click.option("--p910", is_flag=True, help="Add the tables of the P.910 toolkit: votes_per_clip and the like.")
@click.option("--sureal", is_flag=True, help="Add data sets in the format of sureal, one for each question.")
def export(study: Path, **options: Any) -> object:
    """Write every fact as tidy tables, with a data dictionary."""
    import beholder

    with Bar("Tables") as progress:
        exported = beholder.export(study, progress=progress, **options)
    print_exported(exported)
    return exported


@cli.command(stage="run", has_open=True)
@STUDY
@click.option(
    "--words",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Markdown: what only you know, below headings of the template.",
)
@click.option("--why", default="", metavar="WORDS", help="Why a plan that was recorded before has changed.")
@click.option("--late", is_flag=True, help="Record it although people have taken part; it is called late everywhere.")
@click.option("--registered", metavar="URL", help="Where you have registered it, as https://osf.io/abcde.")
@STORE
def preregister(study: Path, **options: Any) -> CommandResult:
    """Record the plan before the first person comes.

    In the words of OSF Preregistration and AsPredicted, to be pasted there, with a digest and the time. The report
    then names every deviation. A plan that has changed is recorded as a new version.
    """
    import beholder

    with Bar("Stimuli") as progress:
        made = beholder.preregister(study, **options, progress=progress)
    for line in made.words:
        click.echo(line)
    click.echo(f"\nTo read, and to paste: {made.page}")
    return CommandResult(made, made.page)


_PAGES = {
    "report": ("report/index.html", "beholder report"),
    "plan": ("plan/report/index.html", "beholder plan --report"),
    "power": ("power/index.html", "beholder power"),
    "metrics": ("metrics/index.html", "beholder metrics"),
    "dimensions": ("dimensions/index.html", "beholder dimensions"),
    "compare": ("compare/index.html", "beholder compare"),
    "board": ("board/index.html", "beholder board"),
    "preregistration": ("preregistration/index.html", "beholder preregister"),
    "storyboard": ("storyboard/index.html", "beholder simulate --browser 1"),
}
"""The pages of a study by name: where each is, and what writes it."""


@cli.command("open", stage="help", has_json=False, has_quiet=False)
@click.argument("what", default="report", type=click.Choice([*_PAGES, "preview", "desk"]), metavar="[PAGE]")
@STUDY
@click.pass_context
def open_(context: click.Context, what: str, study: Path) -> None:
    """Open the report in the browser, or another page.

    PAGE is report when left out; or plan, power, metrics, dimensions, compare, board, preregistration or storyboard.
    `beholder open preview` serves the preview and opens it, until Ctrl-C; `beholder open desk` opens the desk, which it
    starts where none runs.
    """
    if what == "desk":
        from beholder.desk.desk_server import link_to_running

        link = link_to_running(study)
        if link is None:
            ask_to_open()
            context.invoke(desk, studies=(study,), port=0)
        else:
            click.echo(link)
            open_in_browser(link)
        return
    if what == "preview":
        ask_to_open()
        context.invoke(preview, study=study, port=0)
        return
    page, writer = _PAGES[what]
    file = (study if study.is_dir() else study.parent) / page
    if not file.is_file():
        there = [name for name, (other, _) in _PAGES.items() if (file.parents[page.count("/")] / other).is_file()]
        allowed = f"what is there: {listed(there)}" if there else ""
        raise UserError(Problem(str(file), "is not there", allowed, f"`{writer}` writes it."))
    click.echo(file)
    open_in_browser(file)


# In the order in which they are used, which is that of the help.
for _command in (
    examples, media, demo, simulate, power, run, chain, deploy, backup, restore, launch, monitor, desk, access,
    participants, extend, decide, pay, close, forget, purge, compare, better, dimensions, metrics, board, bundle,
    verify, rerun, docs, words, completion,
):  # fmt: skip
    cli.add_command(_command)
