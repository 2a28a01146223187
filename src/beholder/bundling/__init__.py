"""Bundles: a finished study in one archive that a stranger can verify, and repeat with other people.

holdings             the three kinds of bundles, and what each holds
facts_files          the facts as JSON lines, without what tells who somebody is
study_files          study.yaml, its texts and plan, without what is not handed on
authors              names of the authors, taken out for reviewers
zip_files            archives: the same bytes each time, and hostile ones refused
crate                RO-Crate metadata, README, software and checksums
archive_contents     everything that a bundle holds, in one folder; and the result of `bundle`
recomputation        clean, analyse and report once more, from the facts of a bundle alone
number_checks        two versions of a file held against each other, number by number
criteria             what reviewers of artefacts ask for, and whether a bundle has it
verification         the result of `verify`
verification_page    its page and files
repetition           the study folder that `rerun` makes
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from beholder.bundling.archive_contents import Bundled
    from beholder.bundling.holdings import Kind
    from beholder.bundling.repetition import Repetition
    from beholder.bundling.verification import Verification
    from beholder.study.model import Study

__all__ = ["bundle", "rerun", "verify"]


def bundle(
    study: str | Path | Study = "study.yaml",
    *,
    out: str | Path | None = None,
    kind: Kind = "public",
    with_stimuli: bool | None = None,
    with_texts: bool | None = None,
    robots: bool = False,
    store: str | None = None,
    dry_run: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Bundled:
    """Write a study with its facts and results to one archive; return what it holds, and its digest.

        beholder.bundle("study.yaml", out="study.zip").digest

    What most studies need:
        study           the study file, or the study. Its results are computed anew, from what the archive holds
        out             the archive: NAME-KIND.zip beside the study file when left out
        kind            `public`, `reviewers` (without names of authors) or `archive` (for a place with few readers)

    Of what it holds:
        with_stimuli    the files of the stimuli, not only their hashes; in an `archive` when left out
        with_texts      what people wrote in their own words, with masks; in an `archive` when left out
        robots          the rehearsal of a study that people have taken too

    Rarely:
        store           where answers are kept, if not in store/ beside the study
        dry_run         only say what it would hold
        progress        a function that gets the number of steps that are done, and of all

    That people's ratings were bundled is recorded in the ledger of the store, as a look at them.
    """
    from beholder.bundling.archive_contents import bundle_study

    return bundle_study(
        study, out=None if out is None else Path(out), kind=kind, with_stimuli=with_stimuli, with_texts=with_texts,
        robots=robots, store=store, dry_run=dry_run, progress=progress,
    )  # fmt: skip


def verify(
    archive: str | Path,
    *,
    out: str | Path | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Verification:
    """Check a bundle and compute its results anew; return for every number and figure whether it is the same.

        checked = beholder.verify("study.zip")
        checked.is_same, checked.differences

    `archive` is a file that `beholder.bundle` wrote, by anybody: nothing in it is run. With `out`, a page, tables and
    the folder in which everything was computed anew are written there. `progress` gets the number of steps that are
    done, and of all.
    """
    from beholder.bundling.verification import verify_archive

    return verify_archive(Path(archive), out=None if out is None else Path(out), progress=progress)


def rerun(
    archive: str | Path,
    folder: str | Path | None = None,
    *,
    new_people: bool = True,
    seed: int | None = None,
    stimuli: str | Path | None = None,
    earlier: str | Path | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Repetition:
    """Make a study that repeats the one in a bundle with other participants; return where it is.

        again = beholder.rerun("study.zip", "again")
        beholder.compare("again/original", again.study)  # once people have answered

    What most studies need:
        archive         a file that `beholder.bundle` wrote
        folder          where to make it: NAME-rerun beside the archive when left out
        stimuli         a folder with the files of the stimuli, where the bundle has only their hashes
        earlier         the folder of the original study, where you have it: who began it is turned away

    Rarely:
        new_people      only with other participants: what is computed anew from the same ones is `beholder.verify`
        seed            of the new plan; derived from the bundle when left out
        progress        a function that gets the number of stimuli that are looked at, and of all
    """
    from beholder.bundling.repetition import repeat_study

    return repeat_study(
        Path(archive), folder=None if folder is None else Path(folder), new_people=new_people, seed=seed,
        stimuli=None if stimuli is None else Path(stimuli), earlier=None if earlier is None else Path(earlier),
        progress=progress,
    )  # fmt: skip
