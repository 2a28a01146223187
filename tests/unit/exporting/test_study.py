"""What was shown and asked is exported even if nobody finished."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

import beholder
from beholder.store.open import open_store
from support.export_store import come, make_study, record, rows


def test_a_study_that_nobody_finished_has_empty_tables_with_their_heads(tmp_path: Path) -> None:
    study = make_study(tmp_path)

    async def visit() -> None:
        async with open_store(tmp_path / "store") as store:
            await store.begin(record(study, digest="d0", plan="p0"))
            await come(store, "early", 1, digest="d0")
            await store.begin(record(study))
            await come(store, "late", 2)

    asyncio.run(visit())
    folder = beholder.export(study, p910=True).folder
    assert rows(folder, "ratings") == rows(folder, "events") == rows(folder, "votes_per_clip") == []
    assert [(row["session"], row["use"], row["reasons"]) for row in rows(folder, "sessions")] == [
        ("early", "false", "plan:earlier"),
        ("late", "false", "complete:not_finished"),
    ]
    assert [row["words"] for row in rows(folder, "exclusions")] == ["Came under an earlier plan", "Did not finish"]
    assert [row["participant"] for row in rows(folder, "participants")] == ["p-late", "p-early"]


def test_questions_are_exported_without_marks(tmp_path: Path) -> None:
    item = {"id": "who", "text": "Who [are](https://a.b) you?", "type": "single", "options": ["A *person*", "Both"]}
    scale = {"min": 1, "max": 2, "labels": ["**bad**", "good"]}
    study = make_study(
        tmp_path, questions=[{"id": "q", "text": "How _good_?", "scale": scale}], before=[item], after=[]
    )

    async def visit() -> None:
        async with open_store(tmp_path / "store") as store:
            await store.begin(record(study))
            await come(store, "late", 2)

    asyncio.run(visit())
    asked = rows(beholder.export(study).folder, "questions")
    assert [(row["text"], row["labels"]) for row in asked] == [
        ("How good?", '[[1.0, "bad"], [2.0, "good"]]'), ("Who are you?", '["A person", "Both"]'),
    ]  # fmt: skip


@pytest.mark.parametrize(("scale", "shown"), [({"name": "cont100", "numbers": "ticks"}, "ticks"), ("cont100", None)])
def test_where_numbers_were_shown_is_exported_where_a_study_says_so(tmp_path: Path, scale: Any, shown: Any) -> None:
    study = make_study(tmp_path, questions=[{"id": "q", "text": "How good?", "scale": scale}], before=[], after=[])

    async def visit() -> None:
        async with open_store(tmp_path / "store") as store:
            await store.begin(record(study))
            await come(store, "late", 2)

    asyncio.run(visit())
    (asked,) = rows(beholder.export(study).folder, "questions")
    assert asked.get("numbers") == shown
