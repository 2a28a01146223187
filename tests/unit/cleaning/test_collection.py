"""The collection of a run: when it is over, what changed its size, and when its results were looked at."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from beholder.cleaning.collection import (
    ChainShare,
    Collection,
    Look,
    SizeChange,
    chain_share,
    collection_of,
    record_chain,
    record_look,
    record_target,
)
from beholder.cleaning.screening import judge_tables
from beholder.planning.model import Addition
from beholder.store.open import open_store, read_tables
from beholder.study.model import Study
from beholder.testing.stores.facts import study_record
from support.cleaning_store import START, Tables, add, make_study, store

CLOSES = "2026-12-01"


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return make_study(tmp_path, analyse={"contrasts": [["a", "b"]]})


def collected(study: Study, tables: Tables, *ledger: dict[str, Any]) -> Collection:
    judging = judge_tables(study, tables)
    rows = [{"event": "done", "provider_ref": "", "at": START, "evidence": {"run": 1}} | row for row in ledger]
    return collection_of(study, judging.facts, rows, judging.texts, now=START + timedelta(days=30))


def look(hours: float, finished: int, lists: int = 4) -> dict[str, Any]:
    evidence = {"run": 1, "participants": finished, "finished": finished, "lists": lists, "command": "analyse"}
    more = {"by": "ann", "ratings_sha256": f"{finished} of {lists}"}
    return {"kind": "look", "at": START + timedelta(hours=hours), "evidence": evidence | more}


def filled(study: Study, finished: int) -> Tables:
    tables = store(study)
    for number in range(1, finished + 1):
        add(tables, f"s{number}", number=number)
    return tables


def test_people_may_still_come_until_every_list_is_finished(study: Study) -> None:
    half = collected(study, filled(study, 2))
    assert (half.lists, half.participants, half.finished, half.is_open) == (4, 4, 2, True)
    assert half.first_answer_at == "2026-11-15T09:01:00.000+00:00"
    whole = collected(study, filled(study, 4))
    assert (whole.ended, whole.ended_at) == ("complete", "2026-11-15T12:20:00.000+00:00")


@pytest.mark.parametrize(
    ("ledger", "ended"),
    [
        ([{"kind": "stop", "provider_ref": "cleaned/1"}], "stopped"),
        ([{"kind": "close"}], "stopped"),
        ([{"kind": "close", "evidence": {"run": 2}}], None),
        ([{"kind": "stop", "provider_ref": "cleaned/1"}, {"kind": "resume", "provider_ref": "cleaned/1"}], None),
        ([{"kind": "draft", "provider_ref": "x1"}, {"kind": "stop", "provider_ref": "x1"}], "stopped"),
        ([{"kind": "stop", "provider_ref": "x1"}], None),
        ([{"kind": "target", "evidence": {"run": 1, "lists": 2}}], "target"),
        ([{"kind": "target", "evidence": {"run": 1, "lists": 3}}], None),
    ],
)
def test_it_ends_where_it_is_stopped_or_has_what_was_asked_for(
    study: Study, ledger: list[dict[str, Any]], ended: str | None
) -> None:
    assert collected(study, filled(study, 2), *ledger).ended == ended


def test_it_ends_at_its_date(tmp_path: Path) -> None:
    dated = make_study(tmp_path, recruit={"mode": "link", "closes": CLOSES})
    assert collected(dated, filled(dated, 2)).ended == "date"


def test_the_size_depends_on_results_where_it_was_changed_or_left_open_after_a_look(study: Study) -> None:
    tables = filled(study, 4)
    seen = collected(study, tables, look(1, 2), look(5, 4))
    assert [one.finished for one in seen.looks] == [2, 4]
    assert [one.finished for one in seen.earlier_looks] == [2]
    assert not seen.may_depend_on_results, "all planned people came, whatever was seen on the way"
    assert collected(study, filled(study, 2)).may_depend_on_results, "nobody knows how many will come"
    stop = {"kind": "stop", "provider_ref": "cleaned/1", "at": START + timedelta(hours=3)}
    assert collected(study, filled(study, 2), look(2, 2), stop).may_depend_on_results
    assert not collected(study, filled(study, 2), stop, look(4, 2)).may_depend_on_results


def test_lists_that_were_added_after_a_look_are_told_with_their_reason(study: Study) -> None:
    tables = filled(study, 3)
    for number, why in ((3, "more participants"), (4, "makes up")):
        row = tables["lists"][number - 1]["trials"]
        row["added"] = list(Addition(why, "2026-11-15T10:30:00+00:00", "p1"))
        row["makes_up"] = why == "makes up"
    after = collected(study, tables, look(1, 2))
    assert (after.lists, after.ended) == (3, "complete"), "what makes up for others need not be waited for"
    assert after.changes == (SizeChange("2026-11-15T10:30:00.999+00:00", 1, "more participants"),)
    assert after.changes_after_look == after.changes
    assert not collected(study, tables, look(2, 2)).may_depend_on_results, "the size changed before anything was seen"


def test_contrasts_are_those_of_the_text_under_which_the_first_answer_came(study: Study, tmp_path: Path) -> None:
    tables = filled(study, 2)
    later = make_study(tmp_path, analyse={"contrasts": [["a", "b"], ["b", "c"]]})
    assert collected(later, tables).named == (("a", "b"),)


def test_it_is_the_same_after_it_was_written(study: Study) -> None:
    chain = {"run": 1, "population": "people", "chain": "two", "studies": 2, "share": 0.5, "after": "first"}
    whole = collected(study, filled(study, 3), look(1, 2), {"kind": "chain", "evidence": chain})
    assert whole.chain == ChainShare("two", 2, 0.5, "first")
    assert Collection.read(whole.json()) == whole


# Recording


async def begun(folder: Path) -> str:
    async with open_store(folder) as opened:
        await opened.begin(study_record())
    return str(folder)


async def test_a_look_at_the_same_ratings_is_recorded_once(study: Study, tmp_path: Path) -> None:
    url, before = await begun(tmp_path / "store"), collected(study, filled(study, 2))
    once = record_look(before, url, participants=2, ratings_sha256="x", command="analyse")
    again = record_look(before, url, participants=2, ratings_sha256="x", command="analyse")
    other = record_look(before, url, participants=2, ratings_sha256="y", command="compare")
    assert once.looks == again.looks == other.looks[:1]
    assert [one._replace(at="") for one in other.looks] == [
        Look("", 2, 2, 4, "analyse", "x"), Look("", 2, 2, 4, "compare", "y"),
    ]  # fmt: skip
    assert {"by", "run"} <= read_tables(url, ("ledger",))["ledger"][0]["evidence"].keys()


def test_a_look_is_not_lost_upon_a_store_that_is_not_there(study: Study, tmp_path: Path) -> None:
    before = collected(study, filled(study, 2), look(1, 2))
    assert record_look(before, tmp_path / "none", participants=2, ratings_sha256="x", command="analyse") == before


async def test_targets_and_shares_are_recorded_once(tmp_path: Path) -> None:
    url = await begun(tmp_path / "store")
    for lists in (4, 4, 6):
        record_target(url, 1, lists)
    for share in (0.5, 0.25):
        record_chain(url, 1, ChainShare("two", 2, share), population="people")
    rows = read_tables(url, ("ledger",))["ledger"]
    assert [row["evidence"]["lists"] for row in rows if row["kind"] == "target"] == [4, 6]
    assert chain_share(rows, 1, "people") == ChainShare("two", 2, 0.5)
    assert chain_share(rows, 1, "robots") is None
