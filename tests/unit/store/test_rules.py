"""Rules that both databases share."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from beholder.errors import StoreError
from beholder.store.contract import LedgerEntry
from beholder.store.rules import (
    Migration,
    anonymise,
    anonymised_values,
    check_current,
    due_migrations,
    migrations,
    population,
    sql_statements,
)

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)
STEPS = (Migration(3, "a"), Migration(4, "b"))


def test_robots_previews_and_people_are_counted_apart() -> None:
    assert [population(mode) for mode in ("link", "lab", "robot", "preview")] == [
        "people",
        "people",
        "robot",
        "preview",
    ]


@pytest.mark.parametrize("schema", ["sqlite", "sqlite-identity", "sqlite-ledger", "postgresql"])
def test_before_the_first_release_every_database_has_one_schema_file(schema: str) -> None:
    assert len(migrations(schema)) == 1


def test_migrations_are_numbered_without_gaps(tmp_path: Path) -> None:
    for name in ("0003.sql", "0005.sql"):
        (tmp_path / name).write_text("")
    with pytest.raises(ValueError, match="numbered without gaps"):
        migrations(tmp_path)


def test_only_newer_migrations_are_due() -> None:
    assert due_migrations("here", 0, STEPS) == STEPS
    assert due_migrations("here", 3, STEPS) == STEPS[1:]
    assert due_migrations("here", 4, STEPS) == ()
    check_current("here", 4, STEPS)
    with pytest.raises(StoreError, match=r"older Beholder \(schema 3, this one reads 4\)"):
        check_current("here", 3, STEPS)


def test_a_script_is_split_into_statements() -> None:
    assert [one.strip() for one in sql_statements("-- a\nSELECT 1;\nSELECT ';';\n")] == [
        "-- a\nSELECT 1;",
        "SELECT ';';",
    ]
    with pytest.raises(ValueError, match="unfinished statement"):
        list(sql_statements("SELECT 1"))


def test_an_anonymous_ledger_names_the_visit_or_the_session_and_never_both() -> None:
    paid = LedgerEntry("approve", "done", NOON, "visit", "p-ann", "s1", reason_text="thanks", entry=1)
    erased = LedgerEntry("forget", "done", NOON, "visit", "", "s1", reason_code="s1", entry=2)
    clean = anonymise([paid, erased])
    assert [(one.submission, one.participant, one.session, one.reason_text) for one in clean] == [
        ("visit", "", "", ""),
        ("", "", "s1", ""),
    ]
    assert anonymise(clean) == clean
    assert [values[-1] for values in anonymised_values([paid, erased])] == [1, 2]
