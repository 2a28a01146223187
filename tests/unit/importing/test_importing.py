"""What `import_study` returns shows itself."""

from __future__ import annotations

from pathlib import Path

from beholder.errors import Problem
from beholder.importing import ImportedFolder


def test_an_import_says_what_it_made_what_is_in_doubt_and_what_is_missing() -> None:
    done = ImportedFolder(
        Path("mine"), "webMUSHRA", (Path("mine/study.yaml"),), 2, 3, 12, {"mapped": 40, "broken": 1}, {"untouched": 4},
        ("a.wav",), (Problem("study.yaml", "lacks a reference"),), Path("mine/import-report.html"),
    )  # fmt: skip
    assert done.summary() == (
        "Wrote 1 study from webMUSHRA: mine/study.yaml.\nResults of 3 sessions of 2 people: 12 answers.\n"
        "Of the source: 40 mapped, 1 broken.\n4 ratings in doubt: see the column uncertain.\n"
        "1 stimulus was not found.\nstudy.yaml  lacks a reference."
    )
    shown = done._repr_html_()
    assert all(line in shown for line in done.summary().splitlines())
