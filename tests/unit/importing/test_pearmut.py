"""Campaigns of Pearmut: texts of models, scored together or one by one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from beholder import import_study
from beholder.errors import UserError
from beholder.importing.pearmut import ASKING, pearmut
from beholder.importing.source_folder import SourceFolder
from beholder.methods import load_study
from support.imported_folders import cleaned_ratings, import_document
from support.pearmut_sources import item, write_pearmut


def test_a_campaign_is_recognised(tmp_path: Path) -> None:
    assert pearmut.recognise(SourceFolder(write_pearmut(tmp_path / "one"))) == "campaign_id in campaign.json"
    assert pearmut.recognise(SourceFolder(tmp_path / "one" / "outputs.jsonl")) == "annotation in outputs.jsonl"


@pytest.mark.parametrize(("models", "method", "count"), [(("Alpha", "Beta"), "parallel", 8), (("Alpha",), "acr", 4)])
def test_scores_become_ratings_of_texts(tmp_path: Path, models: tuple[str, ...], method: str, count: int) -> None:
    done = import_study(write_pearmut(tmp_path / "one", models), tmp_path / "mine")
    study = load_study(done.studies[0])
    assert (study.method, study.title, study.questions[0].text) == (method, "Made up", "How **good** is it?")
    assert (done.people, done.missing, done.problems) == (2, (), ())
    ratings = cleaned_ratings(done.studies[0])
    assert len(ratings) == count
    assert sorted(row["value"] for row in ratings if row["condition"] == "Alpha") == ["60", "60", "61", "61"]
    assert {row["origin"] for row in ratings} == {f"outputs.jsonl:{line}" for line in (1, 2, 4, 5)}
    texts = sorted(path.read_text("utf-8") for path in done.folder.glob("stimuli/Alpha/*.txt"))
    assert texts == [f"Alpha says sentence {number} in words of its own." for number in range(2)]
    assert ASKING in {one["why"] for one in import_document(done)["unsupported"]}


def test_a_score_that_cannot_be_is_missing_and_told(tmp_path: Path) -> None:
    line = {"annotation": [{"Alpha": {"score": 900}}], "item": [item(0)], "user_id": "x", "item_i": 1}
    done = import_study(write_pearmut(tmp_path / "one", more=json.dumps(line)), tmp_path / "mine")
    assert [one["what"] for one in import_document(done)["broken"]] == ["is 900, not 0 to 100"]


def test_a_line_that_is_not_json_and_a_protocol_without_scores_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"outputs\.jsonl:7  ?is not JSON"):
        import_study(write_pearmut(tmp_path / "one", more="{"), tmp_path / "mine")
    with pytest.raises(UserError, match="has the protocol MQM, in which errors are marked"):
        import_study(write_pearmut(tmp_path / "two", protocol="MQM"), tmp_path / "mine")
