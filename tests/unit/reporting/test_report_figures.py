"""Figures: drawn from tables of results, alive in the page, and files for a paper."""

from __future__ import annotations

import re
import struct

import pytest

from beholder.analysis.figures.scores import scores_chart
from beholder.analysis.figures.theme import COLUMN, DOUBLE, Layout
from beholder.analysis.result import read_results
from beholder.reporting.figures import paper_files, to_svg
from beholder.reporting.sheets import TextTable, markdown_table, markdown_text
from beholder.study.model import Study
from support.rating_frames import means_frame
from support.report_pages import Page

# Files


@pytest.mark.parametrize(("layout", "mm"), [(COLUMN, 88), (DOUBLE, 180)])
def test_files_are_as_wide_as_a_column_of_a_paper(layout: Layout, mm: int) -> None:
    files = paper_files(to_svg(lambda layout: scores_chart(means_frame(), layout=layout), layout), layout)
    svg = files["svg"].decode()
    assert f'width="{mm:.2f}mm"' in svg
    assert "aria-label" not in svg
    box = re.search(rb"MediaBox \[0 0 ([\d.]+)", files["pdf"])
    assert box is not None
    assert float(box.group(1)) == pytest.approx(mm * 72 / 25.4, abs=0.1)
    assert b"FontFile" in files["pdf"]
    width = struct.unpack(">I", files["png"][16:20])[0]
    assert width == pytest.approx(mm * 300 / 25.4, abs=2)
    points = {float(size) * mm * 72 / 25.4 / layout.whole for size in re.findall(r'font-size="([\d.]+)px"', svg)}
    assert 7 <= min(points) <= max(points) <= 8.5


def test_every_figure_and_table_lies_beside_the_page(people: tuple[Study, Page]) -> None:
    folder = people[0].folder / "report"
    figures = {path.stem for path in (folder / "figures").glob("*.svg")}
    assert {"scores-quality", "distributions-quality", "pairs-quality", "raters"} <= figures
    for name in figures:
        assert {path.suffix for path in (folder / "figures").glob(f"{name}.*")} == {".svg", ".pdf", ".png"}
    for name in ("scores", "conditions", "contents", "pairs", "participants"):
        assert {path.suffix for path in (folder / "tables").glob(f"{name}.*")} == {".csv", ".tex", ".md"}


# The page


def test_every_mark_says_what_it_stands_for(people: tuple[Study, Page]) -> None:
    study, page = people
    tips = [attributes["data-tip"] or "" for _, attributes in page.tags if "data-tip" in attributes]
    row = read_results(study.folder).conditions.set_index("condition").loc["natural"]
    ends = f"{row['ci_low']:.1f} to {row['ci_high']:.1f}"
    assert f"natural\n{row['mean']:.1f}, 95 % interval {ends}\nn = 96, 24 participants" in tips
    for said in ("agreement", "bias"):
        assert len([tip for tip in tips if tip.startswith(f"p000\n{said}")]) == 1


def test_the_script_is_in_the_page_and_small(people: tuple[Study, Page]) -> None:
    scripts = [attributes for tag, attributes in people[1].tags if tag == "script"]
    assert {"type": "module"} in scripts
    assert not [attributes for attributes in scripts if "src" in attributes]
    assert (people[0].folder / "report" / "index.html").stat().st_size < 600_000


# Markdown


def test_a_markdown_table_keeps_every_name_in_its_cell() -> None:
    assert markdown_text("a|b\n*c* <d>") == r"a\|b \*c\* \<d\>"
    sheet = TextTable(("Condition", "Mean"), [("a|b", "3.0")])
    assert markdown_table(sheet) == "| Condition | Mean |\n| :-- | --: |\n| a\\|b | 3.0 |\n"
