"""The page People: a list that is searched, filtered and sent in pages; and everything about one person."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from beholder.desk.desk_study import DeskStudy
from beholder.desk.documents.people import document, title_of
from beholder.errors import Refused
from support.decision_store import DecisionSetup, run, three_participants
from support.desk_studies import BLINDED, UNBLINDED, desk_study, on_desk
from support.taken_study import TakenStudy


def test_people_are_searched_filtered_and_sent_in_pages(tmp_path: Path) -> None:
    async def work(setup: DecisionSetup) -> tuple[list[str], dict[str, Any]]:
        names = await three_participants(setup)
        study = desk_study(setup.context)
        asked: dict[str, dict[str, str]] = {
            "all": {}, "first": {"limit": "1"}, "second": {"limit": "1", "offset": "1"},
            "left": {"state": "left"}, "session": {"search": "twice-later"}, "words": {"search": "GOLD far"},
            "nobody": {"search": "nobody"},
        }  # fmt: skip
        return names, {name: await document(study, BLINDED, **query) for name, query in asked.items()}

    names, told = run(tmp_path, work)
    whole = told["all"]
    assert [one["participant"] for one in whole["people"]] == names[::-1], "the newest first"
    assert [(one["state"], one["n"]) for one in whole["states"]] == [("left", 1), ("completed", 2)]
    assert [one["people"][0]["participant"] for one in (told["first"], told["second"])] == names[:0:-1]
    assert (told["first"]["total"], told["first"]["all"]) == (3, 3)
    assert [one["participant"] for one in told["left"]["people"]] == [names[1]]
    for search in ("session", "words"):
        assert [one["participant"] for one in told[search]["people"]] == [names[2]], search
    assert (told["nobody"]["people"], told["nobody"]["all"]) == ([], 3)
    twice = whole["people"][0]
    assert twice["step"] == "Finished", "in words, as its state"
    assert (twice["state_words"], twice["sessions"], twice["use"], twice["failed"]) == ("Finished", 2, False, 2)
    assert "Gold stimuli rated far from their known value" in twice["reasons"]


@pytest.mark.parametrize("query", [{"offset": "-1"}, {"limit": "many"}, {"offset": "²"}])
def test_a_page_that_is_none_is_refused(tmp_path: Path, query: dict[str, str]) -> None:
    async def work(setup: DecisionSetup) -> None:
        with pytest.raises(Refused) as error:
            await document(desk_study(setup.context), BLINDED, **query)
        assert (error.value.what, error.value.where) == ("is no number", next(iter(query)))

    run(tmp_path, work)


def test_somebody_else_is_not_there(tmp_path: Path) -> None:
    async def work(setup: DecisionSetup) -> None:
        with pytest.raises(Refused) as error:
            await document(desk_study(setup.context), BLINDED, person="nobody")
        assert (error.value.status, error.value.where) == (404, "person")

    run(tmp_path, work)


def test_one_person_is_told_with_steps_verdicts_answers_and_ratings(taken: TakenStudy) -> None:
    folder, names = taken

    async def work(on: DeskStudy) -> Any:
        return await document(on, UNBLINDED, person=names["done"])

    told = on_desk(folder, work)
    (visit,) = told["visits"]
    assert (told["state"], visit["outcome_words"], visit["use"]) == ("completed", "Finished", True)
    assert next(step["title"] for step in visit["steps"]) == "Consent"
    assert {one["condition"] for one in visit["ratings"]} <= {"<i>Full</i> motion & more", "smooth", "jerky", "frozen"}
    assert all(one["low"] <= one["raw"] <= one["high"] and one["key"] == "trial:1" for one in visit["ratings"])
    complete = next(one for one in visit["verdicts"] if one["check"] == "complete")
    assert (complete["verdict"], complete["measured"]) == ("pass", "completed")
    assert {told["newer"], told["older"]} - {None}, "there are others beside them"


def test_steps_have_titles() -> None:
    titles = {
        "consent": "Consent", "trial:3": "Trial 3", "trial:3:2": "Trial 3, attempt 2", "break:1": "Break",
        "training:1:1": "Training 1", "questions:during:4": "Questions after trial 4",
    }  # fmt: skip
    assert {key: title_of(key) for key in titles} == titles
