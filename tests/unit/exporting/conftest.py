"""A filled study and its export as CSV and as Parquet."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import beholder
from beholder.study.model import Study
from support.export_store import fill, make_study


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
