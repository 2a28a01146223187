"""The oracle decides what robots answer. It runs in their process and knows plan and truth; no route reveals them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from numpy.random import Generator

from beholder.checks.answer_patterns import Repeat
from beholder.checks.contract import AnsweredTrial
from beholder.checks.known_answers import MessageRule, Say, TrapItem
from beholder.checks.page_contract import CheckContext, PageCheck, RobotAbilities
from beholder.checks.page_registry import page_checks
from beholder.methods.choices import ChoiceMethod
from beholder.methods.contract import Asked, Method, Percept, Slot, Trial
from beholder.methods.differences import DifferenceMethod
from beholder.methods.time_marks import marking
from beholder.planning.message_trials import message_medium
from beholder.server.page_checks import check_of, examine, pose
from beholder.server.script import PlannedStep, ServedStudy
from beholder.simulation.participants import Habits, SimulatedPerson, answer_rng, habits_of, percept_of
from beholder.simulation.raters import GUESSING
from beholder.simulation.robot import Robot, page_log, plain_fill
from beholder.simulation.time_marks import simulated_marks
from beholder.simulation.truth import Population, Truth, keyed_rng
from beholder.study.markdown import plain_words
from beholder.study.questionnaire import Ask
from beholder.types import MESSAGE_ROLES, UNRATED_ROLES, Json, Role

_ABLE = RobotAbilities()
_SPEED_SPREAD = 0.35
"""Standard deviation between people of the logarithm of the time for a check."""
_TRIES = 200
_NEAR = 1e-9
_END_SHARE = 0.8
"""How often an obvious statement is answered by the end of the scale, and not by the next point."""


class TrialMoment(NamedTuple):
    """The progress of a session from 0 to 1, and the carry-over from the previous trial."""

    progress: float = 0.0
    carried: float = 0.0


class Oracle:
    """Knows plan and truth of a simulation. `claims` maps sessions to lists and is filled by the caller."""

    def __init__(
        self, served: ServedStudy, secret: bytes, truth: Truth, seed: int, people: Population | None = None
    ) -> None:
        self.served, self.method, self.truth, self.seed = served, served.method, truth, seed
        self.people = people or Population()
        self.claims: dict[str, int] = {}
        self._secret = secret
        self._checks: dict[str, dict[str, PageCheck]] = {}
        study = served.study
        self._asks = {ask.id: ask for ask in study.asks}
        self._said: dict[Role, Say] = {}
        for role in MESSAGE_ROLES:
            rule = study.checks.of_role(role)
            if isinstance(rule, MessageRule.Options):
                self._said[role] = message_medium(rule, served.catalogue)

    def responder(self, kind: str, participant: str, able: RobotAbilities = _ABLE) -> OracleResponder:
        """Return the responder of one robot."""
        return OracleResponder(self, kind, participant, able)

    def trial(self, session: str, key: str) -> Trial:
        """Return a trial with its private part."""
        step = self._step(session, key)
        assert step.trial is not None, key
        return step.trial

    def trials(self, session: str) -> tuple[Trial, ...]:
        """Return the rated trials of a session, in order."""
        steps = self.served.script(self.claims[session]).steps
        return tuple(step.trial for step in steps if step.is_rated and step.trial is not None)

    def moment(self, session: str, trial: Trial) -> TrialMoment:
        """Return the progress of a session at a trial, and its carry-over."""
        if trial.purpose != "rate" or not (self.people.fatigue or self.people.carry):
            return TrialMoment()
        trials = self.trials(session)
        place = next(place for place, one in enumerate(trials) if one is trial)
        before = next((rows for one in reversed(trials[:place]) if (rows := self._rated_rows(one))), [])
        of_row = self.truth.quality.mean(axis=1)
        carried = self.people.carry * (of_row[before].mean() - of_row.mean()) if before else 0.0
        return TrialMoment(place / max(1, len(trials) - 1), float(carried))

    def _rated_rows(self, trial: Trial) -> list[int]:
        """Return the rows of the rated stimuli of a trial without checks; a comparison with a check is no rating."""
        rated = [slot for slot in trial.slots if slot.rated]
        kept = [slot for slot in rated if slot.role not in UNRATED_ROLES]
        if len(kept) < len(rated) and isinstance(self.method, ChoiceMethod | DifferenceMethod):
            return []
        return [self.truth.stimuli[slot.stimulus] for slot in kept]

    def says(self, slot: Slot) -> Say | None:
        """Return how the stimulus of a slot asks for an answer, or None."""
        return self._said.get(slot.role)

    def is_sound(self, slot: Slot) -> bool:
        """Return whether the stimulus of a slot is audio."""
        return self.served.catalogue.by_id[slot.stimulus].medium == "audio"

    def answer_check(self, robot: Robot, key: str, able: RobotAbilities) -> tuple[Json, float]:
        """Return a robot's answer to an attempt at a check, correct if it is able to, and the seconds it takes.

        The answer is recorded as the server stores it, because later checks depend on it.
        """
        step = self._step(robot.session, key)
        check = self._check_in(robot.language, check_of(step))
        step = replace(step, check=check)
        context = CheckContext(robot.device, robot.checked, self.served.needs)
        posed = pose(self._secret, robot.session, step, context)
        rng = keyed_rng(self.seed, "check", robot.name, key)
        answer = check.respond(posed, able, rng)
        robot.checked[check.name] = examine(check, posed, answer, context, step.attempt)[0]
        return answer, check.seconds * float(rng.lognormal(0, _SPEED_SPREAD))

    def _check_in(self, language: str, check: PageCheck) -> PageCheck:
        """Return a check as a robot meets it that takes part in this language of the study."""
        study = self.served.study
        if language in ("", study.language):
            return check
        if language not in self._checks:
            self._checks[language] = {one.name: one for one in page_checks(study.in_language(language))}
        return self._checks[language].get(check.name, check)

    def _step(self, session: str, key: str) -> PlannedStep:
        step = self.served.script(self.claims[session]).find(key)
        assert step is not None, key
        return step

    def fill(self, participant: str, item: Mapping[str, Any], key: str) -> Json:
        """Return a person's answer to an item of a step, None if it is left out; of a prescreening item a correct one.

        What is asked between trials is answered anew each time.
        """
        ask = self._asks.get(item["id"])
        if ask is None:
            return plain_fill(item)  # The server has later texts than the robots.
        if ask.correct:
            return in_words_of(item, ask, ask.kind.right_answer(ask.correct))
        times = (key,) if key.startswith("questions:during:") else ()
        rng = keyed_rng(self.seed, "questionnaire", participant, ask.id, *times)
        return None if ask.kind.is_left_out(ask, rng) else in_words_of(item, ask, ask.kind.simulated_answer(ask, rng))


def in_words_of(item: Mapping[str, Any], ask: Ask, answer: Json) -> Json:
    """Return an answer in the words of an item as it is shown, which may be in another language."""
    shown = [*map(plain_words, item["options"])]
    said = {} if set(shown) == set(ask.choices) else dict(zip(ask.choices, shown, strict=False))
    if isinstance(answer, list):
        return [said.get(str(one), one) for one in answer]
    return said.get(answer, answer) if isinstance(answer, str) else answer


def expected_percepts(trial: Trial, *, is_able: bool) -> dict[str, float]:
    """Return the percepts that lead to the expected answers of a training example, or to the opposite ones."""
    asked = {one.id: one for one in trial.asked}
    percepts: dict[str, float] = {}
    for where, target in trial.targets.items():
        question = asked[where.partition(".")[0]]
        scale, value = question.scale, target.value
        if not is_able:
            value = scale.min if value - scale.min > scale.max - value else scale.max
        percepts[where] = _percept_for(question, value)
    return percepts


class OracleResponder:
    """The responder of one robot: what it perceives, and whether it follows messages and statements."""

    def __init__(self, oracle: Oracle, kind: str, participant: str, able: RobotAbilities) -> None:
        self._oracle, self._participant, self._able, self._kind = oracle, participant, able, kind
        usual, pace = habits_of(kind), oracle.people.pace
        self._habits = replace(usual, click_s=pace * usual.click_s, slider_s=pace * usual.slider_s)
        self._someone = SimulatedPerson(kind, participant, oracle.truth, oracle.people, oracle.seed)

    def answers(self, session: str) -> int:
        """Return how many trials of a session are answered before leaving."""
        return self._someone.answers(len(self._oracle.trials(session)))

    def rate(self, robot: Robot, step: Mapping[str, Any]) -> Json:
        return self.answer(robot.session, step["key"])

    def answer(self, session: str, key: str) -> Json:
        """Return the answer to a trial, with marks where people can set any."""
        trial = self._oracle.trial(session, key)
        answer = self._rating(session, trial, key)
        if marking(trial) is None or not isinstance(answer, Mapping):
            return answer
        catalogue, truth = self._oracle.served.catalogue, self._oracle.truth
        rng = keyed_rng(self._oracle.seed, "marks", self._participant, key)
        return {**answer, "marks": simulated_marks(trial, catalogue, truth, self._kind, self._oracle.seed, rng)}

    def _rating(self, session: str, trial: Trial, key: str) -> Json:
        oracle = self._oracle
        rng = answer_rng(oracle.seed, self._participant, trial.id)
        moment = oracle.moment(session, trial)
        percept = {
            f"{asked.id}.{slot.id}": self._percept(asked, slot, moment, rng)
            for asked in trial.asked
            for slot in trial.slots
        }
        if trial.purpose == "train":
            percept |= expected_percepts(trial, is_able=self._able.can("training"))
            percept |= _beside_expected(oracle.method, trial, trial.targets)
            return oracle.method.respond(trial, percept, rng)
        percept |= self._recognised(trial, rng)
        requested = self._asked_for(trial, key)
        if not requested:
            return oracle.method.respond(trial, percept, rng)
        return _requested_answer(oracle.method, trial, percept, requested, rng)

    def log(self, robot: Robot, step: Mapping[str, Any], answer: Json) -> list[Any]:
        oracle, key = self._oracle, step["key"]
        rng = keyed_rng(oracle.seed, "log", self._participant, key)
        return page_log(step["trial"], answer, self._habits, rng, is_away=self._is_away(key))

    def fill(self, item: Mapping[str, Any], key: str) -> Json:
        return self._oracle.fill(self._participant, item, key)

    def answer_check(self, robot: Robot, step: Mapping[str, Any]) -> tuple[Json, float]:
        return self._oracle.answer_check(robot, step["key"], self._able)

    def _percept(self, asked: Asked, slot: Slot, moment: TrialMoment, rng: Generator) -> float:
        """Return the percept of a slot for a question."""
        truth = self._oracle.truth
        is_repeat = asked.purpose == Repeat.purpose or slot.role == Repeat.role
        column = truth.questions.get(
            asked.question.partition(":")[2] if asked.purpose == Repeat.purpose else asked.question
        )
        row = truth.stimuli[slot.stimulus]
        if column is None:
            # An obvious statement that was not read is answered like any other about the same stimulus.
            column = int(rng.integers(truth.quality.shape[1]))
        # Muted audio is guessed, as by the kind `forges`.
        is_unheard = self._is_unheard(slot)
        person = GUESSING if is_unheard else self._someone.person
        noise = self._someone.noise_at(row, column, is_repeat=is_repeat and not is_unheard)
        quality = float(truth.quality[row, column])
        return float(percept_of(person, self._oracle.people, quality, noise, **moment._asdict()))

    def _recognised(self, trial: Trial, rng: Generator) -> dict[str, float]:
        """Return the percepts of recognised hidden references; none if the trial does not show the reference.

        Where two are held against each other, whether it is recognised follows from how different they are.
        """
        if isinstance(self._oracle.method, DifferenceMethod) or not any(
            slot.role == "reference" and not slot.rated for slot in trial.slots
        ):
            return {}
        hidden = [slot for slot in trial.slots if slot.role == "hidden_reference" and slot.rated]
        recognised = {
            slot.id for slot in hidden if rng.random() < self._habits.recognises and not self._is_unheard(slot)
        }
        return {f"{asked.id}.{slot}": 1.0 for asked in trial.asked for slot in recognised}

    def _asked_for(self, trial: Trial, key: str) -> dict[str, float]:
        """Return the answers that messages and statements of a trial ask for, as far as the robot follows them."""
        habits, requested = self._habits, {}
        slots, asked = {slot.id: slot for slot in trial.slots}, {one.id: one for one in trial.asked}
        rng = keyed_rng(self._oracle.seed, "asked", self._participant, trial.id)
        missed = {slot: bool(rng.random() < habits.slip) or self._is_away(key) for slot in slots}
        for where, target in trial.targets.items():
            question, slot = asked[where.partition(".")[0]], slots[where.partition(".")[2]]
            value, scale = target.value, question.scale
            if question.purpose == TrapItem.purpose:
                # Kinds that follow no message do not read statements either.
                if habits.follows and rng.random() >= habits.slip:
                    inwards = scale.step if value == scale.min else -scale.step
                    requested[where] = value if rng.random() < _END_SHARE else value + inwards
            elif self._oracle.says(slot) in habits.follows and not missed[slot.id]:
                requested[where] = _slider_value(value, scale, habits, rng)
        return requested

    def _is_unheard(self, slot: Slot) -> bool:
        return self._habits.is_mute and self._oracle.is_sound(slot)

    def _is_away(self, key: str) -> bool:
        rng = keyed_rng(self._oracle.seed, "away", self._participant, key)
        return bool(rng.random() < self._habits.leaves)


def _slider_value(value: float, scale: Any, habits: Habits, rng: Generator) -> float:
    """Return the value at which a slider ends up; buttons are exact."""
    if scale.look != "slider":
        return value
    off = rng.normal(0, habits.motor) * (scale.max - scale.min)
    return float(min(scale.max, max(scale.min, value + scale.step * round(off / scale.step))))


def _requested_answer(
    method: Method, trial: Trial, percept: Percept, requested: Mapping[str, float], rng: Generator
) -> Json:
    """Return an answer with the requested values, and otherwise by percepts.

    Scores follow from percepts. Comparisons are random, so they are drawn until they fit.
    """
    asked = {one.id: one for one in trial.asked}
    percepts = dict(percept)
    for where, value in requested.items():
        question, slot = where.split(".")
        percepts[where] = _percept_for(asked[question], value)
        if len(trial.slots) > 1 and asked[question].scale.min < 0:
            other = next(one.id for one in trial.slots if one.id != slot)
            percepts[f"{question}.{other}"] = 1 - percepts[where]
    percepts |= _beside_expected(method, trial, requested)
    for _ in range(_TRIES):
        answer = method.respond(trial, percepts, rng)
        read = method.read(trial, answer)
        values = AnsweredTrial("", trial, read, method.judgements(trial, read)).values
        if all(abs((values.get(where) or 0.0) - value) < _NEAR for where, value in requested.items()):
            break
    return answer


def _beside_expected(method: Method, trial: Trial, expected: Collection[str]) -> dict[str, float]:
    """Return percepts of what is scored beside a stimulus with an expected answer: of the best, so it changes nothing.

    Only where two are held against each other; elsewhere each has its score for itself.
    """
    if not isinstance(method, DifferenceMethod):
        return {}
    questions = {where.partition(".")[0] for where in expected}
    places = {f"{one}.{slot.id}" for one in questions for slot in trial.slots if slot.rated}
    return dict.fromkeys(sorted(places - set(expected)), 1.0)


def _percept_for(asked: Asked, value: float) -> float:
    """Return the percept that leads to a value."""
    strength = (value - asked.scale.min) / (asked.scale.max - asked.scale.min)
    return 1 - strength if asked.keyed == "-" else strength
