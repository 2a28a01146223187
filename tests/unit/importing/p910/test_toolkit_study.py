"""The method follows from the columns; right answers that nobody can give judge nobody."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from beholder import import_study
from beholder.methods import load_study
from support.imported_folders import cleaned_ratings, import_document
from support.toolkit_sources import url, write_p910, write_rows


def test_right_answers_that_nobody_can_give_judge_nobody(tmp_path: Path) -> None:
    def change(page: list[dict[str, Any]], _: object) -> None:
        for row in page:
            row["Input.GOLD_ANS"] = "50"

    done = import_study(write_p910(tmp_path / "batch", suffix=".wav", changes=change), tmp_path / "mine")
    words = "The right answer to gold_src2_5.wav is 50, which is not on the scale from 1 to 5: nobody is judged by it."
    assert words in import_document(done)["warnings"]
    assert "gold" not in load_study(done.studies[0]).source


@pytest.mark.parametrize(
    ("method", "becomes", "first"),
    [
        ("acr-hr", "acr-hr", ("src1", "01", "5")),
        ("dcr", "dcr", ("src1", "01", "5")),
        ("ccr", "ccr", ("src1", "01", "1")),
        ("avatar", "likert", ("src1_c_v1", "01", "5")),
    ],
)
def test_the_method_follows_from_the_columns(tmp_path: Path, method: str, becomes: str, first: tuple[str, ...]) -> None:
    done = import_study(write_p910(tmp_path / "batch", method, suffix=".wav"), tmp_path / "mine")
    assert load_study(done.studies[0]).method == becomes
    rating = cleaned_ratings(done.studies[0])[0]
    assert (rating["content"], rating["condition"], rating["value"]) == first


def test_tables_of_clips_alone_become_a_study_without_answers(tmp_path: Path) -> None:
    clips = [{"pvs": url("src1_c01_v1"), "src": url("src1")}, {"pvs": url("src1_c02_v1"), "src": url("src1")}]
    write_rows(tmp_path / "clips.csv", clips, more=[("", "x.mp4"), (url("src1_c01_v1"), url("src1"))])
    gold = [{"gold_clips_pvs": url("g"), "gold_clips_ans": "5.0"}, {"gold_clips_pvs": url("h"), "gold_clips_ans": "x"}]
    write_rows(tmp_path / "gold.csv", gold)
    write_rows(tmp_path / "plates.csv", [{"plate": 1, "url": "x", "answer": 29}])
    done = import_study(tmp_path, tmp_path / "mine")
    study = load_study(done.studies[0])
    assert (study.method, [one.name for one in study.conditions]) == ("acr-hr", ["reference", "c01_v1", "c02_v1"])
    assert [one["what"] for one in import_document(done)["broken"]] == [
        "names no clip", "names a clip that an earlier row has", "has no right answer that is a number",
    ]  # fmt: skip
    with (done.folder / "stimuli.csv").open(encoding="utf-8") as file:
        assert "expected,tolerance" in next(file)


def test_the_rows_that_were_put_online_hold_all_clips(tmp_path: Path) -> None:
    row = {"Q0": url("a_c1"), "Q1": url("b_c1"), "TP_CLIP": url("t"), "TP_ANS": 1, "GOLD_CLIP": url("g"), "GOLD_ANS": 5}
    write_rows(tmp_path / "made_up_publish_batch.csv", [row])
    done = import_study(tmp_path, tmp_path / "mine")
    assert (len(done.missing), done.sessions) == (4, 0)
    assert {"key": "the plan", "default": "ours"}.items() <= import_document(done)["assumed"][0].items()
