"""Rules that act while somebody rates: silence, a word, the same page again, and a kind end."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asking import Rater, scores, serving, write_asking
from beholder.checks.attention import Attention
from beholder.errors import Refused
from beholder.serve import tokens
from beholder.serve.flow import Ending, next_step
from beholder.serve.host import Host
from beholder.serve.script import Planned, Script
from beholder.serve.submission import Submission
from beholder.simulate.robot import watch_events
from beholder.store.contract import Told
from beholder.study.words import check_words
from test_flow import answers, script
from waiting import Clock, Person, hosted

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)
Hosted = tuple[Host, Clock]
STUTTERS = "Playback stutters. Please close other programs and tabs, and plug in the charger if you can."
STAY = "Please stay on this page while something plays."
QUICK = "That was very quick. Please take the time that you need for each answer."

CLIPS: dict[str, Any] = {
    "method": "acr", "playback": {"fullscreen": False}, "design": {"participants": 4, "trials": 2, "seed": 3},
}  # fmt: skip

# Where somebody is


def told(key: str, verdict: str, check: str = "attention", minute: int = 0, **evidence: Any) -> dict[str, Told]:
    kept = {"checks": {check: {"verdict": verdict, "reason": "wrong"}}, **evidence}
    return {key: Told("s", key, check, verdict, "wrong", kept, NOON + timedelta(minutes=minute))}


def here(whole: Script, said: Mapping[str, Told], many: int = 99) -> str | Ending:
    found = next_step(whole, answers(whole, many), said, NOON)
    return found.key if isinstance(found, Planned) else found


@given(st.lists(st.sampled_from(["pass", "fail", "unknown"]), max_size=6), st.integers(1, 3))
def test_a_session_ends_at_the_last_failure_that_is_allowed_and_at_nothing_else(said: list[str], most: int) -> None:
    whole = script(trials=8, checks={"attention": {"end_after": most}})
    facts = {key: one for n, say in enumerate(said, 1) for key, one in told(f"trial:{n}", say, minute=n).items()}
    is_over = said.count("fail") >= most
    assert here(whole, facts) == (Ending("failed_checks", "attention:wrong") if is_over else Ending("completed"))


def test_failures_of_different_rules_are_not_added_up() -> None:
    whole = script(checks={"attention": {"end_after": 2}, "focus": {"end_after": 2}})
    facts = {**told("trial:1", "fail"), **told("trial:2", "fail", "focus")}
    assert here(whole, facts) == Ending("completed")
    assert here(whole, {**facts, **told("trial:3", "fail", "focus")}) == Ending("failed_checks", "focus:wrong")


def test_without_a_rule_that_acts_at_once_nothing_that_was_told_counts() -> None:
    whole = script(checks={"attention": {"end_after": None}})
    assert whole.rules == {}
    assert here(whole, {**told("trial:1", "fail"), **told("trial:2", "fail", again=True)}) == Ending("completed")


def test_a_trial_comes_again_before_anything_else_and_counts_as_it_was_answered_last() -> None:
    whole = script(checks={"focus": {"action": "retry", "retries": 2, "end_after": 1}})
    said = told("trial:2", "fail", "focus", again=True)
    assert here(whole, said, 4) == "trial:2:2"
    again = {**answers(whole, 4), "trial:2:2": {}}
    assert next_step(whole, again, said, NOON) == whole.find("break:1")
    said |= told("trial:2:2", "fail", "focus", again=True)
    assert next_step(whole, again, said, NOON) == whole.find("trial:2:3")
    again["trial:2:3"] = {}
    for last, expected in (("pass", whole.find("break:1")), ("fail", Ending("failed_checks", "focus:wrong"))):
        assert next_step(whole, again, {**said, **told("trial:2:3", last, "focus")}, NOON) == expected


def test_what_would_not_play_at_last_counts_as_missing_and_what_did_does_not() -> None:
    whole = script(trials=4, checks={"focus": {"action": "retry"}})
    gone: dict[str, Any] = {"missing": {"s1": "media_error"}}
    given = {**answers(whole, 2), "trial:1": gone, "trial:2": gone}
    assert next_step(whole, given) == Ending("technical", "media_error")
    said = {"scores": {"q1": {"s1": 50}}}
    assert next_step(whole, {**given, "trial:1:2": said, "trial:2:2": said}) == whole.find("break:1")


# Attention: silence, and the end


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
        said.append(await host.answer(person.token, person.key, Submission(answer, events=events)))
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


async def fail_twice(host: Host, clock: Clock, name: str = "ann") -> tuple[Rater, str, Submission]:
    """Return somebody whose session was ended, with the last answer and its step."""
    person = await Rater(host, clock, name).come()
    while True:
        await person.until_asked()
        answer = scores(person.step, await person.asked(), obeys=False)
        key, sent = person.key, Submission(answer, events=watch_events(person.step["trial"]))
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
        await host.answer(ann.token, key, Submission({"scores": {"q1": {}}}, events=sent.events))
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
    assert facts.told.keys() == asked.keys(), "nothing is kept of a page that asks for nothing"
    for key, one in facts.told.items():
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
    for one in facts.told.values():
        assert isinstance(one.evidence, dict)
        found = one.evidence["checks"]["attention"]
        counted.append(found["failures"])
        assert (one.verdict, one.reason, found["reason"], found["counts"]) == ("fail", "wrong", "wrong", 1)
        assert found["measured"].keys() == found["needed"].keys()
    assert sorted(counted) == [1, 2]
    assert facts.told[key].evidence["checks"]["attention"]["failures"] == 2  # type: ignore[index,call-overload]


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
        await ann.answer(Submission(answer, events=events))
    assert ann.step["outcome"] == "completed"
    assert {(one.verdict, one.reason) for one in (await ann.facts()).told.values()} == {("unknown", "media_error")}


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
    with caplog.at_level(logging.ERROR, "beholder.serve"):
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
        sent = [Submission(scores(ann.step, asked, obeys=obeys), events=events) for obeys in (False, True)]
        clock.wait(seconds=30)
        replies = await asyncio.gather(*(host.answer(ann.token, key, one) for one in sent), return_exceptions=True)
        won = [place for place, reply in enumerate(replies) if isinstance(reply, dict)]
        assert len(won) == 1
        facts = await ann.facts()
        assert facts.answers[key].answer == sent[won[0]].answer
        assert facts.told[key].verdict == ("pass" if won[0] else "fail")
        ann.step = await host.step(ann.token)
    assert (facts.end is not None) == ([one.verdict for one in facts.told.values()] == ["fail", "fail"])


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
        page = 2 + int(next(iter((await ann.facts()).told)).partition(":")[2])
        assert str(ann.step["text"]).startswith(
            "<p>Thank you for your time. On these pages the answers are far from those of nearly everybody else:</p>\n"
            f"<ul>\n<li>Page {page}</li>\n</ul>\n"
        )


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
        sent = Submission(scores(ann.step, {}, obeys=True), events=left(ann.step["trial"]))
        assert (await ann.answer(sent), ann.feedback) == ("trial:2", STAY)
        again = await host.answer(ann.token, "trial:1", sent)
        assert (again["feedback"], again["step"]) == (STAY, ann.step)
        assert (await ann.rate(), ann.feedback) == ("trial:3", None)
        assert {key: (one.check, one.verdict) for key, one in (await ann.facts()).told.items()} == {
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


def clip(step: Mapping[str, Any], value: int = 4, *, stutters: bool = False) -> Submission:
    """Return an answer to a clip that played well or did not."""
    events = watch_events(step["trial"])
    if stutters:
        (frames,) = [one for one in events if one[1] == "frames"]
        frames[3] = {**frames[3], "dropped": frames[3]["total"]}
    return Submission({"scores": {"q1": {"s1": value}}}, events=events)


async def come(host: Host, clock: Clock, name: str = "ann") -> Person:
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
    assert [(key, one.verdict, one.evidence.get("again")) for key, one in facts.told.items()] == [  # type: ignore[union-attr]
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
        await ann.answer(Submission({"scores": {"q1": {"s1": 4}}}))
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
    assert await Host(host.served, host.store, now=clock).step(ann.token) == step
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
    assert list((await ann.facts()).told) == ["trial:1", "trial:1:2"]
    await host.events(ann.token, Submission(None, events=[(1, "key", None, {})], tab="t"), "trial:1:2")


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
        sent = Submission(scores(step, {}, obeys=True), events=left(step["trial"]))
        said: Any = await host.answer(token, "trial:1", sent)
        assert said["feedback"] == STAY
        assert said["step"]["key"] == "trial:2"


async def test_a_preview_of_a_study_that_ends_nobody_has_no_such_end(jerky: Hosted) -> None:
    host, _ = jerky
    assert "end:failed_checks" not in host.preview.keys
