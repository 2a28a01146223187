"""account.md, and what the command prints."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beholder.cleaning.tables import clean_tables
from beholder.cli.printing import print_cleaned
from beholder.study.model import Study
from support.cleaning_store import ASKED, ASKING, QUALITY, START, Tables, add, make_study, rows, store


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
