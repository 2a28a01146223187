"""The pages of verbs beside the report: they say when robots answered, what to cite, and where the files are."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib import resources

import numpy as np
import pandas as pd
import pytest

from beholder.analysis.figures import theme
from beholder.analysis.result import Result
from beholder.analysis.sides import CONDITIONS, SCORES, Side
from beholder.reporting.result_page import file_list, headline, population_line, simulated, table_notes
from beholder.stats.correlation import mean_correlation


def side(name: str, population: str) -> Side:
    return Side(name, pd.DataFrame(columns=SCORES), pd.DataFrame(columns=CONDITIONS), population=population)


@pytest.mark.parametrize(
    ("populations", "told"),
    [
        (["robots", "robots"], "These ratings come from robots. A rehearsal, not a result."),
        (["robots", "people"], "The ratings of a come from robots. A rehearsal, not a result."),
        (["robots", "", "robots"], "The ratings of a and c come from robots. A rehearsal, not a result."),
        (["people", ""], ""),
    ],
)
def test_robots_are_named(populations: Sequence[str], told: str) -> None:
    assert simulated([side(name, one) for name, one in zip("abc", populations, strict=False)]) == told


def test_the_first_line_is_there_only_where_robots_answered() -> None:
    assert population_line("") is None
    assert "<b>Simulated.</b> These &lt;ratings&gt;" in str(population_line("These <ratings>"))


def test_the_finding_is_one_paragraph_or_a_list() -> None:
    assert headline(["One."]).count("<li>") == 0
    assert headline(["One.", "<Two>."], "More below.").count("<li>") == 2


def test_every_table_says_how_it_was_made_and_what_to_cite() -> None:
    table = pd.DataFrame()
    told = table_notes({"one": Result(table, "A note.", "Fisher (1921)"), "other": Result(table, "Another.", "")})
    assert told.startswith("<details")
    assert "Cite: Fisher (1921)." in told
    assert told.count("Cite:") == 1
    assert 'href="one.csv"' in told


def test_the_formats_of_a_figure_stand_in_one_line() -> None:
    told = file_list(["a.csv", "notes.json", "figures/x.y.svg", "figures/x.y.pdf"])
    assert told.count("<li>") == 3
    assert re.findall(r'href="([^"]+)"', told) == ["a.csv", "notes.json", "figures/x.y.svg", "figures/x.y.pdf"]


def test_the_page_turns_every_colour_of_figures_into_that_of_its_theme() -> None:
    css = resources.files("beholder.reporting").joinpath("style.css").read_text("utf-8")
    for colour in (theme.ACCENT, theme.BAR, theme.INK, theme.SOFT, theme.PAPER):
        assert f'.plot [fill="{colour}"]' in css
        assert f'.plot [stroke="{colour}"]' in css


def test_a_perfect_correlation_does_not_outweigh_the_others() -> None:
    assert mean_correlation([1.0, 0.8, 0.9]) == pytest.approx(0.9)
    assert mean_correlation([0.8, 0.9]) == pytest.approx(float(np.tanh(np.mean(np.arctanh([0.8, 0.9])))))
