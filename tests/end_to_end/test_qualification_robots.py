"""Robots take the qualification over HTTP: one is screened out for each kind of failure, warnings do not stop them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

import beholder
from beholder.aio import block_on
from beholder.checks.page_contract import RobotAbilities as Able
from beholder.errors import UserError
from beholder.methods import load_study
from beholder.server.process import run_server
from beholder.simulation.crowd import send_robots
from beholder.simulation.oracle import Oracle
from beholder.simulation.raters import abilities_of, read_mixture, unable_kinds
from beholder.simulation.robot import Robot
from beholder.simulation.truth import plant_truth
from beholder.testing import write_study

QUIZ = [{"id": "one", "text": "One?", "options": ["a", "b"], "correct": "a"}]
DESIGN = {"participants": 40, "trials": 4, "seed": 3}


@dataclass(frozen=True)
class RobotOutcome:
    """The outcome of one robot."""

    outcome: str
    reason: str
    code: str
    attempts: Mapping[str, int]
    rated: int
    verdicts: Mapping[str, tuple[str, str]]


def send(study: Path, kinds: list[str]) -> dict[str, RobotOutcome]:
    """Send one robot of each kind, and return their outcomes."""

    async def through() -> dict[str, RobotOutcome]:
        async with run_server(load_study(study), port=0) as server:
            mixture = ",".join(kinds)
            crowd = await send_robots(server.service.served, server.store, server.address, len(kinds), raters=mixture)
            ends = {row["session"]: row async for row in server.store.rows("ends")}
            verdicts: dict[str, dict[str, tuple[str, str]]] = {}
            async for row in server.store.rows("told"):
                verdicts.setdefault(row["session"], {})[row["key"]] = (row["verdict"], row["reason"])
            return {
                kind: outcome_of(robot, ends[robot.session], verdicts.get(robot.session, {}))
                for robot, kind in zip(crowd.robots, crowd.kinds, strict=True)
            }

    return block_on(through())


def outcome_of(robot: Robot, end: Mapping[str, Any], verdicts: Mapping[str, tuple[str, str]]) -> RobotOutcome:
    keys = [one.key for one in robot.acknowledged]
    attempts = Counter(key.split(":")[1] for key in keys if key.startswith("check:"))
    rated = sum(key.startswith("trial:") for key in keys)
    assert robot.step["outcome"] == end["outcome"]
    return RobotOutcome(end["outcome"], end["reason"], end["code"], attempts, rated, verdicts)


VIDEO_OUT = {
    "unable-device": ("device:tablet", 10), "unable-screen": ("screen:small", 3), "unable-refresh": ("refresh:slow", 2),
    "unable-media": ("media:codec", 3), "unable-media-fullscreen": ("media:fullscreen", 3),
    "unable-network": ("network:hopeless", 2), "unable-remote": ("remote:remote", 2),
    "unable-questions": ("questions:wrong", 2), "unable-colour": ("colour:plates", 3),
    "unable-colour-protan": ("colour:plates", 3), "unable-colour-deutan": ("colour:plates", 3),
    "unable-acuity": ("acuity:rings", 2), "unable-brightness": ("brightness:count", 4),
}  # fmt: skip
"""Robots that are screened out under p910: the reason and the number of attempts."""
VIDEO_ON = {
    "unable-network-slow": ("network", 2), "unable-remote-hints": ("remote", 1), "unable-card": ("card", 1),
    "unable-display": ("display", 1), "unable-brightness_second": ("brightness_second", 1),
    "unable-distance-far": ("distance", 3), "unable-distance-near": ("distance", 1),
    "unable-distance-unclear": ("distance", 3),
}  # fmt: skip
"""Robots that continue in spite of a failure: the check and the number of attempts."""
AUDIO_OUT = {
    "unable-headphones": ("headphones:speakers", 2), "unable-tones": ("tones:missed", 3),
    "unable-sides-mono": ("sides:mono", 2), "unable-sides-swapped": ("sides:swapped", 2),
}  # fmt: skip


@pytest.fixture(scope="module")
def video(tmp_path_factory: pytest.TempPathFactory, tiny: Path) -> tuple[Path, dict[str, RobotOutcome]]:
    quiz = {"questions": {"items": QUIZ}}
    folder = tmp_path_factory.mktemp("p910") / "study"
    checks = {"trap": False}
    study = write_study(folder, tiny, method="acr", preset="p910", design=DESIGN, qualification=quiz, checks=checks)
    return study, send(study, ["honest", *VIDEO_OUT, *VIDEO_ON])


@pytest.fixture(scope="module")
def audio(tmp_path_factory: pytest.TempPathFactory, tiny: Path) -> tuple[Path, dict[str, RobotOutcome]]:
    strict = {"headphones": {"strict": True}}
    folder = tmp_path_factory.mktemp("audio") / "study"
    study = write_study(folder, tiny, method="acr", preset="audio", design=DESIGN, qualification=strict)
    return study, send(study, ["honest", *AUDIO_OUT, "unable-pitch"])


Sent = tuple[Path, dict[str, RobotOutcome]]


def test_a_robot_that_is_able_passes_all_of_p910_at_once_and_rates(video: Sent) -> None:
    one = video[1]["honest"]
    assert (one.outcome, one.rated) == ("completed", 4)
    assert list(one.attempts) == [
        "device", "screen", "refresh", "media", "network", "remote", "questions", "colour", "card", "acuity",
        "display", "brightness", "brightness_second", "distance",
    ]  # fmt: skip
    assert set(one.attempts.values()) == {1}
    assert {verdict for verdict, _ in one.verdicts.values()} == {"pass"}


def test_a_robot_that_is_able_passes_all_of_audio_at_once_and_rates(audio: Sent) -> None:
    one = audio[1]["honest"]
    assert (one.outcome, one.rated) == ("completed", 4)
    assert list(one.attempts) == ["device", "media", "network", "headphones", "pitch", "tones", "sides"]
    assert set(one.attempts.values()) == {1}


@pytest.mark.parametrize("kind", VIDEO_OUT)
def test_who_fails_a_gate_is_turned_away_after_the_last_attempt_with_the_reason(video: Sent, kind: str) -> None:
    check_turned_away(video[1][kind], *VIDEO_OUT[kind])


@pytest.mark.parametrize("kind", AUDIO_OUT)
def test_who_fails_a_gate_for_the_ears_is_turned_away_as_well(audio: Sent, kind: str) -> None:
    check_turned_away(audio[1][kind], *AUDIO_OUT[kind])


def check_turned_away(one: RobotOutcome, reason: str, attempts: int) -> None:
    check = reason.partition(":")[0]
    assert (one.outcome, one.reason) == ("wrong_device" if check == "device" else "screened_out", reason)
    assert (list(one.attempts)[-1], one.attempts[check]) == (check, attempts)
    assert all(many == 1 for name, many in one.attempts.items() if name != check)
    assert one.rated == 0
    assert one.code


@pytest.mark.parametrize("kind", VIDEO_ON)
def test_what_warns_flags_or_is_unknown_lets_people_go_on(video: Sent, kind: str) -> None:
    check, attempts = VIDEO_ON[kind]
    one = video[1][kind]
    assert (one.outcome, one.rated) == ("completed", 4)
    assert one.attempts[check] == attempts
    assert all(many == 1 for name, many in one.attempts.items() if name != check)


def test_the_code_of_who_was_turned_away_is_not_the_code_of_who_finished(video: Sent) -> None:
    codes = [one.code for one in video[1].values() if one.code]
    assert len(set(codes)) == len(codes)


def test_cleaning_comes_to_the_verdicts_that_people_were_told(video: Sent) -> None:
    study, robots = video
    cleaned = beholder.clean(study, robots=True)
    lost = {f"{one.rule}:{one.reason}": one for one in cleaned.lost}
    refusal = Counter(one.reason for one in robots.values() if one.reason)
    assert {reason: one.sessions for reason, one in lost.items() if one.costs} == {
        **refusal,
        "brightness_second:count": 1,
    }
    warned = {reason: (one.sessions, one.kept) for reason, one in lost.items() if not one.costs}
    assert warned == {"network:slow": (1, 1), "remote:hints": (1, 1), "distance:far": (1, 1)}
    assert cleaned.counts["completed"] == 1 + len(VIDEO_ON)
    assert cleaned.counts["used_sessions"] == len(VIDEO_ON)
    assert lost["colour:plates"].words == "Colour vision: numbers not read"


def test_the_account_tells_how_many_were_turned_away_where_and_how_long_it_took(audio: Sent) -> None:
    study, robots = audio
    folder = beholder.clean(study, robots=True).folder
    funnel = json.loads((folder / "account.json").read_text("utf-8"))["qualification"]
    assert (funnel["arrived"], funnel["agreed"], funnel["rated"]) == (len(robots), len(robots), 1)
    rows = {row["check"]: row for row in funnel["checks"]}
    assert {name: row["turned_away"] for name, row in rows.items() if row["turned_away"]} == {
        "headphones": 1, "pitch": 1, "tones": 1, "sides": 2,
    }  # fmt: skip
    headphones = rows["headphones"]
    assert (headphones["met"], headphones["passed_at_once"], headphones["failed"]) == (len(robots), len(robots) - 1, 1)
    assert 10 < headphones["seconds"] < 120
    assert 1 < funnel["minutes_before_rating"] < 10


def test_the_list_of_somebody_who_was_turned_away_is_open_to_the_next_person(tmp_path: Path, tiny: Path) -> None:
    design = {"participants": 1, "trials": 4, "seed": 3}
    study = write_study(tmp_path / "s", tiny, method="acr", design=design, qualification={"brightness": True})

    async def through() -> list[str]:
        async with (
            run_server(load_study(study), port=0) as server,
            httpx.AsyncClient(base_url=server.address, timeout=60) as client,
        ):
            served, store = server.service.served, server.store
            oracle = Oracle(served, store.secret, plant_truth(served.catalogue, ("quality",), 1), 1)
            reached = []
            for name, able in (("first", Able(frozenset({"brightness"}))), ("second", Able()), ("third", Able())):
                person = Robot(name, "tiny", {"participant": name}, client, oracle.responder("honest", name, able))
                await person.arrive()
                await person.consent()
                oracle.claims |= {row["session"]: row["list"] async for row in store.rows("claims")}
                while not person.is_done and person.step["kind"] != "trial":
                    await person.answer_step()
                reached.append(person.refused or person.step.get("outcome") or person.step["key"])
            return reached

    assert block_on(through()) == ["screened_out", "trial:1", "full"]


def test_a_kind_of_rater_that_cannot_pass_a_check_is_part_of_a_mixture() -> None:
    assert read_mixture("honest:0.8,unable-colour:0.2") == {"honest": 0.8, "unable-colour": 0.2}
    assert abilities_of("unable-sides-mono").fails == {"sides:mono"}
    assert abilities_of("careless").fails == frozenset()
    assert "unable-training" in unable_kinds()


def test_an_unknown_kind_of_rater_is_told_with_what_there_is() -> None:
    with pytest.raises(UserError) as caught:
        read_mixture("unable-color")
    assert str(caught.value) == (
        "--raters  'unable-color' is no kind of rater. Allowed: sharp, honest, sloppy, noisy, careless, straight, "
        "middle, copies, skips, forges, visible, shares, tabs, replays, fast, away, or unable- and the "
        "name of a check, as in unable-colour. Did you mean unable-colour?"
    )
