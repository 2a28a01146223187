"""The page of a verification, its tables and the study that was computed anew."""

from __future__ import annotations

import json

import pytest

import beholder
from beholder.bundling.verification import Verification
from beholder.errors import UserError
from support.report_pages import Page


def test_the_page_tells_it_to_people(verified: Verification) -> None:
    assert verified.page is not None
    page = Page(verified.page.read_text("utf-8"))
    assert page.open == []
    assert "Results reproduced" in page.text
    assert "<table" in verified._repr_html_()
    notes = json.loads((verified.page.parent / "verification.json").read_text("utf-8"))
    assert notes["is_same"] is True
    assert notes["counts"] == {"equal": len(verified.checks), "different": 0, "not checkable": 0}
    assert (verified.page.parent / "study/report/index.html").is_file(), "what was computed anew"
    with pytest.raises(UserError, match="is there, and is no verification"):
        beholder.verify(verified.archive, out=verified.archive.parent)
