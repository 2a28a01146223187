"""Rules that act while somebody rates: a word after the page, and the same page again."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from beholder.checks.known_answers import Attention, judge_training
from beholder.checks.page_contract import RobotAbilities as Able
from beholder.cleaning import clean
from beholder.cleaning.ratings import read_ratings
from beholder.errors import Refused
from beholder.methods import find, load_study
from beholder.planning import open_plan
from beholder.server.requests import SubmittedAnswer
from beholder.simulation.crowd import Crowd, send_robots
from beholder.simulation.robot import watch_events
from beholder.stimuli.ingestion import load_catalogue
from beholder.words import check_words
from support.clock_service import hosted
from support.message_studies import Hosted, Rater, clip, scores, serving, write_asking
from support.rule_studies import CLIPS, STAY, come, fail_twice, left
from support.training_sessions import Serve, rate, start_training, stored_verdicts
from support.training_studies import LESSONS, write_taught
from support.visitor import Site

STUTTERS = "Playback stutters. Please close other programs and tabs, and plug in the charger if you can."
QUICK = "That was very quick. Please take the time that you need for each answer."


# A word


async def test_a_warning_is_read_after_the_page_and_again_where_the_answer_comes_again(tmp_path: Path) -> None:
    path = write_asking(tmp_path / "study", checks={"focus": {"action": "warn"}})
    async with serving(path, tmp_path / "store") as (host, clock):
        ann = await Rater(host, clock).come()
        await ann.until("trial:")
        sent = SubmittedAnswer(scores(ann.step, {}, obeys=True), events=left(ann.step["trial"]))
        assert (await ann.answer(sent), ann.feedback) == ("trial:2", STAY)
        again = await host.answer(ann.token, "trial:1", sent)
        assert (again["feedback"], again["step"]) == (STAY, ann.step)
        assert (await ann.rate(), ann.feedback) == ("trial:3", None)
        assert {key: (one.check, one.verdict) for key, one in (await ann.facts()).verdicts.items()} == {
            "trial:1": ("focus", "fail"), "trial:2": ("focus", "pass"),
        }  # fmt: skip


async def test_several_warnings_are_a_line_each_and_silent_rules_stay_silent(tmp_path: Path) -> None:
    rules = {"focus": {"action": "warn"}, "speed": {"action": "warn"}, "attention": {"end_after": 3}}
    path = write_asking(tmp_path / "study", checks=rules)
    async with serving(path, tmp_path / "store") as (host, clock):
        ann = await Rater(host, clock).come()
        await ann.until_asked()
        key, events = ann.key, left(ann.step["trial"])
        await ann.rate(obeys=False, events=events, shown_ms=0, sent_ms=events[-1][0])
        assert ann.feedback == f"{STAY}\n{QUICK}"
        one = await ann.verdict(key)
        assert (one.check, list(one.evidence["checks"])) == ("focus", ["attention", "focus", "speed"])
        assert one.evidence["checks"]["attention"]["verdict"] == "fail"


async def test_a_study_may_say_that_something_asked_for_an_answer(tmp_path: Path) -> None:
    path = write_asking(tmp_path / "study", checks={"attention": {"action": "warn"}})
    async with serving(path, tmp_path / "store") as (host, clock):
        ann = await Rater(host, clock).come()
        await ann.until_asked()
        await ann.rate(obeys=False)
        assert ann.feedback == (
            "Something on that page asked for a certain answer itself, and another one was given. Please take each one "
            "in from beginning to end, and where it asks for an answer, give that one."
        )
        await ann.until_asked()
        assert await ann.rate(obeys=False) == "end"
        read: str | None = ann.feedback
        assert read is None, "the last page says it all"


def test_every_rule_that_can_act_at_once_has_words_and_none_tells_a_right_answer() -> None:
    words = check_words("en")
    names = ("attention", "trap", "gold", "trap_item", "repeat", "ratio", "smooth", "focus", "speed")
    for name in names:
        assert words[name]["told"]
        assert words[name]["out"].startswith("Thank you for your time.")
        assert not {"{", "wrong", "fail", "cheat"} & set(words[name]["told"] + words[name]["out"])


# The same page again


async def test_a_clip_that_stuttered_comes_again_with_a_word_and_its_last_answer_counts(jerky: Hosted) -> None:
    host, clock = jerky
    ann = await come(host, clock)
    first = ann.step
    assert "told" not in first
    assert (await ann.answer(clip(first, stutters=True)), ann.feedback) == ("trial:1:2", None)
    assert ann.step == {**first, "key": "trial:1:2", "told": {"text": STUTTERS, "left": 1}}, (
        "the same page but for that"
    )
    assert await ann.answer(clip(ann.step, 2)) == "trial:2"
    assert "told" not in ann.step
    facts = await ann.facts()
    assert [(key, one.verdict, one.evidence.get("again")) for key, one in facts.verdicts.items()] == [  # type: ignore[union-attr]
        ("trial:1", "fail", True), ("trial:1:2", "pass", None),
    ]  # fmt: skip
    assert await ann.answer(clip(ann.step)) == "end"
    assert (ann.step["outcome"], ann.step["answers"]) == ("completed", 2), "a page that came again is one page"


async def test_when_no_retries_are_left_a_word_is_read_and_the_study_goes_on(tmp_path: Path, tiny: Path) -> None:
    rule = {"action": "retry", "retries": 2, "end_after": 2}
    async with hosted(tmp_path, tiny, checks={"smooth": rule}, **CLIPS) as (host, clock, _):
        ann = await come(host, clock)
        for key, tries in (("trial:1:2", 2), ("trial:1:3", 1)):
            assert (await ann.answer(clip(ann.step, stutters=True)), ann.feedback) == (key, None)
            assert ann.step["told"] == {"text": STUTTERS, "left": tries}
        last = clip(ann.step, stutters=True)
        assert (await ann.answer(last), ann.feedback) == ("trial:2", STUTTERS)
        assert (await host.answer(ann.token, "trial:1:3", last))["feedback"] == STUTTERS
        for key in ("trial:2:2", "trial:2:3", "end"):
            assert await ann.answer(clip(ann.step, stutters=True)) == key
        assert ann.step["outcome"] == "failed_checks"
        assert "<li>Page 3</li>\n<li>Page 4</li>" in ann.step["text"]
        assert ann.feedback is None


async def test_a_page_that_comes_again_has_to_be_played_again(jerky: Hosted) -> None:
    host, clock = jerky
    ann = await come(host, clock)
    await ann.answer(clip(ann.step, stutters=True))
    with pytest.raises(Refused) as refused:
        await ann.answer(SubmittedAnswer({"scores": {"q1": {"s1": 4}}}))
    assert refused.value.code == "not_watched"
    hasty = clip(ann.step)
    ann.clock.time = (await ann.facts()).answers["trial:1"].at + timedelta(milliseconds=50)
    with pytest.raises(Refused) as refused:
        await host.answer(ann.token, "trial:1:2", hasty)
    assert refused.value.where == "events", "not in less time than it takes"


# Preview


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
        assert (await person.verdict(person.key)).verdict == ("pass" if obeys else "fail")
    assert [one["feedback"] for one in said] == [None, None]
    assert shape(said[0]) == shape(said[1])
    assert set(said[0]) == {"stored_at", "feedback", "step"}


async def test_whoever_does_what_is_asked_finishes_and_every_verdict_is_kept(board: Hosted) -> None:
    host, clock = board
    ann = await Rater(host, clock).come()
    asked: dict[str, Any] = {}
    await ann.until("trial:")
    while ann.step["kind"] == "trial":
        asked |= {ann.key: result} if (result := await ann.asked()) else {}
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
        result = one.evidence["checks"]["attention"]
        counted.append(result["failures"])
        assert (one.verdict, one.reason, result["reason"], result["counts"]) == ("fail", "wrong", "wrong", 1)
        assert result["measured"].keys() == result["needed"].keys()
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
    def judge(self: Attention, *_: Any) -> Any:
        if isinstance(broken, Exception):
            raise broken
        return self.verdict("fail", "wrong", measured=broken)

    monkeypatch.setattr(Attention, "judge_trial", judge)
    host, clock = board
    ann = await Rater(host, clock).come()
    with caplog.at_level(logging.ERROR, "beholder.server"):
        await ann.until("end")
    assert ann.step["outcome"] == "completed"
    one = await ann.verdict("trial:2")
    assert (one.check, one.verdict, one.reason) == ("attention", "unknown", "our_fault")
    assert "attention at trial:2" in caplog.text


OUTSIDE = "Most people answer this one differently."


TRAP = "This one asks for a certain answer"


async def test_examples_come_before_the_first_trial_and_say_what_they_stand_for(serve: Serve) -> None:
    visitor = await start_training(await serve())
    seen = []
    for value in (5, 1, 3, 2):
        seen.append((visitor.step["key"], visitor.step["training"], visitor.step["told"], visitor.step["progress"]))
        await rate(visitor, value)
    anchor = "Excellent: no flaw can be seen"
    assert seen == [
        ("training:1:1", {"place": 1, "total": 4, "anchor": anchor}, None, [3, 8]),
        ("training:2:1", {"place": 2, "total": 4, "anchor": None}, None, [4, 8]),
        ("training:3:1", {"place": 3, "total": 4, "anchor": None}, None, [5, 8]),
        ("training:4:1", {"place": 4, "total": 4, "anchor": None}, None, [6, 8]),
    ]
    assert visitor.step["key"] == "trial:1"
    assert "training" not in visitor.step


async def test_an_answer_outside_its_tolerance_is_explained_and_asked_for_again(serve: Serve) -> None:
    visitor = await start_training(await serve())
    said = await rate(visitor, 3)
    assert (said["feedback"], visitor.step["key"]) == (None, "training:1:2")
    assert visitor.step["told"]["text"].startswith(OUTSIDE)
    assert visitor.step["told"]["left"] == 3
    await rate(visitor, 4)  # within one step
    await rate(visitor, 2)
    assert visitor.step["told"] == {"text": "It stands still.", "left": 3}
    await rate(visitor, 1)
    assert visitor.step["key"] == "training:3:1"
    await rate(visitor, 1)  # nothing is expected
    await rate(visitor, 3)
    assert visitor.step["told"]["text"].startswith(TRAP)
    await rate(visitor, 2)
    assert visitor.step["key"] == "trial:1"
    assert await stored_verdicts(visitor.server) == {
        "training:1:1": ("fail", "outside"), "training:1:2": ("pass", ""), "training:2:1": ("fail", "outside"),
        "training:2:2": ("pass", ""), "training:3:1": ("pass", ""), "training:4:1": ("fail", "trap"),
        "training:4:2": ("pass", ""),
    }  # fmt: skip


async def test_after_the_last_correction_people_read_a_word_and_go_on_flagged(serve: Serve) -> None:
    visitor = await start_training(await serve(LESSONS[1:2], training={"corrections": 2}))
    for tries in (2, 1):
        assert (await rate(visitor, 5))["feedback"] is None
        assert visitor.step["told"] == {"text": "It stands still.", "left": tries}
    said = await rate(visitor, 5)
    assert (said["feedback"], said["step"]["key"]) == ("It stands still.", "trial:1")
    assert set((await stored_verdicts(visitor.server)).values()) == {("fail", "outside")}


async def test_what_was_given_expected_and_allowed_is_kept(serve: Serve) -> None:
    visitor = await start_training(await serve())
    await rate(visitor, 3)
    (row,) = [row async for row in visitor.server.store.rows("told")]
    assert row["check"] == "training"
    assert row["evidence"] == {
        "version": 1, "attempt": 1, "answer": {"scores": {"q1": {"s1": 3}}}, "given": {"q1.s1": 3},
        "expected": {"q1.s1": 5}, "tolerance": {"q1.s1": 1}, "outside": ["q1.s1"],
    }  # fmt: skip


async def test_without_feedback_an_answer_is_noted_in_silence(serve: Serve) -> None:
    visitor = await start_training(await serve(LESSONS[:1], training={"feedback": False}))
    said = await rate(visitor, 1)
    assert (said["feedback"], said["step"]["key"]) == (None, "trial:1")
    assert await stored_verdicts(visitor.server) == {"training:1:1": ("fail", "outside")}


async def rehearsed(site: Site, **how: Any) -> Crowd:
    return await send_robots(site.service.served, site.store, site.address, 3, **how)


async def test_robots_are_trained_and_their_practice_is_in_no_table(serve: Serve, tmp_path: Path) -> None:
    site = await serve()
    crowd = await rehearsed(site)
    keys = [[one.key for one in robot.acknowledged] for robot in crowd.robots]
    assert all([key for key in one if "training" in key] == [f"training:{n}:1" for n in (1, 2, 3, 4)] for one in keys)
    assert {say for say, _ in (await stored_verdicts(site)).values()} == {"pass"}
    path = tmp_path / "study" / "study.yaml"
    cleaned = clean(path, robots=True)
    assert cleaned is not None
    ratings = read_ratings(tmp_path / "study" / "clean" / "ratings.csv")
    assert len(ratings) == 3 * 2
    assert sorted(set(ratings["position"])) == [1, 2]
    assert not any("practice" in stimulus for stimulus in ratings["stimulus"])


async def test_a_robot_that_cannot_be_trained_uses_all_corrections_and_goes_on(serve: Serve) -> None:
    site = await serve()
    crowd = await rehearsed(site, able=Able(frozenset({"training"})))
    for robot in crowd.robots:
        assert [one.key for one in robot.acknowledged if one.key.startswith("training:4")] == [
            f"training:4:{n}" for n in (1, 2, 3, 4)
        ]
        assert robot.step["outcome"] == "completed"


@pytest.mark.parametrize(("keyed", "value"), [("+", 5), ("-", 5)])
async def test_robots_know_statements_that_are_turned_round(serve: Serve, keyed: str, value: int) -> None:
    question = {"id": "quality", "text": "It is bad.", "keyed": keyed}
    site = await serve([{"expected": str(value), "tolerance": "0"}], method="likert", questions=[question])
    await rehearsed(site)
    assert set((await stored_verdicts(site)).values()) == {("pass", "")}


async def test_each_clip_of_a_page_has_its_own_word(serve: Serve) -> None:
    lessons = [
        {"condition": "natural", "content": "x", "expected": "100", "message": "Nothing is wrong with it."},
        {"condition": "frozen", "content": "x", "expected": "0", "message": "It stands still."},
    ]
    visitor = await start_training(await serve(lessons, method="parallel"))
    await rate(visitor, 50)
    words = sorted(line.partition(": ")[2] for line in visitor.step["told"]["text"].split("\n"))
    assert words == ["It stands still.", "Nothing is wrong with it."]
    assert sorted(line[:3] for line in visitor.step["told"]["text"].split("\n")) == ["A: ", "B: "]


async def test_several_questions_are_told_apart(serve: Serve) -> None:
    questions = [{"id": "quality", "text": "How good?"}, {"id": "fit", "text": "How fitting?"}]
    lessons = [{"expected_fit": "1"}]
    visitor = await start_training(await serve(lessons, questions=questions))
    answer = {"scores": {"q1": {"s1": 5}, "q2": {"s1": 5}}}
    (await visitor.answer(answer, visitor.watched())).raise_for_status()
    assert visitor.step["told"]["text"].startswith(f"How fitting? {OUTSIDE}")


def test_a_verdict_can_be_had_again_from_the_plan(tmp_path: Path, tiny: Path) -> None:
    study = load_study(write_taught(tmp_path, tiny))
    method, plan = find("acr"), open_plan(study, load_catalogue(study))
    for planned in (plan, open_plan(study, load_catalogue(study))):
        trial = planned.lists[2].training[0]
        verdict = judge_training(method, trial, {"scores": {"q1": {"s1": 2}}})
        assert (verdict.verdict, verdict.reason) == ("fail", "outside")
        assert (verdict.measured, verdict.needed) == ({"q1.s1": 2}, {"q1.s1": [5, 1]})
