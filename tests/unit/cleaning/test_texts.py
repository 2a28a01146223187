"""Study texts as sessions met them, and masks of addresses and ids."""

from __future__ import annotations

from pathlib import Path

import pytest

from beholder.cleaning.ratings import read_ratings
from beholder.cleaning.tables import clean_tables
from beholder.cleaning.texts import Masks, read_text
from beholder.methods import find
from beholder.study.serialization import resolved_yaml
from support.store_tables import SEEN, account, add, empty, make_study


def test_the_watch_rule_is_that_of_the_text_the_session_began_with(tmp_path: Path) -> None:
    lenient = make_study(tmp_path, playback={"watch": "start"})
    assert read_text(resolved_yaml(lenient), make_study(tmp_path), find("parallel")).watch == "start"
    assert read_text("beholder: 1", lenient, find("parallel")).watch == "whole"
    tables = empty(lenient)
    add(tables, "a", playback={"s2": SEEN | {"coverage": 0.1}})
    assert read_ratings(clean_tables(make_study(tmp_path), tables).folder / "ratings.csv")["use"].all()


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


def test_what_was_asked_is_kept_without_marks(tmp_path: Path) -> None:
    scale = {"min": 0, "max": 1, "labels": ["*no*", r"yes\*"]}
    study = make_study(tmp_path, questions=[{"id": "quality", "text": "How **good**?", "scale": scale}])
    asked = read_text(resolved_yaml(study), study, find("parallel")).questions[0]
    assert (asked.text, asked.scale.labels) == ("How good?", ((0, "no"), (1, "yes*")))


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("jürgen.o’neil@büro.example.de.", "[e-mail]."),
        ("<a@b.org>, (c_d@e-f.co.uk)", "<[e-mail]>, ([e-mail])"),
        ("loud @ 3 pm, and 4@5", "loud @ 3 pm, and 4@5"),
        ("I am 5F0f0f0f0f0f0f0f0f0f0f0f!", "I am [id]!"),
        ("5f0f0f0f0f0f0f0f0f0f0f0", "5f0f0f0f0f0f0f0f0f0f0f0"),
        ("a5f0f0f0f0f0f0f0f0f0f0f0f", "a5f0f0f0f0f0f0f0f0f0f0f0f"),
        ("GRÖSSE 2 and größe 2x, seat 12", "[id] and größe 2x, seat 12"),
        ("p-0042-b, p-0042", "[id], [id]"),
    ],
)
def test_addresses_and_ids_are_marked(written: str, told: str) -> None:
    masks = Masks(["größe 2", "GRÖSSE 2", "p-0042", "P-0042-B", "12"])
    assert masks.text(written, "comments") == told
    assert masks.counts["comments"] == told.count("[")


def test_a_text_that_is_nearly_an_address_takes_no_longer_than_others() -> None:
    written = "a." * 100_000
    assert Masks().text(written) == written
