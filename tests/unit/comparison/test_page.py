"""The page of a comparison."""

from __future__ import annotations

from pathlib import Path

import beholder
from support.compared_sides import ratings, score_table


def test_names_are_text_in_the_page_and_the_matrix_is_drawn(tmp_path: Path) -> None:
    sides = [
        score_table(tmp_path / f"{name}.csv", ratings(tmp_path / f"{seed}.csv", seed))
        for seed, name in enumerate("xyz")
    ]
    found = beholder.compare(*(f"<{path.stem}>={path}" for path in sides), out=tmp_path / "out")
    page = found.page.read_text("utf-8")
    assert "<x>" not in page
    assert "&lt;x&gt;" in page
    assert "matrix-stimulus-rating" in page
    assert repr(found).startswith("<x> and <y>: r = 0.9")
    assert "&lt;x&gt;" in found._repr_html_()
    assert "<x>" not in found._repr_html_()
    assert set(found.also) >= {"stimuli", "matrices", "correlations"}
