"""Every kind of page on which something is rated becomes a method of ours that asks the same."""

from __future__ import annotations

import csv
import json

import pytest

from beholder import import_study
from beholder.cleaning import clean
from beholder.importing import ImportedFolder
from beholder.importing.webmushra.results import NO_VISITS
from beholder.methods import load_study
from support.webmushra_source import EVERY_KIND, KIND_RESULTS, write_source


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> ImportedFolder:
    folder = tmp_path_factory.mktemp("kinds")
    return import_study(write_source(folder / "root", EVERY_KIND, KIND_RESULTS), folder / "mine")


def rows(done: ImportedFolder, study: str) -> list[tuple[str, ...]]:
    """Return content, condition, question, value and line of each rating."""
    clean(done.folder / study / "study.yaml")
    with (done.folder / study / "clean" / "ratings.csv").open(encoding="utf-8", newline="") as file:
        return [
            (row["content"], row["condition"], row["question"], row["value"], row["origin"].rpartition("/")[2])
            for row in csv.DictReader(file)
        ]


def test_pages_of_several_kinds_become_several_studies(imported: ImportedFolder) -> None:
    studies = [load_study(path) for path in imported.studies]
    assert [(one.name, one.method) for one in studies] == [
        ("kinds-1", "bs1116"), ("kinds-2", "abx"), ("kinds-3", "likert"), ("kinds-4", "likert"),
    ]  # fmt: skip
    assert (imported.sessions, imported.people, imported.problems, imported.missing) == (7, 7, (), ())
    assert {one.texts.consent for one in studies} == {"## Consent\n\nDo you *agree*?"}
    assert [example.file for example in studies[0].texts.pages[0].examples] == ["texts/old-a.wav"]


def test_grades_become_differences_from_the_hidden_reference(imported: ImportedFolder) -> None:
    assert rows(imported, "bs1116") == [
        ("grade", "new", "quality", "-0.75", "bs1116.csv:2"),
        ("grade", "old", "quality", "-1.8", "bs1116.csv:3"),
        ("grade", "new", "quality", "-1", "bs1116.csv:4"),
    ]


def test_finding_the_reference_has_a_right_answer_and_is_no_preference(imported: ImportedFolder) -> None:
    found = rows(imported, "abx")
    assert [(row[0], row[3], row[4]) for row in found] == [
        ("which new", "1", "paired_comparison.csv:2"), ("which old", "", "paired_comparison.csv:3"),
        ("which new", "0", "paired_comparison.csv:4"),
    ]  # fmt: skip
    study = load_study(imported.folder / "abx" / "study.yaml")
    assert (study.options["mode"], study.options["unsure"]) == ("identify", True)
    assert study.questions[0].text == "Which is the reference?"


def test_answers_in_words_become_places_with_their_words(imported: ImportedFolder) -> None:
    assert rows(imported, "likert") == [
        ("single", "new", "rating1", "2", "lss.csv:2"), ("single", "new", "rating2", "2", "lss.csv:2"),
        ("single", "old", "rating1", "3", "lss.csv:3"), ("single", "old", "rating2", "", "lss.csv:3"),
        ("single", "new", "rating1", "", "lss.csv:4"), ("single", "new", "rating2", "1", "lss.csv:4"),
    ]  # fmt: skip
    study = load_study(imported.folder / "likert" / "study.yaml")
    assert [word for _, word in study.questions[0].scale.labels] == ["Not at all", "Somewhat", "Much"]
    assert (study.playback.watch, study.design.trials) == ("whole", 1)


def test_stimuli_of_one_page_are_rated_one_after_the_other(imported: ImportedFolder) -> None:
    assert [(row[1], row[3]) for row in rows(imported, "likert-2")] == [("new", "2"), ("old", "1")]
    assert load_study(imported.folder / "likert-2" / "study.yaml").playback.watch == "start"


def test_what_could_not_be_read_is_told_and_so_are_visits_that_were_guessed(imported: ImportedFolder) -> None:
    report = json.loads((imported.folder / "import-report.json").read_text("utf-8"))
    assert [one["what"] for one in report["broken"]] == [
        "choice_answer is 'unknown'",
        "stimuli_rating1 is 'never', which is no answer of the page single",
    ]
    assert [one["value"] for one in report["unsupported"] if "value" in one] == ["no.png"]
    assert imported.uncertain[NO_VISITS] == 17
    assert imported.uncertain["would be refused here: None of the two has the highest grade"] == 2
