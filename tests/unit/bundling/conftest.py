"""A study that people have taken, and a bundle of each kind."""

from __future__ import annotations

from pathlib import Path

import pytest

import beholder
from beholder.bundling.archive_contents import Bundled
from beholder.bundling.verification import Verification
from beholder.study.model import Study
from support.bundled_study import taken_study


@pytest.fixture(scope="session")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    return taken_study(tmp_path_factory.mktemp("bundled") / "study")


@pytest.fixture(scope="session")
def public(study: Study) -> Bundled:
    return beholder.bundle(study.folder / "study.yaml")


@pytest.fixture(scope="session")
def blinded(study: Study) -> Bundled:
    return beholder.bundle(study.folder, kind="reviewers")


@pytest.fixture(scope="session")
def archived(study: Study) -> Bundled:
    return beholder.bundle(study, kind="archive", with_stimuli=False)


@pytest.fixture(scope="session")
def unpacked(public: Bundled, tmp_path_factory: pytest.TempPathFactory) -> Path:
    from beholder.bundling.zip_files import unpack

    folder = tmp_path_factory.mktemp("unpacked") / "bundle"
    unpack(public.path, folder)
    return folder


@pytest.fixture(scope="session")
def verified(public: Bundled, tmp_path_factory: pytest.TempPathFactory) -> Verification:
    return beholder.verify(public.path, out=tmp_path_factory.mktemp("verified") / "out")
