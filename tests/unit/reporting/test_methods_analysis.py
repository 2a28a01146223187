"""Sentences on the analysis."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest

from beholder.analysis.ratings import open_ratings
from beholder.reporting.figures import RATERS
from beholder.reporting.material import table_material
from beholder.reporting.methods_analysis import analysis_sentences
from beholder.reporting.methods_design import table_sentences
from beholder.reporting.methods_section import methods
from support.report_material import analysed_material
from support.report_pages import made_up


def test_the_methods_name_the_contrasts_and_leave_open_since_when(tmp_path: Path) -> None:
    asked = {"contrasts": [["natural", "jerky"], ["still", "natural"]]}
    study = made_up(tmp_path, {"natural": 85.0, "jerky": 40.0, "still": 20.0}, participants=6, analyse=asked)
    text = next(one.text for one in methods(analysed_material(study)) if one.title == "Analysis")
    assert (
        "The study names 2 contrasts: natural minus jerky and still minus natural. [Whether they were named before the "
        "first answer]." in text
    )


@pytest.mark.variant
def test_what_needs_people_who_rated_both_is_not_told_of_a_study_without_them(tmp_path: Path) -> None:
    study = made_up(tmp_path, {"natural": 85.0, "jerky": 40.0}, participants=12)
    told = {one.title: one.text for one in methods(analysed_material(study))}["Analysis"]
    assert "Effect sizes (dz)" in told
    assert "sign tests over these pages" in told

    def split(ratings: pd.DataFrame) -> pd.DataFrame:
        number = ratings["participant"].str.extract(r"(\d+)", expand=False).astype(int)
        return ratings[(number % 2 == 0) == (ratings["condition"] == "natural")]

    told = {one.title: one.text for one in methods(analysed_material(study, split))}["Analysis"]
    assert "as different people rated the two" in told
    assert not re.search("Effect sizes|sign tests", told)


def test_a_table_of_choices_is_not_told_as_scores(tmp_path: Path) -> None:
    chosen = pd.DataFrame(
        [
            {"participant": f"p{p}", "content": f"c{k}", "winner": winner, "loser": loser}
            for p in range(6)
            for k in range(3)
            for winner, loser in [("new", "old") if (p + k) % 3 else ("old", "new")]
        ]
    )
    chosen.to_csv(tmp_path / "choices.csv", index=False)
    material = table_material(open_ratings(tmp_path / "choices.csv"), tmp_path)
    data, _ = table_sentences(material)
    assert data.text == "The data are 18 comparisons of 2 conditions and 3 contents by 6 participants"
    told = [one.text for one in analysis_sentences(material)]
    assert "Intervals of conditions that were compared with one other only are those of the differences" in told
    assert not any("Korn and Graubard" in text for text in told)
    assert callable(RATERS.foot)
    foot = str(RATERS.foot(material))
    assert "at the right those who favour conditions that the study names first more than the others do" in foot
