"""Clean: from a store's rows to judged tables."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from beholder.cleaning import Cleaned, clean
from beholder.cleaning.ratings import COLUMNS, read_ratings
from beholder.cleaning.tables import clean_tables
from beholder.cleaning.texts import read_text
from beholder.errors import StoreError
from beholder.methods import find
from beholder.study.model import Study
from beholder.study.serialization import resolved_yaml
from support.store_tables import SEEN, START, add, empty, make_study


def rows(cleaned: Cleaned, name: str) -> list[dict[str, str]]:
    with (cleaned.folder / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_every_answer_becomes_tidy_ratings(study: Study) -> None:
    tables = empty(study)
    add(tables, "a")
    cleaned = clean_tables(study, tables)
    ratings = read_ratings(cleaned.folder / "ratings.csv")
    assert tuple(ratings.columns) == (*COLUMNS, "factor_fps")
    assert ratings["condition"].tolist() == ["natural", "no", "01"] * 2
    assert ratings["value"].tolist() == [80.0, 50.0, 20.0] * 2
    assert ratings["position"].tolist() == [1.0] * 3 + [2.0] * 3
    assert ratings["trial"].tolist() == ["city"] * 3 + ["park"] * 3
    assert ratings["use"].all()


def test_sessions_and_participants_carry_both_decisions_and_every_reason(study: Study) -> None:
    tables = empty(study)
    add(tables, "good")
    add(tables, "flat", scores=(50, 50, 50))
    add(tables, "left", outcome=None, trials=1)
    add(tables, "screened", outcome="screened_out", trials=0)
    cleaned = clean_tables(study, tables)
    decided = [(row["session"], row["accept"], row["use"], row["reasons"]) for row in rows(cleaned, "sessions")]
    assert decided == [
        ("good", "true", "true", ""),
        ("flat", "true", "false", "variance:same_answer"),
        ("left", "", "false", "complete:not_finished"),
        ("screened", "true", "false", "complete:screened_out"),
    ]
    assert rows(cleaned, "sessions")[0]["minutes"] == "6"
    people = rows(cleaned, "participants")
    assert [person["answer_age"] for person in people] == ["30"] * 4
    assert [person["used_ratings"] for person in people] == ["6", "0", "0", "0"]
    assert [lost.words for lost in cleaned.lost] == [
        "Did not finish", "Screened out before the trials", "Nearly the same answer throughout",
    ]  # fmt: skip
    assert cleaned.counts["used_participants"] == 1


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


ASKED = [
    {"id": "age", "text": "Age", "type": "number"},
    {"id": "remarks", "text": "Remarks?", "type": "text"},
    {"id": "mood", "text": "Mood?", "type": "single", "options": ["-1", "0", "+1"]},
]


@pytest.mark.parametrize(
    ("typed", "written"),
    [
        ("half \ud83d emoji", "half \ufffd emoji"),
        ("\ude00\ud83d", "\ufffd\ufffd"),
        ("whole \U0001f600, line\nbreak", "whole \U0001f600, line\nbreak"),
        ('=HYPERLINK("x")', '\'=HYPERLINK("x")'),
        ("+1", "'+1"),
        ("-1", "'-1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\t=1"),
        ("\r=1", "'\n=1"),
        ("fine\r=1\r\n=2", "fine\n=1\n=2"),
        ("\n=1", "'\n=1"),
        ("'tis fine = good", "'tis fine = good"),
    ],
)
def test_whatever_was_typed_can_be_written_and_never_is_a_formula(tmp_path: Path, typed: str, written: str) -> None:
    study = make_study(tmp_path, after=ASKED)
    tables = empty(study)
    add(tables, "a", after={"remarks": json.loads(json.dumps(typed)), "mood": "-1", "age": -3})
    (row,) = rows(clean_tables(study, tables), "participants")
    assert (row["answer_remarks"], row["answer_mood"], row["answer_age"]) == (written, "-1", "-3")


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}


@pytest.mark.parametrize("name", ["sessions.csv", "account.json"])
def test_when_one_table_cannot_be_written_all_stay_as_they_were(study: Study, name: str) -> None:
    tables = empty(study)
    add(tables, "a")
    folder = clean_tables(study, tables).folder
    (folder / name).unlink()
    (folder / name / "in the way").mkdir(parents=True)
    before = contents(folder)
    add(tables, "b")
    with pytest.raises(OSError, match=re.escape(name)):
        clean_tables(study, tables)
    assert contents(folder) == before
    assert sorted(path.name for path in folder.iterdir()) == sorted([*before, name])


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


def test_cleaning_twice_gives_the_same_bytes(study: Study) -> None:
    tables = empty(study)
    rng = np.random.default_rng(3)
    for number in range(5):
        low, middle, high = (int(score) for score in rng.integers(0, 101, 3))
        add(tables, f"s{number}", scores=(low, middle, high))
    folder = clean_tables(study, tables).folder
    first = {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
    clean_tables(study, tables)
    assert {path.name: path.read_bytes() for path in sorted(folder.iterdir())} == first
    assert sorted(first) == [
        "accept.csv", "account.json", "account.md", "bonus.csv", "checks.csv", "comments.csv", "devices.csv",
        "extend.csv", "look.csv", "participants.csv", "playback.csv", "qualification.csv", "ratings.csv", "reject.csv",
        "sessions.csv", "verdicts.csv", "votes.csv",
    ]  # fmt: skip


def test_the_watch_rule_is_that_of_the_text_the_session_began_with(tmp_path: Path) -> None:
    lenient = make_study(tmp_path, playback={"watch": "start"})
    assert read_text(resolved_yaml(lenient), make_study(tmp_path), find("parallel")).watch == "start"
    assert read_text("beholder: 1", lenient, find("parallel")).watch == "whole"
    tables = empty(lenient)
    add(tables, "a", playback={"s2": SEEN | {"coverage": 0.1}})
    assert read_ratings(clean_tables(make_study(tmp_path), tables).folder / "ratings.csv")["use"].all()


def account(cleaned: Cleaned) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((cleaned.folder / "account.json").read_text(encoding="utf-8"))
    return found


def test_the_account_keeps_the_words_that_people_read_though_the_study_has_new_ones(tmp_path: Path) -> None:
    first = make_study(tmp_path, title="no", questions=[{"id": "quality", "text": "How natural?", "scale": "cont100"}])
    second = make_study(tmp_path)
    tables = empty(first)
    tables["studies"].append(tables["studies"][0] | {"digest": "d2", "yaml": resolved_yaml(second)})
    tables["stimuli"] += [row | {"digest": "d2"} for row in tables["stimuli"]]
    for name, digest in (("a", "d1"), ("b", "d1"), ("c", "d2")):
        add(tables, name, digest=digest)
    add(tables, "left", digest="d2", outcome=None)
    newest = make_study(tmp_path, title="Newest", questions=[{"id": "quality", "text": "Unread", "scale": "cont100"}])
    texts = account(clean_tables(newest, tables))["texts"]
    assert [(text["digest"], text["title"], text["questions"][0]["text"]) for text in texts] == [
        ("d1", "no", "How natural?"),
        ("d2", "Cleaned", "How good?"),
    ]
    assert [(text["used_sessions"], text["used_participants"]) for text in texts] == [(2, 2), (1, 1)]


def test_the_account_counts_who_finished_in_both_populations(study: Study) -> None:
    tables = empty(study)
    for name in ("r1", "r2"):
        add(tables, name, mode="robot")
    add(tables, "preview", mode="preview")
    for name in ("a", "b", "gone"):
        add(tables, name)
    add(tables, "left", outcome=None)
    tables["erasures"].append({"session": "gone", "at": START, "rows": 3})
    for robots in (False, True):
        assert account(clean_tables(study, tables, robots=robots))["finished"] == {"people": 2, "robots": 2}


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


def test_the_store_of_another_study_is_refused(study: Study) -> None:
    tables = empty(study)
    tables["studies"][0]["study"] = "another"
    with pytest.raises(StoreError) as error:
        clean_tables(study, tables)
    assert str(error.value) == "store/  holds the study another, not cleaned. Name the store of this study."


def test_a_study_without_a_store_says_what_to_run(study: Study) -> None:
    with pytest.raises(StoreError) as error:
        clean(study)
    assert str(error.value) == (
        f"{study.folder / 'store'}  is not there. Run `beholder serve` or `beholder simulate` first, or name a store "
        "with --store."
    )
