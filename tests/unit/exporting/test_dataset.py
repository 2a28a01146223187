"""The facts of a data set: everything in it is known or said, and what is neither is a blank with its place."""

from __future__ import annotations

from pathlib import Path

from frictionless import validate

import beholder
from beholder.study.model import Study
from support.export_store import package


def test_another_reader_of_data_packages_finds_every_table_as_it_is_described(folder: Path) -> None:
    report = validate(str(folder / "datapackage.json"))
    assert report.valid, report.flatten(["type", "message"])


def test_the_package_says_who_made_it_and_under_which_licence(shared: Path) -> None:
    described = package(shared)
    assert described["licenses"] == [{"name": "CC-BY-4.0"}]
    assert [one["title"] for one in described["contributors"]] == ["Jane Doe", "ACME Laboratories"]
    assert (described["version"], described["homepage"]) == ("1.0.0", "https://example.org/data")
    assert described["description"] == "How four versions of two contents look."


def test_the_words_of_the_researcher_come_before_ours(published: Study, tmp_path: Path) -> None:
    own = {"rai-dataCollection": "In a quiet room.", "rai-annotationsPerItem": "Two."}
    answers = published.publication.model_copy(update={"answers": own})
    out = beholder.export(published.model_copy(update={"publication": answers}), out=tmp_path / "out").folder
    text = (out / "README.md").read_text("utf-8")
    assert "- **Collection.** In a quiet room.\n" in text
    assert "- **Ratings of each.** Two.\n" in text
