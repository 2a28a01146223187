"""Backups: encrypted copies of the answers at another place, made while a study is served."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from beholder.result_view import ResultView, ShownResult

if TYPE_CHECKING:
    from beholder.backups.history import BackupNote
    from beholder.study.model import Study


@dataclass(frozen=True, repr=False)
class BackedUp(ShownResult):
    """A backup that was made and verified, and those that are at its place."""

    study: str
    to: str
    made: BackupNote | None
    """None where backups were only listed."""
    backups: Sequence[BackupNote]
    """All that are there, oldest first."""
    words: tuple[str, ...]

    def _view(self) -> ResultView:
        return ResultView(self.words)


def backup(
    study: str | Path | Study = "study.yaml", *, to: str | None = None, store: str | None = None, make: bool = True
) -> BackedUp:
    """Make a backup of the answers now, verify it, and return it with all that are at its place.

        beholder.backup("study.yaml")
        beholder.backup("study.yaml", to="sftp://ada@archive.example.org/~/backups")

    What most studies need:
        study           the study file, with `backup`

    Rarely:
        to              another place than that of the study: a folder, s3://, gs://, az:// or sftp://
        store           where answers are kept, if not in store/ beside the study
        make            False only lists what is there
    """
    from beholder.backups.backup_settings import required_settings
    from beholder.backups.cycle import make_backup
    from beholder.backups.history import read_history
    from beholder.formats import plain_count
    from beholder.methods import load_study
    from beholder.study.model import Study

    loaded = study if isinstance(study, Study) else load_study(study)
    settings = required_settings(loaded, to)
    words: list[str] = []
    made = None
    if make:
        done = make_backup(settings, store or str(loaded.folder / "store"), is_forced=True)
        made = done.note
        assert made is not None
        whom = f"Encrypted for {', '.join(made.keys)}." if made.keys else "It is not encrypted."
        words += [f"Made and verified: {made.words}.", whom]
        if not made.seals:
            more = "a restore would ask for your words. Make it where your key is, or let `beholder deploy up` do so."
            words.append(f"It is not sealed, as this machine has no key of yours: {more}")
        if done.removed:
            words.append(f"Removed: {plain_count(len(done.removed), 'file')} of old backups.")
    there = read_history(settings.destination(), loaded.name)
    words += [f"{one.words}  {one.file}" for one in there] if not make else []
    count = plain_count(len(there), "backup")
    words.append(f"{count} at {settings.to}." if there else f"No backup at {settings.to} yet.")
    return BackedUp(loaded.name, settings.to, made, there, tuple(words))
