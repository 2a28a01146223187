"""The page of a plan: sentences, figures and files."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
from click.testing import CliRunner

import beholder
from beholder.cli import cli
from beholder.methods import find
from beholder.planning.balance import balance
from beholder.planning.builder import make_plan
from beholder.reporting.plan_counts import Count
from beholder.reporting.plan_page import count_chart, headlines, is_large, sentence, times
from beholder.testing import write_study
from support.given_plans import catalogue_of, study_of
from support.plan_counts import counted


def uneven() -> Count:
    values = np.array([[36, 18, 0], [18, 18, 18]])
    even = np.full((2, 3), 18.0)
    return Count("condition", "slot", "Conditions in slots", ("no", "Größe 2"), ("1", "2", "3"), values, even > 0, even,
                 "Every condition stands in every slot", "Conditions stand in a slot")  # fmt: skip


def test_what_is_not_even_is_said_with_the_cells(tmp_path: Path) -> None:
    assert sentence(uneven(), {"no": "None"}) == (
        "Conditions stand in a slot 0 to 36 times. Furthest above even: condition None, slot 1 (36, even would be "
        "18). Furthest below even: condition None, slot 3 (0, even would be 18)."
    )


def test_the_plan_is_told_in_two_sentences(tmp_path: Path) -> None:
    catalogue = catalogue_of("acr", 6, 4)
    plan = make_plan(study_of("acr", tmp_path, participants=12, trials=6), catalogue, find("acr"))
    rows = balance(plan, catalogue)
    assert headlines(rows, [uneven()], 12, is_given=False) == [
        "All 5 promises of balance hold over 12 lists.", "Not promised, and not even: conditions in slots.",
    ]  # fmt: skip
    assert headlines(rows, [uneven()], 12, is_given=False, groups=3) == [
        "All 5 promises of balance hold in each of 3 groups, over 12 lists.",
        "Not even over all groups together, of which nothing is promised: conditions in slots.",
    ]
    assert headlines(rows, [], 1, is_given=True) == [
        "This plan of 1 list was given: it is taken as it is, and nothing is promised.",
        "Every count below is even, or within a tenth of it.",
    ]


def test_times_are_told_in_words() -> None:
    words = [times(*ends) for ends in ((0, 0), (1, 1), (2, 2), (0, 1), (12, 13), (8, 1700))]
    assert words == ["never", "once", "twice", "once or not at all", "12 or 13 times", "8 to 1,700 times"]


def test_five_hundred_contents_are_drawn_as_bars(tmp_path: Path) -> None:
    tables = counted("parallel", tmp_path, 500, 12, participants=20, trials=10, per_trial=8)
    assert is_large(tables["content-condition"])
    assert not is_large(tables["condition-slot"])
    assert "content-list" not in tables
    drawn = count_chart(tables["content-condition"], {}).to_dict(validate=False)
    assert drawn["layer"][0]["mark"]["type"] == "bar"


def test_the_page_has_every_picture_and_every_table(tmp_path: Path, tiny: Path) -> None:
    study = write_study(tmp_path / "study", tiny, design={"participants": 6, "trials": 3, "seed": 3})
    plain = CliRunner().invoke(cli, ["plan", str(study)])
    assert plain.exit_code == 0, plain.output
    folder = study.parent / "plan" / "report"
    assert not folder.exists()
    result = CliRunner().invoke(cli, ["plan", str(study), "--report"])
    assert result.exit_code == 0, result.output
    assert result.output == f"{plain.output}\nReport: {folder / 'index.html'}\n"
    page = (folder / "index.html").read_text("utf-8")
    assert "All 6 promises of balance hold over 6 lists." in page
    assert "✓ </span>Every condition stands in every slot 4 or 5 times." in page
    assert not re.search(r"\b(nan|inf|None)\b", re.sub(r"<style>.*?</style>|<script.*?</script>", "", page, flags=re.S))
    for figure in ("condition-slot", "content-condition", "content-position", "stimulus-position", "content-list"):
        assert f'id="{figure}"' in page
        assert (folder / "figures" / f"{figure}.png").is_file()
    table = pd.read_csv(folder / "condition-slot.csv")
    assert list(table.columns) == ["condition", "slot", "count", "even"]
    assert table["count"].sum() == 6 * 3 * 4
    # Lists can be edited and given back.
    given = study.with_name("mine.csv")
    given.write_bytes((study.parent / "plan" / "lists.csv").read_bytes())
    before = beholder.plan(study)
    again = write_study(tmp_path / "again", tiny, design={"plan": "mine.csv", "seed": 3})
    given.rename(again.with_name("mine.csv"))
    assert beholder.plan(again).lists == before.lists
