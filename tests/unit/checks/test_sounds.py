"""Sounds of all listening checks: their files, levels and playback, and the chance of passing by a guess."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from beholder.checks.headphones import Headphones, Pitch
from beholder.checks.page_contract import Attempt, PageCheck, RobotAbilities
from beholder.checks.sides import Sides
from beholder.checks.tones import Tones
from beholder.errors import Refused
from support.listening_checks import answer, message_of, played, pose

ALL: tuple[PageCheck, ...] = (
    Headphones(Headphones.Options()), Pitch(Headphones.Options()), Tones(Tones.Options()),
    Sides(Sides.Options()),
)  # fmt: skip
ANSWERED = {"headphones": "chosen", "pitch": "chosen", "tones": "counts", "sides": "sides"}
every_check = pytest.mark.parametrize("check", ALL, ids=lambda check: check.name)


# What every listening check keeps to


@every_check
def test_the_sounds_of_an_attempt_are_equally_long_and_nothing_is_in_the_file_but_samples(check: PageCheck) -> None:
    sizes = set()
    for seed in range(5):
        posed = pose(check, seed)
        for name in posed.media:
            body = check.draw(posed.private, name).body
            assert (body[:4], body[12:16], body[36:40]) == (b"RIFF", b"fmt ", b"data")
            assert len(body) == 44 + int.from_bytes(body[40:44], "little")
            sizes.add(len(body))
    assert len(sizes) == 1


@every_check
def test_what_the_page_gets_is_the_same_for_everybody(check: PageCheck) -> None:
    first, second = pose(check, 1), pose(check, 2)
    assert (first.public, first.media) == (second.public, second.media)
    assert first.private != second.private


@every_check
def test_no_two_sessions_hear_the_same_and_one_can_be_heard_again(check: PageCheck) -> None:
    first, second = pose(check, 1), pose(check, 2)
    kept = json.loads(json.dumps(first.private))
    for name in first.media:
        assert check.draw(first.private, name) == check.draw(kept, name)
        assert check.draw(first.private, name).body != check.draw(second.private, name).body


@every_check
def test_no_sound_clips_and_none_begins_or_ends_with_a_click(check: PageCheck) -> None:
    posed = pose(check)
    for sound, rate, _ in played(check, posed):
        assert np.max(np.abs(sound)) < 0.5
        assert np.max(np.abs(sound[: rate // 20])) == 0
        assert np.max(np.abs(sound[-rate // 100 :])) == 0


@every_check
def test_a_robot_that_can_passes_and_one_that_cannot_fails(check: PageCheck) -> None:
    rng = np.random.default_rng(0)
    for seed in range(10):
        posed = pose(check, seed)
        assert answer(check, posed, check.respond(posed, RobotAbilities(), rng)).verdict == "pass"
        unable = RobotAbilities(frozenset([check.name]))
        assert answer(check, posed, check.respond(posed, unable, rng)).verdict == "fail"


@every_check
@pytest.mark.parametrize("why", ["start", "decode", "missing", None])
def test_sound_that_does_not_play_is_unknown_and_worth_another_try(check: PageCheck, why: str | None) -> None:
    posed = pose(check)
    read = check.read(posed.private, {"blocked": True, "why": why})
    assert read == {"blocked": True, "why": why}
    verdict = check.judge(Attempt(posed.private, read))
    assert (verdict.verdict, verdict.reason, verdict.again) == ("unknown", "blocked", True)
    assert "does not count against you" in message_of(check, verdict)


@every_check
@pytest.mark.parametrize("given", [None, [], "1", [1], [True] * 6, [0.5] * 6, [None] * 6, ["up"] * 6])
def test_an_answer_that_no_page_sends_is_refused(check: PageCheck, given: Any) -> None:
    name = ANSWERED[check.name]
    with pytest.raises(Refused) as refused:
        check.read(pose(check).private, {name: given})
    assert refused.value.where == f"answer.{name}"


@every_check
def test_how_often_it_was_played_and_through_what_is_kept_where_it_makes_sense(check: PageCheck) -> None:
    posed = pose(check)
    right: Any = check.respond(posed, RobotAbilities(), np.random.default_rng(0))
    number = len(posed.media)
    read = check.read(posed.private, {**right, "plays": [2] * number, "output": {"channels": 2, "rate": 44100}})
    assert (read["plays"], read["output"]) == ([2] * number, {"channels": 2, "rate": 44100})
    for plays, output in (("x", "x"), ([1], {"channels": -1}), (None, None), ([True] * number, {"rate": 1})):
        read = check.read(posed.private, {**right, "plays": plays, "output": output})
        assert (read["plays"], read["output"]) == (None, None)


@every_check
def test_every_reason_has_words_and_none_is_a_diagnosis(check: PageCheck) -> None:
    words = check.texts("en")
    reasons = {name for name in words if name.startswith("told.")}
    expected = {
        "headphones": {"speakers", "softest"}, "pitch": {"tone"}, "tones": {"missed", "count"},
        "sides": {"swapped", "mono", "silent", "sides"},
    }  # fmt: skip
    assert reasons == {f"told.{reason}" for reason in expected[check.name] | {"blocked"}}
    assert "You did nothing wrong" in words["out"]
    assert not any(word in text.lower() for text in words.values() for word in ("deaf", "hearing loss", "impair"))


# Headphones


# Pitch


# Tones


# Sides


# Luck


@pytest.mark.parametrize(
    ("check", "luck"),
    [
        (Headphones(Headphones.Options()), 13 / 729),
        (Headphones(Headphones.Options(trials=1, right=1)), 1 / 3),
        (Headphones(Headphones.Options(trials=6, right=6)), 1 / 729),
        (Pitch(Headphones.Options()), 13 / 729),
        (Tones(Tones.Options()), 1 / 25),
        (Tones(Tones.Options(clips=1)), 1 / 5),
        (Sides(Sides.Options()), 1 / 540),
        (Sides(Sides.Options(sounds=3)), 1 / 6),
        (Sides(Sides.Options(sounds=2)), 1 / 2),
        (Sides(Sides.Options(sounds=1)), 1 / 3),
    ],
)
def test_the_chance_of_passing_by_luck_is_known_exactly(check: PageCheck, luck: float) -> None:
    assert check.guess_rate() == pytest.approx(luck, rel=1e-12)
