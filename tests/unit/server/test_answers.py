"""Accepting answers: each is stored once, whichever tab or server it comes from."""

from __future__ import annotations

import asyncio

from beholder.errors import Refused
from beholder.server.requests import SubmittedAnswer
from beholder.simulation.robot import watch_events
from support.clock_service import Person
from support.message_studies import Hosted, Rater, scores
from support.qualified_sessions import HostedStudy
from support.training_sessions import Serve, start_training, stored_verdicts
from support.training_studies import LESSONS


async def test_two_tabs_that_answer_the_same_page_have_one_verdict(board: Hosted) -> None:
    host, clock = board
    ann = await Rater(host, clock).come()
    for _ in range(2):
        await ann.until_asked()
        key, asked, events = ann.key, await ann.asked(), watch_events(ann.step["trial"])
        sent = [SubmittedAnswer(scores(ann.step, asked, obeys=obeys), events=events) for obeys in (False, True)]
        clock.wait(seconds=30)
        replies = await asyncio.gather(*(host.answer(ann.token, key, one) for one in sent), return_exceptions=True)
        won = [place for place, reply in enumerate(replies) if isinstance(reply, dict)]
        assert len(won) == 1
        facts = await ann.facts()
        assert facts.answers[key].answer == sent[won[0]].answer
        assert facts.verdicts[key].verdict == ("pass" if won[0] else "fail")
        ann.step = await host.step(ann.token)
    assert (facts.end is not None) == ([one.verdict for one in facts.verdicts.values()] == ["fail", "fail"])


async def test_of_two_tabs_that_answer_one_attempt_one_counts(room: HostedStudy) -> None:
    host, clock, store = room
    ann = await Person(host, clock).come()
    await ann.until("check:")
    right = await ann.answers()
    wrong = SubmittedAnswer({"circles": 0, "triangles": 0, "scale": 1})
    said = await asyncio.gather(
        *(host.answer(ann.token, "check:brightness:1", each) for each in (right, wrong)), return_exceptions=True
    )
    lost = [each for each in said if isinstance(each, Refused)]
    assert [each.code for each in lost] == ["already_answered"]
    rows = [row async for row in store.rows("told")]
    assert len(rows) == 1
    answer = (await ann.facts()).answers["check:brightness:1"].answer
    assert rows[0]["verdict"] == ("pass" if answer == right.answer else "fail")
    same = await host.answer(ann.token, "check:brightness:1", right if answer == right.answer else wrong)
    assert same["stored_at"] == clock().isoformat()


async def test_the_same_answer_twice_is_one_attempt(serve: Serve) -> None:
    visitor = await start_training(await serve(LESSONS[1:2], training={"corrections": 0}))
    answer, events = visitor.scores(5), visitor.watched()
    first = (await visitor.answer(answer, events, key="training:1:1")).json()
    again = (await visitor.answer(answer, events, key="training:1:1")).json()
    assert (again["stored_at"], again["feedback"]) == (first["stored_at"], "It stands still.")
    other = await visitor.answer({"scores": {"q1": {"s1": 1}}}, events, key="training:1:1")
    assert (other.status_code, other.json()["error"]["code"]) == (409, "already_answered")
    assert len(await stored_verdicts(visitor.server)) == 1
