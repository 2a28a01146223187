"""Rules that act while somebody rates: a word after the page, and the same page again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from beholder.errors import Refused
from beholder.server import tokens
from beholder.server.requests import SubmittedAnswer
from beholder.server.service import StudyService
from beholder.simulation.robot import watch_events
from beholder.words import check_words
from support.clock_service import Clock, Person, hosted
from support.message_studies import Hosted, Rater, clip, scores, serving, write_asking

STUTTERS = "Playback stutters. Please close other programs and tabs, and plug in the charger if you can."
STAY = "Please stay on this page while something plays."
QUICK = "That was very quick. Please take the time that you need for each answer."

CLIPS: dict[str, Any] = {
    "method": "acr", "playback": {"fullscreen": False}, "design": {"participants": 4, "trials": 2, "seed": 3},
}  # fmt: skip

# A word


def left(trial: Any) -> list[Any]:
    """Return the log of somebody who is in another window while everything plays."""
    events = watch_events(trial)
    away = [[one[0] + 1, "visibility", None, {"hidden": True}] for one in events if one[1] == "play"]
    back = [[one[0] + 1, "visibility", None, {"hidden": False}] for one in events if one[1] == "ended"]
    return sorted([*events, *away, *back], key=lambda event: event[0])


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
        one = await ann.told(key)
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


@pytest.fixture
async def jerky(tmp_path: Path, tiny: Path) -> AsyncIterator[Hosted]:
    """A study of single clips, shown again when playing stutters."""
    async with hosted(tmp_path, tiny, checks={"smooth": {"action": "retry"}}, **CLIPS) as (host, clock, _):
        yield host, clock


async def come(host: StudyService, clock: Clock, name: str = "ann") -> Person:
    person = await Person(host, clock, name).come()
    await person.until("trial:")
    return person


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


async def test_reloads_other_tabs_and_other_servers_find_the_same_page(jerky: Hosted) -> None:
    host, clock = jerky
    ann = await come(host, clock)
    sent = clip(ann.step, stutters=True)
    await ann.answer(sent)
    step = ann.step
    assert (await ann.come()).step == step
    assert await StudyService(host.served, host.store, now=clock).step(ann.token) == step
    again = await host.answer(ann.token, "trial:1", sent)
    assert (again["feedback"], again["step"]) == (None, step)
    for key, value in (("trial:1", 1), ("trial:1:1", 4), ("trial:1:3", 4), ("trial:2", 4)):
        with pytest.raises(Refused) as refused:
            await host.answer(ann.token, key, clip(step, value))
        assert refused.value.status == 409, key
    clock.wait(seconds=30)
    tabs = [clip(step, 2), clip(step, 3, stutters=True)]
    replies = await asyncio.gather(*(host.answer(ann.token, "trial:1:2", one) for one in tabs), return_exceptions=True)
    assert sum(isinstance(reply, dict) for reply in replies) == 1
    assert list((await ann.facts()).verdicts) == ["trial:1", "trial:1:2"]
    await host.events(ann.token, SubmittedAnswer(None, events=[(1, "key", None, {})], tab="t"), "trial:1:2")


async def test_media_keep_their_address_when_a_page_comes_again(jerky: Hosted) -> None:
    host, clock = jerky
    ann = await come(host, clock)
    url = ann.step["trial"]["slots"][0]["media"]["url"]
    ahead = ann.step["prefetch"]
    await ann.answer(clip(ann.step, stutters=True))
    assert ann.step["trial"]["slots"][0]["media"]["url"] == url
    assert ann.step["prefetch"] == ahead
    assert (await host.media(url.removeprefix("/media/"))).size == ann.step["trial"]["slots"][0]["media"]["bytes"]


# Preview


async def test_a_preview_shows_the_end_by_a_rule_and_walks_past_pages_that_would_come_again(tmp_path: Path) -> None:
    rules = {"attention": True, "focus": {"action": "retry"}}
    path = write_asking(tmp_path / "study", checks=rules)
    async with serving(path, tmp_path / "store") as (host, _):
        preview = tokens.preview_secret(host.store.secret)
        arrival: Any = (await host.arrive({"preview": preview}, {}))[1]
        assert "end:failed_checks" in [step["key"] for step in arrival["preview"]["steps"]]
        token = arrival["token"]
        end = await host.step(token, "end:failed_checks")
        assert (end["outcome"], end["code"]) == ("failed_checks", "XXXX-XXXX")
        assert str(end["text"]).count("asked to be set to") == 2
        step: Any = await host.step(token, "trial:1")
        sent = SubmittedAnswer(scores(step, {}, obeys=True), events=left(step["trial"]))
        said: Any = await host.answer(token, "trial:1", sent)
        assert said["feedback"] == STAY
        assert said["step"]["key"] == "trial:2"


async def test_a_preview_of_a_study_that_ends_nobody_has_no_such_end(jerky: Hosted) -> None:
    host, _ = jerky
    assert "end:failed_checks" not in host.preview.keys
