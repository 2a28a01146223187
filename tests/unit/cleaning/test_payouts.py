"""What clean proposes: whom to pay, whom not and with what words, bonuses, and which lists to open again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from beholder.cleaning import Cleaned
from beholder.cleaning.tables import clean_tables
from support.cleaning_store import ASKING, QUALITY, START, add, make_study, rows, store

HEADS = {
    "accept": "session,participant,mode,outcome,minutes,reasons",
    "reject": "session,participant,mode,outcome,minutes,reasons,message",
    "look": "session,participant,mode,outcome,minutes,reasons,words",
    "bonus": "participant,rule,sessions,amount,currency,agreement,session,reason",
    "votes": "stimulus,other_stimulus,question,group,planned,used,short",
    "extend": "list,used_sessions,missing_sessions",
}


def test_every_session_is_on_one_of_three_lists(tmp_path: Path) -> None:
    study = make_study(tmp_path, checks=ASKING)
    tables = store(study)
    add(tables, "good")
    add(tables, "off", gold=1)
    add(tables, "never", obeys=(1, 2))
    add(tables, "left", outcome=None)
    cleaned = clean_tables(study, tables)
    assert [row["session"] for row in rows(cleaned, "accept")] == ["good", "off"]
    assert [row["session"] for row in rows(cleaned, "reject")] == ["never"]
    assert [(row["session"], row["words"]) for row in rows(cleaned, "look")] == [("left", "Did not finish")]
    assert [cleaned.counts[f"{name}_sessions"] for name in ("accepted", "rejected", "look")] == [2, 1, 1]


def test_whoever_is_not_to_be_paid_can_be_told_which_pages_asked_for_what(tmp_path: Path) -> None:
    study = make_study(tmp_path, checks=ASKING)
    tables = store(study)
    add(tables, "never", obeys=(1, 2))
    (row,) = rows(clean_tables(study, tables), "reject")
    assert row["message"] == (
        "Thank you for your time. Some of what this study shows asks for a certain answer itself, somewhere in the "
        "middle. Here it was answered in another way: Rating page 4: asked for the answer “Good”. Rating page 7: asked "
        "for the answer “Good”. If you think that this is a mistake, or if you have a question, please write to "
        "name@example.org."
    )
    assert len(row["message"]) >= 100  # what platforms ask for


def test_lists_have_their_heads_where_nothing_is_on_them(tmp_path: Path) -> None:
    study = make_study(tmp_path)
    tables = store(study, lists=0)
    tables["sessions"].append(
        {"session": "s", "participant": "p", "digest": "d1", "run": 1, "mode": "link", "visit": 1, "device": {},
         "at": START}
    )  # fmt: skip
    tables["ends"].append(
        {"session": "s", "outcome": "no_consent", "reason": "", "code": "", "receipt": "", "at": START}
    )
    cleaned = clean_tables(study, tables)
    for name, head in HEADS.items():
        text = (cleaned.folder / f"{name}.csv").read_text("utf-8")
        assert text.splitlines()[0] == head
        assert len(text.splitlines()) == (2 if name == "look" else 1)
    assert "nan" not in (cleaned.folder / "account.md").read_text("utf-8").lower()


# Bonus


def crowd(folder: Path, bonus: dict[str, Any], people: dict[str, int], odd: dict[str, str] | None = None) -> Cleaned:
    """Return who gets what, where each person has so many sessions, and turns their votes on some contents round."""
    study = make_study(folder, checks=ASKING, clean={"bonus": bonus})
    tables = store(study)
    for person, sessions in people.items():
        turned = {content: 6 - QUALITY[content] for content in (odd or {}).get(person, "").split()}
        for number in range(sessions):
            add(tables, f"{person}{number}", person=person, number=1 + number % 4, votes=turned)
    return clean_tables(study, tables)


def test_those_who_stayed_get_an_amount_for_each_accepted_session(tmp_path: Path) -> None:
    cleaned = crowd(tmp_path, {"quantity": {"sessions": 4, "each": "0.10 GBP"}}, {"a": 3, "b": 4, "c": 7})
    found = rows(cleaned, "bonus")
    assert [(row["participant"], row["sessions"], row["amount"], row["currency"]) for row in found] == [
        ("b", "4", "0.40", "GBP"),
        ("c", "7", "0.70", "GBP"),
    ]
    assert [row["session"] for row in found] == ["b3", "c6"]  # the last one, to which a platform attaches it
    assert found[0]["reason"] == "4 accepted sessions, of 4 or more"
    one = rows(crowd(tmp_path / "one", {"quantity": {"sessions": 1, "each": "0.10 GBP"}}, {"a": 1}), "bonus")
    assert one[0]["reason"] == "1 accepted session, of 1 or more"
    assert (cleaned.counts["bonuses"], cleaned.bonus) == (2, "1.10 GBP")


def test_a_session_that_is_not_accepted_counts_for_no_bonus(tmp_path: Path) -> None:
    study = make_study(
        tmp_path, checks=ASKING, clean={"bonus": {"quantity": {"sessions": 2, "each": "0.10 GBP"}}}
    )  # fmt: skip
    tables = store(study)
    add(tables, "a1", person="a")
    add(tables, "a2", person="a", obeys=(1, 1))
    add(tables, "b1", person="b", gold=1)  # not used, and accepted all the same
    add(tables, "b2", person="b")
    assert [row["participant"] for row in rows(clean_tables(study, tables), "bonus")] == ["b"]


def test_the_best_share_of_those_with_enough_sessions_gets_a_bonus_for_quality(tmp_path: Path) -> None:
    people = dict.fromkeys("abcdefghij", 4) | {"k": 1}
    odd = {
        "b": "c02", "c": "c01", "d": "c05", "e": "c09", "f": "c10", "g": "c02 c08", "h": "c04 c06", "i": "c06 c08",
        "j": "c02 c04",
    }  # fmt: skip
    bonus = {"quality": {"best": 20, "each": "0.15 GBP", "sessions": 4}}
    found = rows(crowd(tmp_path, bonus, people, odd), "bonus")
    assert [(row["participant"], row["rule"], row["amount"]) for row in found] == [
        ("a", "quality", "0.60"),
        ("b", "quality", "0.60"),
    ]
    assert float(found[0]["agreement"]) > float(found[1]["agreement"]) > 0.7
    assert found[0]["reason"] == "among the best 20 % of 10 by agreement with the others"


def test_nobody_gets_a_bonus_for_quality_who_agrees_too_little(tmp_path: Path) -> None:
    bonus = {"quality": {"best": 100, "each": "0.15 GBP", "min_agreement": 0.9}}
    found = rows(crowd(tmp_path, bonus, dict.fromkeys("abcde", 2), {"e": "c01 c05 c09 c10"}), "bonus")
    assert [row["participant"] for row in found] == list("abcd")


@pytest.mark.parametrize(
    ("people", "best", "who"),
    [("abcde", 20, "abcde"), ("abcd", 20, ""), ("a", 100, "")],
    ids=["whoever does as well as the last", "no whole place", "nobody to agree with"],
)
def test_ties_share_the_last_place_and_alone_nobody_is_the_best(
    tmp_path: Path, people: str, best: int, who: str
) -> None:
    bonus = {"quality": {"best": best, "each": "0.15 GBP"}}
    found = rows(crowd(tmp_path, bonus, dict.fromkeys(people, 1), {}), "bonus")
    assert "".join(row["participant"] for row in found) == who


def test_quality_takes_as_many_sessions_as_quantity_where_it_names_none(tmp_path: Path) -> None:
    bonus = {
        "quantity": {"sessions": 3, "each": "1 EUR"}, "quality": {"best": 100, "each": "2 EUR", "min_agreement": -1},
    }  # fmt: skip
    found = rows(crowd(tmp_path, bonus, {"a": 3, "b": 2, "c": 3}, {"c": "c01"}), "bonus")
    assert [(row["participant"], row["rule"], row["amount"]) for row in found] == [
        ("a", "quantity", "3.00"), ("c", "quantity", "3.00"), ("a", "quality", "6.00"), ("c", "quality", "6.00"),
    ]  # fmt: skip


# What is missing


# The account
