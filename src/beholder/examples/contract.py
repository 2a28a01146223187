"""What an example is: a paper's study that runs, and the tables and figures of the paper that come out of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from beholder.reporting.sheets import TextTable

Origin = Literal["published", "rehearsal", "page", "drawing", "not made"]
"""Where the numbers of an exhibit come from."""

ORIGINS: dict[Origin, str] = {
    "published": "Computed from the numbers that the paper publishes.",
    "rehearsal": "From a rehearsal with simulated people: it shows that the table is made, not that the finding holds.",
    "page": "A picture of our page.",
    "drawing": "A drawing that explains; no numbers.",
    "not made": "Not made.",
}


@dataclass(frozen=True)
class Exhibit:
    """One table or figure of a paper, made again."""

    name: str
    """As the paper counts, such as `Table 3`."""
    title: str
    origin: Origin
    made_by: str
    """The command, or the file in which the numbers stand; or the reason why it is not made."""
    ours: TextTable | None = None
    theirs: TextTable | None = None
    """The paper's numbers; where heads and first columns are those of `ours`, they stand in its cells."""
    figure: Path | None = None
    note: str = ""

    @property
    def key(self) -> str:
        """The name as part of a file's name, such as `table-3`."""
        return self.name.lower().replace(" ", "-").replace(",", "")


@dataclass
class ExampleRun:
    """An example at work: where its files are, how large it is, and whom to tell."""

    folder: Path
    small: bool = False
    pictures: bool = False
    """Whether a robot takes the study in a real browser as well, for pictures of its pages."""
    tell: Callable[[str], None] = field(default=lambda step: None)
    progress: Callable[[int, int], None] | None = None

    def size(self, whole: int, small: int) -> int:
        """Return a number of people or contents: that of the paper, or fewer."""
        return small if self.small else whole


@dataclass(frozen=True)
class PaperStudy:
    """A paper's study: its folder of study files, and what makes the paper's exhibits."""

    name: str
    title: str
    citation: str
    about: str
    source: Path
    """The folder with study files and texts, as it is copied."""
    prepare: Callable[[ExampleRun], None]
    """Writes the stimuli."""
    run: Callable[[ExampleRun], Iterable[Exhibit]]
    """Takes the studies from plan to report and yields the exhibits."""


def merge(ours: TextTable, theirs: TextTable) -> TextTable | None:
    """Return one table with the paper's numbers in brackets; None where heads differ, or theirs has other rows."""
    from beholder.reporting.sheets import TextTable

    names = ours.names
    paper = {row[:names]: row[names:] for row in theirs.rows}
    if theirs.heads != ours.heads or not paper.keys() <= {row[:names] for row in ours.rows}:
        return None
    none = ("",) * (len(ours.heads) - names)
    rows = [
        (*row[:names], *(_beside(a, b) for a, b in zip(row[names:], paper.get(row[:names], none), strict=True)))
        for row in ours.rows
    ]
    return TextTable(ours.heads, rows, names)


def _beside(ours: str, theirs: str) -> str:
    return f"{ours} ({theirs})" if theirs else ours


def read_published(path: Path, names: int = 1) -> TextTable:
    """Return a table of numbers as a paper prints them, from a CSV file."""
    import csv

    from beholder.reporting.sheets import TextTable

    with path.open(encoding="utf-8", newline="") as file:
        heads, *rows = csv.reader(file)
    return TextTable(tuple(heads), [tuple(row) for row in rows], names)


def sheet(heads: Sequence[str], rows: Iterable[Sequence[str]], names: int = 1) -> TextTable:
    """Return a table of text from any sequences."""
    from beholder.reporting.sheets import TextTable

    return TextTable(tuple(heads), [tuple(row) for row in rows], names)
