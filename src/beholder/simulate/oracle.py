"""What robots feel: an oracle in their own process that knows plan and truth. No route tells it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from beholder.checks.contract import Known
from beholder.checks.contract import Robot as Able
from beholder.methods.contract import Trial
from beholder.serve.posing import check_of, examine, pose
from beholder.serve.script import Planned
from beholder.serve.served import Served
from beholder.simulate.chance import keyed_rng
from beholder.simulate.raters import Percepts, perceive
from beholder.simulate.robot import Robot, plain_fill
from beholder.simulate.truth import Truth
from beholder.types import Json

_ABLE = Able()
_HURRY = 0.35
"""How much faster or slower than most somebody is, as the deviation of its logarithm."""


class Oracle:
    """The minds of all robots of one simulation. `claims` maps a session to its list and is filled in by the caller."""

    def __init__(self, served: Served, secret: bytes, truth: Truth, seed: int) -> None:
        self.served, self.method, self.truth, self.seed = served, served.method, truth, seed
        self.claims: dict[str, int] = {}
        self._secret = secret
        study = served.study
        self._correct = {item.id: item.correct for item in (*study.before, *study.after) if item.correct}

    def mind(self, kind: str, participant: str, able: Able = _ABLE) -> OracleMind:
        """Return the mind of one robot."""
        return OracleMind(self, perceive(kind, self.truth, self.seed, participant), participant, able)

    def trial(self, session: str, key: str) -> Trial:
        """Return the private half of a trial."""
        step = self._step(session, key)
        assert step.trial is not None, key
        return step.trial

    def examined(self, robot: Robot, key: str, able: Able) -> tuple[Json, float]:
        """Return how a robot answers an attempt at a check, well unless it is not able to, and after how many seconds.

        The answer is kept as the server keeps it: later checks are posed by it.
        """
        step = self._step(robot.session, key)
        check = check_of(step)
        known = Known(robot.device, robot.checked, self.served.needs)
        posed = pose(self._secret, robot.session, step, known)
        rng = keyed_rng(self.seed, "check", robot.name, key)
        answer = check.respond(posed, able, rng)
        robot.checked[check.name] = examine(check, posed, answer, known, step.attempt)[0]
        return answer, check.seconds * float(rng.lognormal(0, _HURRY))

    def _step(self, session: str, key: str) -> Planned:
        step = self.served.script(self.claims[session]).find(key)
        assert step is not None, key
        return step

    def fill(self, item: Mapping[str, Any]) -> Json:
        """Return a valid answer to an item; a prescreening item is answered correctly."""
        correct = self._correct.get(item["id"])
        if correct:
            return list(correct) if item["type"] == "multiple" else correct[0]
        return plain_fill(item)


def expected_percepts(trial: Trial, *, is_able: bool) -> dict[str, float]:
    """Return what somebody perceives who answers as a training example expects, or as far from that as it goes."""
    asked = {one.id: one for one in trial.asked}
    found: dict[str, float] = {}
    for where, target in trial.targets.items():
        question = asked[where.partition(".")[0]]
        scale, value = question.scale, target.value
        if not is_able:
            value = scale.min if value - scale.min > scale.max - value else scale.max
        strength = (value - scale.min) / (scale.max - scale.min)
        found[where] = 1 - strength if question.keyed == "-" else strength
    return found


class OracleMind:
    """The mind of one robot: what it perceives of every stimulus."""

    def __init__(self, oracle: Oracle, percepts: Percepts, participant: str, able: Able) -> None:
        self._oracle, self._percepts, self._participant, self._able = oracle, percepts, participant, able

    def rate(self, robot: Robot, step: Mapping[str, Any]) -> Json:
        oracle = self._oracle
        trial = oracle.trial(robot.session, step["key"])
        percept = {
            f"{asked.id}.{slot.id}": float(
                self._percepts[oracle.truth.stimuli[slot.stimulus], oracle.truth.questions[asked.question]]
            )
            for asked in trial.asked
            for slot in trial.slots
        }
        percept |= expected_percepts(trial, is_able=self._able.can("training"))
        rng = keyed_rng(oracle.seed, "answer", self._participant, trial.id)
        return oracle.method.respond(trial, percept, rng)

    def fill(self, item: Mapping[str, Any]) -> Json:
        return self._oracle.fill(item)

    def examined(self, robot: Robot, step: Mapping[str, Any]) -> tuple[Json, float]:
        return self._oracle.examined(robot, step["key"], self._able)
