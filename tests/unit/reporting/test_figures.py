"""Figures of a report: drawn once, with tooltips in the page, and as files for a paper."""

from __future__ import annotations

import re
import struct
from pathlib import Path

import pytest

from beholder.analysis.figures.scores import scores_chart
from beholder.analysis.figures.theme import COLUMN, DOUBLE, Layout
from beholder.analysis.result import read_results
from beholder.reporting.figures import paper_files, pdf_of, to_svg
from beholder.study.model import Study
from support.comparison_reports import compared
from support.rating_frames import means_frame
from support.report_pages import Page


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


def test_every_mark_says_what_it_stands_for(people: tuple[Study, Page]) -> None:
    study, page = people
    tips = [attributes["data-tip"] or "" for _, attributes in page.tags if "data-tip" in attributes]
    row = read_results(study.folder).conditions.set_index("condition").loc["natural"]
    ends = f"{row['ci_low']:.1f} to {row['ci_high']:.1f}"
    these = f"with these contents {row['these_low']:.1f} to {row['these_high']:.1f}"
    assert f"natural\n{row['mean']:.1f}, 95 % interval {ends}; {these}\nn = 96, 24 participants" in tips
    for measure in ("agreement", "bias"):
        assert len([tip for tip in tips if tip.startswith(f"p000\n{measure}")]) == 1


@pytest.mark.variant
def test_a_long_scale_keeps_the_words_at_its_ends(tmp_path: Path) -> None:
    questions = [{"id": "quality", "text": "How visible?", "scale": "dcr5"}]
    compared(tmp_path, "dcr", "score", [("a", "orig", 1), ("b", "orig", 0)], questions=questions)
    figure = (tmp_path / "report" / "figures" / "scores-quality.svg").read_text("utf-8")
    assert "Very annoying" in figure
    assert "Imperceptible" in figure
    assert "Slightly annoying" not in figure


def test_grades_have_the_words_of_their_scale(tmp_path: Path) -> None:
    questions = [{"id": "quality", "text": "Which one?", "scale": "ccr7"}]
    compared(tmp_path, "ccr", "diff", [("a", "b", 1)], questions=questions)
    figure = (tmp_path / "report" / "figures" / "scores-quality.svg").read_text("utf-8")
    assert "Much worse" in figure
    assert "Much better" in figure


def test_a_picture_has_300_dots_in_an_inch(tmp_path: Path) -> None:
    compared(tmp_path, "ab", "choice", [("a", "b", 1)])
    png = (tmp_path / "report" / "figures" / "scores-quality.png").read_bytes()
    place = png.index(b"pHYs") + 4
    assert struct.unpack(">IIB", png[place : place + 9]) == (11811, 11811, 1)  # in a metre


def test_a_drawing_gives_the_same_pdf_each_time() -> None:
    box = '<rect x="{}" y="{}" width="5" height="5" fill="#00f" opacity="0.{}"/>'
    boxes = "".join(box.format(9 * place, place, place) for place in range(1, 10))
    words = '<text y="20" font-family="sans-serif">a</text><text y="40" font-weight="bold">b</text>'
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 90 50" width="90" height="50">{boxes}{words}</svg>'
    assert len({pdf_of(svg) for _ in range(8)}) == 1
