"""Files for repositories: by the rules of the Citation File Format 1.2.0, of Zenodo's deposits, and of the schema of
Psych-DS, whose validator is on no package index.
"""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from frictionless import validate

import beholder
from beholder.study.bibliography import Publication
from beholder.study.model import Study

REQUIRED = {"authors", "cff-version", "message", "title"}
ALLOWED = {
    *REQUIRED, "abstract", "commit", "contact", "date-released", "doi", "identifiers", "keywords", "license",
    "license-url", "preferred-citation", "references", "repository", "repository-artifact", "repository-code", "type",
    "url", "version",
}  # fmt: skip
PERSON = {
    "address", "affiliation", "alias", "city", "country", "email", "family-names", "fax", "given-names",
    "name-particle", "name-suffix", "orcid", "post-code", "region", "tel", "website",
}  # fmt: skip
ENTITY = {
    "address", "alias", "city", "country", "date-end", "date-start", "email", "fax", "location", "name", "orcid",
    "post-code", "region", "tel", "website",
}  # fmt: skip


def test_a_citation_file_has_what_the_format_allows(shared: Path) -> None:
    cited = yaml.safe_load((shared / "CITATION.cff").read_text("utf-8"))
    assert REQUIRED <= set(cited) <= ALLOWED
    assert (cited["cff-version"], cited["type"], cited["license"]) == ("1.2.0", "dataset", "CC-BY-4.0")
    assert (cited["version"], cited["date-released"], cited["doi"]) == ("1.0.0", "2026-11-30", "10.5281/zenodo.123456")
    jane, acme = cited["authors"]
    assert set(jane) <= PERSON
    assert set(acme) <= ENTITY
    assert jane["orcid"] == "https://orcid.org/0000-0002-1694-233X"


def test_zenodo_gets_what_it_asks_for(shared: Path) -> None:
    deposit = json.loads((shared / ".zenodo.json").read_text("utf-8"))
    assert (deposit["upload_type"], deposit["title"], deposit["license"]) == ("dataset", "Exported", "cc-by-4.0")
    assert deposit["creators"] == [
        {"name": "Doe, Jane", "affiliation": "An institute", "orcid": "0000-0002-1694-233X"},
        {"name": "ACME Laboratories"},
    ]
    assert deposit["notes"] == "Funding: A fund (12)\nEthics: Approved by a board (2026-17)."


def test_a_licence_by_its_address_is_one(published: Study, tmp_path: Path) -> None:
    licence = "https://example.org/terms"
    own = published.publication.model_copy(update={"licence": licence})
    out = beholder.export(published.model_copy(update={"publication": own}), out=tmp_path / "out").folder
    cited = yaml.safe_load((out / "CITATION.cff").read_text("utf-8"))
    assert (cited["license-url"], "license" in cited) == (licence, False)
    deposit = json.loads((out / ".zenodo.json").read_text("utf-8"))
    assert "license" not in deposit
    assert deposit["notes"].endswith(f"Licence: {licence}")
    head = yaml.safe_load((out / "README.md").read_text("utf-8").split("---\n")[1])
    assert (head["license"], head["license_link"]) == ("other", licence)


def test_without_authors_there_is_neither(folder: Path, published: Study, tmp_path: Path) -> None:
    assert not {"CITATION.cff", ".zenodo.json"} & {path.name for path in folder.iterdir()}
    out = beholder.export(published, out=tmp_path / "out").folder
    assert (out / "CITATION.cff").is_file()
    beholder.export(published.model_copy(update={"publication": Publication()}), out=out)
    assert not (out / "CITATION.cff").exists()


# Psych-DS


DATA_FILE = re.compile(r"([a-z]+-[a-zA-Z0-9]+)(_[a-z]+-[a-zA-Z0-9]+)*_data\.csv")
OFFICIAL = {"study", "site", "subject", "session", "task", "condition", "trial", "stimulus", "description"}
"""Keywords of file names that the schema lists."""
PROPERTIES = {
    "@context", "@type", "schemaVersion", "name", "description", "author", "citation", "license", "funder", "url",
    "identifier", "keywords", "version", "variableMeasured",
}  # fmt: skip
"""Properties of schema.org/Dataset."""


@pytest.fixture(scope="module")
def psych(published: Study, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return beholder.export(published, out=tmp_path_factory.mktemp("psych") / "out", format="psych-ds").folder


def described(folder: Path) -> dict[str, Any]:
    return dict(json.loads((folder / "dataset_description.json").read_text("utf-8")))


def test_files_have_the_names_that_the_schema_asks_for(psych: Path) -> None:
    files = sorted((psych / "data").iterdir())
    assert len(files) > 10
    for file in files:
        assert DATA_FILE.fullmatch(file.name), file.name
        assert {part.partition("-")[0] for part in file.stem.split("_")[:-1]} <= OFFICIAL
    named = (psych / ".psychdsignore").read_text("utf-8").splitlines()
    known = {"dataset_description.json", "README.md", "CHANGES.md", ".psychdsignore", "data"}
    assert {path.name for path in psych.iterdir()} == known | set(named)


def test_every_column_is_a_described_variable(psych: Path) -> None:
    description = described(psych)
    assert (description["@context"], description["@type"]) == ("http://schema.org/", "Dataset")
    assert set(description) <= PROPERTIES
    assert description["name"] == "Exported"
    assert description["description"] == "How four versions of two contents look."
    variables = {one["name"]: one["description"] for one in description["variableMeasured"]}
    assert all(variables.values())
    for file in (psych / "data").iterdir():
        with file.open(encoding="utf-8", newline="") as text:
            head, *rows = csv.reader(text)
        assert set(head) <= set(variables), file.name
        assert all(len(row) == len(head) for row in rows)
    objects = [description, *description["variableMeasured"], *description["author"], *description["funder"]]
    assert all("@type" in one for one in objects)


def test_it_is_a_data_package_as_well_and_another_layout_replaces_it(
    psych: Path, published: Study, tmp_path: Path
) -> None:
    report = validate(str(psych / "datapackage.json"))
    assert report.valid, report.flatten(["type", "message"])
    out = beholder.export(published, out=tmp_path / "out", format="psych-ds").folder
    assert (out / "data").is_dir()
    beholder.export(published, out=out)
    assert not (out / "data").exists()
    assert not (out / "dataset_description.json").exists()
    assert (out / "ratings.csv").is_file()
