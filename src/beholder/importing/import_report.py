"""What became of a source: import-report.json for programs, and import-report.html for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from beholder.files import json_bytes, write_atomically
from beholder.formats import count, megabytes
from beholder.importing.provenance import FATES, Fate, Provenance
from beholder.importing.stored_sessions import StoredCounts
from beholder.importing.study_folder import WrittenStudy
from beholder.reporting.html import Child, Markup, document, folded, panel, table, tag
from beholder.reporting.sheets import TextTable

REPORT, PAGE = "import-report.json", "import-report.html"
_MOST_SHOWN = 500
"""Lines of a table on the page; all of them are in the JSON."""
_TITLES: Mapping[Fate, str] = {
    "mapped": "Mapped", "assumed": "Assumed", "unsupported": "Not supported", "broken": "Broken",
}  # fmt: skip
_MEANINGS: Mapping[Fate, str] = {
    "mapped": "These became something in the study or its store.",
    "assumed": "Here a default stands, because the source has nothing, or nothing certain, to say.",
    "unsupported": "Nothing was made of these. Values are kept as they were under source in study.yaml.",
    "broken": "Something is wrong with these in the source; what was done about it stands beside them.",
}
_HEADS: Mapping[Fate, tuple[str, ...]] = {
    "mapped": ("Where", "Became"),
    "assumed": ("Where", "Why", "What stands there"),
    "unsupported": ("Where", "Why", "Value"),
    "broken": ("Where", "What is wrong", "What was done"),
}


@dataclass(frozen=True)
class ImportAccount:
    """Everything that the report tells."""

    importer: str
    title: str
    recognised: str
    source: str
    files: Sequence[tuple[str, int, str]]
    """Name, bytes and SHA-256 of each file that was read."""
    provenance: Provenance
    studies: Sequence[tuple[WrittenStudy, StoredCounts]]
    folder: Path
    people: int = 0
    """In all studies together."""


def write_report(account: ImportAccount) -> dict[str, Any]:
    """Write both reports to the folder of the import; return the one for programs."""
    found = _document(account)
    write_atomically(account.folder / REPORT, json_bytes(found))
    write_atomically(account.folder / PAGE, document(_heading(account), _page(account, found), ()).encode())
    return found


def _document(account: ImportAccount) -> dict[str, Any]:
    provenance = account.provenance
    assumed = provenance.entries("assumed") + [one._asdict() for one in provenance.assumptions]
    entries: dict[str, Any] = {fate: assumed if fate == "assumed" else provenance.entries(fate) for fate in FATES}
    return {
        "importer": account.importer,
        "recognised": account.recognised,
        "source": account.source,
        "files": [{"file": name, "bytes": size, "sha256": sha} for name, size, sha in account.files],
        "counts": provenance.counts(),
        "studies": [
            {
                "folder": _inside(account, written),
                "name": written.study.name if written.study is not None else "",
                **counts._asdict(),
                "missing_stimuli": list(written.missing),
                "problems": [str(one) for one in written.problems],
            }
            for written, counts in account.studies
        ],
        "warnings": list(provenance.warnings),
        "uncertain": dict(sorted(provenance.notes.items())),
        **entries,
    }


def _inside(account: ImportAccount, written: WrittenStudy) -> str:
    return written.folder.relative_to(account.folder).as_posix()


# The page


def _heading(account: ImportAccount) -> str:
    return f"Import of {account.source}"


def _page(account: ImportAccount, found: Mapping[str, Any]) -> Markup:
    counts = found["counts"]
    said = ", ".join(f"{counts[fate]:,} {fate}" for fate in FATES)
    lead = tag(
        "p",
        f"Read as {account.title}, recognised by {account.recognised}. Of {count(sum(counts.values()), 'part')} of the "
        f"source: {said}.",
    )
    parts = [_studies_panel(account), _warnings_panel(account), _doubts_panel(account)]
    parts += [_fate_panel(fate, found[fate]) for fate in reversed(FATES)]
    files = [
        (name, megabytes(size) if size >= 100_000 else f"{size:,} bytes", sha[:16]) for name, size, sha in account.files
    ]
    listed = table("Files", TextTable(("File", "Size", "SHA-256"), files, 3))
    parts.append(panel("files", "Files that were read", listed, is_wide=True))
    head = tag("header", tag("h1", _heading(account)), lead, class_="paper__wide")
    return tag("main", head, [one for one in parts if one is not None], class_="paper")


def _studies_panel(account: ImportAccount) -> Markup:
    rows = []
    todo: list[Child] = []
    for written, counts in account.studies:
        name = _inside(account, written)
        rows.append((
            name if name != "." else "study.yaml", written.study.method if written.study else "not valid",
            f"{counts.people:,}", f"{counts.sessions:,}", f"{counts.answers:,}",
        ))  # fmt: skip
        if written.missing:
            listed = ", ".join(written.missing[:20]) + (" …" if len(written.missing) > 20 else "")
            what = f"{name}: {count(len(written.missing), 'stimulus was', 'stimuli were')} not found: {listed}. "
            fix = "Put them where stimuli.csv says, or import again with --stimuli."
            todo.append(tag("li", what, fix))
        todo += [tag("li", f"{name}: {problem}") for problem in written.problems]
    sheet = TextTable(("Study", "Method", "People", "Sessions", "Answers"), rows, 1)
    rest = [tag("p", "Before it can be shown to people:"), tag("ul", todo)] if todo else []
    return panel("studies", "What was made", Markup(table("Studies", sheet) + "".join(rest)), is_wide=True)


def _warnings_panel(account: ImportAccount) -> Markup | None:
    if not account.provenance.warnings:
        return None
    listed = tag("ul", [tag("li", words) for words in account.provenance.warnings])
    return panel("warnings", "Worth knowing", listed, is_wide=True)


def _doubts_panel(account: ImportAccount) -> Markup | None:
    doubts = sorted(account.provenance.notes.items(), key=lambda one: (-one[1], one[0]))
    if not doubts:
        return None
    sheet = TextTable(("Doubt", "Ratings"), [(why, f"{ratings:,}") for why, ratings in doubts], 1)
    words = tag("p", "These ratings are there, and the column uncertain of ratings.csv says why they are in doubt.")
    return panel("doubts", "Uncertain ratings", Markup(words + table("Uncertain ratings", sheet)), is_wide=True)


def _fate_panel(fate: Fate, entries: Sequence[Mapping[str, Any]]) -> Markup | None:
    if not entries:
        return None
    rows = [_row(fate, entry) for entry in entries[:_MOST_SHOWN]]
    sheet = TextTable(_HEADS[fate], rows, len(_HEADS[fate]))
    foot = f"{len(entries) - _MOST_SHOWN:,} more are in {REPORT}." if len(entries) > _MOST_SHOWN else None
    content: Markup = table(_TITLES[fate], sheet)
    if fate == "mapped" or len(rows) > 40:
        content = folded(f"All {len(entries):,} lines", content)
    return panel(fate, _TITLES[fate], Markup(tag("p", _MEANINGS[fate]) + content), foot=foot, is_wide=True)


def _row(fate: Fate, entry: Mapping[str, Any]) -> tuple[str, ...]:
    if fate == "assumed" and "file" not in entry:
        where = str(entry["key"])
    else:
        place = next((f"{kind} {entry[kind]}" for kind in ("key", "column", "row") if kind in entry), "")
        where = f"{entry['file']} {place}".strip()
    last = {"mapped": (), "assumed": ("default",), "unsupported": ("value",), "broken": ("done",)}[fate]
    said = next(str(entry[name]) for name in ("to", "why", "what") if name in entry)
    return (where, said, *(_short(entry.get(name, "")) for name in last))


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 200 else f"{text[:200]}…"
