"""What clean proposes: whom to pay, whom not and with what words, bonuses, and which lists to open again."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beholder.cleaning import Cleaned
from beholder.cleaning.shortfall import shortfall
from beholder.cleaning.tables import clean_tables
from beholder.cli.printing import print_cleaned
from beholder.methods.contract import Asked, Slot, Trial
from beholder.planning.model import PlannedList
from beholder.study.model import Study
from beholder.study.questions import SCALES
from support.cleaning_store import ASKED, QUALITY, START, Tables, add, make_study, rows, store

ASKING = {"trap": True, "gold": True, "quota": {"sessions": 9}}
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


def test_lists_are_opened_again_until_every_stimulus_has_its_votes(tmp_path: Path) -> None:
    study = make_study(tmp_path, checks=ASKING)
    tables = store(study, lists=4)
    for number in (1, 2, 3):
        add(tables, f"s{number}", number=number, gold=1 if number == 2 else 5)
    cleaned = clean_tables(study, tables)
    votes = rows(cleaned, "votes")
    assert {(row["planned"], row["used"], row["short"]) for row in votes} == {("2", "2", "0"), ("2", "0", "2")}
    assert rows(cleaned, "extend") == [
        {"list": "2", "used_sessions": "0", "missing_sessions": "1"},
        {"list": "4", "used_sessions": "0", "missing_sessions": "1"},
    ]
    assert (cleaned.counts["short_votes"], cleaned.counts["missing_sessions"]) == (10, 2)
    assert {row["stimulus"].partition("/")[0] for row in votes} == {"a", "b"}  # checks are no votes


def test_a_single_vote_that_was_lost_is_missing_too(tmp_path: Path) -> None:
    study = make_study(tmp_path)
    tables = store(study, lists=2)
    add(tables, "one", number=1)
    add(tables, "two", number=2)
    tables["answers"][0]["playback"]["s1"] |= {"coverage": 0.2, "furthest_ms": 800}
    cleaned = clean_tables(study, tables)
    assert [row["stimulus"] for row in rows(cleaned, "votes") if row["short"] == "1"] == ["b/c01"]
    assert [row["list"] for row in rows(cleaned, "extend")] == ["1"]


ASK = Asked("q1", "quality", "ask", "?", SCALES["acr5"])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.integers(0, 6), max_size=6), max_size=8))
def test_the_lists_to_open_bring_every_stimulus_to_its_plan(drawn: list[list[int]]) -> None:
    lists = {number: planned_list(number, some) for number, some in enumerate(drawn, 1)}
    missing = shortfall(lists, [])
    brought: Counter[str] = Counter()
    for number, times in missing.extra().items():
        for one in drawn[number - 1]:
            brought[f"x{one}"] += times
    assert all(brought[cell.stimulus] >= planned for cell, planned in missing.planned.items())
    assert sum(missing.extra().values()) <= len(drawn)  # never more than the plan itself


def planned_list(number: int, stimuli: list[int], *, makes_up: bool = False) -> PlannedList:
    trials = (
        Trial(f"trial:{place}", "c", "rate", (Slot("s1", f"x{one}", "test", None, True, None),), (ASK,))
        for place, one in enumerate(stimuli, 1)
    )
    return PlannedList(number, tuple(trials), makes_up=makes_up)


def test_lists_that_make_up_for_others_add_nothing_to_what_was_planned() -> None:
    lists = {1: planned_list(1, [1, 2]), 2: planned_list(2, [1, 3]), 3: planned_list(3, [1, 2], makes_up=True)}
    missing = shortfall(lists, [])
    assert {cell.stimulus: planned for cell, planned in missing.planned.items()} == {"x1": 2, "x2": 1, "x3": 1}
    assert missing.extra() == {1: 1, 2: 1}
    asked = shortfall(lists, [], votes=3)
    assert {cell.stimulus: planned for cell, planned in asked.planned.items()} == {"x1": 3, "x2": 3, "x3": 3}


# The account


def test_the_account_is_a_page_that_a_coauthor_can_read(tmp_path: Path) -> None:
    study = make_study(
        tmp_path, title="Who | said\nthat?", checks=ASKING,
        clean={"rater": True, "outliers": True, "bonus": {"quantity": {"sessions": 1, "each": "0.10 GBP"}}},
    )  # fmt: skip
    tables = store(study, lists=4)
    for number in (1, 2, 3):
        add(tables, f"s{number}", number=number)
    add(tables, "both", obeys=(1, 2), gold=1, number=4)
    add(tables, "a1", person="a", gold=1)
    add(tables, "a2", person="a")
    add(tables, "left", outcome=None)
    text = (clean_tables(study, tables).folder / "account.md").read_text("utf-8")
    assert text.startswith("# Who is counted: Who \\| said that?\n")
    for line in (
        "| came | 7 | 6 |",
        "| finished | 6 | 5 |",
        "| used | 3 | 3 |",
        "Of the sessions that were finished 50 % are used (71 to 79 % is usual in crowdsourced video tests by P.910): "
        "30 of 70 ratings.",
        "To be paid: 5 sessions. Not to be paid, as a proposal: 1. For a person to look at: 1.",
        "| Gold stimuli rated far from their known value | 2 | 0 | 20 |",
        "| Trapping clips not answered as asked and Gold stimuli rated far from their known value | 1 |",
        "1 person has too few sessions in use, and none of theirs is used.",
        "10 of 20 stimuli and questions have fewer used votes than were planned (votes.csv). 1 more session would "
        "bring them there: `beholder extend` adds lists for what is missing and not under way.",
        "4 people, 0.50 GBP in all (bonus.csv).",
        "- Sessions of one person in use: At least 60 % of the sessions that somebody finished are used, and 1 at "
        "least, or none of them is; looked at from 2 sessions on.",
    ):
        assert line in text.splitlines(), line
    assert len(text.splitlines()) < 60


OUTCOMES = ("completed", "completed", "completed", None, "no_consent", "screened_out", "failed_checks", "technical",
            "withdrawn")  # fmt: skip


def messy(study: Study, random: Random) -> Tables:
    """Return a store in which people came once or again, obeyed or not, watched or not, left, and were erased."""
    tables = store(study)
    for number in range(random.randint(1, 20)):
        name, outcome = f"s{number:02}", random.choice(OUTCOMES)
        votes = {content: random.randint(1, 5) for content in QUALITY} if random.random() < 0.3 else {}
        obeys = (random.choice((ASKED, ASKED, 1)), random.choice((ASKED, ASKED, 1)))
        add(
            tables, name, person=f"p{random.randint(0, 8)}", number=random.randint(1, 4), votes=votes, obeys=obeys,
            gold=random.choice((5, 5, 1)), outcome=outcome, mode=random.choice(("link", "prolific")),
        )  # fmt: skip
        mine = [row for row in tables["answers"] if row["session"] == name]
        watched = random.choice((1.0, 1.0, 0.8, 0.0))
        for row in mine:
            row["playback"]["s1"] |= {} if random.random() < watched else {"coverage": 0.2}
        is_erased = random.random() < 0.05
        if is_erased:
            tables["erasures"].append({"session": name, "at": START, "rows": len(mine)})
        stays = (
            0 if is_erased or outcome == "withdrawn" else len(mine) if outcome == "completed" else random.randint(0, 9)
        )
        tables["answers"] = [row for row in tables["answers"] if row["session"] != name] + mine[:stays]
    return tables


@given(random=st.randoms(use_true_random=False))
@settings(max_examples=10, deadline=None)
def test_all_numbers_of_an_account_agree(tmp_path_factory: pytest.TempPathFactory, random: Random) -> None:
    bonus = {"quantity": {"sessions": 2, "each": "0.10 GBP"}, "quality": {"best": 50, "each": "0.15 GBP"}}
    cleaning = {"rater": random.random() < 0.5, "outliers": random.random() < 0.3, "bonus": bonus}
    study = make_study(
        tmp_path_factory.mktemp("messy"), checks={**ASKING, "agreement": {"action": "flag"}}, clean=cleaning
    )  # fmt: skip
    cleaned = clean_tables(study, messy(study, random))
    sessions, ratings = rows(cleaned, "sessions"), rows(cleaned, "ratings")
    account = json.loads((cleaned.folder / "account.json").read_text("utf-8"))
    page = (cleaned.folder / "account.md").read_text("utf-8").splitlines()
    counts = account["counts"]
    assert counts == cleaned.counts
    used = [row for row in sessions if row["use"] == "true"]
    analysed = [row for row in ratings if row["use"] == "true"]
    people = {row["participant"] for row in used}
    assert (counts["used_sessions"], counts["used_participants"]) == (len(used), len(people))
    assert {row["session"] for row in analysed} == {row["session"] for row in used}
    assert {row["participant"] for row in rows(cleaned, "participants") if row["use"] == "true"} == people
    assert (counts["ratings"], counts["used_ratings"]) == (len(ratings), len(analysed))
    assert all((row["use"] == "true") == (not row["reasons"]) for row in ratings)
    assert all(row["accept"] == "true" for row in used)  # not to be paid is not to be used
    assert all(row["reasons"] for row in sessions if row["use"] == "false")
    for name, accept in (("accept", "true"), ("reject", "false"), ("look", "")):
        on_list = [row["session"] for row in rows(cleaned, name)]
        assert on_list == [row["session"] for row in sessions if row["accept"] == accept]
    costly = [lost for lost in account["lost"] if lost["costs"]]
    together = sum(one["sessions"] for one in account["together"])
    assert sum(lost["only"] for lost in costly) + together == len(sessions) - len(used)
    assert not any(lost["kept"] for lost in costly)
    steps = {step["step"]: (step["sessions"], step["people"]) for step in account["flow"]}
    finished = (counts["completed"], counts["completed_participants"])
    assert (steps["came"], steps["used"]) == ((len(sessions), counts["participants"]), (len(used), len(people)))
    assert steps["finished"] == finished
    for name in ("came", "finished", "used"):
        assert f"| {name} | {steps[name][0]} | {steps[name][1]} |" in page
    due = sum(round(100 * float(row["amount"])) for row in rows(cleaned, "bonus"))
    assert account["bonus"] == (f"{due / 100:.2f} GBP" if due else "")


def test_beholder_clean_prints_it_compactly(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study = make_study(
        tmp_path, checks=ASKING, clean={"bonus": {"quantity": {"sessions": 1, "each": "0.10 GBP"}}}
    )  # fmt: skip
    tables = store(study, lists=2)
    add(tables, "one", number=1)
    add(tables, "two", number=2, obeys=(1, ASKED))
    print_cleaned(clean_tables(study, tables))
    assert capsys.readouterr().out == (
        "1 of 2 sessions (people) are used: 10 ratings.\n"
        "To be paid: 2; not to be paid, as a proposal: 0; for you to look at: 0.\n\n"
        "lost at                               sessions  only for this  ratings\n"
        "------------------------------------  --------  -------------  -------\n"
        "Trapping clips not answered as asked  1         1              10\n\n"
        "10 of 20 stimuli and questions are short of votes; `beholder extend` adds lists for them.\n"
        "Bonus: 2 people, 0.20 GBP, in clean/bonus.csv.\n"
        "The whole account: clean/account.md.\n"
    )
