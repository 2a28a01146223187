"""The commands for handing a study on: bundle, verify, rerun."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from beholder.cli.command import CommandResult, StageCommand
from beholder.cli.completion import StudyPath
from beholder.cli.printing import STORE, Bar, print_table
from beholder.errors import Problem, UserError

_DIFFERENT = 3
"""The exit code where something is not as the bundle says."""
_KINDS = ("public", "reviewers", "archive")


@click.command(cls=StageCommand, stage="analyse")
@click.argument("study", default="study.yaml", type=StudyPath(), metavar="[STUDY]")
@STORE
@click.option(
    "--out", type=click.Path(path_type=Path), help="The archive, FILE.zip; NAME-KIND.zip in the study when left out."
)
@click.option("--public", is_flag=True, help="For anybody; so it is when none of the three is said.")
@click.option("--reviewers", is_flag=True, help="For reviewers: without names of authors.")
@click.option("--archive", is_flag=True, help="For a place with few readers: with stimuli, texts and payments.")
@click.option("--with-stimuli/--without-stimuli", default=None, help="The files of the stimuli, or their hashes only.")
@click.option(
    "--with-texts/--without-texts", default=None, help="What people wrote, with masks; look through it first."
)
@click.option("--robots", is_flag=True, help="Take the rehearsal, although people have answered.")
@click.option("--dry-run", is_flag=True, help="Only list what it would hold.")
def bundle(study: Path, dry_run: bool, public: bool, reviewers: bool, archive: bool, **options: Any) -> object:
    """Write the study, its facts and its results to one archive.

    Everything is computed anew from what the archive holds, so that anybody can verify it. What it holds, and what is
    left out, is listed before it is written.
    """
    import beholder

    chosen = [name for name, is_asked in zip(_KINDS, (public, reviewers, archive), strict=True) if is_asked]
    if len(chosen) > 1:
        what = f"--{' and --'.join(chosen)} are two bundles"
        raise UserError(
            Problem("beholder bundle", what, "one of --public, --reviewers, --archive", "Make one at a time.")
        )
    kind: Any = chosen[0] if chosen else "public"
    planned = beholder.bundle(study, kind=kind, dry_run=True, **options)
    click.echo(planned.choice.words)
    print_table([{"where": one.place, "what": one.what, "left out": one.without} for one in planned.holdings])
    click.echo("")
    if dry_run:
        for note in planned.words[1:]:
            click.echo(note)
        return planned
    with Bar("Steps") as progress:
        made = beholder.bundle(study, kind=kind, progress=progress, **options)
    for line in made.words:
        click.echo(line)
    click.echo(f"Anybody checks it with `beholder verify {made.path}`.")
    return made


@click.command(cls=StageCommand, stage="analyse", has_open=True)
@click.argument("archive", metavar="BUNDLE", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), help="Write a page, tables and the study computed anew here.")
def verify(archive: Path, out: Path | None) -> CommandResult:
    """Check a bundle, and compute all of its results anew.

    Says of every number and figure whether it is equal, different by how much, or not checkable. Nothing in the bundle
    is run. Exit code 0: everything that can be checked is as it says; 3: something is not.
    """
    import beholder

    with Bar("Steps") as progress:
        found = beholder.verify(archive, out=out, progress=progress)
    for line in found.words:
        click.echo(line)
    click.echo("")
    print_table([{"level": one.badge, "asks that": one.asks, "answer": one.answer} for one in found.criteria])
    if found.page is not None:
        click.echo(f"\nPage: {found.page}")
    else:
        click.echo("\nFor a page with every file and difference, give --out FOLDER.")
    document = {
        "is_same": found.is_same, "is_intact": found.is_intact, "digest": found.digest, "words": found.words,
        "faults": found.faults, "failure": found.failure, "files": found.files, "differences": found.differences,
        "criteria": found.criteria, "not_checkable": found.not_checkable, "page": found.page,
    }  # fmt: skip
    return CommandResult(document, found.page, code=0 if found.is_same else _DIFFERENT)


@click.command(cls=StageCommand, stage="make")
@click.argument("archive", metavar="BUNDLE", type=click.Path(path_type=Path))
@click.argument("folder", required=False, type=click.Path(path_type=Path))
@click.option("--new-people", is_flag=True, help="With other participants and a new seed.")
@click.option("--seed", type=click.IntRange(0), help="Of the new plan; derived from the bundle when left out.")
@click.option("--stimuli", type=click.Path(path_type=Path), help="The files of the stimuli, where it has hashes only.")
@click.option("--earlier", type=click.Path(path_type=Path), help="The original's folder: who began it is turned away.")
def rerun(archive: Path, folder: Path | None, **options: Any) -> object:
    """Make a study that repeats a bundle's with other participants.

    Its study file, texts and results come along in original/, so that `beholder compare` tells what was found again.
    """
    import beholder

    with Bar("Stimuli") as progress:
        made = beholder.rerun(archive, folder, **options, progress=progress)
    for line in made.words:
        click.echo(line)
    return made
