"""The folder of a verb that tells something beside the report: tables, figures, notes and one page."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from beholder.analyse.result import Result, records
from beholder.clean.tables import json_bytes, table_bytes, utf8, write_together, write_whole
from beholder.errors import Problem, UserError
from beholder.report.beside import file_list, how_made, population_line
from beholder.report.document import document
from beholder.report.figures import Figure, drawn
from beholder.report.markup import Child, Markup, tag
from beholder.report.panel import panel

_ALWAYS = ("notes.json", "index.html")
_PLAIN = re.compile(r"(figures/)?[^/\\]*[^/\\.][^/\\]*")
"""Names within the folder: notes that somebody has changed must not lead out of it."""
_SHOWN = 3


class Outcome(NamedTuple):
    """What a verb found."""

    kind: str
    """Above the title: what this page is."""
    title: str
    lead: Child
    """The finding in a sentence or two."""
    tables: Mapping[str, Result]
    """By the names of their files."""
    figures: Sequence[Figure]
    sections: Callable[[Mapping[str, Markup]], Sequence[Child]]
    """What the page tells, from the figures by name: panels."""
    notes: Mapping[str, Any] = {}
    """What notes.json holds beside how each table was made."""
    simulated: str = ""
    """Whose ratings come from robots, in a sentence; empty where nobody's do."""


def write_outcome(outcome: Outcome, folder: Path, progress: Callable[[int, int], None] | None = None) -> Path:
    """Write the folder anew and return the path of its page; `progress` is told of figures.

    What an earlier run of the same verb wrote there is replaced; a file of anybody else's is left, or UserError raised
    where it is in the way.
    """
    tables = {
        f"{name}.csv": table_bytes(list(one.table.columns), records(one.table)) for name, one in outcome.tables.items()
    }
    inline: dict[str, Markup] = {}
    figures: dict[str, bytes] = {}
    refuse_taken(folder, outcome.kind, [*tables, *_ALWAYS])
    for done, figure in enumerate(outcome.figures, 1):
        made = drawn(figure)
        figures |= {f"figures/{figure.name}.{ending}": content for ending, content in made.files.items()}
        if made.inline is not None:
            inline[figure.name] = made.inline
        if progress is not None:
            progress(done, len(outcome.figures))
    files = [*tables, "notes.json", *figures]
    notes = {
        **outcome.notes,
        "simulated": outcome.simulated,
        "analyses": {name: {"note": one.note, "citation": one.citation} for name, one in outcome.tables.items()},
        "kind": outcome.kind,
        "files": [*files, "index.html"],
    }
    refuse_taken(folder, outcome.kind, notes["files"])
    stale = _written(folder, outcome.kind) - set(notes["files"])
    write_together(
        folder, {**tables, "notes.json": json_bytes(notes)}, [name for name in stale if not name.startswith("figures/")]
    )
    for name in sorted(stale):
        (folder / name).unlink(missing_ok=True)
    for name, content in figures.items():
        write_whole(folder / name, content)
    path = folder / "index.html"
    write_whole(path, utf8(_page(outcome, inline, files)))
    return path


def refuse_taken(folder: Path, kind: str, files: Sequence[str] = _ALWAYS) -> None:
    """Raise UserError where a file that would be written is there and is not from an earlier run of the same verb."""
    own = _written(folder, kind)
    taken = [name for name in files if name not in own and (folder / name).exists()]
    if taken:
        some = ", ".join(taken[:_SHOWN]) + (f" and {len(taken) - _SHOWN} more" if len(taken) > _SHOWN else "")
        what = f"has {some} already, not from an earlier run of this command"
        raise UserError(Problem(str(folder), what, "a new or an empty folder", "Name another with --out."))


def _written(folder: Path, kind: str) -> set[str]:
    """Return the files that an earlier run of the same verb wrote here, as its notes say."""
    try:
        notes = json.loads((folder / "notes.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return set()
    if not isinstance(notes, dict) or notes.get("kind") != kind or not isinstance(notes.get("files"), list):
        return set()
    return {name for name in notes["files"] if isinstance(name, str) and _PLAIN.fullmatch(name)}


def _page(outcome: Outcome, figures: Mapping[str, Markup], files: Sequence[str]) -> str:
    top = tag(
        "header", tag("p", outcome.kind, class_="paper__kind"), tag("h1", outcome.title), outcome.lead,
        class_="paper__head",
    )  # fmt: skip
    sections = [
        *outcome.sections(figures),
        panel("method", "How it was done", how_made(outcome.tables), is_wide=True),
        panel("files", "Files beside this page", file_list(files), is_wide=True),
    ]
    paper = tag("main", top, sections, class_="paper")
    return document(outcome.title, [population_line(outcome.simulated), paper], ["interactive.js"])
