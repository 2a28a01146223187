"""The folder of a verb other than `report`: tables, figures, notes and one page."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from beholder.analysis.result import Result, records
from beholder.analysis.sides import Side
from beholder.errors import Problem, UserError
from beholder.files import json_bytes, table_bytes, utf8, write_all, write_atomically
from beholder.formats import first_names, join_names
from beholder.reporting.figures import Figure, draw_figure
from beholder.reporting.html import Child, Markup, contents, document, file_list, folded, headings, panel, tag
from beholder.reporting.sheets import TextTable, latex_table

_ALWAYS = ("notes.json", "index.html")
_PLAIN = re.compile(r"(figures/)?[^/\\]*[^/\\.][^/\\]*")
"""Names within the folder: edited notes must not lead out of it."""
_SHOWN = 3


class Outcome(NamedTuple):
    """The results of a verb, with its tables, figures and sections."""

    kind: str
    """The kind of page, above the title."""
    title: str
    lead: Child
    """The main result in one or two sentences."""
    tables: Mapping[str, Result]
    """By the names of their files."""
    figures: Sequence[Figure]
    sections: Callable[[Mapping[str, Markup]], Sequence[Child]]
    """Returns the panels of the page from the figures by name."""
    notes: Mapping[str, Any] = {}
    """What notes.json holds in addition to the notes on each table."""
    simulated: str = ""
    """Whose ratings come from robots, in a sentence; empty if no ratings do."""
    sheets: Mapping[str, TextTable] = {}
    """Tables for a paper, written in LaTeX under the names of their files."""

    @property
    def charts(self) -> Mapping[str, Callable[[], Any]]:
        """What draws each figure as a paper has it, by its name."""
        return {figure.name: partial(figure.draw, figure.paper) for figure in self.figures}


def write_outcome(outcome: Outcome, folder: Path, progress: Callable[[int, int], None] | None = None) -> Path:
    """Write the folder and return the path of its page; `progress` gets figures done and all.

    Files of an earlier run of the same verb are replaced. Other files are kept; UserError is raised if one is in the
    way.
    """
    tables = {
        f"{name}.csv": table_bytes(list(one.table.columns), records(one.table)) for name, one in outcome.tables.items()
    }
    tables |= {f"{name}.tex": utf8(latex_table(sheet)) for name, sheet in outcome.sheets.items()}
    inline: dict[str, Markup] = {}
    figures: dict[str, bytes] = {}
    refuse_taken(folder, outcome.kind, [*tables, *_ALWAYS])
    for done, figure in enumerate(outcome.figures, 1):
        drawing = draw_figure(figure)
        figures |= {f"figures/{figure.name}.{ending}": content for ending, content in drawing.files.items()}
        if drawing.inline is not None:
            inline[figure.name] = drawing.inline
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
    stale = own_files(folder, outcome.kind) - set(notes["files"])
    write_all(
        folder, {**tables, "notes.json": json_bytes(notes)}, [name for name in stale if not name.startswith("figures/")]
    )
    for name in sorted(stale):
        (folder / name).unlink(missing_ok=True)
    for name, content in figures.items():
        write_atomically(folder / name, content)
    path = folder / "index.html"
    write_atomically(path, utf8(_page(outcome, inline, files)))
    return path


def refuse_taken(folder: Path, kind: str, files: Sequence[str] = _ALWAYS) -> None:
    """Raise UserError if a file that would be written exists and is not from an earlier run of the same verb."""
    own = own_files(folder, kind)
    taken = [name for name in files if name not in own and (folder / name).exists()]
    if taken:
        what = f"has {first_names(taken, _SHOWN)} already, not from an earlier run of this command"
        raise UserError(Problem(str(folder), what, "a new or an empty folder", "Name another with --out."))


def own_files(folder: Path, kind: str) -> set[str]:
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
    sections: list[Child] = [
        *outcome.sections(figures),
        panel("method", "How it was done", table_notes(outcome.tables), is_wide=True),
        panel("files", "Files beside this page", file_list(files), is_wide=True),
    ]
    listed = contents([[heading] for heading in headings(sections)])
    paper = tag("main", top, listed, sections, class_="paper")
    return document(outcome.title, [population_line(outcome.simulated), paper], ["interactive.js"])


# Parts of the page


REHEARSAL = "A rehearsal, not a result."


def simulated(sides: Sequence[Side]) -> str:
    """Return which sides have ratings of robots, in a sentence; empty if none has."""
    robots = [side.name for side in sides if side.population == "robots"]
    if not robots:
        return ""
    whose = "These ratings" if len(robots) == len(sides) else f"The ratings of {join_names(robots)}"
    return f"{whose} come from robots. {REHEARSAL}"


def population_line(sentence: str) -> Markup | None:
    """Return the first line of a page on simulated ratings."""
    return (
        tag("p", tag("b", "Simulated."), f" {sentence}", class_="population population--robots") if sentence else None
    )


def headline(lines: Sequence[str], foot: str = "") -> Markup:
    """Return the main result for the head of a page."""
    content = (
        tag("p", lines[0], class_="headline__said")
        if len(lines) == 1
        else tag("ul", [tag("li", line) for line in lines], class_="headline__said")
    )
    return tag("div", content, tag("p", foot, class_="headline__foot") if foot else None, class_="headline")


def table_notes(tables: Mapping[str, Result]) -> Markup:
    """Return how each table was made and what to cite, collapsed."""
    entries = [
        tag(
            "div",
            tag("dt", tag("a", f"{name}.csv", href=f"{name}.csv")),
            tag("dd", one.note, tag("p", f"Cite: {one.citation}.", class_="panel__foot") if one.citation else None),
        )
        for name, one in tables.items()
        if one.note
    ]
    return folded("Table by table, with what to cite", tag("dl", entries, class_="method"))
