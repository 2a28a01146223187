"""A filled study and its export as CSV and as Parquet."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import beholder
from beholder.study.bibliography import Publication
from beholder.study.model import Study
from support.export_store import fill, make_study

PUBLICATION = {
    "authors": [
        {
            "name": "Doe, Jane", "affiliation": "An institute", "orcid": "0000-0002-1694-233X",
            "email": "jane@example.org",
        },
        {"name": "ACME Laboratories"},
    ],
    "description": "How four versions of two contents look.",
    "licence": "CC-BY-4.0",
    "ethics": "Approved by a board (2026-17).",
    "funding": ["A fund (12)"],
    "url": "https://example.org/data",
    "doi": "10.5281/zenodo.123456",
    "version": "1.0.0",
    "published": "2026-11-30",
    "answers": {"rai-dataUseCases": "Testing metrics of quality."},
}  # fmt: skip


@pytest.fixture(scope="session")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    study = make_study(tmp_path_factory.mktemp("exported"))
    asyncio.run(fill(study))
    return study


@pytest.fixture(scope="session")
def folder(study: Study) -> Path:
    return beholder.export(study, p910=True).folder


@pytest.fixture(scope="session")
def parquet(study: Study) -> Path:
    return beholder.export(study, out=study.folder / "parquet", format="parquet", p910=True).folder


@pytest.fixture(scope="session")
def published(study: Study) -> Study:
    """The same study, whose researcher has said what only they know."""
    return study.model_copy(update={"publication": Publication.model_validate(PUBLICATION)})


@pytest.fixture(scope="session")
def shared(published: Study) -> Path:
    return beholder.export(published, out=published.folder / "shared").folder
