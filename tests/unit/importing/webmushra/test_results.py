"""Results of webMUSHRA become sessions; what is odd about a row is told, and never drops the others."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from beholder import import_study
from beholder.cleaning import clean
from beholder.errors import UserError
from beholder.importing.webmushra.results import UNTOUCHED
from beholder.store.open import read_tables
from support.webmushra_source import KIND_RESULTS, mushra_results, write_source

WHO = ("codec_test", "Extra@Example.org", 31, "no", "extra")


def ratings(tmp_path: Path, *rows: tuple[object, ...], people: int = 1, **options: Any) -> list[dict[str, str]]:
    """Import results with further rows; return the ratings of the visit that these belong to."""
    source = write_source(tmp_path / "root", results={"mushra.csv": mushra_results(people, *rows)})
    study = import_study(source, tmp_path / "mine", **options).studies[0]
    clean(study)
    with (study.parent / "clean" / "ratings.csv").open(encoding="utf-8", newline="") as file:
        found = list(csv.DictReader(file))
    last = read_tables(study.parent / "store", ("sessions",))["sessions"][-1]["session"]
    return [row for row in found if row["session"] == last]


def test_a_page_that_is_rated_again_is_another_trial(tmp_path: Path) -> None:
    rows = [(*WHO, "a", name, score, 900, "") for score in (40, 60) for name in ("new", "old")]
    found = ratings(tmp_path, *rows)
    scores = [(row["trial"], row["condition"], row["value"]) for row in found if row["value"]]
    assert scores == [
        ("trial:1", "new", "40"), ("trial:1", "old", "40"), ("trial:2", "new", "60"), ("trial:2", "old", "60"),
    ]  # fmt: skip
    assert {row["response_ms"] for row in found} == {"900"}


def test_sliders_that_may_never_have_moved_are_in_doubt_or_left_out(tmp_path: Path) -> None:
    rows = [(*WHO, "a", name, score, 900, "") for name, score in (("reference", 100), ("new", 100), ("old", 30))]
    found = {row["condition"]: row for row in ratings(tmp_path / "one", *rows)}
    assert [found[name]["uncertain"] for name in ("reference", "new", "old")] == [UNTOUCHED, UNTOUCHED, ""]
    found = {row["condition"]: row for row in ratings(tmp_path / "two", *rows, drop_untouched=True)}
    assert [found[name]["value"] for name in ("reference", "new", "old")] == ["", "", "30"]


def test_rows_that_cannot_be_are_broken_with_their_line(tmp_path: Path) -> None:
    rows = [
        (*WHO, "a", "new", "101", 900, ""), (*WHO, "a", "other", 5, 900, ""), (*WHO, "a", "old", "NA", 900, ""),
        (*WHO, "z", "new", 5, 900, ""), ("codec_test", "short"),
    ]  # fmt: skip
    found = ratings(tmp_path, *rows)
    assert [row["value"] for row in found] == [""] * 5
    report = json.loads((tmp_path / "mine" / "import-report.json").read_text("utf-8"))
    assert [(one["line"], one["what"]) for one in report["broken"]] == [
        (12, "rating_score is '101', not 0 to 100"),
        (13, "rating_stimulus is other, which the page a does not have"),
        (14, "rating_score is 'NA', not 0 to 100"),
        (15, "trial_id is z, which is no page of the configuration"),
        (16, "has 2 cells, and the first line has 10"),
    ]


def test_who_gave_an_address_is_one_person_and_the_address_is_nowhere(tmp_path: Path) -> None:
    rows = [(*WHO[:4], visit, "a", "new", 50, 900, "") for visit in ("one", "two")]
    ratings(tmp_path, *rows)
    store = tmp_path / "mine" / "store"
    assert [row["visit"] for row in read_tables(store, ("sessions",))["sessions"]] == [1, 1, 2]
    told = "".join((tmp_path / "mine" / name).read_text("utf-8") for name in ("study.yaml", "import-report.json"))
    assert "example.org" not in str(read_tables(store, ("sessions", "answers"))).lower() + told.lower()


def test_results_without_a_configuration_are_imported_without_their_sounds(tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "mushra.csv").write_text(mushra_results(2), "utf-8")
    (tmp_path / "results" / "bs1116.csv").write_text(KIND_RESULTS["bs1116.csv"], "utf-8")
    done = import_study(tmp_path / "results", tmp_path / "mine")
    assert [path.parent.name for path in done.studies] == ["bs1116", "mushra"]
    assert clean(tmp_path / "mine" / "mushra" / "study.yaml").counts["ratings"] == 2 * 2 * 5
    assert clean(tmp_path / "mine" / "bs1116" / "study.yaml").counts["ratings"] == 3
    (tmp_path / "only").mkdir()
    (tmp_path / "only" / "lss.csv").write_text(KIND_RESULTS["lss.csv"], "utf-8")
    with pytest.raises(UserError, match="holds only results whose scales are in the configuration"):
        import_study(tmp_path / "only", tmp_path / "other")
