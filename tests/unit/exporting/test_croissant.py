"""croissant.json is read by the software of MLCommons, without a network, and says nothing that nobody has said."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import beholder
from beholder.study.model import Study

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import mlcroissant


def read(folder: Path) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of a library that it uses
        return mlcroissant.Dataset(folder / "croissant.json")


def test_a_catalogue_reads_it_without_a_complaint_and_every_rating_with_it(shared: Path) -> None:
    data = read(shared)
    metadata = data.metadata
    assert (set(metadata.ctx.issues.errors), set(metadata.ctx.issues.warnings)) == (set(), set())
    assert metadata.conforms_to == ["http://mlcommons.org/croissant/1.1", "http://mlcommons.org/croissant/RAI/1.0"]
    assert [one.name for one in metadata.creators] == ["Jane Doe", "ACME Laboratories"]
    assert metadata.license == ["https://spdx.org/licenses/CC-BY-4.0.html"]
    rows = list(data.records("ratings"))
    assert len(rows) == 24
    # Plain pandas, by which it reads, takes a condition called NA for a gap: the card says so.
    assert {row["ratings/condition"] for row in rows} == {None, b"01", b"no", "Größe 2".encode()}
    assert {row["ratings/value"] for row in rows} == {1.0, 2.0, 3.0, 4.0, 5.0}


def test_what_is_known_of_people_questions_and_rules_is_in_the_fields_for_responsible_ai(shared: Path) -> None:
    metadata = read(shared).metadata
    assert metadata.data_collection.startswith(
        "People took part by a link, in a web browser. Method: rating of several"
    )
    assert metadata.data_annotation_protocol == [
        "“How good?”: 1 to 5 in steps of 1 (1 Bad, 2 Poor, 3 Fair, 4 Good, 5 Excellent)"
    ]
    assert metadata.annotations_per_item.endswith("by each question: 2.")
    assert metadata.annotator_demographics == [
        "Glasses?: no 2 (n = 2)", "What?: =phone 2 and NA 2 (n = 2)", "Age: mean 30.5, 30.5 to 30.5 (n = 2)",
        "Easy: 2 2 (n = 2)",
    ]  # fmt: skip
    assert metadata.data_use_cases == ["Testing metrics of quality."]
    assert metadata.data_biases is None


def test_what_nobody_has_said_is_left_out_and_not_made_up(folder: Path) -> None:
    written = json.loads((folder / "croissant.json").read_text("utf-8"))
    assert not {"creator", "license", "url", "version", "datePublished", "citeAs", "rai:dataBiases"} & set(written)
    assert written["description"].startswith("24 ratings (16 used) of 8 stimuli (2 contents, 4 conditions) by 5 people")
    assert {warning.split('"')[1].rpartition("/")[2] for warning in read(folder).metadata.ctx.issues.warnings} == {
        "citeAs", "datePublished", "license", "version",
    }  # fmt: skip


def test_a_rehearsal_says_that_it_is_one(published: Study, tmp_path: Path) -> None:
    out = beholder.export(published, out=tmp_path / "out", robots=True).folder
    written = json.loads((out / "croissant.json").read_text("utf-8"))
    assert written["rai:machineAnnotationTools"] == ["Simulated raters of Beholder; no person answered."]
    assert written["rai:dataCollection"].startswith("Simulated: robots answered in place of people.")
    assert "rai:annotatorDemographics" not in written
    assert "Simulated, a rehearsal and not a result." in (out / "README.md").read_text("utf-8")
