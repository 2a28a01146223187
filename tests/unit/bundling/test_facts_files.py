"""Facts as JSON lines: written, read back as they were, and refused where they are none."""

from __future__ import annotations

from pathlib import Path

import pytest

from beholder.bundling.facts_files import json_line, read_rows_of, typed_texts, write_rows
from beholder.errors import UserError
from support.export_store import START

CLAIM = {"session": "a\u2028b“", "list": 3, "at": START}


def test_rows_come_back_as_they_were(tmp_path: Path) -> None:
    assert write_rows(tmp_path / "claims.jsonl", "claims", [CLAIM, {**CLAIM, "session": "c"}], str) == 2
    assert read_rows_of(tmp_path, ("claims",))["claims"] == [CLAIM, {**CLAIM, "session": "c"}]
    assert json_line("claims", CLAIM).startswith('{"session":"a')


@pytest.mark.parametrize(
    "line",
    [
        "[]",
        "{",
        '{"session": "a"}',
        '{"session": "a", "list": "x", "at": 5}',
        '{"session":"a","list":1,"at":"2026-01-01"}',
    ],
)
def test_what_is_no_row_is_named_with_its_line(tmp_path: Path, line: str) -> None:
    (tmp_path / "claims.jsonl").write_text(f"{json_line('claims', CLAIM)}\n{line}\n", "utf-8")
    with pytest.raises(UserError, match=r"facts/claims\.jsonl:2 .*is no row of this table"):
        read_rows_of(tmp_path, ("claims",))
    with pytest.raises(UserError, match=r"facts/ends\.jsonl .*is not there"):
        read_rows_of(tmp_path, ("ends",))


def test_ratings_that_are_made_of_typed_texts_are_known() -> None:
    assert typed_texts({"answers": [{"answer": {"texts": {"q1": "a word"}}}]})
    assert not typed_texts({"answers": [{"answer": {"scores": {}}}, {"answer": None}]})
