"""The result of a comparison: its folder, and what a notebook shows."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from beholder.cli import cli
from support.compared_sides import ratings


def test_the_folder_and_what_a_notebook_shows(tmp_path: Path) -> None:
    a, b = ratings(tmp_path / "a.csv", 1), ratings(tmp_path / "<b>.csv", 2, 1.2)
    result = CliRunner().invoke(cli, ["compare", str(a), f"Lab={b}"], catch_exceptions=False)
    folder = tmp_path / "compare"
    assert result.exit_code == 0
    assert result.stdout.startswith("a and Lab: r = 0.9")
    assert result.stdout.endswith(f"Page: {folder / 'index.html'}\n")
    page = (folder / "index.html").read_text("utf-8")
    assert "Stimuli that differ clearly" in page
    assert "Orange" in page
    assert "nan" not in page.lower().replace("nanosecond", "")
    notes = json.loads((folder / "notes.json").read_text("utf-8"))
    assert set(notes["analyses"]) == {path.stem for path in folder.glob("*.csv")}
    assert notes["words"] == result.stdout.splitlines()[:1]
    assert {path.name for path in (folder / "figures").glob("*.svg")} == {
        "scatter-stimulus-rating-1-2.svg", "scatter-condition-rating-1-2.svg", "difference-stimulus-rating-1-2.svg",
    }  # fmt: skip
