"""The check `questions`: some items of a pool, judged where nobody sees the key."""

from __future__ import annotations

from itertools import combinations, product
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from beholder.checks.page_contract import Attempt, CheckContext, CheckTask, RobotAbilities
from beholder.checks.questions import Questions
from beholder.errors import Refused, StudyError
from beholder.methods import load_study
from beholder.server.process import run_server
from beholder.simulation.crowd import send_robots
from beholder.testing import write_study
from support.visitor import Site, Visitor

POOL: list[dict[str, Any]] = [
    {"id": "whole", "text": "How *long* do you watch?", "options": ["A while", "To the end"], "correct": "To the end"},
    {"id": "what", "text": "What is rated?", "options": ["Story", "Picture", "Sound"], "correct": "Picture",
     "topic": "what to rate"},
    {"id": "stop", "text": "May you stop?", "options": ["Yes", "No", "Only once", "Never"], "correct": "Yes"},
]  # fmt: skip


def check(**keys: Any) -> Questions:
    return Questions(Questions.Options.model_validate({"items": POOL, **keys}))


def posed(check: Questions, seed: int = 1) -> CheckTask:
    return check.pose(np.random.default_rng(seed), CheckContext())


def given(check: Questions, one: CheckTask, **answers: str) -> Attempt:
    right = check.respond(one, RobotAbilities(), np.random.default_rng(1))
    assert isinstance(right, dict)
    return Attempt(one.private, check.read(one.private, {"answers": {**right["answers"], **answers}}))


@pytest.mark.parametrize(("draw", "right"), [(None, None), (2, None), (2, 1), (3, 2), (1, 1)])
def test_the_luck_of_guessing_is_exact(draw: int | None, right: int | None) -> None:
    asked = draw or len(POOL)
    needed = right or asked
    chances = []
    for items in combinations(POOL, asked):
        tries = list(product(*(item["options"] for item in items)))
        hits = [sum(one == item["correct"] for one, item in zip(given, items, strict=True)) for given in tries]
        chances.append(sum(hit >= needed for hit in hits) / len(tries))
    assert check(draw=draw, right=right).guess_rate() == pytest.approx(sum(chances) / len(chances))


def test_each_attempt_draws_anew_and_never_twice_the_same_item() -> None:
    drawn = {tuple(item["id"] for item in posed(check(draw=2), seed).private["items"]) for seed in range(40)}  # type: ignore[index, union-attr, call-overload]
    assert drawn == {("whole", "what"), ("whole", "stop"), ("what", "stop")}


def test_the_page_learns_neither_keys_nor_ids_nor_topics() -> None:
    public = str(posed(check()).public)
    for word in ("correct", "whole", "topic", "what to rate", "id': 'stop"):
        assert word not in public
    assert "<em>long</em>" in public


def test_enough_right_answers_pass_and_the_topics_of_the_others_are_told() -> None:
    quiz = check(right=2)
    one = posed(quiz)
    assert quiz.judge(given(quiz, one)).verdict == "pass"
    assert quiz.judge(given(quiz, one, q2="Story")).verdict == "pass"
    verdict = quiz.judge(given(quiz, one, q1="A while", q2="Story"))
    assert (verdict.verdict, verdict.reason, verdict.measured, verdict.needed) == ("fail", "wrong", 1, 2)
    assert verdict.evidence["wrong"] == ["whole", "what"]
    message = quiz.texts("en")["told.wrong"].format_map(quiz.message_values(verdict))
    assert message == (
        "1 of 3 were answered as this study needs it, and 2 have to be. Please look again at: How long do you watch; "
        "what to rate. Read without hurry; the questions may be others this time."
    )
    assert "To the end" not in message
    assert "Picture" not in message


def test_what_was_stored_is_judged_alike_when_the_study_has_other_items() -> None:
    one = posed(check(draw=2))
    other = Questions(Questions.Options.model_validate({"items": POOL[::-1], "draw": 2}))
    assert other.judge(given(check(draw=2), one)).verdict == "pass"


@pytest.mark.parametrize(
    ("answer", "where", "allowed"),
    [
        ({}, "answer.answers", "an object with q1, q2, q3"),
        ({"answers": {"q4": "a"}}, "answer.answers", "an object with q1, q2, q3"),
        ({"answers": {}}, "answer.answers.q1", "A while, To the end"),
        ({"answers": {"q1": "Never"}}, "answer.answers.q1", "A while, To the end"),
        ({"answers": {"q1": ["To the end"]}}, "answer.answers.q1", "A while, To the end"),
    ],
)
def test_an_answer_that_was_not_offered_is_refused(answer: Any, where: str, allowed: str) -> None:
    with pytest.raises(Refused) as refused:
        check().read(posed(check()).private, answer)
    assert (refused.value.where, refused.value.allowed) == (where, allowed)


@pytest.mark.parametrize(
    ("quiz", "message"),
    [
        ({"items": [{**POOL[0], "correct": "At once"}]},
         "qualification.questions.items.0.correct is At once, which is not among the options. "
         "Allowed: A while, To the end."),
        ({"items": [{**POOL[0], "options": ["A", "To the end", "A"]}]},
         "qualification.questions.items.0.options.2 is A a second time. Allowed: every option once."),
        ({"items": [POOL[0], POOL[0]]},
         "qualification.questions.items.1.id is whole, as is qualification.questions.items.0.id. "
         "Allowed: every id once. Rename or remove one."),
        ({"items": POOL, "draw": 4}, "qualification.questions.draw is 4, of a pool of 3. Allowed: 1 to 3."),
        ({"items": POOL, "draw": 2, "right": 3},
         "qualification.questions.right is 3, of 2 that are asked. Allowed: 1 to 2."),
    ],
)  # fmt: skip
def test_a_quiz_that_does_not_fit_is_told(tmp_path: Path, tiny: Path, quiz: Any, message: str) -> None:
    with pytest.raises(StudyError) as refused:
        load_study(write_study(tmp_path, tiny, qualification={"questions": quiz}))
    assert [str(problem).split("  ", 1)[1] for problem in refused.value.problems] == [message]


async def test_two_attempts_then_the_end_in_words(tmp_path: Path, tiny: Path) -> None:
    path = write_study(tmp_path, tiny, qualification={"questions": {"items": POOL, "draw": 2}})
    async with (
        run_server(load_study(path), port=0) as server,
        httpx.AsyncClient(base_url=server.address, timeout=60) as client,
    ):
        crowd = await send_robots(server.service.served, server.store, server.address, 1)
        assert crowd.robots[0].step["outcome"] == "completed"
        visitor = Visitor(Site(server.service, server.store, server.address, client), participant="ada")
        await visitor.arrive()
        await visitor.answer({"agree": True})
        for attempt in (1, 2):
            assert visitor.step["key"] == f"check:questions:{attempt}"
            assert (visitor.step["told"] is None) == (attempt == 1)
            right = {one["correct"] for one in POOL}
            wrong = {
                item["id"]: next(option for option in item["options"] if option not in right)
                for item in visitor.step["public"]["items"]
            }
            (await visitor.answer({"answers": wrong})).raise_for_status()
        assert visitor.step["outcome"] == "screened_out"
        assert "This study needs some questions" in visitor.step["text"]
        assert visitor.step["code"]
