"""Imported sessions become facts that clean reads as its own, and what nobody knows of them stays unknown."""

from __future__ import annotations

import csv
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from beholder.cleaning import clean
from beholder.importing.contract import (
    WHOLE,
    ForeignVerdict,
    ImportedSession,
    ImportedStimulus,
    ImportedStudy,
    ImportedTrial,
    Origin,
    QuestionnaireAnswers,
)
from beholder.importing.provenance import Provenance
from beholder.importing.stored_sessions import Pseudonyms, StoredCounts, store_sessions
from beholder.importing.study_folder import write_study
from beholder.methods.contract import Target
from beholder.store.open import read_tables
from support.small_media import write_stimulus

BEGAN = datetime(2024, 3, 4, 11, 48, tzinfo=UTC)
PLACE = ("quality", "new/a")


def imported(
    tmp_path: Path, *sessions: ImportedSession, keep_ids: bool = False, **keys: Any
) -> tuple[Path, StoredCounts]:
    """Write a study of two stimuli and store these sessions; return its folder and what was stored."""
    stimuli = []
    for number, condition in enumerate(("new", "old"), 2):
        write_stimulus(tmp_path / f"{condition}.wav", number)
        stimuli.append(ImportedStimulus("a", condition, tmp_path / f"{condition}.wav", condition))
    study = {
        "name": "tones", "title": "Tones", "method": "acr",
        "questions": [{"id": "quality", "text": "How good?", "scale": "acr5"}], "design": {"participants": 2},
        "after": [{"id": "age", "text": "Age", "type": "number", "required": False}], **keys,
    }  # fmt: skip
    one = ImportedStudy(study, stimuli, sessions)
    written = write_study(tmp_path / "study", one, {}, {})
    assert written.study is not None
    assert written.catalogue is not None
    account = Provenance()
    counts = store_sessions(
        tmp_path / "study",
        written.study,
        written.catalogue,
        one,
        Pseudonyms("f"),
        keep_ids=keep_ids,
        provenance=account,
    )
    return tmp_path / "study", counts


def trial(value: float | None, stimulus: str = "new/a", **more: Any) -> ImportedTrial:
    origin = Origin(
        "votes.csv", {("quality", stimulus): 7}, {("quality", stimulus): str(value)}, more.pop("doubts", {})
    )
    return ImportedTrial("a", (stimulus,), origin, {("quality", stimulus): value}, **more)


