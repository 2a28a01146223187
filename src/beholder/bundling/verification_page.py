"""The files of a verification: a page for people, and the same as tables and JSON."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

from beholder.analysis.result import records
from beholder.bundling.number_checks import counted
from beholder.bundling.verification import Verification
from beholder.errors import Problem, UserError
from beholder.files import json_bytes, table_bytes, utf8, write_all
from beholder.reporting.html import Child, Markup, contents, document, file_list, headings, panel, table, tag
from beholder.reporting.result_page import REHEARSAL, headline, population_line
from beholder.reporting.sheets import TextTable

_KIND = "verification of a bundle"
_FILES = ("verification.json", "files.csv", "differences.csv", "criteria.csv", "index.html")
_MOST = 100
"""Rows of a table on the page; all are in the files."""


def refuse_folder(out: Path) -> None:
    """Raise UserError where something else is in the folder."""
    if out.exists() and (not out.is_dir() or (any(out.iterdir()) and not (out / _FILES[0]).is_file())):
        what = "is there, and is no verification of a bundle"
        raise UserError(Problem(str(out), what, "a new or empty folder", "Name another folder with --out."))


def write_verification(found: Verification, out: Path, study: Path) -> Verification:
    """Write the page and tables, and the folder in which everything was computed anew; return it with its page."""
    if study.is_dir():
        shutil.rmtree(out / "study", ignore_errors=True)
        shutil.copytree(study, out / "study")
    tables = {"files.csv": found.files, "differences.csv": found.differences, "criteria.csv": found.badges}
    notes = {
        "kind": _KIND, "archive": found.archive.name, "digest": found.digest, "is_same": found.is_same,
        "is_intact": found.is_intact, "failure": found.failure, "words": list(found.words),
        "counts": dict(counted(found.checks)), "faults": [one._asdict() for one in found.faults],
        "software": {name: {"bundle": there, "here": here} for name, (there, here) in found.software.items()},
        "criteria": [one._asdict() for one in found.criteria],
        "not_checkable": [one._asdict() for one in found.not_checkable],
        "checks": [asdict(one) | {"state": one.state, "largest": one.largest} for one in found.checks],
    }  # fmt: skip
    files = {name: table_bytes(list(one.columns), records(one)) for name, one in tables.items()}
    page = utf8(_page(found))
    write_all(out, {**files, "verification.json": json_bytes(notes), "index.html": page})
    return replace(found, page=out / "index.html")


def _page(found: Verification) -> str:
    top = tag(
        "header", tag("p", "Verification", class_="paper__kind"), tag("h1", found.archive.name),
        headline([found.words[0], *found.words[1:]]), class_="paper__head",
    )  # fmt: skip
    sections = [*_sections(found)]
    listed = contents([[heading] for heading in headings(sections)])
    body = tag("main", top, listed, sections, class_="paper")
    simulated = f"Robots answered in place of people. {REHEARSAL}" if found.is_simulated else ""
    return document(f"{found.archive.name}: verification", [population_line(simulated), body], ["interactive.js"])


def _sections(found: Verification) -> Iterator[Child]:
    if found.faults:
        rows = [[one.file, one.what] for one in found.faults[:_MOST]]
        yield panel("faults", "What is wrong with the files", _sheet("Files", ["file", "what"], rows), is_wide=True)
    differences = found.differences
    if len(differences):
        rows = [
            [
                row["file"],
                row["place"],
                row["bundled"],
                row["computed"],
                "" if row["by"] != row["by"] else f"{row['by']:g}",
            ]
            for row in differences.head(_MOST).to_dict("records")
        ]
        heads = ["file", "place", "in the bundle", "here", "apart by"]
        yield panel("differences", "What came out otherwise", _sheet("Differences", heads, rows), is_wide=True)
    files = [
        [one.file, one.state, f"{one.values:,}", f"{one.equal:,}", one.unchecked or ""] for one in found.checks
    ]  # fmt: skip
    yield panel(
        "files",
        "Every file of results",
        _sheet("Files", ["file", "state", "values", "equal", "why"], files),
        is_wide=True,
    )
    asked = [[one.badge, one.asks, one.answer, one.why] for one in found.criteria]
    yield panel(
        "criteria", "What reviewers of artefacts ask for",
        _sheet("Criteria", ["level", "asks that", "answer", "why"], asked), is_wide=True,
        foot="The levels of ACM's Artifact Review and Badging, version 1.1, in our words. Badges are given by people.",
    )  # fmt: skip
    beyond = [[one.file, one.what] for one in found.not_checkable]
    yield panel(
        "beyond", "What nobody can check from a bundle", _sheet("Not checkable", ["what", "why"], beyond), is_wide=True
    )
    if found.software:
        rows = [[name, there, here] for name, (there, here) in found.software.items()]
        yield panel("software", "Other software", _sheet("Software", ["package", "bundle", "here"], rows), is_wide=True)
    yield panel(
        "beside", "Files beside this page", file_list([name for name in _FILES if name != "index.html"]), is_wide=True
    )


def _sheet(caption: str, heads: list[str], rows: list[list[str]]) -> Markup:
    return table(caption, TextTable(tuple(heads), [tuple(row) for row in rows], len(heads)))
