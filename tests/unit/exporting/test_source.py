"""Free text is left out, or exported on request; nothing identifies a person."""

from __future__ import annotations

import json
from pathlib import Path

import beholder
from beholder.cleaning.texts import Masks
from beholder.exporting.source import FreeTextFilter
from beholder.study.model import Study
from support.export_store import NAMED, SECRETS, rows


def test_neither_free_text_nor_anything_that_leads_to_a_person_is_in_it(folder: Path, parquet: Path) -> None:
    for path in [*folder.iterdir(), *parquet.iterdir()]:
        for secret in (*SECRETS, "CODE-1", "5eed"):
            assert secret.encode() not in path.read_bytes(), (path.name, secret)
    (typed, chosen) = (
        row for row in rows(folder, "events") if row["key"] == "questions:before" and row["session"] == "bob"
    )
    assert json.loads(typed["data"]) == {"question": "name"}
    assert json.loads(chosen["data"]) == {"question": "sees", "value": "no"}
    assert not (folder / "comments.csv").exists()


def test_free_text_is_there_when_it_is_asked_for(study: Study, tmp_path: Path) -> None:
    exported = beholder.export(study, out=tmp_path / "all", with_texts=True)
    folder, masked = exported.folder, "Write to [e-mail]: I am [id], and [id] is my friend."
    written = [row["text"] for row in rows(folder, "comments") if row["session"] == "alice"]
    assert written == [SECRETS[1], SECRETS[2], masked]
    (answer,) = (row["answer"] for row in rows(folder, "answers") if (row["session"], row["key"]) == ("bob", "trial:2"))
    assert json.loads(answer)["comment"] == masked
    assert exported.notes[0] == (
        "What people wrote in their own words is here. E-mail addresses and ids of platforms were replaced by [e-mail] "
        "and [id]: 9 in `answers`, 9 in `comments`. Names are not looked for: look through it before you hand it on."
    )
    assert f"- {exported.notes[0]}" in (folder / "README.md").read_text("utf-8")
    answers = {(row["session"], row["question"]): row["answer"] for row in rows(folder, "questionnaires")}
    assert answers["alice", "name"] == SECRETS[0]
    content = b"".join(path.read_bytes() for path in folder.iterdir())
    for secret in (*SECRETS[3:], *NAMED.split()[2:3], "5F3A", "5f0f0f0f"):
        assert secret.encode() not in content


def test_what_was_typed_of_a_clip_is_free_text() -> None:
    answer = {"texts": {"q1": {"s1": "write to max@example.org"}}}
    assert FreeTextFilter({}).answer("answers", "d", "trial:1", answer) == {}
    masked = FreeTextFilter({}, Masks()).answer("answers", "d", "trial:1", answer)
    assert masked == {"texts": {"q1": {"s1": "write to [e-mail]"}}}
