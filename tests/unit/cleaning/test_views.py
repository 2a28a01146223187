"""How pairs were looked at, from a rehearsal to the tables; studies without views have nothing of it."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path

import pytest
from PIL import Image

import beholder
from beholder.methods import load_study
from beholder.study.model import Study
from beholder.testing import write_study


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def looked_at(tmp_path_factory: pytest.TempPathFactory, tiny: Path) -> Study:
    """A study of images, rehearsed and cleaned, whose trials have one of two views."""
    folder = tmp_path_factory.mktemp("views")
    for place, condition in enumerate(("natural", "smooth")):
        for content in ("one", "two"):
            (folder / "pictures" / condition).mkdir(parents=True, exist_ok=True)
            Image.new("RGB", (32, 18), (90 * place, 9, 9)).save(folder / "pictures" / condition / f"{content}.png")
    path = write_study(
        folder / "study", tiny, method="pair", stimuli="pictures", conditions=["natural", "smooth"],
        options={"view": {"within": ["flip", "wipe"]}}, design={"participants": 6, "trials": 2, "seed": 3},
    )  # fmt: skip
    shutil.copytree(folder / "pictures", path.parent / "pictures")
    study = load_study(path)
    beholder.plan(study)
    beholder.simulate(study, participants=6)
    beholder.clean(study)
    return study


def test_each_page_has_a_row_with_its_view_and_what_was_done_in_it(looked_at: Study) -> None:
    table = rows(looked_at.folder / "clean" / "views.csv")
    assert len(table) == 12
    for row in table:
        assert row["offered"] == row["view"]
        own, other = ("flip_ms", "wipe_ms") if row["view"] == "flip" else ("wipe_ms", "flip_ms")
        assert int(row[own]) > 0
        assert row[other] == row["side_by_side_ms"] == ""
        assert (row["flips"], row["moves"]) == (("1", "0") if row["view"] == "flip" else ("0", "2"))
    assert sum(row["view"] == "flip" for row in table) == 6


def test_the_view_is_a_factor_of_the_ratings_and_each_level_has_its_preferences(looked_at: Study) -> None:
    ratings = rows(looked_at.folder / "clean" / "ratings.csv")
    views = {(row["session"], row["trial"]): row["view"] for row in rows(looked_at.folder / "clean" / "views.csv")}
    assert {(row["session"], row["trial"]): row["factor_view"] for row in ratings} == views
    beholder.analyse(looked_at)
    factors = rows(looked_at.folder / "analyse" / "factors.csv")
    assert [(row["factor"], row["level"], row["condition"]) for row in factors] == [
        ("view", "flip", "natural"),
        ("view", "flip", "smooth"),
        ("view", "wipe", "natural"),
        ("view", "wipe", "smooth"),
    ]
    for row in factors:
        mine = [one for one in ratings if one["factor_view"] == row["level"]]
        mean = sum(float(one["value"]) for one in mine) / len(mine)
        assert float(row["mean"]) == pytest.approx(mean if row["condition"] == "natural" else -mean)


def test_the_export_has_the_table_and_ends_without_it_where_no_study_has_views(looked_at: Study, tiny: Path) -> None:
    exported = beholder.export(looked_at)
    assert exported.rows["views"] == 12
    path = write_study(looked_at.folder.parent / "plain", tiny, design={"participants": 2, "trials": 2})
    plain = load_study(path)
    beholder.plan(plain)
    beholder.simulate(plain, participants=2)
    beholder.clean(plain)
    assert not (path.parent / "clean" / "views.csv").exists()
    assert "views" not in beholder.export(plain).rows
