"""Export of other stores: comparisons, published votes, nobody who finished, hostile browsers, PostgreSQL."""

from __future__ import annotations

import asyncio
import csv
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import pytest

import beholder
from beholder.errors import UserError
from beholder.store.contract import Answer, End, Events, Session, StudyRecord
from beholder.store.open import open_store
from beholder.study.model import Study
from beholder.types import Json
from support.answered_trials import PLAYED
from support.data import DATA
from support.export_store import GOOD, START, come, make_study, record, rows


async def fill_one(study: Study, votes: Sequence[Mapping[str, Json]], made: StudyRecord) -> None:
    """Fill a store with people who answered one page each."""
    async with open_store(study.folder / "store") as store:
        await store.begin(made)
        for place, vote in enumerate(votes, 1):
            name, at = f"v{place:02}", START + timedelta(hours=place)
            await store.arrive(Session(name, f"p{place:02}", "d1", 1, "link", 1, {}, at))
            await store.claim(name, now=at, until=at + timedelta(hours=1), per_list=None)
            played: dict[str, Json] = {slot: dict(PLAYED) for slot in ("s1", "s2", "s3")}
            await store.append([Answer(name, "trial:1", vote, played, 0.0, 9000.0, "mouse", "t", at)])
            await store.append([End(name, "completed", "", "", "", at)])


def test_comparisons_are_counted_by_pair(tmp_path: Path) -> None:
    study = make_study(tmp_path, method="pair", questions=[{"id": "better", "text": "Which?", "scale": "pref3"}])
    made = record(study, conditions=("NA", "no"))
    choices = [{"choices": {"q1": {"better": better}}} for better in ("s1", "s1", "s2", "tie")]
    asyncio.run(fill_one(study, choices, made))
    folder = beholder.export(study).folder
    assert rows(folder, "pair_counts") == [
        {
            "question": "better", "content": "city", "condition": "NA", "other_condition": "no", "n": "4",
            "preferred": "2", "ties": "1", "other_preferred": "1",
        }
    ]  # fmt: skip
    assert not (folder / "matrix.csv").exists()
    with pytest.raises(UserError) as caught:
        beholder.export(study, p910=True)
    assert str(caught.value) == (
        "--p910  has no table for ratings of kind choice. Allowed: scores and grades. "
        "Leave it out; ratings and pair_counts have everything."
    )


def test_the_votes_of_the_p910_parser_give_its_table(tmp_path: Path) -> None:
    path = DATA / "p910" / "acr_B_default_bonus" / "answers_merged_votes_per_clip.csv"
    if not path.is_file():
        pytest.skip(f"p910 is not in {DATA}; set BEHOLDER_TEST_DATA")
    with path.open(encoding="utf-8", newline="") as file:
        published = [row for row in csv.DictReader(file) if row["n"] == "20"][:3]
    votes = [[float(row[f"vote_{number}"]) for row in published] for number in range(1, 21)]
    answers = [{"scores": {"q1": {f"s{slot}": vote for slot, vote in enumerate(some, 1)}}} for some in votes]
    study = make_study(tmp_path, clean={"without": ["watched"]}, checks={"variance": False})
    asyncio.run(fill_one(study, answers, record(study, conditions=("c1", "c2", "c3"))))
    folder = beholder.export(study, p910=True).folder
    clips = {row["condition"]: row for row in rows(folder, "votes_per_clip")}
    for condition, row in zip(("c1", "c2", "c3"), published, strict=True):
        clip = clips[condition]
        for name in ("n", "MOS", "std", "95%CI", *(f"vote_{number}" for number in range(1, 21))):
            assert float(clip[name]) == pytest.approx(float(row[name]), rel=1e-9), name
        # Ours is Student's t over people: a little wider.
        half = (float(clip["ci_high"]) - float(clip["ci_low"])) / 2
        assert 1 < half / float(clip["95%CI"]) < 1.08


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


def test_what_a_browser_calls_itself_is_no_formula(tmp_path: Path) -> None:
    study = make_study(tmp_path)

    async def fill_it() -> None:
        async with open_store(study.folder / "store") as store:
            await store.begin(record(study))
            await come(store, "alice", 1, says=GOOD)
            later = START + timedelta(hours=2)
            log: list[Json] = [[0, "click", "=1+1", "@SUM(A1)"], [1, "key", None, {"key": "="}]]
            await store.append([Events("alice", "trial:1", "=2+2", 0, log, later)])

    asyncio.run(fill_it())
    told = [row for row in rows(beholder.export(study).folder, "events") if row["tab"] != "t1"]
    assert [(row["tab"], row["slot"], row["data"]) for row in told] == [
        ("'=2+2", "'=1+1", "'@SUM(A1)"), ("'=2+2", "", '{"key": "="}'),
    ]  # fmt: skip


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
