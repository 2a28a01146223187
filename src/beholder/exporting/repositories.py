"""The data for repositories: CITATION.cff and .zenodo.json, by which they are cited and archived, and Psych-DS, the
layout in which psychologists share data.

The first two are written once somebody has said who made the data: both ask for it, and nobody can guess.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import yaml

from beholder.exporting.dataset import Dataset
from beholder.exporting.table_files import WrittenTable
from beholder.files import json_bytes, utf8
from beholder.study.bibliography import Author

CITATION, ZENODO = "CITATION.cff", ".zenodo.json"


def citation_files(dataset: Dataset) -> dict[str, bytes]:
    """Return both files by name; neither without authors, whom both ask for and nobody can guess."""
    if not dataset.publication.authors:
        return {}
    return {CITATION: citation_bytes(dataset), ZENODO: zenodo_bytes(dataset)}


def citation_bytes(dataset: Dataset) -> bytes:
    """Return CITATION.cff in the Citation File Format 1.2.0, of type `dataset`."""
    publication = dataset.publication
    licence = publication.licence
    is_address = licence is not None and licence.startswith("http")
    document: dict[str, Any] = {
        "cff-version": "1.2.0",
        "message": "If you use these data, please cite them as below.",
        "type": "dataset",
        "title": dataset.study.title,
        "abstract": dataset.description,
        "authors": [_cff_author(author) for author in publication.authors],
        "keywords": dataset.keywords,
        "license-url" if is_address else "license": licence,
        "version": publication.version,
        "date-released": publication.published,
        "doi": publication.doi,
        "url": publication.url,
    }
    written = {name: value for name, value in document.items() if value}
    return utf8(yaml.safe_dump(written, sort_keys=False, allow_unicode=True, width=100))


def _cff_author(author: Author) -> dict[str, str]:
    parts = author.family_and_given
    names = {"name": author.name} if parts is None else {"family-names": parts[0], "given-names": parts[1]}
    # Of an entity the format knows no affiliation.
    affiliation = {"affiliation": author.affiliation} if author.affiliation and parts else {}
    orcid = {"orcid": f"https://orcid.org/{author.orcid}"} if author.orcid else {}
    return {**names, **affiliation, **({"email": author.email} if author.email else {}), **orcid}


def zenodo_bytes(dataset: Dataset) -> bytes:
    """Return .zenodo.json: what Zenodo asks for when a data set is uploaded."""
    publication = dataset.publication
    licence = publication.licence
    document: dict[str, Any] = {
        "upload_type": "dataset",
        "title": dataset.study.title,
        "description": dataset.description,
        "creators": [_zenodo_creator(author) for author in publication.authors],
        "keywords": dataset.keywords,
        "license": None if licence is None or licence.startswith("http") else licence.lower(),
        "version": publication.version,
        "publication_date": publication.published,
        "notes": "\n".join(_notes(dataset)),
    }
    return json_bytes({name: value for name, value in document.items() if value})


def _zenodo_creator(author: Author) -> dict[str, str]:
    person = {"name": author.name, "affiliation": author.affiliation, "orcid": author.orcid}
    return {name: value for name, value in person.items() if value}


def _notes(dataset: Dataset) -> list[str]:
    """Return what Zenodo has no field for."""
    publication = dataset.publication
    told = [f"Funding: {'; '.join(publication.funding)}" if publication.funding else ""]
    told.append(f"Ethics: {publication.ethics}" if publication.ethics else "")
    licence = publication.licence
    told.append(f"Licence: {licence}" if licence is not None and licence.startswith("http") else "")
    return [line for line in told if line]


# Psych-DS: tables in data/, their names made of keywords (description-ratings_data.csv), every column described in
# variableMeasured; by the schema that its validator has.


DESCRIPTION, IGNORED, CHANGES = "dataset_description.json", ".psychdsignore", "CHANGES.md"


def psych_ds_files(dataset: Dataset, sheets: Sequence[WrittenTable], others: Sequence[str]) -> dict[str, bytes]:
    """Return the files of the layout beside the tables; `others` are files of ours that it does not know."""
    return {
        DESCRIPTION: description_bytes(dataset, sheets),
        IGNORED: utf8("".join(f"{name}\n" for name in sorted(others))),
        CHANGES: utf8(_changes(dataset)),
    }


def description_bytes(dataset: Dataset, sheets: Sequence[WrittenTable]) -> bytes:
    """Return dataset_description.json: the data set in words of schema.org."""
    publication = dataset.publication
    document: dict[str, Any] = {
        "@context": "http://schema.org/",
        "@type": "Dataset",
        "schemaVersion": "Psych-DS 1.0.0",
        "name": dataset.study.title,
        "description": dataset.description,
        "author": [_person(author) for author in publication.authors],
        "citation": publication.paper or dataset.citation or None,
        "license": publication.licence_url,
        "funder": [{"@type": "Organization", "name": funder} for funder in publication.funding],
        "url": publication.url,
        "identifier": f"https://doi.org/{publication.doi}" if publication.doi else None,
        "keywords": dataset.keywords,
        "version": publication.version,
        "variableMeasured": _variables(sheets),
    }
    return json_bytes({name: value for name, value in document.items() if value not in (None, [])})


def _person(author: Author) -> dict[str, Any]:
    parts = author.family_and_given
    if parts is None:
        return {"@type": "Organization", "name": author.name}
    person: dict[str, Any] = {
        "@type": "Person", "name": author.reading_order, "familyName": parts[0], "givenName": parts[1],
    }  # fmt: skip
    if author.orcid:
        person["identifier"] = f"https://orcid.org/{author.orcid}"
    if author.affiliation:
        person["affiliation"] = {"@type": "Organization", "name": author.affiliation}
    return person


def _variables(sheets: Sequence[WrittenTable]) -> list[dict[str, Any]]:
    """Return every column of every table, once by its name, with all that it means."""
    meanings: dict[str, list[str]] = {}
    allowed: dict[str, list[str]] = {}
    for sheet in sheets:
        for column in sheet.table.columns:
            texts = meanings.setdefault(column.name, [])
            texts += [column.text] if column.text not in texts else []
            allowed.setdefault(column.name, []).extend(one for one in column.allowed)
    return [
        {
            "@type": "PropertyValue",
            "name": name,
            "description": " Or: ".join(texts),
            **({"valuePattern": "|".join(dict.fromkeys(allowed[name]))} if allowed[name] else {}),
        }
        for name, texts in meanings.items()
    ]


def _changes(dataset: Dataset) -> str:
    version = dataset.publication.version or "no version named"
    return f"# Changes\n\n- {version}: exported by {dataset.software}, last fact of {dataset.last:%Y-%m-%d}.\n"
