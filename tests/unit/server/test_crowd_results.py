"""The last page beside the thanks: how a person compares with the others, only after the last answer, without names."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from beholder.methods import find, load_study
from beholder.planning.feasibility import method_problems
from beholder.server.requests import SubmittedAnswer
from beholder.server.service import StudyService
from beholder.stimuli.ingestion import load_catalogue
from beholder.testing import write_study
from support.clock_service import Clock, Person, hosted
from support.study_texts import HEAD, refusal

ENDING = {"agreement": True, "crowd": True}
BOARD: dict[str, Any] = {
    "ending": ENDING, "playback": {"watch": "none"},
    "design": {"participants": 8, "trials": 4, "per_trial": 4, "seed": 3},
}  # fmt: skip
RANK = {"natural": 90, "smooth": 70, "jerky": 40, "frozen": 10}


async def take(host: StudyService, clock: Clock, name: str, value_of: Callable[[str], Any]) -> Person:
    """Return a person at the end of a session; `value_of` gives the rating of a condition."""
    person = Person(host, clock)
    person.params = {"participant": name}
    await person.come()
    while person.step["kind"] != "end":
        assert "result" not in json.dumps(person.step), "before the last answer"
        if person.step["kind"] != "trial":
            await person.answer()
            continue
        facts = await person.facts()
        step = host.served.script(facts.list or 1).find(person.key)
        assert step is not None
        assert step.trial is not None
        conditions = {slot.id: slot.stimulus.partition("/")[0] for slot in step.trial.slots}
        await person.answer(SubmittedAnswer(value_of_all(conditions, value_of)))
    return person


def value_of_all(conditions: dict[str, str], value_of: Callable[[str], Any]) -> Any:
    if len(conditions) == 2:  # a pair: who has the higher value is better
        best = max(conditions, key=lambda slot: value_of(conditions[slot]))
        return {"choices": {"q1": {"better": best}}}
    return {"scores": {"q1": {slot: value_of(condition) for slot, condition in conditions.items()}}}


def result(person: Person) -> dict[str, Any]:
    step: Any = person.step
    shown: dict[str, Any] = step["result"]
    return shown


async def test_agreement_and_crowd_are_told_once_enough_others_have_answered(tmp_path: Path, tiny: Path) -> None:
    async with hosted(tmp_path, tiny, **BOARD) as (host, clock, _):
        first = await take(host, clock, "p0", RANK.__getitem__)
        assert result(first) == {"agreement": None, "questions": []}
        for number in range(1, 5):
            await take(host, clock, f"p{number}", RANK.__getitem__)
        clock.wait(seconds=61)
        same = await take(host, clock, "same", RANK.__getitem__)
        assert result(same)["agreement"] == 100
        (question,) = result(same)["questions"]
        assert (question["min"], question["max"]) == (0, 100)
        assert question["rows"] == [[value, value] for value in (90, 70, 40, 10) for _ in range(4)]
        other = await take(host, clock, "other", lambda condition: 100 - RANK[condition])
        assert result(other)["agreement"] == 0
        assert [row[0] for row in result(other)["questions"][0]["rows"]] == [10] * 4 + [30] * 4 + [60] * 4 + [90] * 4
        page = json.dumps(other.step)
        assert not [name for name in (*RANK, *host.served.catalogue.contents) if name in page and name != "question"]
        assert await host.step(other.token) == other.step, "a reload shows the same"


async def test_what_somebody_erased_is_no_longer_in_the_means(tmp_path: Path, tiny: Path) -> None:
    async with hosted(tmp_path, tiny, **BOARD) as (host, clock, store):
        people = [await take(host, clock, f"p{number}", RANK.__getitem__) for number in range(6)]
        clock.wait(seconds=61)
        ann = people[0]
        ann.step = await host.step(ann.token)
        assert len(result(ann)["questions"][0]["rows"]) == 16
        await store.erase(people[1].session, clock())
        clock.wait(seconds=30)
        assert await host.step(ann.token) == ann.step, "gathered at most once a minute"
        clock.wait(seconds=31)
        ann.step = await host.step(ann.token)
        assert result(ann) == {"agreement": None, "questions": []}


async def test_comparisons_agree_whichever_stood_first(tmp_path: Path, tiny: Path) -> None:
    keys: dict[str, Any] = {
        "method": "pair", "questions": [{"id": "better", "text": "Which one?"}], "ending": ENDING,
        "playback": {"watch": "none"}, "conditions": ["natural", "frozen"],
        "design": {"participants": 14, "trials": 4, "contents": "free", "both_orders": True, "seed": 3},
        "options": {"presentation": "side-by-side"},
    }  # fmt: skip
    async with hosted(tmp_path, tiny, **keys) as (host, clock, _):
        for number in range(12):
            await take(host, clock, f"p{number}", RANK.__getitem__)
        clock.wait(seconds=61)
        same = await take(host, clock, "same", RANK.__getitem__)
        rows = [tuple(row) for row in result(same)["questions"][0]["rows"]]
        assert rows
        assert set(rows) == {(1, 1)}
        other = await take(host, clock, "other", lambda condition: -RANK[condition])
        assert {tuple(row) for row in result(other)["questions"][0]["rows"]} == {(1, -1)}
        assert result(same)["agreement"] is None, "of four comparisons no share is told"


async def test_nothing_is_told_while_another_session_can_follow(tmp_path: Path, tiny: Path) -> None:
    design = {**BOARD["design"], "trials": 2, "sessions_per_participant": 2}
    async with hosted(tmp_path, tiny, **{**BOARD, "design": design}) as (host, clock, _):
        ann = await take(host, clock, "ann", RANK.__getitem__)
        assert ann.step["again"] is not None
        assert "result" not in ann.step


async def test_a_study_that_wants_nothing_of_it_has_the_page_that_it_had(tmp_path: Path, tiny: Path) -> None:
    async with hosted(tmp_path, tiny, **{**BOARD, "ending": {}}) as (host, clock, _):
        ann = await take(host, clock, "ann", RANK.__getitem__)
        assert not {"result", "return_after"} & set(ann.step)


def test_methods_without_scores_or_preferences_refuse_it(tmp_path: Path, tiny: Path) -> None:
    study = load_study(write_study(tmp_path / "s", tiny, ending=ENDING))
    catalogue = load_catalogue(study)
    told = [str(problem) for problem in method_problems(study, catalogue, find("abx")) if "ending" in problem.where]
    assert told == [
        f"ending.{key}  is true, and abx gives neither scores nor preferences to compare with those of others. "
        "Allowed: false. Take it out."
        for key in ("agreement", "crowd")
    ]
    assert not [one for one in method_problems(study, catalogue, find("parallel")) if "ending" in one.where]


PANEL, PROLIFIC = "mode: panel, id_parameter: pid", "mode: prolific, reward: 2.00 GBP, minutes: 5"
RETURNS = [
    ("mode: link, return_after: 10 s", "recruit.return_after does not go with mode link. Allowed: mode panel or "
     "prolific. Take it out, or change recruit.mode."),
    (f"{PANEL}, return_after: 10 s", "recruit.return_after is 10 s, and nothing says where to. Allowed: "
     "recruit.return_to.completed beside it. Write it, or take this out."),
    (f"{PROLIFIC}, return_after: soon", "recruit.return_after is soon. Allowed: a time such as 30 min, 12 h or 30 d."),
]  # fmt: skip


@pytest.mark.parametrize(("recruit", "what"), RETURNS)
def test_a_way_back_by_itself_needs_somewhere_to_go(tmp_path: Path, recruit: str, what: str) -> None:
    line = HEAD.count("\n") + 1
    assert f"study.yaml:{line}  {what}" in refusal(tmp_path, f"{HEAD}recruit: {{{recruit}}}\n")


async def test_practice_is_no_part_of_it(tmp_path: Path, tiny: Path) -> None:
    files = sorted((tiny / "stimuli" / "frozen").iterdir())[:2]
    practice = {"items": [{"file": f"stimuli/frozen/{file.name}"} for file in files]}
    async with hosted(tmp_path, tiny, training=practice, **BOARD) as (host, clock, _):
        for number in range(5):
            await take(host, clock, f"p{number}", lambda condition: RANK.get(condition, 50))
        clock.wait(seconds=61)
        last = await take(host, clock, "last", lambda condition: RANK.get(condition, 50))
        (question,) = result(last)["questions"]
        assert len(question["rows"]) == 16, "four pages of four, and nothing of the practice before them"
