"""What robots feel: an oracle in their own process that knows plan and truth. No route tells it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from beholder.methods.contract import Break, Method, Trial
from beholder.simulate.chance import keyed_rng
from beholder.simulate.raters import Percepts, perceive
from beholder.simulate.robot import Robot, plain_fill
from beholder.simulate.truth import Truth
from beholder.study.model import Study
from beholder.types import Json


class Oracle:
    """The minds of all robots of one simulation. `claims` maps a session to its list and is filled in by the caller."""

    def __init__(
        self, study: Study, method: Method, lists: Sequence[Sequence[Trial | Break]], truth: Truth, seed: int
    ) -> None:
        self.study, self.method, self.truth, self.seed = study, method, truth, seed
        self.claims: dict[str, int] = {}
        self._lists = lists
        self._correct = {item.id: item.correct for item in (*study.before, *study.after) if item.correct}

    def mind(self, kind: str, participant: str) -> OracleMind:
        """Return the mind of one robot."""
        return OracleMind(self, perceive(kind, self.truth, self.seed, participant), participant)

    def trial(self, session: str, key: str) -> Trial:
        """Return the private half of a trial."""
        number = int(key.partition(":")[2])
        trials = [entry for entry in self._lists[self.claims[session] - 1] if isinstance(entry, Trial)]
        return trials[number - 1]

    def fill(self, item: Mapping[str, Any]) -> Json:
        """Return a valid answer to an item; a prescreening item is answered correctly."""
        correct = self._correct.get(item["id"])
        if correct:
            return list(correct) if item["type"] == "multiple" else correct[0]
        return plain_fill(item)


class OracleMind:
    """The mind of one robot: what it perceives of every stimulus."""

    def __init__(self, oracle: Oracle, percepts: Percepts, participant: str) -> None:
        self._oracle, self._percepts, self._participant = oracle, percepts, participant

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
        rng = keyed_rng(oracle.seed, "answer", self._participant, trial.id)
        return oracle.method.respond(trial, percept, rng)

    def fill(self, item: Mapping[str, Any]) -> Json:
        return self._oracle.fill(item)
