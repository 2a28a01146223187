"""Prolific's published OpenAPI document."""

from __future__ import annotations

import pytest

from beholder.recruiting.fake.openapi import OpenApiDocument
from support.data import DATA
from support.prolific_researcher import OPENAPI


def document() -> OpenApiDocument:
    if not OPENAPI.is_file():
        pytest.skip(f"prolific_openapi.yml is not in {DATA}; set BEHOLDER_TEST_DATA")
    return OpenApiDocument.read(OPENAPI)
