"""Every check keeps the contract: random tasks, private answers, reproducible verdicts, hard to guess."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from beholder.checks.brightness import Brightness
from beholder.checks.page_contract import Attempt, CheckContext, Needs, PageCheck, RobotAbilities
from beholder.checks.page_registry import (
    CANNOT,
    check_texts,
    costs_session,
    judge_attempt,
    page_check_kinds,
    page_checks,
)
from beholder.study.model import Study, installed_study_model
from beholder.testing import check_step
from beholder.testing.checks import DEVICE, check_luck
from beholder.types import Json

QUIZ = [
    {"id": f"q{n}", "text": "Which?", "options": ["a", "b", "c", "d"], "correct": "abcd"[n % 4], "topic": "Letters"}
    for n in range(12)
]
EVERYTHING: dict[str, Any] = {
    name: kind.example or True for name, kind in page_check_kinds().items() if not kind.switch
} | {"questions": {"items": QUIZ, "draw": 4, "right": 3}}
CARD: Mapping[str, Json] = {"widths": [1000, 1001], "dpr": 1, "moved": True}
"""A screen with enough pixels for the ring of 20/30."""
KNOWN = CheckContext(DEVICE, {"card": CARD}, Needs(codecs=('video/mp4; codecs="avc1.42E01E"',), first_bytes=4_000_000))
VARIES = {"questions", "language", "card"}
"""Checks with a random public part: the items of a quiz, sentences, and the initial size of the card outline."""
WAYS = {
    "media": ("media:fullscreen",), "network": ("network:slow",), "remote": ("remote:hints",),
    "colour": ("colour:protan", "colour:deutan"), "distance": ("distance:far", "distance:unclear"),
    "sides": ("sides:mono", "sides:swapped"),
}  # fmt: skip


def study(**keys: Any) -> Study:
    return installed_study_model().model_validate(
        {"beholder": 1, "name": "s", "title": "S", "method": "acr", "stimuli": "stimuli", **keys}
    )


EVERY = page_checks(study(qualification=EVERYTHING))


@pytest.mark.parametrize("check", EVERY, ids=lambda check: check.name)
def test_every_check_keeps_the_contract(check: PageCheck) -> None:
    needs = KNOWN.needs if check.name != "media" else Needs(codecs=KNOWN.needs.codecs, fullscreen=True)
    known = CheckContext(KNOWN.device, KNOWN.answers, needs)
    check_step(check, known, fails=WAYS.get(check.name, ()), varies=check.name in VARIES)


GUESSED = [check for check in EVERY if check.guess_rate() and check.name not in ("questions", "language", "colour")]


@pytest.mark.long
@pytest.mark.parametrize("check", GUESSED, ids=lambda check: check.name)
def test_luck_is_how_often_the_best_blind_guess_passes(check: PageCheck, whole: bool) -> None:
    robots = (RobotAbilities(), RobotAbilities(frozenset({f"{check.name}:near"})))
    many = 600 if whole else 150
    rate = check_luck(check, KNOWN, robots, many=many)
    assert rate == pytest.approx(check.guess_rate(), abs=4 * (check.guess_rate() / many) ** 0.5)


MOST_LUCK = {"distance": 0.13, "questions": 0.06, "brightness": 0.05, "brightness_second": 0.05, "tones": 0.05}
"""The largest probability that a guess passes. The distance only warns, and the matrix is shown twice."""


@pytest.mark.parametrize("check", EVERY, ids=lambda check: check.name)
def test_a_blind_guess_is_worth_little(check: PageCheck) -> None:
    assert check.guess_rate() <= MOST_LUCK.get(check.name, 0.03)


@pytest.mark.parametrize("check", EVERY, ids=lambda check: check.name)
def test_who_cannot_take_a_check_fails_a_gate_and_nothing_else(check: PageCheck) -> None:
    verdict = judge_attempt(check, Attempt({}, CANNOT))
    assert (verdict.verdict, verdict.reason) == ("fail" if check.action == "gate" else "unknown", "cannot")


def test_every_check_and_every_reason_that_people_read_has_words_for_researchers() -> None:
    assert all(check.title for check in EVERY)
    unknown = {
        "zoom", "signals", "hidden", "irregular", "nothing", "control", "unchanged", "implausible", "no_card", "scaled",
        "near", "unclear", "blocked",
    }  # fmt: skip
    reasons = {
        f"{check}:{key.removeprefix('told.')}"
        for check, words in check_texts("en").items()
        for key in words
        if key.startswith("told.") and key.removeprefix("told.") not in unknown
    }
    known = {f"{check.name}:{reason}" for check in EVERY for reason in check.reasons}
    assert reasons - known == set()


def test_a_gate_costs_the_session_a_warning_and_a_hint_do_not() -> None:
    def costs(action: str, own: Any = None, say: Any = "fail") -> bool:
        check = Brightness(Brightness.Options.model_validate({"action": action}))
        return costs_session(check, check.verdict(say, "count", action=own))

    assert costs("gate")
    assert costs("flag")
    assert costs("warn", own="gate")
    assert not costs("warn")
    assert not costs("record")
    assert not costs("gate", own="flag")
    assert not costs("gate", say="unknown")
