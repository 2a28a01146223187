"""The command line: one command per verb, no logic."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from beholder.errors import StimuliError, UserError
from beholder.printing import Bar, in_minutes, in_range, live_teller, print_scores, print_table, tell_asking, tell_made

if TYPE_CHECKING:
    from beholder.analyse.results import Results
    from beholder.serve import Live

STUDY = click.argument("study", default="study.yaml", type=click.Path(path_type=Path))
STORE = click.option("--store", help="A PostgreSQL URL, or another folder; store/ beside study.yaml when left out.")
HOST = click.option("--host", default="127.0.0.1", show_default=True, help="0.0.0.0 to be reached from elsewhere.")
PORT = click.option(
    "--port", default=8000, show_default=True, type=click.IntRange(0, 65535), help="0 takes a free one."
)
PUBLIC = click.option("--public-url", help="The address under which participants reach this server.")
SEED = click.option("--seed", default=1, show_default=True, help="Of the simulated people.")
OUT = click.option("--out", required=True, type=click.Path(path_type=Path), help="Where to write.")
RATERS = click.option("--raters", default="honest", show_default=True, help="A mixture, as honest:0.9,careless:0.1.")

FILES = click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
ASKING = (
    FILES,
    click.option("--value", multiple=True, help="The number to set; give it once for each copy."),
    click.option("--label", multiple=True, help="The word beside that number, as Poor; once for each value."),
    click.option("--words", help="In place of ours; {value} and {label} stand for the answer."),
    click.option(
        "--say", default="text", show_default=True, type=click.Choice(["text", "voice"]), help="To be read, or heard."
    ),
    click.option("--language", default="en", show_default=True, help="Of our words, and of the voice."),
    OUT,
)
"""What both verbs that make stimuli ask for an answer take."""


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="beholder")
def cli() -> None:
    """Subjective evaluation that is as easy to run as an objective metric.

    STUDY is study.yaml in this folder when left out. `beholder demo` shows the whole way.
    """


def main() -> None:
    """Run the command line: exit 0 done, 1 our fault, 2 yours, 130 interrupted."""
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
@click.option("--make", is_flag=True, help="Only say which stimuli were made, as those that ask for an answer.")
def check(study: Path, resolved: bool, make: bool) -> None:
    """Find every problem, or say what participants meet. What is missing in media/ is made."""
    import beholder
    from beholder.study.resolved import resolved_yaml

    with Bar("Stimuli") as progress:
        found = beholder.check(study, progress=progress)
    for warning in found.warnings:
        click.echo(f"Warning: {warning}", err=True)
    if resolved:
        click.echo(resolved_yaml(found.study), nl=False)
        return
    if make:
        tell_asking(found.asking)
        return
    low, high = found.ratings_per_stimulus
    click.echo(f"{found.study.title}\n")
    width = max(42, *(len(stage.name) for stage in found.stages))
    for stage in found.stages:
        click.echo(f"  {stage.name:<{width}} {stage.minutes:5.1f} min")
    click.echo(f"  {'together about':<{width}} {found.minutes:5.1f} min\n")
    screens = f"{found.screens_before} screen{'s' * (found.screens_before > 1)}"
    click.echo(f"About {in_minutes(found.minutes_before)} and {screens} before the first rating.")
    click.echo(
        f"{found.stimuli} stimuli: {found.contents} contents, {len(found.conditions)} conditions "
        f"({', '.join(found.conditions)})"
    )
    if found.is_compared:
        click.echo(f"{found.participants} participants compare each stimulus {in_range(low, high)} times.")
    else:
        click.echo(f"{found.participants} participants give each stimulus {in_range(low, high)} ratings.")
    tell_asking(found.asking)
    n = len(found.warnings)
    click.echo(f"No errors, {n} warning{'s' * (n > 1)}." if n else "No problems found.")


@cli.command()
@STUDY
def plan(study: Path) -> None:
    """Write the balanced plan and print how balanced it is."""
    import beholder
    from beholder.methods import load_study

    with Bar("Stimuli") as progress:
        made = beholder.plan(study, progress=progress)
    click.echo(f"{len(made.lists)} lists, one for each participant; seed {made.seed}.\n")
    with (load_study(study).folder / "plan" / "balance.csv").open(encoding="utf-8", newline="") as table:
        print_table(list(csv.DictReader(table)))


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
        from beholder.serve.watching import serve_as_worker

        serve_as_worker(study, store=store or "", host=host, port=port, public_url=public_url or "")
        return
    with Bar("Stimuli") as progress:
        beholder.serve(
            study, store=store, host=host, port=port, public_url=public_url, workers=workers, tell=live_teller(),
            progress=progress,
        )  # fmt: skip


@cli.command()
@STUDY
@HOST
@PORT
def preview(study: Path, host: str, port: int) -> None:
    """Look at every step; nothing is stored."""
    import beholder

    def tell(live: Live) -> None:
        click.echo(f"Preview: {live.preview_link}\nNothing is stored. Ctrl-C stops.")

    with Bar("Stimuli") as progress:
        beholder.serve(study, host=host, port=port, preview=True, tell=tell, progress=progress)


@cli.command()
@STUDY
@STORE
@click.option("--participants", required=True, type=click.IntRange(1), help="How many robots.")
@RATERS
@SEED
def simulate(study: Path, store: str | None, participants: int, raters: str, seed: int) -> None:
    """Rehearse with robots, and compare with the truth."""
    import beholder

    with Bar("Robots") as progress:
        crowd = beholder.simulate(
            study, participants=participants, raters=raters, seed=seed, store=store, progress=progress
        )
    beholder.clean(study, store=store, robots=True)
    print_scores(beholder.analyse(study), crowd.truth.conditions)


@cli.command()
@STUDY
@STORE
@click.option("--robots", is_flag=True, help="Look at the rehearsal, although people have answered.")
def clean(study: Path, store: str | None, robots: bool) -> None:
    """Judge every session: paid, used, and why not."""
    import beholder

    cleaned = beholder.clean(study, store=store, robots=robots)
    counts = cleaned.counts
    click.echo(
        f"{counts['used_sessions']} of {counts['sessions']} sessions ({cleaned.population}) are used: "
        f"{counts['used_ratings']} ratings.\n"
    )
    print_table(
        [
            {
                "lost at": lost.words if lost.costs or lost.ratings else f"{lost.words} (only noted)",
                "sessions": lost.sessions,
                "only for this": lost.only,
                "ratings": lost.ratings,
            }
            for lost in cleaned.lost
        ]
    )


@cli.command()
@click.argument("source", default="study.yaml", type=click.Path(path_type=Path), metavar="[STUDY | RATINGS.CSV]")
@click.option("--out", type=click.Path(path_type=Path), help="Where to write; analyse/ in the study when left out.")
def analyse(source: Path, out: Path | None) -> None:
    """Compute scores with intervals and all pairs."""
    import beholder

    print_scores(beholder.analyse(source, out=out), {})


@cli.command()
@STUDY
def report(study: Path) -> None:
    """Write the report: one HTML page, figures, tables, ratings."""
    import beholder

    click.echo(beholder.report(study))


@cli.command()
@STUDY
@STORE
@HOST
@PORT
@PUBLIC
@click.option("--participants", type=click.IntRange(1), help="How many must finish; as the study says when left out.")
@click.option("--simulate", "with_robots", is_flag=True, help="Robots instead of people.")
@RATERS
@SEED
def run(study: Path, with_robots: bool, **options: Any) -> None:
    """Take a study from its file to the report.

    Checks, plans, serves until enough have finished, cleans, analyses, reports. Ctrl-C and again continues.
    """
    import beholder

    with Bar("Robots", shown=with_robots) as progress, Bar("Stimuli") as making:
        results = beholder.run(
            study, simulate=with_robots, progress=progress, making=making,
            tell=None if with_robots else live_teller(), **options,
        )  # fmt: skip
    if with_robots:
        click.echo("A rehearsal with robots, not a result.\n")
    print_scores(results, {})
    came, used = (rows["participant"].nunique() for rows in (results.ratings, results.ratings[results.ratings["use"]]))
    if used < came:
        click.echo(f"\n{used} of the {came} who rated are used; clean/sessions.csv says why the others are not.")
    click.echo(f"\nReport: {results.report}")


@cli.command()
@click.argument("method", default="parallel")
@click.option(
    "--folder", type=click.Path(path_type=Path), help="Where; beholder-demo or beholder-demo-METHOD when left out."
)
@click.option("--exit", "leave", is_flag=True, help="Stop after the report instead of serving on.")
@PORT
def demo(method: str, folder: Path | None, leave: bool, port: int) -> None:
    """Show the whole way with sample stimuli and robots."""
    import beholder

    click.echo("Making sample stimuli …")

    def on_result(truth: Any, results: Results) -> None:
        progress.close()
        print_scores(results, truth.conditions)
        click.echo(f"\nReport: {results.report}")
        if not leave:
            click.echo("Still serving. Take the study yourself, or stop with Ctrl-C.")

    with Bar("Robots") as progress:
        beholder.demo(
            method, folder, stay=not leave, port=port, on_result=on_result, progress=progress,
            on_link=lambda link: click.echo(f"Participants: {link}"),
        )  # fmt: skip


@cli.group()
def media() -> None:
    """Make stimuli from your own files."""


@media.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--cutoff", "cutoffs", multiple=True, type=int, help="Of sounds: in Hz, as 3500.")
@click.option("--bitrate", "bitrates", multiple=True, help="Of videos: bits a second, as 200k.")
@click.option("--resolution", "resolutions", multiple=True, help="Of videos: scaled to so many lines and back, as 180.")
@click.option("--fps", "rates", multiple=True, help="Of videos: frames a second, each held, as 7.5.")
@click.option("--blur", "blurs", multiple=True, help="Of videos: pixels (sigma) at 1080 lines, as 4.")
@OUT
def anchor(files: tuple[Path, ...], cutoffs: tuple[int, ...], out: Path, **video: Any) -> None:
    """Make anchors of sounds and videos: worse, and in step to the sample or frame.

    Writes OUT/lowpass-3500/NAME.wav of sounds; OUT/bitrate-200k/NAME.mp4 and the like of videos. Give an option once
    for each anchor. A folder stands for the sounds and videos in it. What is there already is not made again.
    """
    from beholder.stimuli.workshop import make_anchors

    with Bar("Anchors") as progress:
        made = make_anchors(files, cutoffs, out, **video, progress=progress)
    tell_made(made)


@media.command()
@click.argument("left", type=click.Path(path_type=Path))
@click.argument("right", type=click.Path(path_type=Path))
@OUT
@click.option(
    "--sound", default="left", show_default=True, type=click.Choice(["left", "right", "none"]), help="Whose is kept."
)
@click.option("--shortest", is_flag=True, help="Cut to the shorter also where they differ by more than half a second.")
def stack(left: Path, right: Path, out: Path, sound: Any, shortest: bool) -> None:
    """Put two videos side by side into one, frame by frame.

    LEFT and RIGHT are two videos, or two folders whose videos have the same names; OUT is a folder, or for two videos
    the .mp4 itself. What is there already is not made again.
    """
    from beholder.stimuli.workshop import make_stacks

    with Bar("Stacks") as progress:
        made = make_stacks(left, right, out, sound=sound, shortest=shortest, progress=progress)
    tell_made(made)


@media.command()
@click.argument("clip", type=click.Path(path_type=Path))
@click.option(
    "--kinds", default="fragmentation,discontinuity,uncleanness", show_default=True, help="Which, with commas between."
)
@click.option("--out", default="examples", show_default=True, type=click.Path(path_type=Path), help="Where to write.")
def impair(clip: Path, kinds: str, out: Path) -> None:
    """Make samples of impairments from a clean video, for the instructions.

    Writes OUT/CLIP-KIND.mp4 of the same size, rate and length. What is there already is not made again.
    """
    from beholder.stimuli.workshop import make_impaired

    with Bar("Samples") as progress:
        made = make_impaired(clip, [kind.strip() for kind in kinds.split(",")], out, progress=progress)
    tell_made(made)


def asking(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command with the arguments of those that make stimuli ask for an answer."""
    for part in reversed(ASKING):
        command = part(command)
    return command