def rows(folder: Path, name: str = "ratings") -> list[dict[str, str]]:
    clean(folder / "study.yaml")
    with (folder / "clean" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_rating_keeps_where_it_stands_and_what_is_doubtful(tmp_path: Path) -> None:
    session = ImportedSession("Ann", [trial(4, doubts={PLACE: "untouched"})], uncertain="may be two people")
    folder, counts = imported(tmp_path, session)
    (row,) = rows(folder)
    assert counts == (1, 1, 1)
    assert (row["value"], row["mode"], row["origin"], row["uncertain"]) == (
        "4", "imported", "votes.csv:7", "untouched; may be two people",
    )  # fmt: skip
    assert [row[name] for name in ("position", "slot", "response_ms", "answered_at", "coverage")] == [""] * 5
    assert "Ann" not in str(read_tables(folder / "store", ("sessions", "answers")))


def test_what_the_source_knows_is_there(tmp_path: Path) -> None:
    known = ImportedSession(
        "Ann", [trial(4, ms=2500.0, at=BEGAN, playback={"new/a": {"plays": 2}}), trial(2, "old/a")], at=BEGAN,
        ended_at=BEGAN.replace(minute=53), unknown=frozenset(),
        after=QuestionnaireAnswers({"age": 30}, Origin("people.csv", {WHOLE: 2})),
        verdicts=[ForeignVerdict("accept", "fail", "too fast")],
    )  # fmt: skip
    folder, _ = imported(tmp_path, known)
    first, second = rows(folder)
    assert [first[name] for name in ("position", "slot", "response_ms", "plays")] == ["1", "s1", "2500", "2"]
    assert first["answered_at"] == "2024-03-04T11:48:00+00:00"
    assert (second["position"], second["condition"]) == ("2", "old")
    (person,) = rows(folder, "participants")
    assert (person["answer_age"], person["minutes"], person["use"]) == ("30", "5", "true")
    (told,) = read_tables(folder / "store", ("told",))["told"]
    assert (told["check"], told["verdict"], told["reason"]) == ("imported:accept", "fail", "too fast")
    (foreign,) = rows(folder, "foreign")
    assert [foreign[name] for name in ("check", "verdict", "reason", "accept", "same")] == [
        "accept", "fail", "too fast", "true", "false",
    ]  # fmt: skip
    account = (folder / "clean" / "account.md").read_text("utf-8")
    assert "| to be paid | 1 | 0 | 0 |" in account


def test_a_rating_without_a_value_is_missing(tmp_path: Path) -> None:
    folder, _ = imported(tmp_path, ImportedSession("Ann", [trial(None), trial(3, "old/a")]))
    assert [(row["value"], row["missing"]) for row in rows(folder)] == [("", "skipped"), ("3", "")]


def test_a_value_that_we_would_refuse_is_kept_and_in_doubt(tmp_path: Path) -> None:
    folder, _ = imported(tmp_path, ImportedSession("Ann", [trial(3.5)]))
    (row,) = rows(folder)
    assert row["value"] == "3.5"
    assert row["uncertain"].startswith("would be refused here")


def test_platform_ids_are_kept_only_where_that_is_asked_and_only_apart(tmp_path: Path) -> None:
    session = ImportedSession("A1B2C3", [trial(3)], "mturk")
    folder, _ = imported(tmp_path / "one", session)
    assert not (folder / "store" / "identity.sqlite").exists()
    folder, _ = imported(tmp_path / "two", session, session, keep_ids=True)
    assert b"A1B2C3" in (folder / "store" / "identity.sqlite").read_bytes() + b"".join(
        path.read_bytes() for path in (folder / "store").glob("identity.sqlite-*")
    )
    assert "A1B2C3" not in str(read_tables(folder / "store", ("sessions", "answers", "claims")))
    assert [row["visit"] for row in read_tables(folder / "store", ("sessions",))["sessions"]] == [1, 2]


def test_a_study_without_sessions_has_no_store(tmp_path: Path) -> None:
    folder, counts = imported(tmp_path)
    assert counts == (0, 0, 0)
    assert not (folder / "store").exists()


def test_a_draw_that_the_method_never_makes_is_an_error_of_the_importer(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="never draws what the source says"):
        imported(tmp_path, ImportedSession("Ann", [trial(3, draws={"same_as": "x"})]))


def test_a_page_whose_order_is_known_has_its_stimuli_in_it(tmp_path: Path) -> None:
    order = ("old/a", "new/a")
    given = ImportedTrial(
        "a", order, Origin("v.csv", {("quality", "old/a"): 3}), {("quality", "old/a"): 20, ("quality", "new/a"): 70},
        targets={("quality", "old/a"): Target(20, 3, "")}, roles={"old/a": "attention"},
    )  # fmt: skip
    folder, _ = imported(
        tmp_path, ImportedSession("Ann", [given], unknown=frozenset({"date"})), method="parallel",
        questions=[{"id": "quality", "text": "How good?", "scale": "cont100"}],
    )  # fmt: skip
    (row,) = rows(folder)
    assert (row["condition"], row["slot"], row["position"], row["value"]) == ("new", "s2", "1", "70")
    (trials,) = (one["trials"] for one in read_tables(folder / "store", ("lists",))["lists"])
    assert trials["entries"][0]["stimuli"] == ["old/a", "new/a"]
    assert list(trials["entries"][0]["targets"]) == ["q1.s1"]
