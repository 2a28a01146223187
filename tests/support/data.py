"""The folders of this repository and of the public test data outside it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("BEHOLDER_TEST_DATA") or ROOT.parent / "shared" / "data")


def data_file(name: str) -> Path:
    path = DATA / name
    if not path.is_file():
        pytest.skip(f"{name} is not in {DATA}; set BEHOLDER_TEST_DATA")
    return path
