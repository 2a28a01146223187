"""What we rely on in Prolific's API."""

from __future__ import annotations

import re

import pytest

from beholder.recruiting.fake.openapi import OpenApiDocument
from beholder.testing.prolific import check_prolific, missing_in
from support.data import DATA
from support.prolific_document import document
from support.prolific_researcher import OPENAPI, Researcher


def test_the_document_still_has_everything_that_we_rely_on() -> None:
    assert missing_in(document()) == []


def test_a_field_that_a_newer_document_drops_is_named() -> None:
    text = OPENAPI.read_text("utf-8") if OPENAPI.is_file() else pytest.skip(f"no document in {DATA}")
    newer = OpenApiDocument(re.sub(r"^( +)bonus_payments:$", r"\1extras:", text, flags=re.MULTILINE))
    assert missing_in(newer) == ["SubmissionDetail.bonus_payments"]


async def test_the_fake_is_as_the_live_api_promises(researcher: Researcher) -> None:
    study = await researcher.publish()
    researcher.fake.people.finish(study, 2)
    await check_prolific(researcher.client)
