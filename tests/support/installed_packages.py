"""Packages of somebody else, installed for one test."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest


def install(folder: Path, monkeypatch: pytest.MonkeyPatch, module: str, source: str, entry_points: str) -> None:
    """Put a distribution with one module on the path; `entry_points` is its entry_points.txt."""
    (folder / module).mkdir(parents=True)
    (folder / module / "__init__.py").write_text(source, "utf-8")
    info = folder / f"{module}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n", "utf-8")
    (info / "entry_points.txt").write_text(entry_points, "utf-8")
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, module, raising=False)


LOUDNESS = """
import altair
import pandas as pd
from beholder.analysis.contract import Analysis, Column, Ratings, Result


def loudness(ratings: Ratings) -> Result | None:
    if ratings.votes.empty:
        return None
    largest = ratings.votes.groupby("question", sort=False)["value"].agg(loudest="max", votes="size").reset_index()
    table = largest.assign(condition="all", is_loud=largest["loudest"] > 3)
    return LOUDNESS.result(table[LOUDNESS.names], "The highest vote of each question.")


def draw(table: pd.DataFrame) -> altair.Chart:
    return altair.Chart(table).mark_point().encode(x="loudest", y="question")


LOUDNESS = Analysis(
    "loudness",
    loudness,
    (
        Column("question", "text", "Id of the question."),
        Column("condition", "text", "Always all."),
        Column("loudest", "number", "The highest vote."),
        Column("votes", "integer", "How many votes there are."),
        Column("is_loud", "boolean", "Whether it is above 3."),
    ),
    row="question",
    holds="the highest vote",
    citation="Somebody (2030), A journal 1",
    draw=draw,
    seed=4,
)
"""
"""An analysis of another package."""


def install_loudness(folder: Path, monkeypatch: pytest.MonkeyPatch, source: str, module: str = "loud") -> None:
    """Install a package whose module has the analysis `loudness`."""
    install(folder, monkeypatch, module, source, f"[beholder.analyses]\nloudness = {module}:LOUDNESS\n")


CONTRAST = """
from beholder.objective.contract import ComparedPair, PairMetric


class Contrast(PairMetric):
    name, title, lower_is_better = "contrast", "Contrast", True

    def version(self) -> str:
        return "contrast 1"

    def measure(self, pair: ComparedPair) -> float:
        apart = [abs(float(frame.own.std()) - float(frame.reference.std())) for frame in pair.frames()]
        return sum(apart) / len(apart) if apart else float("nan")


CONTRAST = Contrast()
"""
"""A metric of another package."""


def install_contrast(folder: Path, monkeypatch: pytest.MonkeyPatch, source: str = CONTRAST) -> None:
    """Install a package whose module has the metric `contrast`."""
    install(folder, monkeypatch, "contrasts", source, "[beholder.metrics]\ncontrast = contrasts:CONTRAST\n")
