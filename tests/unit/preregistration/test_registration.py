"""The record of a preregistration: versions in the ledger, who had come by then, and what cannot be changed."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from beholder.preregistration.registration import (
    Registration,
    participation,
    read_state,
    record,
    record_place,
    reference_of,
    registrations_in,
)
from beholder.store.sqlite.database_files import LEDGER
from support.cleaning_store import START, add, make_study, store
from support.registered_studies import BEFORE, plan_of, registered, registered_at

PLAN = {"title": "One", "yaml": "a: 1"}


def test_a_version_is_recorded_with_its_digest_before_there_is_a_store(tmp_path: Path) -> None:
    url = str(tmp_path / "store")
    state = read_state(url, 1)
    assert (state.versions, state.taken_part.people) == ((), 0)
    made = record(url, 1, state, PLAN, {"Description": "Ours."}, {"Title": "One"}, "")
    assert (made.version, made.people, made.is_intact) == (1, 0, True)
    assert read_state(url, 1).versions == (made,)
    assert read_state(url, 2).versions == (), "another run has a plan of its own"
    placed = record_place(url, 1, made, "https://osf.io/abcde")
    assert record_place(url, 1, placed, "https://osf.io/abcde") == placed, "it is known already"
    assert [place for _, place in read_state(url, 1).versions[0].places] == ["https://osf.io/abcde"]


def test_nobody_changes_an_entry_and_a_record_that_was_changed_is_seen(tmp_path: Path) -> None:
    made = record(str(tmp_path), 1, read_state(str(tmp_path), 1), PLAN, {}, {}, "")
    with closing(sqlite3.connect(tmp_path / LEDGER)) as connection:
        for change in ("evidence = '{}'", "provider_ref = 'x'", "at = '2020-01-01T00:00:00+00:00'"):
            with pytest.raises(sqlite3.IntegrityError, match="append-only"):
                connection.execute(f"UPDATE ledger SET {change}")
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            connection.execute("DELETE FROM ledger")
    assert not replace(made, plan={**PLAN, "title": "Two"}).is_intact


def test_people_who_answered_anything_have_taken_part_and_robots_have_not(tmp_path: Path) -> None:
    tables = store(make_study(tmp_path))
    add(tables, "robot", mode="robot")
    assert participation(tables, 1) == (0, "")
    add(tables, "s1", person="ada", number=1)
    add(tables, "s2", person="ada", number=2)
    tables["erasures"].append({"session": "s2"})
    add(tables, "s3", person="bob", number=3)
    tables["answers"] = [row for row in tables["answers"] if row["session"] != "s3"]
    assert participation(tables, 1) == (1, "2026-11-15T10:01:00.000+00:00"), "bob answered nothing"
    tables["erasures"].append({"session": "s3"})
    assert participation(tables, 1).people == 2, "what was erased had been answered"
    assert participation(tables, 2).people == 0


def test_results_are_held_against_the_last_version_in_time(tmp_path: Path) -> None:
    study = make_study(tmp_path)
    plan, first_at = plan_of(study, store(study)), START.isoformat(timespec="milliseconds")
    rows = [
        registered(plan),
        registered({**plan, "lists": 6}, at=BEFORE + timedelta(hours=1), why="more power"),
        registered({**plan, "lists": 8}, at=START + timedelta(hours=1), people=3),
    ]
    versions = registrations_in([rows[2], registered_at(rows[1], "https://osf.io/x"), *rows[:2]], 1)
    assert [one.version for one in versions] == [1, 2, 3]
    assert [one.is_late(first_at) for one in versions] == [False, False, True]
    assert reference_of(versions, first_at).version == 2
    assert versions[1].places[0][1] == "https://osf.io/x"
    assert reference_of(versions[2:], first_at) == versions[2], "where all are late, the first one"
    assert replace(versions[0], people=0).is_late("2020-01-01T00:00:00.000+00:00"), "answers came from elsewhere before"
    assert Registration.read(versions[1].json()) == versions[1]