@media.command()
@asking
def attention(**options: Any) -> None:
    """Make copies that ask for an answer in their middle: attention checks.

    Writes OUT/NAME-attention-1.mp4 and so on, and OUT/manifest.csv with their lines. A folder stands for the media in
    it. What is there already is not made again.
    """
    from beholder.stimuli.workshop import make_messages

    with Bar("Copies") as progress:
        made = make_messages(**options, role="attention", progress=progress)
    tell_made(made)


@media.command()
@asking
def trap(**options: Any) -> None:
    """Make copies that ask for an answer in their middle: trapping clips.

    Writes OUT/NAME-trap-1.mp4 and so on, and OUT/manifest.csv with their lines. A folder stands for the media in it.
    What is there already is not made again.
    """
    from beholder.stimuli.workshop import make_messages

    with Bar("Copies") as progress:
        made = make_messages(**options, role="trap", progress=progress)
    tell_made(made)


@media.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@OUT
@click.option("--codec", default="h264", show_default=True, type=click.Choice(["h264", "vp9"]), help="Of videos.")
@click.option("--crf", type=int, help="Of videos: less is finer; 17, or 18 for vp9, when left out.")
@click.option("--height", type=int, help="Of videos: lines; as they are when left out.")
@click.option("--fps", type=float, help="Of videos: frames a second; as they are when left out.")
@click.option("--loudness", type=float, help="Of all sound: LUFS, as -23; as it is when left out.")
def prepare(files: tuple[Path, ...], out: Path, **options: Any) -> None:
    """Make files ready for browsers: encoded again, without metadata.

    Writes OUT/NAME.mp4 (or .webm), .wav, .webp, or the text in UTF-8. A folder stands for all media in and below it,
    and keeps its shape. What is there already is not made again.
    """
    from beholder.stimuli.workshop import make_prepared

    with Bar("Files") as progress:
        made = make_prepared(files, out, **options, progress=progress)
    tell_made(made)


@media.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--json", "in_json", is_flag=True, help="For programs.")
def probe(files: tuple[Path, ...], in_json: bool) -> None:
    """Say what files hold, and whether browsers play them.

    A folder stands for all media in and below it. Ends with 2 where a file cannot be read or would not play.
    """
    from beholder.stimuli.workshop import as_json, as_table, probe_media

    with Bar("Files") as progress:
        rows, problems = probe_media(files, progress)
    if in_json:
        click.echo(json.dumps(as_json(rows), indent=2, ensure_ascii=False))
    else:
        print_table(as_table(rows))
    if problems:
        raise StimuliError(problems)
