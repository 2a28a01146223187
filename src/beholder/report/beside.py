"""What the pages of verbs beside the report share: who answered, the finding, how tables were made, and the files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from beholder.analyse.result import Result
from beholder.analyse.side import Side
from beholder.report.markup import Markup, render, tag
from beholder.report.words import listed

REHEARSAL = "A rehearsal, not a result."


def simulated(sides: Sequence[Side]) -> str:
    """Return whose ratings come from robots; nothing where nobody's do."""
    robots = [side.name for side in sides if side.population == "robots"]
    if not robots:
        return ""
    whose = "These ratings" if len(robots) == len(sides) else f"The ratings of {listed(robots)}"
    return f"{whose} come from robots. {REHEARSAL}"


def population_line(told: str) -> Markup | None:
    """Return the first line of a page that stands on robots."""
    return tag("p", tag("b", "Simulated."), f" {told}", class_="population population--robots") if told else None


def headline(lines: Sequence[str], foot: str = "") -> Markup:
    """Return the finding as it stands at the head of a page."""
    said = (
        tag("p", lines[0], class_="headline__said")
        if len(lines) == 1
        else tag("ul", [tag("li", line) for line in lines], class_="headline__said")
    )
    return tag("div", said, tag("p", foot, class_="headline__foot") if foot else None, class_="headline")


def how_made(tables: Mapping[str, Result]) -> Markup:
    """Return how each table was made, folded, with what to cite."""
    entries = [
        tag(
            "div",
            tag("dt", tag("a", f"{name}.csv", href=f"{name}.csv")),
            tag("dd", one.note, tag("p", f"Cite: {one.citation}.", class_="panel__foot") if one.citation else None),
        )
        for name, one in tables.items()
        if one.note
    ]
    summary = tag("summary", "Table by table, with what to cite")
    return tag("details", summary, tag("dl", entries, class_="method"), class_="question")


def file_list(files: Sequence[str]) -> Markup:
    """Return links to all files, the formats of one figure in one line."""
    by_stem: dict[str, list[str]] = {}
    for name in files:
        stem = name.rpartition(".")[0] if name.startswith("figures/") else name
        by_stem.setdefault(stem, []).append(name)
    lines = []
    for stem, names in by_stem.items():
        if names == [stem]:
            lines.append(tag("li", tag("a", stem, href=stem)))
            continue
        links = [[" ", tag("a", name.rpartition(".")[2], href=name)] for name in names]
        lines.append(tag("li", stem.removeprefix("figures/"), render(links)))
    return tag("ul", lines, class_="files")
