"""Rules that act while somebody rates: silence at first, and a kind end."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from beholder.checks.known_answers import AttentionRule
from beholder.errors import Refused
from beholder.server import tokens
from beholder.server.requests import SubmittedAnswer
from beholder.server.service import StudyService
from beholder.simulation.robot import watch_events
from support.clock_service import Clock
from support.message_studies import Hosted, Rater, clip, scores, serving, write_asking


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_asking(tmp_path_factory.mktemp("asking"))


@pytest.fixture
async def board(study: Path, tmp_path: Path) -> AsyncIterator[Hosted]:
    async with serving(study, tmp_path / "store") as host:
        yield host


def shape(value: Any) -> Any:
    """Return which keys something has, all the way down."""
    if isinstance(value, Mapping):
        return {key: shape(one) for key, one in value.items()}
    return [shape(one) for one in value] if isinstance(value, list | tuple) else type(value).__name__


async def test_a_first_failure_is_answered_exactly_as_a_pass(board: Hosted) -> None:
    host, clock = board
    said = []
    for name, obeys in (("ann", True), ("bob", False)):
        person = await Rater(host, clock, name).come()
        await person.until_asked()
        answer = scores(person.step, await person.asked(), obeys=obeys)
        clock.wait(seconds=30)
        events = watch_events(person.step["trial"])
        said.append(await host.answer(person.token, person.key, SubmittedAnswer(answer, events=events)))
        assert (await person.told(person.key)).verdict == ("pass" if obeys else "fail")
    assert [one["feedback"] for one in said] == [None, None]
    assert shape(said[0]) == shape(said[1])
    assert set(said[0]) == {"stored_at", "feedback", "step"}


async def test_the_second_failure_ends_the_session_kindly_and_with_a_code_of_its_own(board: Hosted) -> None:
    host, clock = board
    ann = await Rater(host, clock).come()
    lines = []
    while ann.step["kind"] != "end":
        await ann.until_asked()
        facts = await ann.facts()
        (where, target), *_ = (await ann.asked()).items()
        label = next(one["label"] for one in ann.step["trial"]["slots"] if one["id"] == where.partition(".")[2])
        lines.append(f"Page {ann.step['progress'][0]}, {label}: asked to be set to {target.value:g}.")
        await ann.rate(obeys=False)
        assert ann.feedback is None
    assert len(lines) == 2
    assert ann.step["text"] == (
        "<p>Thank you for your time. Some of what this study shows asks for a certain answer itself, somewhere in the "
        "middle. Here it was answered in another way:</p>\n"
        f"<ul>\n<li>{lines[0]}</li>\n<li>{lines[1]}</li>\n</ul>\n"
        "<p>That happens easily. As the results depend on it, the study ends here for you. Everything that you have "
        "answered is stored. Please keep the code below: it shows that you were here.</p>\n"
        "<p>If you think that this is a mistake, or if you have a question, please write to "
        '<a href="mailto:tiny@example.org" target="_blank" rel="noopener noreferrer">tiny@example.org</a>.</p>'
    )
    own, whole = (
        tokens.completion_code(host.store.secret, ann.session, outcome) for outcome in ("failed_checks", "completed")
    )
    assert (ann.step["outcome"], ann.step["code"]) == ("failed_checks", own)
    assert own != whole
    assert ann.step["receipt"]
    facts = await ann.facts()
    assert facts.end is not None
    assert (facts.end.outcome, facts.end.reason) == ("failed_checks", "attention:wrong")
    rated = [key for key in facts.answers if key.startswith("trial:")]
    assert ann.step["answers"] == len(rated) >= 2, "everything that was answered is kept"
    counts = await host.store.counts(clock())
    assert (counts["live"], counts["ended"]) == (0, 1), "the list is open again"


async def fail_twice(host: StudyService, clock: Clock, name: str = "ann") -> tuple[Rater, str, SubmittedAnswer]:
    """Return somebody whose session was ended, with the last answer and its step."""
    person = await Rater(host, clock, name).come()
    while True:
        await person.until_asked()
        answer = scores(person.step, await person.asked(), obeys=False)
        key, sent = person.key, SubmittedAnswer(answer, events=watch_events(person.step["trial"]))
        if await person.answer(sent) == "end":
            return person, key, sent


async def test_after_the_end_nothing_is_taken_and_whoever_comes_back_reads_the_same(board: Hosted) -> None:
    host, clock = board
    ann, key, sent = await fail_twice(host, clock)
    end = ann.step
    again = await host.answer(ann.token, key, sent)
    assert (again["feedback"], again["step"]) == (None, end), "the same answer once more is harmless"
    for place in ("trial:4", "questions:after", "trial:9"):
        with pytest.raises(Refused) as refused:
            await host.answer(ann.token, place, sent)
        assert refused.value.status in (409, 410)
    with pytest.raises(Refused) as refused:
        await host.answer(ann.token, key, SubmittedAnswer({"scores": {"q1": {}}}, events=sent.events))
    assert refused.value.status == 409
    _, arrival = await host.arrive({"resume": ann.token}, {})
    assert arrival["step"] == end
    assert await host.step(ann.token) == end
    with pytest.raises(Refused) as refused:
        await host.arrive(ann.params, {})
    assert (refused.value.status, refused.value.code) == (403, "finished")
    facts = await ann.facts()
    assert facts.end is not None
    assert facts.end.code == end["code"]


async def test_whoever_does_what_is_asked_finishes_and_every_verdict_is_kept(board: Hosted) -> None:
    host, clock = board
    ann = await Rater(host, clock).come()
    asked: dict[str, Any] = {}
    await ann.until("trial:")
    while ann.step["kind"] == "trial":
        asked |= {ann.key: found} if (found := await ann.asked()) else {}
        await ann.rate()
    assert (ann.step["outcome"], len(asked)) == ("completed", 3)
    facts = await ann.facts()
    assert facts.verdicts.keys() == asked.keys(), "nothing is kept of a page that asks for nothing"
    for key, one in facts.verdicts.items():
        needed = {where: [target.value, target.tolerance] for where, target in asked[key].items()}
        assert (one.check, one.verdict, one.reason) == ("attention", "pass", "")
        assert one.evidence == {
            "attempt": 1,
            "checks": {
                "attention": {
                    "version": 1, "verdict": "pass", "reason": "", "measured": None, "needed": needed, "evidence": {},
                    "action": "flag", "counts": 0, "failures": 0,
                }
            },
        }  # fmt: skip


async def test_a_failure_is_kept_with_what_was_answered_and_how_many_there_are(board: Hosted) -> None:
    host, clock = board
    ann, key, _ = await fail_twice(host, clock)
    facts = await ann.facts()
    counted = []
    for one in facts.verdicts.values():
        assert isinstance(one.evidence, dict)
        found = one.evidence["checks"]["attention"]
        counted.append(found["failures"])
        assert (one.verdict, one.reason, found["reason"], found["counts"]) == ("fail", "wrong", "wrong", 1)
        assert found["measured"].keys() == found["needed"].keys()
    assert sorted(counted) == [1, 2]
    assert facts.verdicts[key].evidence["checks"]["attention"]["failures"] == 2  # type: ignore[index,call-overload]


async def test_what_would_not_play_costs_nobody_the_session(board: Hosted) -> None:
    host, clock = board
    ann = await Rater(host, clock).come()
    await ann.until("trial:")
    while ann.step["kind"] == "trial":
        asked, events = await ann.asked(), watch_events(ann.step["trial"])
        answer = scores(ann.step, asked, obeys=False)
        for where in asked:
            slot = where.partition(".")[2]
            del answer["scores"]["q1"][slot]
            answer["missing"] = {slot: "media_error"}
            events.append([9999, "error", slot, {"what": "decode"}])
        await ann.answer(SubmittedAnswer(answer, events=events))
    assert ann.step["outcome"] == "completed"
    assert {(one.verdict, one.reason) for one in (await ann.facts()).verdicts.values()} == {("unknown", "media_error")}


@pytest.mark.parametrize("broken", [ZeroDivisionError("a bug of ours"), float("nan"), object()])
async def test_a_bug_of_ours_in_a_rule_is_logged_and_costs_nothing(
    board: Hosted, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, broken: Any
) -> None:
    def judge(self: AttentionRule, *_: Any) -> Any:
        if isinstance(broken, Exception):
            raise broken
        return self.verdict("fail", "wrong", measured=broken)

    monkeypatch.setattr(AttentionRule, "judge_trial", judge)
    host, clock = board
    ann = await Rater(host, clock).come()
    with caplog.at_level(logging.ERROR, "beholder.server"):
        await ann.until("end")
    assert ann.step["outcome"] == "completed"
    one = await ann.told("trial:2")
    assert (one.check, one.verdict, one.reason) == ("attention", "unknown", "our_fault")
    assert "attention at trial:2" in caplog.text


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


@pytest.mark.parametrize(
    ("method", "line"),
    [
        ("acr", "Page [3-7]: asked for the answer “(Bad|Poor|Fair|Good|Excellent)”."),
        ("likert", "Page [3-7]: asked for the answer “[^”]+”."),
        ("ccr", "Page [3-7]: asked for the answer “[^”]+”."),
        ("pair", "Page [3-7], [AB]: asked to be chosen."),
    ],
)
async def test_the_last_page_says_in_the_words_of_the_method_what_was_asked(
    tmp_path: Path, method: str, line: str
) -> None:
    path = write_asking(tmp_path / "study", method=method, checks={"trap": {"end_after": 1}})
    async with serving(path, tmp_path / "store") as (host, _):
        found = re.findall("<li>(.*)</li>", str(host.preview.step("end:failed_checks")["text"]))
        assert [bool(re.fullmatch(line, one)) for one in found] == [True], found


async def test_what_a_gold_stimulus_is_worth_is_never_told(tmp_path: Path) -> None:
    gold = {"file": "stimuli/zqplain/zqsea.txt", "content": "zqgold", "expected": 5}
    rule = {"action": "warn", "end_after": 1, "items": [gold]}
    path = write_asking(tmp_path / "study", method="acr", checks={"gold": rule})
    async with serving(path, tmp_path / "store") as (host, clock):
        ann = await Rater(host, clock).come()
        while ann.step["kind"] != "end":
            await ann.answer(clip(ann.step, 1) if ann.step["kind"] == "trial" else None)
        end = (await ann.facts()).end
        assert end is not None
        assert (end.outcome, end.reason, ann.feedback) == ("failed_checks", "gold:wrong", None)
        page = 2 + int(next(iter((await ann.facts()).verdicts)).partition(":")[2])
        assert str(ann.step["text"]).startswith(
            "<p>Thank you for your time. On these pages the answers are far from those of nearly everybody else:</p>\n"
            f"<ul>\n<li>Page {page}</li>\n</ul>\n"
        )
