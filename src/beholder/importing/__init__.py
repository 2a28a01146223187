"""Importing: a study of another tool, its stimuli and its results, as a study of ours, with an account of every part.

`contract` (what an importer is), `registry` (which there are), `source_folder` and `source_values` (reading, within
limits), `provenance` (what became of everything), `study_folder` and `stored_sessions` (what is written),
`import_report`, `html_text`; then one module or folder for each tool.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from beholder.formats import count
from beholder.result_view import PagedResult, ResultView

if TYPE_CHECKING:
    from beholder.errors import Problem

__all__ = ["ImportedFolder", "import_study"]


@dataclass(frozen=True, repr=False)
class ImportedFolder(PagedResult):
    """What `import_study` wrote."""

    folder: Path
    importer: str
    studies: tuple[Path, ...]
    """Each study.yaml: more than one where the source needs several methods."""
    people: int
    sessions: int
    answers: int
    counts: Mapping[str, int]
    """How many parts of the source were mapped, assumed, unsupported and broken."""
    uncertain: Mapping[str, int]
    """Ratings in doubt, by reason."""
    missing: tuple[str, ...]
    """Stimuli that were not found."""
    problems: tuple[Problem, ...]
    """What has to be done before a study can be shown to people."""
    page: Path

    def _view(self) -> ResultView:
        made = f"{count(len(self.studies), 'study', 'studies')} from {self.importer}"
        words = [f"Wrote {made}: {', '.join(str(one) for one in self.studies)}."]
        if self.sessions:
            people = f"{count(self.sessions, 'session')} of {count(self.people, 'person', 'people')}"
            words.append(f"Results of {people}: {count(self.answers, 'answer')}.")
        words.append(f"Of the source: {', '.join(f'{number:,} {fate}' for fate, number in self.counts.items())}.")
        if self.uncertain:
            words.append(f"{count(sum(self.uncertain.values()), 'rating')} in doubt: see the column uncertain.")
        if self.missing:
            words.append(f"{count(len(self.missing), 'stimulus was', 'stimuli were')} not found.")
        return ResultView([*words, *map(str, self.problems)], page=self.page)


def import_study(
    source: str | Path,
    folder: str | Path,
    *,
    importer: str | None = None,
    stimuli: str | Path | None = None,
    partial: bool = False,
    keep_ids: bool = False,
    drop_untouched: bool = False,
) -> ImportedFolder:
    """Bring a study of another tool along: its configuration, its stimuli, and its results.

        beholder.import_study("webmushra/configs/codec.yaml", "codec")

    What most imports need:
        source          the file or the folder that the other tool wrote
        folder          a new or an empty folder for the study
        stimuli         a folder in which the stimuli are looked for, or a CSV with columns source and file

    Rarely:
        importer        which tool it is of, where that cannot be seen, such as webmushra
        partial         also where pages are of a kind that is not supported: those are left out
        keep_ids        keep platform ids, in the identity file of the store alone
        drop_untouched  leave out values that may never have been touched, where the tool shows that

    What became of every key, column, row and file is in import-report.json and import-report.html.
    """
    from beholder.importing.folder import import_folder

    return import_folder(
        Path(source),
        Path(folder),
        importer=importer,
        stimuli=Path(stimuli) if stimuli is not None else None,
        partial=partial,
        keep_ids=keep_ids,
        drop_untouched=drop_untouched,
    )
