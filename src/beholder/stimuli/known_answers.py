"""Stimuli with a known answer: the expected value, its tolerance and the message for other answers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeVar

from beholder.errors import Problem
from beholder.formats import plain_count
from beholder.study.checks import GoldItem
from beholder.study.design import Training, TrainingItem
from beholder.study.model import Study
from beholder.study.presets import preset
from beholder.types import KEYED_ROLES, MESSAGE_ROLES, Role

ANSWER_COLUMNS = ("expected", "tolerance", "message")
"""Columns about an answer: of every question, or `expected_<question>` of one."""
TRAINING_COLUMNS = ("anchor", "trap")
KNOWN_ANSWER_ROLES: tuple[Role, ...] = ("training", *KEYED_ROLES)
"""Roles of stimuli whose answer can be known."""
_ROLES_OF_COLUMN: Mapping[str, tuple[Role, ...]] = {
    "expected": KNOWN_ANSWER_ROLES,
    "tolerance": KNOWN_ANSWER_ROLES,
    "message": ("training", "example"),
    "anchor": ("training",),
    "trap": ("training",),
}
"""By column, the roles on whose lines it is used."""
EVERY_QUESTION = ""
"""Stands for every question that has no expectation of its own."""
_Value = TypeVar("_Value")


class Expectation(NamedTuple):
    """An answer that is expected. Without a tolerance the scale decides, without a message our own words are read."""

    value: float
    tolerance: float | None = None
    message: str = ""
    also: tuple[float, ...] = ()
    """Other answers that are as right: numbers that sound alike."""


@dataclass(frozen=True)
class KnownAnswer:
    """The expected answers that the researcher wrote for a stimulus."""

    where: str
    """How problems call it: the line of the manifest, or of the study."""
    key: str = ""
    """What it stands under in the study; empty in a manifest."""
    number: int = 0
    """Lessons come in this order."""
    expected: Mapping[str, Expectation] = field(default_factory=dict)
    """By question."""
    anchor: str = ""
    is_trap: bool = False

    def label(self, part: str, question: str = EVERY_QUESTION) -> str:
        """Return what the researcher calls a part of this known answer."""
        return _label(self.key, part, question)

    def expectation(self, question: str) -> tuple[str, Expectation] | None:
        """Return under which question something is expected of this one, and what."""
        name = question if question in self.expected else EVERY_QUESTION
        return (name, self.expected[name]) if name in self.expected else None


def is_answer_column(name: str) -> bool:
    """Return whether a column of a manifest is about an answer."""
    part, _, question = name.partition("_")
    return name in (*ANSWER_COLUMNS, *TRAINING_COLUMNS) or (part in ANSWER_COLUMNS and bool(question))


def roles_of_column(name: str) -> tuple[Role, ...]:
    """Return the roles on whose lines a column about an answer is used."""
    return _ROLES_OF_COLUMN[name.partition("_")[0]]


def _label(key: str, part: str, question: str) -> str:
    """Return the name of a column, or the key of the study, of one part of a known answer."""
    words = [word for word in (key, part, question) if word]
    return ".".join(words) if key else "_".join(words)


def read_answer_cells(where: str, number: int, cells: Mapping[str, str], problems: list[Problem]) -> KnownAnswer:
    """Return the known answer of one line of a manifest."""
    before = len(problems)
    numbers: dict[str, dict[str, float]] = {"expected": {}, "tolerance": {}}
    messages: dict[str, str] = {}
    for column, text in cells.items():
        part, _, question = column.partition("_")
        if not text or part not in ANSWER_COLUMNS:
            continue
        if part == "message":
            messages[question] = text
        elif (value := _number(text)) is None or (part == "tolerance" and value < 0):
            allowed = "a number, 0 or more" if part == "tolerance" else "a number"
            problems.append(Problem(where, f"{column} is {text}", allowed))
        else:
            numbers[part][question] = value
    trap = cells.get("trap", "")
    if trap.lower() not in ("", "true", "false"):
        problems.append(Problem(where, f"trap is {trap}", "true, false, or an empty cell"))
    known_answer = KnownAnswer(where, "", number, {}, cells.get("anchor", ""), trap.lower() == "true")
    if len(problems) > before:
        return known_answer
    return _with_expectations(known_answer, numbers["expected"], numbers["tolerance"], messages, problems)


def read_answer_item(
    study: Study, key: str, number: int, item: TrainingItem | GoldItem, problems: list[Problem]
) -> KnownAnswer:
    """Return the known answer of one item of the study, which stands at a key."""
    known_answer = KnownAnswer(study.where(key), key, number)
    expected, tolerance = _by_question(item.expected), _by_question(item.tolerance)
    if isinstance(item, GoldItem):
        return _with_expectations(known_answer, expected, tolerance, {}, problems)
    known_answer = replace(known_answer, anchor=item.anchor or "", is_trap=item.trap)
    return _with_expectations(known_answer, expected, tolerance, _by_question(item.message), problems)


def missing_answer(role: Role, known_answer: KnownAnswer) -> Problem | None:
    """Return the problem of a gold, trap or attention stimulus without an expected answer, None where it has one."""
    if role == "training" or known_answer.expected:
        return None
    what = f"{known_answer.key} has role {role}, and no answer is expected".strip()
    answer = "which answer it asks for" if role in MESSAGE_ROLES else "the right answer"
    return Problem(known_answer.where, what, "", f"Write in {known_answer.label('expected')} {answer}.")


def training_warnings(study: Study, known_answers: Sequence[KnownAnswer]) -> Iterator[Problem]:
    """Yield that training stimuli are not shown, or that a study with training has none."""
    fix = "Give stimuli the role training in a manifest, list files in training.items, or write training: false."
    if study.training is False and known_answers:
        yield study.problem("training", f"is false, so {_stimuli_are(known_answers)} not shown")
    elif not known_answers and isinstance(study.training, Training):
        yield study.problem("training", "is written, and no stimuli have the role training", "", fix)
    elif not known_answers and study.training and preset(study.preset).get("training"):
        what = f"is {study.preset}, which trains people before they rate, and no stimuli have the role training"
        yield study.problem("preset", what, "", fix)


def _with_expectations(
    known_answer: KnownAnswer,
    expected: Mapping[str, float],
    tolerance: Mapping[str, float],
    message: Mapping[str, str],
    problems: list[Problem],
) -> KnownAnswer:
    """Return the known answer with its expectations; a part missing for one question is taken from all questions."""
    expectations: dict[str, Expectation] = {}
    for question in dict.fromkeys((*expected, *tolerance, *message)):
        value = expected.get(question, expected.get(EVERY_QUESTION))
        if value is None and question == EVERY_QUESTION and expected:
            continue  # said once for all questions of which something is expected
        if value is None:
            part = "tolerance" if question in tolerance else "message"
            what = f"{known_answer.label(part, question)} is written, and no answer is expected"
            fix = f"Write {known_answer.label('expected', question)} beside it."
            problems.append(Problem(known_answer.where, what, "", fix))
            continue
        near = tolerance.get(question, tolerance.get(EVERY_QUESTION))
        expectations[question] = Expectation(value, near, message.get(question, message.get(EVERY_QUESTION, "")))
    if known_answer.is_trap and not expected:
        fix = f"Write in {known_answer.label('expected')} which answer it asks for."
        problems.append(
            Problem(known_answer.where, f"{known_answer.label('trap')} is true, and no answer is expected", "", fix)
        )
    return KnownAnswer(
        known_answer.where,
        known_answer.key,
        known_answer.number,
        expectations,
        known_answer.anchor,
        known_answer.is_trap,
    )


def _by_question(value: _Value | Mapping[str, _Value] | None) -> Mapping[str, _Value]:
    if value is None:
        return {}
    return value if isinstance(value, Mapping) else {EVERY_QUESTION: value}


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _stimuli_are(known_answers: Sequence[KnownAnswer]) -> str:
    return plain_count(len(known_answers), "stimulus with role training is", "stimuli with role training are")
