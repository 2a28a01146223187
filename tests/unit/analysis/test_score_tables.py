"""Tables of scores: those of others, and every table of ours that has scores."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from beholder.analysis import analyse
from beholder.analysis.score_tables import is_differential, is_score_table, read_scores
from beholder.analysis.sides import read_side
from beholder.errors import UserError
from support.stimulus_ratings import noisy, referenced


@pytest.fixture(scope="module")
def analysed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("analysed")
    referenced(noisy(6, 3, 4)).assign(factor_rate="01").to_csv(folder / "ratings.csv", index=False)
    analyse(folder / "ratings.csv")
    return folder / "analyse"


def test_every_table_of_an_analysis_is_a_side_or_says_what_it_is_of(analysed: Path) -> None:
    told = {}
    for path in sorted(analysed.glob("*.csv")):
        try:
            side = read_side(path)
        except UserError as error:
            told[path.stem] = str(error)
        else:
            assert len(side.conditions) or len(side.stimuli), path
    assert set(told) == {
        "agreement", "distributions", "levels", "model_raters", "participants", "questions", "ranks", "raters",
        "reliability", "variances", "votes_needed",
    } & {path.stem for path in analysed.glob("*.csv")}  # fmt: skip
    assert told["variances"] == (
        f"{analysed / 'variances.csv'}  has a row for each question and source of differences: no scores of stimuli or "
        f"conditions. Allowed: a table with scores. Give {analysed / 'scores.csv'}, or the study."
    )


def test_scores_against_the_reference_are_told_from_others_and_have_both_levels(analysed: Path) -> None:
    side = read_side(analysed / "dmos.csv")
    assert set(side.questions) == {"rating (DMOS)"}
    assert is_differential(side.questions[0])
    assert len(side.stimuli) == 9
    assert len(side.conditions) == 3
    assert side.conditions["se"].notna().all()


def test_differences_are_called_by_both_conditions(analysed: Path) -> None:
    names = list(read_scores(analysed / "pairs.csv").conditions["condition"])
    assert "01 minus no" in names


def test_several_scores_of_one_thing_are_questions_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "criteria_scores.csv"
    path.write_text("question,condition,criterion,n,participants,mean\nq,a,used,9,3,4\nq,a,gold,2,1,2\n", "utf-8")
    assert list(read_scores(path).conditions["question"]) == ["q", "q (gold)"]


def test_the_tables_of_the_p910_toolkit_are_sides(tmp_path: Path) -> None:
    clips = tmp_path / "votes_per_clip.csv"
    clips.write_text("file_url,n,MOS,std,condition,content,question,dmos\nx/c,9,4,1,x,c,q,4.5\n", "utf-8")
    table = read_scores(clips).stimuli
    assert table[["stimulus", "question", "mean"]].values.tolist() == [["x/c", "q", 4.0], ["x/c", "q (DMOS)", 4.5]]
    workers = tmp_path / "votes_per_worker.csv"
    workers.write_text(
        "HITId,workerid,file,vote,content,condition,question\n1,p,x/c,4,c,x,q\n1,r,x/c,2,c,x,q\n", "utf-8"
    )
    assert not is_score_table(workers)
    assert read_side(workers).stimuli["mean"].tolist() == [3.0]


def test_values_of_a_metric_are_scores_of_it(tmp_path: Path) -> None:
    path = tmp_path / "values.csv"
    pd.DataFrame({"stimulus": ["x/c"], "metric": ["psnr"], "region": [""], "value": [31.5]}).to_csv(path, index=False)
    table = read_scores(path).stimuli
    assert table[["question", "mean"]].values.tolist() == [["psnr", 31.5]]
