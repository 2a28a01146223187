"""Sessions of HEMVIP: pages are found by their stimuli and places; sliders, choices of three and of five."""

from __future__ import annotations

from pathlib import Path

import pytest

from beholder import import_study
from beholder.cleaning import clean
from beholder.importing.hemvip.kept_sessions import UNTOUCHED
from beholder.methods import load_study
from support.hemvip_sources import LEVELS, write_hemvip, write_pairs
from support.imported_folders import cleaned_ratings, import_document, read_rows


@pytest.mark.parametrize("branch", ["master", "genea2022", "genea2023"])
def test_sliders_become_ratings_and_what_asked_for_an_answer_is_judged(tmp_path: Path, branch: str) -> None:
    done = import_study(write_hemvip(tmp_path / "one", branch), tmp_path / "mine")
    assert (done.people, done.sessions, done.uncertain) == (2, 2, {})
    ratings = cleaned_ratings(done.studies[0])
    assert len(ratings) == 2 * 2 * 3
    for row in ratings:
        assert int(row["value"]) - LEVELS[row["condition"]] in (0, 1)
    assert {row["response_ms"] for row in ratings} == {"9000"}
    assert ratings[0]["answered_at"].startswith("2023-11-14")
    verdicts = read_rows(done.folder / "clean" / "verdicts.csv")
    assert [row["verdict"] for row in verdicts if row["check"] == "attention"] == ["pass", "pass"]
    people = read_rows(done.folder / "clean" / "participants.csv")
    assert sorted((row["answer_age"], row["answer_gender"]) for row in people) == [("30", "F"), ("30", "M")]


def test_sliders_that_were_never_touched_are_in_doubt_or_left_out(tmp_path: Path) -> None:
    names = ("GT", "BA", "SA")
    trials = [{"id": "subject_72", "responses": [{"stimulus": name, "score": "0"} for name in names]}]
    source = write_hemvip(tmp_path / "one", trials=trials)
    done = import_study(source, tmp_path / "mine")
    assert done.uncertain == {UNTOUCHED: 3}
    dropped = import_study(source, tmp_path / "other", drop_untouched=True)
    values = [row["value"] for row in cleaned_ratings(dropped.studies[0])]
    assert values.count("") == 3


def test_what_is_no_session_and_what_fits_no_page_is_told(tmp_path: Path) -> None:
    trials = [{"id": "subject_72", "responses": [{"stimulus": "other", "score": "5"}]}]
    done = import_study(write_hemvip(tmp_path / "one", trials=trials), tmp_path / "mine")
    assert {one["what"] for one in import_document(done)["broken"]} == {"fits no page of a configuration"}
    assert [row["outcome"] for row in read_rows(clean(done.studies[0]).folder / "sessions.csv")].count("completed") == 1


def test_platform_ids_are_nowhere(tmp_path: Path) -> None:
    done = import_study(write_hemvip(tmp_path / "one"), tmp_path / "mine")
    for name in ("study.yaml", "import-report.json", "import-report.html"):
        assert "5f00000000" not in (done.folder / name).read_text("utf-8")


@pytest.mark.parametrize(
    ("branch", "method", "values"),
    [("genea2022", "pair", {"1", "-1", ""}), ("genea2023", "ccr", {"2", "-1", ""})],
)
def test_pairs_have_three_or_five_answers_and_the_last_of_a_page_counts(
    tmp_path: Path, branch: str, method: str, values: set[str]
) -> None:
    done = import_study(write_pairs(tmp_path / "one", branch, ".wav"), tmp_path / "mine")
    assert load_study(done.studies[0]).method == method
    ratings = cleaned_ratings(done.studies[0])
    assert {row["value"] for row in ratings} == values
    assert len(ratings) == 4
    assert "answers a page again" in {one["what"] for one in import_document(done)["broken"]}
