"""Clean judges every attempt at a check again: from what was posed and answered, by the rules of now."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import beholder
from beholder.aio import block_on
from beholder.checks.brightness import Brightness, SecondBrightness
from beholder.checks.contract import Click, SessionEvidence, Viewing
from beholder.checks.distance import Distance
from beholder.checks.page_contract import CheckContext, PageCheck, RobotAbilities
from beholder.checks.screen import Screen
from beholder.cleaning import Cleaned
from beholder.cleaning.decisions import decide, judge, reason_words
from beholder.cleaning.facts import AnswerRecord, SessionRecord
from beholder.cleaning.qualification import qualify, verdict_of
from beholder.cleaning.sessions import judge_training, training_verdict
from beholder.methods import find, load_study
from beholder.methods.contract import Asked, Slot, Target, Trial
from beholder.server.process import run_server
from beholder.simulation.crowd import send_robots
from beholder.study.questions import SCALES
from beholder.testing import write_study
from beholder.types import Outcome

START = datetime(2026, 11, 16, 9, tzinfo=UTC)
FIRST = Brightness(Brightness.Options())
SECOND = SecondBrightness(Brightness.Options())
FAR = Distance(Distance.Options())
WHOLE = SessionEvidence(
    "completed", "whole", (Viewing("trial:1", "s1", 400, 1, 1.0, 400, 9),), (Click("quality", 3, 1, 5),)
)


def visit(
    *attempts: tuple[PageCheck, bool], outcome: Outcome | None = "completed", name: str = "s", **keys: Any
) -> SessionRecord:
    """Return a session with these attempts, each right or wrong, and a rating where it was completed."""
    answers: dict[str, AnswerRecord] = {"consent": given("consent", {"agree": True}, 0)}
    posed: dict[str, Mapping[str, Any] | None] = {}
    numbers: dict[str, int] = {}
    for place, (check, is_right) in enumerate(attempts, 1):
        numbers[check.name] = numbers.get(check.name, 0) + 1
        key = f"check:{check.name}:{numbers[check.name]}"
        drawn = check.pose(np.random.default_rng(place), CheckContext({"dpr": 1, "screen": [1920, 1080]}))
        fails = frozenset() if is_right else frozenset({check.name})
        answer = check.read(drawn.private, check.respond(drawn, RobotAbilities(fails), np.random.default_rng(place)))
        posed[key], answers[key] = drawn.private, given(key, answer, place)
    if outcome == "completed":
        answers["trial:1"] = given("trial:1", {"scores": {"q1": {"s1": 3}}}, 50)
    return SessionRecord(name, "p", "d", 1, "link", 1, START, outcome, START, False, (), answers, posed=posed, **keys)


def given(key: str, answer: Any, minute: int) -> AnswerRecord:
    return AnswerRecord(key, answer, {}, 0, 20_000, "mouse", START + timedelta(minutes=minute))


def said(checks: Sequence[PageCheck], came: SessionRecord) -> list[tuple[str, str, int]]:
    return [(one.verdict.verdict, one.verdict.reason, one.tries) for one in qualify(checks, came).settled]


def test_the_last_attempt_is_the_verdict_and_all_of_them_are_judged() -> None:
    found = qualify([FIRST], visit((FIRST, False), (FIRST, False), (FIRST, True)))
    assert [one.verdict.verdict for one in found.tried] == ["fail", "fail", "pass"]
    assert [(one.verdict.verdict, one.tries) for one in found.settled] == [("pass", 3)]
    assert dict(verdict_of(found.settled[0]).evidence) | {"scale": 1} == {"attempts": 3, "action": "gate", "scale": 1}


def test_a_check_that_a_session_did_not_come_to_is_unknown() -> None:
    assert said([FIRST, SECOND], visit((FIRST, True), outcome=None)) == [("pass", "", 1), ("unknown", "not_met", 0)]


def test_who_is_still_at_a_check_has_not_failed_it() -> None:
    assert said([FIRST], visit((FIRST, False), outcome=None)) == [("unknown", "under_way", 1)]
    assert said([FIRST], visit(*[(FIRST, False)] * 4, outcome=None)) == [("fail", "count", 4)]


def test_what_an_older_store_did_not_keep_is_unknown_and_costs_nothing() -> None:
    came = visit((FIRST, False))
    lost: tuple[Mapping[str, Any] | None, ...] = ({}, None)
    for private in lost:
        old = replace(came, posed=dict.fromkeys(came.posed, private))
        assert said([FIRST], old) == [("unknown", "not_kept", 1)]
    found = qualify([FIRST], replace(came, posed={}))
    assert decide("completed", judge(WHOLE), found.settled).use


def test_other_thresholds_give_other_verdicts_on_the_same_evidence() -> None:
    needed, enough = Screen(Screen.Options(min=(1280, 720))), Screen(Screen.Options(min=(320, 180)))
    came = visit((needed, False))
    assert said([needed], came) == [("fail", "small", 1)]
    assert said([enough], came) == [("pass", "", 1)]


def test_a_check_that_now_only_warns_takes_nobody_out() -> None:
    came = visit((FIRST, False))
    assert not decide("completed", judge(WHOLE), qualify([FIRST], came).settled).use
    warn = Brightness(Brightness.Options(action="warn"))
    decision = decide("completed", judge(WHOLE), qualify([warn], came).settled)
    assert (decision.use, decision.reasons, decision.costly) == (True, ("brightness:count",), ())


def test_who_was_turned_away_is_paid_not_used_and_has_the_check_for_a_reason() -> None:
    came = visit(*[(FIRST, False)] * 4, outcome="screened_out", end_reason="brightness:count")
    decision = decide("screened_out", judge(SessionEvidence("screened_out", "whole")), qualify([FIRST], came).settled)
    assert (decision.accept, decision.use, decision.reasons) == (True, False, ("brightness:count",))
    assert reason_words("brightness:count") == "Brightness and room light: shapes not counted right"


def test_who_would_pass_by_the_rules_of_now_was_still_turned_away() -> None:
    came = visit((FIRST, True), outcome="screened_out", end_reason="brightness:count")
    decision = decide("screened_out", judge(SessionEvidence("screened_out", "whole")), qualify([FIRST], came).settled)
    assert (decision.accept, decision.use, decision.reasons) == (True, False, ("complete:screened_out",))


def test_a_second_matrix_that_was_not_counted_right_costs_the_session_but_not_the_pay() -> None:
    decision = decide(
        "completed", judge(WHOLE), qualify([FIRST, SECOND], visit((FIRST, True), (SECOND, False))).settled
    )
    assert (decision.accept, decision.use, decision.costly) == (True, False, ("brightness_second:count",))


def test_a_viewing_distance_that_was_not_right_is_told_and_costs_nothing() -> None:
    for rule in (Distance.Options(), Distance.Options(action="flag")):
        far = Distance(rule)
        decision = decide("completed", judge(WHOLE), qualify([far], visit(*[(far, False)] * 3)).settled)
        assert (decision.accept, decision.use, decision.reasons) == (True, True, ("distance:far",))


def test_a_pass_of_an_earlier_session_counts_for_who_did_not_meet_the_check_again() -> None:
    earlier = qualify([FIRST, FAR], visit((FIRST, True), (FAR, True), name="before"))
    later = qualify([FIRST, FAR], visit((FAR, True), name="after"), [earlier])
    assert [(one.verdict.verdict, one.tries) for one in later.settled] == [("pass", 0), ("pass", 1)]
    assert later.settled[0].verdict.evidence["from_session"] == "before"
    never = qualify([FIRST, FAR], visit(outcome=None, name="after"), [earlier])
    assert [one.verdict.reason for one in never.settled] == ["not_met", "not_met"]


def lesson(trap: bool = False) -> Trial:
    asked = (Asked("q1", "quality", "ask", "How good?", SCALES["acr5"]),)
    slots = (Slot("s1", "a/1", "training", "A", True, None),)
    return Trial("t", "one", "train", slots, asked, targets={"q1.s1": Target(5, 1, "", is_trap=trap)})


@pytest.mark.parametrize(
    ("answers", "verdict"),
    [
        ({"training:1:1": 5, "training:2:1": 4}, ("pass", "", 2)),
        ({"training:1:1": 1, "training:1:2": 5, "training:2:1": 5}, ("pass", "", 2)),
        ({"training:1:1": 1, "training:1:2": 2, "training:2:1": 5}, ("fail", "outside", 1)),
        ({"training:1:1": 1, "training:2:1": 1}, ("fail", "trap", 0)),
        ({}, ("unknown", "not_met", 0)),
    ],
)
def test_the_training_is_judged_by_the_last_answer_to_each_example_and_only_told(
    answers: Mapping[str, int], verdict: tuple[str, str, int]
) -> None:
    scores = {key: given(key, {"scores": {"q1": {"s1": score}}}, n) for n, (key, score) in enumerate(answers.items())}
    came = replace(visit(), answers=scores, lessons=(lesson(), lesson(trap=True)))
    found = training_verdict(came, judge_training(find("acr"), came))
    assert found is not None
    assert (found.verdict, found.reason, found.measured) == verdict
    decision = decide("completed", (*judge(WHOLE), found))
    assert (decision.accept, decision.use) == (True, True)
    assert decision.reasons == ((f"training:{verdict[1]}",) if verdict[0] == "fail" else ())


def test_a_plan_without_examples_has_no_verdict_on_training() -> None:
    assert training_verdict(visit(), ()) is None


# Whole folders


def table(cleaned: Cleaned, name: str) -> list[dict[str, str]]:
    with (cleaned.folder / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def study(tmp_path: Path, tiny: Path) -> Path:
    """A study that three robots have taken: one that is able, one that cannot see shapes, one only the second time."""
    path = write_study(tmp_path / "study", tiny, method="acr", qualification={"brightness": True})

    async def send() -> None:
        async with run_server(load_study(path), port=0) as server:
            kinds = "honest,unable-brightness,unable-brightness_second"
            await send_robots(server.service.served, server.store, server.address, 3, raters=kinds)

    block_on(send())
    return path


def test_the_tables_show_every_attempt_every_verdict_and_where_people_were_turned_away(study: Path) -> None:
    cleaned = beholder.clean(study, robots=True)
    sessions = {row["session"]: row for row in table(cleaned, "sessions")}
    outcomes = sorted((row["outcome"], row["end_reason"], row["use"], row["reasons"]) for row in sessions.values())
    assert outcomes == [
        ("completed", "", "false", "brightness_second:count"),
        ("completed", "", "true", ""),
        ("screened_out", "brightness:count", "false", "brightness:count"),
    ]
    attempts = table(cleaned, "qualification")
    turned_away = next(name for name, row in sessions.items() if row["outcome"] == "screened_out")
    mine = [row for row in attempts if row["session"] == turned_away]
    assert [(row["check"], row["attempt"], row["verdict"], row["reason"]) for row in mine] == [
        ("brightness", str(number), "fail", "count") for number in range(1, 5)
    ]
    assert all(5 < float(row["seconds"]) < 100 for row in attempts)
    verdicts = {(row["session"], row["check"]): row for row in table(cleaned, "verdicts")}
    assert verdicts[turned_away, "brightness"]["verdict"] == "fail"
    assert verdicts[turned_away, "brightness_second"]["reason"] == "not_met"


def test_a_check_that_now_only_warns_is_judged_so_without_asking_anybody_again(study: Path) -> None:
    text = study.read_text("utf-8")
    study.write_text(text.replace("brightness: true", "brightness: {action: warn, second: false}"), "utf-8")
    cleaned = beholder.clean(study, robots=True)
    reasons = sorted(row["reasons"] for row in table(cleaned, "sessions"))
    assert reasons == ["", "", "complete:screened_out; brightness:count"]
    met = {row["check"] for row in table(cleaned, "verdicts")}
    assert met == {"complete", "watched", "variance", "quota", "brightness"}


def test_what_people_were_told_is_not_looked_at(study: Path) -> None:
    from beholder.cleaning.facts import TABLES

    assert "posed" in TABLES
    assert "told" not in TABLES
