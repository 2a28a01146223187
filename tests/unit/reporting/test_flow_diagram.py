"""The flow of participants as a drawing: every step, who went no further and why, and boxes that do not overlap."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import unescape
from itertools import pairwise
from pathlib import Path
from typing import Any

from beholder.analysis.result import Results
from beholder.reporting.flow_diagram import flow_svg
from beholder.reporting.material import Material
from beholder.study.model import Study


def step(name: str, people: int, *lost: tuple[str, int], sessions: int | None = None) -> dict[str, Any]:
    reasons = [{"reason": words, "words": words, "people": n, "sessions": n} for words, n in lost]
    return {"step": name, "people": people, "sessions": people if sessions is None else sessions, "lost": reasons}


def drawn(*steps: dict[str, Any], population: str = "people") -> str | None:
    study, results = Study.model_construct(), Results.__new__(Results)
    return flow_svg(Material(study, {"flow": list(steps), "population": population}, results, (), {}))


def texts(svg: str) -> list[str]:
    return [unescape(text) for text in re.findall(r"<text[^>]*>([^<]*)</text>", svg)]


def boxes(svg: str) -> Sequence[tuple[float, float, float]]:
    pattern = r'<rect x="([\d.]+)" y="([\d.]+)" width="[\d.]+" height="([\d.]+)"'
    return [(float(x), float(y), float(height)) for x, y, height in re.findall(pattern, svg)]


def test_each_step_has_a_box_and_reasons_stand_beside_the_arrow() -> None:
    svg = drawn(
        step("came", 52, sessions=55),
        step("agreed", 50, ("Declined <consent>", 2)),
        step("used", 40, *((f"Reason {number}", 1) for number in range(8)), ("A very long reason " * 5, 2)),
    )
    assert svg is not None
    written = texts(svg)
    assert written[:2] == ["52 people came", "55 sessions"]
    assert {"No further: 2", "Declined <consent>: 2", "Reason 0: 1", "Other reasons: 4"} <= set(written)
    assert "40 people are used (77\u00a0%)" in written
    assert "50 people agreed to take part (96\u00a0%)" in " ".join(written)
    assert all(len(line) <= 42 for line in written)
    by_column = {left: [box for box in boxes(svg) if (box[0] > 100) is left] for left in (False, True)}
    assert [len(column) for column in by_column.values()] == [3, 2]
    for column in by_column.values():
        assert all(one[1] + one[2] <= other[1] for one, other in pairwise(column)), "boxes do not overlap"
    height = float(re.findall(r'viewBox="0 0 \d+ ([\d.]+)"', svg)[0])
    assert max(y + h for _, y, h in boxes(svg)) <= height


def test_robots_are_no_people_and_nobody_is_no_drawing(tmp_path: Path) -> None:
    svg = drawn(step("came", 1), population="robots")
    assert svg is not None
    assert texts(svg) == ["1 robot came"]
    assert drawn() is None
    assert drawn(step("came", 0)) is None
