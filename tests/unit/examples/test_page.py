"""The page of an example."""

from __future__ import annotations

import json
from pathlib import Path

from beholder.examples import examples
from beholder.examples.contract import Exhibit, sheet
from beholder.examples.page import markdown_section, write_example

OURS = sheet(("", "r"), [("run <1>", "0.95")])
EXHIBITS = (
    Exhibit("Table 2", "Laboratory & runs", "rehearsal", "`beholder compare`", OURS,
            sheet(("", "r"), [("run <1>", "0.956")])),
    Exhibit("Figure 4", "The avatars", "not made", "pictures of their avatars"),
)  # fmt: skip


def test_tables_are_written_as_csv_and_latex_and_told_on_the_page(tmp_path: Path) -> None:
    page = write_example(examples()["hemvip"], EXHIBITS, tmp_path)
    text = page.read_text("utf-8")
    assert "run &lt;1&gt;" in text
    assert "0.95 (0.956)" in text
    assert "not that the finding holds" in text
    assert "1 exhibit of 2 made again" in text
    assert (tmp_path / "exhibits" / "table-2.csv").read_text("utf-8-sig").splitlines() == ["row,r", "run <1>,0.95"]
    assert (tmp_path / "exhibits" / "table-2.tex").is_file()
    listed = json.loads((tmp_path / "exhibits" / "exhibits.json").read_text("utf-8"))
    assert [one["origin"] for one in listed] == ["rehearsal", "not made"]


def test_the_docs_have_the_same_tables() -> None:
    text = markdown_section(examples()["hemvip"], EXHIBITS, {"figure-4": "pictures/figure-4.png"})
    assert "### Table 2: Laboratory & runs" in text
    assert "0.95 (0.956)" in text
    assert "![The avatars](pictures/figure-4.png)" in text
