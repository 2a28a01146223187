"""The report on people: questionnaires, what they wrote, their devices, and the quality of their data."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from beholder.analysis import analyse
from beholder.cleaning import Cleaned
from beholder.cleaning.devices import COLUMNS as DEVICES
from beholder.cleaning.tables import PLAYBACK_COLUMNS as PLAYBACK
from beholder.cleaning.tables import clean_tables
from beholder.files import write_table
from beholder.reporting.data_quality import quality_section
from beholder.reporting.devices import devices_foot, devices_section
from beholder.reporting.html import Markup, render
from beholder.reporting.material import Material, load_material
from beholder.reporting.participants import participants_section, texts_section
from support.report_pages import SPREAD, Page, made_up
from support.store_tables import Tables, add, empty, make_study

ASKS: dict[str, Any] = {
    "before": [
        {"id": "age", "text": "How old are you?", "type": "number"},
        {"id": "gender", "text": "Your gender?", "type": "single", "options": ["female", "male"]},
    ],
    "after": [
        {"id": "easy", "text": "It was <b>easy</b>.", "type": "likert"},
        {"id": "tools", "text": "What do you use?", "type": "multiple", "options": ["=VR", "no"]},
        {"id": "remarks", "text": "Remarks?", "type": "text"},
    ],
}
HOSTILE = "<script>alert(1)</script>\0 Größe 2 \u202eolleh"


@pytest.fixture(scope="module")
def analysed(tmp_path_factory: pytest.TempPathFactory) -> Material:
    study = made_up(tmp_path_factory.mktemp("people"), SPREAD, participants=10, **ASKS)
    analyse(study)
    return load_material(study)


@pytest.fixture
def material(analysed: Material, tmp_path: Path) -> Material:
    """The same results in a folder of its own, into which each test puts what clean would write."""
    study = analysed.study.model_copy()
    study._folder = tmp_path
    return replace(analysed, study=study)


def told(markup: Markup | None) -> Page:
    assert markup is not None
    page = Page(f"<div>{markup}</div>")
    assert page.open == []
    assert "nan" not in page.text.lower().split()
    return page


def put(material: Material, name: str, columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> None:
    write_table(material.study.folder / "clean" / f"{name}.csv", columns, rows)


PEOPLE = ("participant", "use", "answer_age", "answer_gender", "answer_easy", "answer_tools", "answer_remarks")


def person(number: int, *, use: bool, **answers: Any) -> dict[str, Any]:
    return {"participant": f"p{number}", "use": use, **{f"answer_{name}": value for name, value in answers.items()}}


def test_answers_are_counted_of_those_who_are_used_and_of_all(material: Material) -> None:
    rows = [
        person(1, use=True, age=20, gender="female", easy=5, tools=["=VR", "no"]),
        person(2, use=True, age=40, gender="female", easy=4),
        person(3, use=True, age=30, gender="male", tools=["no"]),
        person(4, use=False, age=70, gender="rather not say"),
        person(5, use=False),
    ]
    put(material, "participants", PEOPLE, rows)
    text = told(participants_section(material)).text
    assert text.startswith("3 people of 5 who came are used.")
    assert (
        "How old are you? Used All answered 3 4 mean ± SD 30.0 ± 10.0 40.0 ± 21.6 median 30 35 "
        "range 20 to 40 20 to 70 no answer 0 1"
    ) in text
    assert "Your gender? Used % All female 2 67 % 2 male 1 33 % 1 rather not say 0 0 % 1 no answer 0 – 1" in text
    assert "It was <b>easy</b>." in text
    assert "4 Agree 1 50 % 1 5 Strongly agree 1 50 % 1 no answer 1 – 3" in text
    assert "Mean ± SD of those used: 4.5 ± 0.7, from 1 to 5." in text
    assert "What do you use? (several answers) Used % All =VR 1 50 % 1 no 2 100 % 2 no answer 1 – 3" in text


def test_nobody_used_gives_zeros_and_dashes(material: Material) -> None:
    put(material, "participants", PEOPLE, [person(1, use=False, age=20, gender="male")])
    text = told(participants_section(material)).text
    assert text.startswith("Nobody is used. 1 person came.")
    assert "answered 0 1 mean ± SD – 20.0 median – 20 range – 20 no answer 0 0" in text
    assert "male 0 – 1" in text
    assert "Nobody answered: It was <b>easy</b>. and What do you use?" in text


def test_a_study_without_questions_has_no_such_section(material: Material) -> None:
    put(material, "participants", PEOPLE, [person(1, use=True, age=20)])
    assert (
        participants_section(replace(material, study=material.study.model_copy(update={"before": (), "after": ()})))
        is None
    )


COMMENTS = ("session", "participant", "position", "trial", "content", "question", "kind", "text")


def test_texts_are_listed_as_written_and_cannot_do_anything(material: Material) -> None:
    rows = [person(number, use=number % 2 == 0, remarks=f"{number} {HOSTILE}") for number in range(500)]
    put(material, "participants", PEOPLE, [*rows, person(501, use=True, remarks="'=SUM(A1)")])
    put(material, "sessions", ("session", "use"), [{"session": "s1", "use": True}, {"session": "s2", "use": False}])
    comment = {"session": "s2", "content": "Größe 2", "question": "quality", "text": "Too <i>dark</i>"}
    put(material, "comments", COMMENTS, [comment | {"kind": "reason"}, comment | {"kind": "comment", "session": "s1"}])
    page = told(texts_section(material))
    assert "Remarks? 501 texts, 250 of them of people who are not used" in page.text
    assert "<script>alert(1)</script>\ufffd Größe 2 \u202eolleh" in page.text
    assert " =SUM(A1) " in page.text
    assert "Reasons: How good is it? 1 text, 1 of them of people who are not used Not used Too <i>dark</i>" in page.text
    assert page.text.endswith("Comments on the stimuli 1 text Too <i>dark</i> Größe 2")
    assert {"script", "i"}.isdisjoint(name for name, _ in page.tags)
    assert "p500" not in page.text
    spans = [attributes.get("dir") for name, attributes in page.tags if name == "span"]
    assert set(spans) == {"auto"}


def test_nothing_written_has_no_such_section(material: Material) -> None:
    put(material, "participants", PEOPLE, [person(1, use=True, age=20)])
    put(material, "comments", COMMENTS, [])
    assert texts_section(material) is None


def device(number: int, *, use: bool = True, **known: Any) -> dict[str, Any]:
    return {"session": f"s{number}", "participant": f"p{number}", "use": use, **known}


def test_devices_are_counted_and_what_is_not_known_is_counted_as_such(material: Material) -> None:
    wide: dict[str, Any] = {
        "kind": "desktop",
        "screen_width": 1920,
        "screen_height": 1080,
        "dpr": 1,
        "browser": "Chrome",
    }
    rows = [
        device(1, **wide, version=120, refresh_hz=60, ppi=100, diagonal_inches=22.0),
        device(2, **wide, version=118, refresh_hz=144),
        device(3, kind="phone"),
        device(4, use=False),
    ]
    put(material, "devices", DEVICES, rows)
    text = told(devices_section(material)).text
    assert text.startswith(
        "3 sessions are used, 2 on a computer and 1 on a phone. The usual screen has 1920 × 1080 device pixels (2). "
        "The median refresh rate is 102 Hz."
    )
    assert "Kind Used % All computer 2 67 % 2 phone 1 33 % 1 not known 0 0 % 1" in text
    assert "Browser Used % All Chrome 118 to 120 2 67 % 2 not known 1 33 % 2" in text
    assert "Refresh rate (Hz) Used All known 2 2 mean ± SD 102.0 ± 59.4 102.0 ± 59.4" in text
    assert "System" not in text
    assert Page(f"<p>{render(devices_foot(material))}</p>").text == (
        "Sessions; used: those that are analysed, all: those that came. Chrome: also browsers built on it that call "
        "themselves so. Checks under qualification that have measured nothing here: network ."
    )


def test_many_screens_are_the_usual_ones_and_the_rest_together(material: Material) -> None:
    put(material, "devices", DEVICES, [device(n, screen_width=1000 + n, screen_height=900) for n in range(10)])
    text = told(devices_section(material)).text
    assert "1005 × 900 1 10 % 1 4 others 4 40 % 4" in text


def test_no_used_session_and_nothing_known_of_any(material: Material) -> None:
    put(material, "devices", DEVICES, [device(1, use=False, input="mouse")])
    assert told(devices_section(material)).text.startswith("No session is used. Answered with Used % All mouse 0 – 1")
    put(material, "devices", DEVICES, [device(1)])
    assert devices_section(material) is None


def rows_of(cleaned: Cleaned, name: str) -> list[dict[str, str]]:
    with (cleaned.folder / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def with_device(tables: Tables, name: str, said: Any, **keys: Any) -> None:
    add(tables, name, **keys)
    tables["sessions"][-1]["device"] = said


MAC = {"screen": [1512, 982], "dpr": 2, "pointer": "fine", "touch": False, "platform": "MacIntel", "language": "de-DE",
       "timezone_offset": -60, "browser": "Version 17"}  # fmt: skip


def test_clean_writes_devices_without_what_tells_people_apart(tmp_path: Path) -> None:
    study = make_study(tmp_path)
    tables = empty(study)
    with_device(tables, "mac", MAC)
    with_device(tables, "pad", MAC | {"pointer": "coarse", "touch": True})
    with_device(tables, "pc", MAC | {"platform": "Win32", "browser": "Edg 120"}, scores=(50, 50, 50))
    with_device(tables, "odd", {"screen": [-1, "x"], "dpr": "2", "browser": "=Chrome/120 (all of it)", "platform": 3})
    with_device(tables, "no", MAC, outcome="no_consent", trials=0)
    with_device(tables, "gone", MAC, outcome="withdrawn")
    cleaned = clean_tables(study, tables)
    found = {row["session"]: row for row in rows_of(cleaned, "devices")}
    mac = found["mac"]
    assert (mac["kind"], mac["screen_width"], mac["screen_height"], mac["dpr"]) == ("desktop", "3024", "1964", "2")
    assert (mac["system"], mac["browser"], mac["version"], mac["input"]) == ("macOS", "Safari", "17", "mouse")
    assert (found["pad"]["kind"], found["pad"]["system"]) == ("tablet", "iOS")
    assert (found["pc"]["use"], found["pc"]["system"], found["pc"]["browser"]) == ("false", "Windows", "Edge")
    assert [value for key, value in found["odd"].items() if value] == ["odd", "p-odd", "true", "mouse"]
    for name in ("no", "gone"):
        assert [value for value in found[name].values() if value] == [name, f"p-{name}", "false"]
    assert "de-DE" not in (cleaned.folder / "devices.csv").read_text(encoding="utf-8")


def test_checks_tell_size_and_rate_and_a_zoomed_page_tells_no_size(tmp_path: Path) -> None:
    study = make_study(tmp_path, qualification={"screen": True, "refresh": True, "card": True, "network": False})
    tables = empty(study) | {"posed": []}
    screen = {"screen": [1920, 1080], "inner": [1920, 900], "outer": [1920, 1040], "dpr": 1}
    width = 85.6 * 100 / 25.4
    answers = {
        "check:screen:1": ({"size": None, "zoom": None}, screen),
        "check:refresh:1": ({"fps": None}, {"intervals": [1000 / 120] * 120, "hidden": False}),
        "check:card:1": ({}, {"widths": [width, width], "dpr": 1, "moved": True}),
    }
    for name in ("fits", "zoomed"):
        with_device(tables, name, MAC)
        for key, (private, answer) in answers.items():
            given = answer | {"inner": [960, 450]} if name == "zoomed" and key == "check:screen:1" else answer
            row = next(row for row in tables["answers"] if row["session"] == name and row["key"] == "consent")
            tables["answers"].append(row | {"key": key, "answer": given})
            tables["posed"].append({"session": name, "key": key, "private": private})
    fits, zoomed = rows_of(clean_tables(study, tables), "devices")
    assert (fits["screen_width"], fits["refresh_hz"], fits["ppi"]) == ("1920", "120", "100")
    assert (fits["width_mm"], fits["height_mm"], fits["diagonal_inches"]) == ("488", "274", "22")
    assert (zoomed["screen_width"], zoomed["width_mm"], zoomed["ppi"]) == ("", "", "100")


def played(number: int, **keys: Any) -> dict[str, Any]:
    whole = {"errors": 0, "stalled_ms": 0, "dropped": 0, "frames": 100, "coverage": 1}
    return {"session": "s000", "slot": f"s{number}"} | whole | keys


def test_each_number_on_the_data_says_how_to_read_it(material: Material) -> None:
    put(material, "playback", PLAYBACK, [played(1), played(2, dropped=1), played(3, stalled_ms=400), played(4)])
    text = told(quality_section(material)).text
    assert "Ratings without a value 0 of 160 (0 %) Everything that was asked has an answer." in text
    assert "Failures to play 0 of 4 (0 %) Stimuli that failed to load or to play at least once." in text
    assert "Halts while playing 0 of 4 (0 %) Stimuli that stood still for more than 0.5 s; the longest" in text
    assert "Dropped frames 1 (< 1 %) Of all frames; 1 % at worst." in text
    assert "Watched whole 4 of 4 (100 %) Stimuli that were played whole; ratings of the others are left out." in text
    assert "Ratings per stimulus 10 / 10 / 10 Fewest, median and most ratings of a stimulus and question." in text
    assert "Places on the page 0 to 40" in text
    assert "▲ Places on the page. Not in every place equally often: frozen, jerky, natural, smooth." in text
    assert "Positions in the session 2.5 to 2.5" in text


def test_bad_data_are_warned_of(material: Material) -> None:
    bad = [played(1, errors=1, coverage=0.4), played(2, stalled_ms=9000, dropped=50)]
    put(material, "playback", PLAYBACK, bad)
    ratings = material.results.ratings.copy()
    ratings.loc[:15, "value"] = float("nan")
    verdicts = {"variance": {"pass": 2, "fail": 2, "unknown": 6}}
    worse = replace(
        material,
        account={**material.account, "verdicts": verdicts},
        results=replace(material.results, ratings=ratings),
    )
    warnings = told(quality_section(worse)).text.partition("Number")[0]
    assert warnings.startswith(
        "▲ Ratings without a value. 10 % of the ratings have no value. Look whether they belong to some conditions "
        "only. ▲ Failures to play. 50 % of the stimuli failed to load or to play at least once. "
        "▲ Halts while playing. 50 % of the stimuli stood still for more than 0.5 s while they played. "
        "▲ Dropped frames. 20 % of all frames were dropped: motion looked less smooth than it is. "
        "▲ Watched whole. 50 % of the stimuli were not watched to the end. "
        "▲ Straight-lining. 50 % answered the same throughout. Is the task clear, and short enough? "
        "▲ Unknown verdicts. 60 % of the verdicts are unknown: cleaning could not look at much."
    )


def test_repeats_have_the_root_of_the_mean_variance_within_a_person(material: Material) -> None:
    ratings = material.results.ratings
    again = ratings.head(4).assign(value=ratings["value"].head(4) - 10, repetition=2)
    more = replace(material, results=replace(material.results, ratings=pd.concat([ratings, again], ignore_index=True)))
    said = told(quality_section(more)).text
    assert "Repeated ratings 7 % of the scale Standard deviation of one person rating the same again, over 4" in said
    evidence = json.dumps({"compared": 8, "differ": 4})
    put(material, "verdicts", ("check", "evidence"), [{"check": "repeat", "evidence": evidence}])
    text = told(quality_section(material)).text
    assert "▲ Repeats that differ. 50 % of what came again was answered differently." in text


def test_a_plan_says_how_many_ratings_there_should_be(material: Material) -> None:
    plan = material.study.folder / "plan"
    columns = ("count", "cells", "least", "most")
    write_table(
        plan / "balance.csv", columns, [{"count": "ratings per stimulus", "cells": 16, "least": 30, "most": 31}]
    )
    text = told(quality_section(material)).text
    assert "of a stimulus and question; planned were 30 to 31." in text
    assert "A stimulus has 10 ratings, less than half of what was planned. Let more people in." in text
    write_table(plan / "balance.csv", columns, [{"count": "ratings per stimulus", "cells": 18, "least": 6, "most": 6}])
    assert "2 stimuli have no rating that can be used." in told(quality_section(material)).text


def test_no_used_rating_is_said_and_no_rating_has_no_such_section(material: Material) -> None:
    ratings = material.results.ratings
    unused = replace(material, results=replace(material.results, ratings=ratings.assign(use=False)))
    assert "No rating can be used." in told(quality_section(unused)).text
    assert quality_section(replace(material, results=replace(material.results, ratings=ratings.head(0)))) is None
