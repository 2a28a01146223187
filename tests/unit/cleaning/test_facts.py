"""Facts of a store: populations, plans, other studies."""

from __future__ import annotations

import json

import pytest

from beholder.cleaning.ratings import read_ratings
from beholder.cleaning.tables import clean_tables
from beholder.errors import StoreError
from beholder.study.model import Study
from support.store_tables import START, add, empty, rows


def test_who_withdrew_leaves_no_ratings_and_no_answers(study: Study) -> None:
    tables = empty(study)
    add(tables, "stays")
    add(tables, "withdrew", outcome="withdrawn")
    add(tables, "erased")
    add(tables, "declined", outcome="no_consent")
    tables["erasures"] += [{"session": name, "rows": 4, "at": START} for name in ("erased", "declined")]
    cleaned = clean_tables(study, tables)
    assert set(read_ratings(cleaned.folder / "ratings.csv")["session"]) == {"stays"}
    assert [row["outcome"] for row in rows(cleaned, "sessions")] == [
        "completed", "withdrawn", "withdrawn", "no_consent",
    ]  # fmt: skip
    assert [row["answer_age"] for row in rows(cleaned, "participants")] == ["30", "", "", ""]


def test_people_are_taken_where_there_are_any_else_robots_and_previews_never(study: Study) -> None:
    tables = empty(study)
    add(tables, "preview", mode="preview")
    add(tables, "robot", mode="robot")
    robots = clean_tables(study, tables)
    assert (robots.population, robots.counts["sessions"]) == ("robots", 1)
    add(tables, "person")
    assert [row["session"] for row in rows(clean_tables(study, tables), "sessions")] == ["person"]
    again = clean_tables(study, tables, robots=True)
    assert [row["session"] for row in rows(again, "sessions")] == ["robot"]
    assert json.loads((again.folder / "account.json").read_text())["population"] == "robots"


def test_sessions_under_an_earlier_plan_are_left_out_and_counted(study: Study) -> None:
    tables = empty(study)
    tables["studies"].insert(0, tables["studies"][0] | {"digest": "d0", "plan_digest": "p0"})
    add(tables, "old", mode="robot", digest="d0")
    add(tables, "new", mode="robot")
    cleaned = clean_tables(study, tables)
    assert (cleaned.counts["sessions"], cleaned.counts["other_plans"]) == (1, 1)


def test_an_empty_store_says_what_to_do(study: Study) -> None:
    with pytest.raises(StoreError) as error:
        clean_tables(study, empty(study))
    assert str(error.value) == (
        "store/  holds no sessions yet. Let people in with `beholder serve`, or send robots with "
        "`beholder simulate --participants 20`. Previews are not kept."
    )


def test_a_rehearsal_that_never_was_says_what_to_do(study: Study) -> None:
    tables = empty(study)
    add(tables, "person")
    with pytest.raises(StoreError) as error:
        clean_tables(study, tables, robots=True)
    assert str(error.value) == (
        "store/  holds no robots yet. To rehearse, send robots with `beholder simulate --participants 20`."
    )
