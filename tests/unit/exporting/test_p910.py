"""The tables of the P.910 toolkit, from published votes."""

from __future__ import annotations

import asyncio
import csv
from pathlib import Path

import pytest

import beholder
from support.data import DATA
from support.export_store import fill_one, make_study, record, rows


def test_the_votes_of_the_p910_parser_give_its_table(tmp_path: Path) -> None:
    path = DATA / "p910" / "acr_B_default_bonus" / "answers_merged_votes_per_clip.csv"
    if not path.is_file():
        pytest.skip(f"p910 is not in {DATA}; set BEHOLDER_TEST_DATA")
    with path.open(encoding="utf-8", newline="") as file:
        published = [row for row in csv.DictReader(file) if row["n"] == "20"][:3]
    votes = [[float(row[f"vote_{number}"]) for row in published] for number in range(1, 21)]
    answers = [{"scores": {"q1": {f"s{slot}": vote for slot, vote in enumerate(some, 1)}}} for some in votes]
    study = make_study(tmp_path, clean={"without": ["watched"]}, checks={"variance": False})
    asyncio.run(fill_one(study, answers, record(study, conditions=("c1", "c2", "c3"))))
    folder = beholder.export(study, p910=True).folder
    clips = {row["condition"]: row for row in rows(folder, "votes_per_clip")}
    for condition, row in zip(("c1", "c2", "c3"), published, strict=True):
        clip = clips[condition]
        for name in ("n", "MOS", "std", "95%CI", *(f"vote_{number}" for number in range(1, 21))):
            assert float(clip[name]) == pytest.approx(float(row[name]), rel=1e-9), name
        # Ours is Student's t over people: a little wider.
        half = (float(clip["ci_high"]) - float(clip["ci_low"])) / 2
        assert 1 < half / float(clip["95%CI"]) < 1.08


def test_dmos_stands_beside_mos_where_the_study_names_its_originals(tmp_path: Path) -> None:
    study = make_study(tmp_path, method="acr", analyse={"dmos": "c1"}, clean={"without": ["watched"]},
                       checks={"variance": False})  # fmt: skip
    answers = [{"scores": {"q1": {"s1": 5, "s2": 3 + one % 2, "s3": 2}}} for one in range(4)]
    asyncio.run(fill_one(study, answers, record(study, conditions=("c1", "c2", "c3"))))
    folder = beholder.export(study, p910=True).folder
    by_condition = {row["condition_name"]: row for row in rows(folder, "votes_per_cond")}
    assert [by_condition[name]["dmos"] for name in ("c1", "c2", "c3")] == ["", "3.5", "2"]
    assert float(by_condition["c2"]["dmos_low"]) < 3.5 < float(by_condition["c2"]["dmos_high"])
    clips = {row["condition"]: row["dmos"] for row in rows(folder, "votes_per_clip")}
    assert clips == {"c1": "", "c2": "3.5", "c3": "2"}
