"""The folder of an export: every table, the same bytes for the same facts, and nothing overwritten."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import pandas as pd
import pytest

import beholder
from beholder.cleaning.collection import looks_in
from beholder.errors import UserError
from beholder.store.open import open_store, read_tables
from beholder.study.model import Study
from support.export_store import GOOD, come, make_study, package, record, rows


def test_every_table_is_there_and_counts_people_alone(folder: Path, study: Study) -> None:
    written = {resource["name"]: resource["rows"] for resource in package(folder)["resources"]}
    assert written == {
        "ratings": 24, "participants": 5, "sessions": 5, "questionnaires": 18, "studies": 1, "questions": 6,
        "stimuli": 8, "answers": 18, "playback": 24, "checks": len(rows(folder, "checks")),
        "verdicts": len(rows(folder, "verdicts")), "exclusions": 3, "posed": 3, "told": 3, "matrix": 2, "events": 36,
        "votes_per_clip": 8, "votes_per_cond": 4, "votes_per_worker": 16,
    }  # fmt: skip
    assert {path.name for path in folder.iterdir()} == {
        *(f"{name}.csv" for name in written), "dictionary.csv", "datapackage.json", "README.md", "croissant.json",
        "checklists.md",
    }  # fmt: skip


def test_the_same_facts_give_the_same_bytes_and_an_older_export_leaves_nothing_behind(
    study: Study, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    beholder.export(study, out=out, p910=True)
    (out / "my notes.txt").write_text("keep", "utf-8")
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    beholder.export(study, out=out, p910=True)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    beholder.export(study, out=out, format="parquet")
    assert sorted(path.name for path in out.glob("*.csv")) == ["dictionary.csv"]
    assert (out / "my notes.txt").read_text("utf-8") == "keep"


def test_a_folder_that_is_something_else_is_not_overwritten(study: Study, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work", "utf-8")
    for taken in (tmp_path, tmp_path / "thesis.tex"):
        with pytest.raises(UserError) as caught:
            beholder.export(study, out=taken)
        assert str(caught.value) == (
            f"{taken}  is there, and is not an export of Beholder. Allowed: a new or empty folder, or an earlier "
            "export. Name another folder with --out."
        )
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_an_export_that_was_killed_is_simply_made_again(study: Study, tmp_path: Path) -> None:
    half = tmp_path / "out" / ".new.killed" / "new"
    half.mkdir(parents=True)
    (half / "comments.csv").write_text("what somebody wrote", "utf-8")
    beholder.export(study, out=tmp_path / "out")
    assert not (tmp_path / "out" / ".new.killed").exists()
    assert (tmp_path / "out" / "datapackage.json").exists()


def test_facts_in_postgresql_are_the_same_and_no_message_has_the_password(postgresql_url: str, tmp_path: Path) -> None:
    study = make_study(tmp_path)
    parts = urlsplit(postgresql_url)
    url = urlunsplit(parts._replace(netloc=f"{parts.username}:s3cret@{parts.netloc.rpartition('@')[2]}"))

    async def fill_it(people: Sequence[str]) -> None:
        async with open_store(url) as store:
            await store.begin(record(study))
            for place, name in enumerate(people, 1):
                await come(store, name, place, says=GOOD)

    asyncio.run(fill_it(()))
    with pytest.raises(UserError) as empty:
        beholder.export(study, store=url)
    assert "holds no sessions yet" in str(empty.value)
    assert "s3cret" not in str(empty.value)
    asyncio.run(fill_it(("alice", "bob")))
    exported = beholder.export(study, store=url)
    assert (exported.rows["sessions"], exported.rows["ratings"], exported.rows["events"]) == (2, 16, 24)


def test_an_export_of_peoples_ratings_is_a_recorded_look(folder: Path, study: Study) -> None:
    beholder.export(study, out=study.folder / "again")
    beholder.export(study, out=study.folder / "robots", robots=True)
    rows = read_tables(str(study.folder / "store"), ("ledger",))["ledger"]
    (look,) = looks_in(rows, study.run)
    used = pd.read_csv(folder / "ratings.csv").query("use")
    assert (look.command, look.participants) == ("export", used["participant"].nunique())
