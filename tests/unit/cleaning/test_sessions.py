"""One session judged: its ratings and its decision."""

from __future__ import annotations

import json

from beholder.cleaning.ratings import read_ratings
from beholder.cleaning.tables import clean_tables
from beholder.study.model import Study
from support.store_tables import SEEN, add, empty, rows


def test_ratings_of_an_unfinished_session_stay_with_their_reason(study: Study) -> None:
    tables = empty(study)
    add(tables, "good")
    add(tables, "left", outcome=None, trials=1)
    ratings = read_ratings(clean_tables(study, tables).folder / "ratings.csv")
    left = ratings[ratings["session"] == "left"]
    assert len(left) == 3
    assert not left["use"].any()
    assert set(left["reasons"]) == {"complete:not_finished"}


def test_only_the_ratings_of_a_clip_that_was_not_watched_are_lost(study: Study) -> None:
    tables = empty(study)
    add(tables, "a", playback={"s2": SEEN | {"coverage": 0.3, "furthest_ms": 1200}})
    cleaned = clean_tables(study, tables)
    ratings = read_ratings(cleaned.folder / "ratings.csv")
    assert ratings.loc[~ratings["use"], "condition"].tolist() == ["no", "no"]
    assert rows(cleaned, "sessions")[0]["use"] == "true"
    watched = next(row for row in rows(cleaned, "verdicts") if row["check"] == "watched")
    assert json.loads(watched["evidence"])["failed"] == ["trial:1.s2", "trial:2.s2"]


def test_missing_evidence_is_unknown_and_costs_nothing(study: Study) -> None:
    tables = empty(study)
    add(tables, "a", playback={"s1": {}, "s2": {}, "s3": {}})
    cleaned = clean_tables(study, tables)
    assert read_ratings(cleaned.folder / "ratings.csv")["use"].all()
    assert {row["check"]: row["verdict"] for row in rows(cleaned, "verdicts")}["watched"] == "unknown"


def test_a_stimulus_that_would_not_play_leaves_a_row_without_a_value(study: Study) -> None:
    tables = empty(study)
    add(tables, "a", missing=("s3",))
    ratings = read_ratings(clean_tables(study, tables).folder / "ratings.csv")
    broken = ratings[ratings["condition"] == "01"]
    assert broken["missing"].tolist() == ["media_error"] * 2
    assert broken["value"].isna().all()


def test_a_session_in_which_nothing_played_is_not_used_and_not_decided(study: Study) -> None:
    tables = empty(study)
    add(tables, "good")
    add(tables, "dark", missing=("s1", "s2", "s3"))
    cleaned = clean_tables(study, tables)
    dark = rows(cleaned, "sessions")[1]
    assert (dark["accept"], dark["use"], dark["reasons"]) == ("", "false", "complete:nothing_rated")
    assert (cleaned.counts["used_sessions"], cleaned.counts["used_participants"]) == (1, 1)
    assert [(lost.words, lost.sessions, lost.only, lost.kept) for lost in cleaned.lost] == [
        ("Nothing could be rated", 1, 1, 0)
    ]


def test_a_session_that_mostly_did_not_play_is_named_and_what_there_is_counts(study: Study) -> None:
    tables = empty(study)
    add(tables, "dim", missing=("s2", "s3"))
    cleaned = clean_tables(study, tables)
    dim = rows(cleaned, "sessions")[0]
    assert (dim["accept"], dim["use"], dim["reasons"]) == ("true", "true", "complete:mostly_missing")
    ratings = read_ratings(cleaned.folder / "ratings.csv")
    assert ratings["use"].all()
    assert set(ratings["reasons"]) == {""}
    assert [(lost.words, lost.sessions, lost.kept, lost.ratings) for lost in cleaned.lost] == [
        ("More than half could not be rated", 1, 1, 0)
    ]
