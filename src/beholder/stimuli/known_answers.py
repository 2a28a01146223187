"""What is written beside a stimulus whose answer is known: which it is, how near is near enough, what it is called."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeVar

from beholder.errors import Problem
from beholder.study.checks import GoldItem
from beholder.study.design import Training, TrainingItem
from beholder.study.model import Study
from beholder.study.presets import preset
from beholder.types import Role

EXPECTATIONS = ("expected", "tolerance", "message")
"""Columns about an answer: of every question, or `expected_<question>` of one."""
MARKS = ("anchor", "trap")
KNOWN: tuple[Role, ...] = ("training", "gold", "trap", "attention")
"""Roles of stimuli whose answer can be known."""
_USERS: Mapping[str, tuple[Role, ...]] = {
    "expected": KNOWN, "tolerance": KNOWN, "message": ("training", "example"), "anchor": ("training",),
    "trap": ("training",),
}  # fmt: skip
"""By column, the roles on whose lines it is used."""
EVERY = ""
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
    """What the researcher wrote beside the file of a stimulus whose answer is known."""

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

    def called(self, part: str, question: str = EVERY) -> str:
        """Return what the researcher calls a part of this lesson."""
        return called(self.key, part, question)

    def of(self, question: str) -> tuple[str, Expectation] | None:
        """Return under which question something is expected of this one, and what."""
        name = question if question in self.expected else EVERY
        return (name, self.expected[name]) if name in self.expected else None


def is_lesson_column(name: str) -> bool:
    """Return whether a column of a manifest is about an answer."""
    part, _, question = name.partition("_")
    return name in (*EXPECTATIONS, *MARKS) or (part in EXPECTATIONS and bool(question))


def column_users(name: str) -> tuple[Role, ...]:
    """Return the roles on whose lines a column about an answer is used."""
    return _USERS[name.partition("_")[0]]


def called(key: str, part: str, question: str) -> str:
    """Return the name of a column, or the key of the study, of one part of a lesson."""
    words = [word for word in (key, part, question) if word]
    return ".".join(words) if key else "_".join(words)


def read_lesson(where: str, number: int, cells: Mapping[str, str], problems: list[Problem]) -> KnownAnswer:
    """Return the lesson of one line of a manifest."""
    before = len(problems)
    numbers: dict[str, dict[str, float]] = {"expected": {}, "tolerance": {}}
    messages: dict[str, str] = {}
    for column, text in cells.items():
        part, _, question = column.partition("_")
        if not text or part not in EXPECTATIONS:
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
    lesson = KnownAnswer(where, "", number, {}, cells.get("anchor", ""), trap.lower() == "true")
    if len(problems) > before:
        return lesson
    return _whole(lesson, numbers["expected"], numbers["tolerance"], messages, problems)


def item_lesson(
    study: Study, key: str, number: int, item: TrainingItem | GoldItem, problems: list[Problem]
) -> KnownAnswer:
    """Return the lesson of one item of the study, which stands at a key."""
    lesson = KnownAnswer(study.where(key), key, number)
    expected, tolerance = _by_question(item.expected), _by_question(item.tolerance)
    if isinstance(item, GoldItem):
        return _whole(lesson, expected, tolerance, {}, problems)
    lesson = replace(lesson, anchor=item.anchor or "", is_trap=item.trap)
    return _whole(lesson, expected, tolerance, _by_question(item.message), problems)


def unknown_answer(role: Role, lesson: KnownAnswer) -> Problem | None:
    """Return that no answer is expected of a stimulus that is shown for its answer alone, None where one is."""
    if role == "training" or lesson.expected:
        return None
    what = f"{lesson.key} has role {role}, and no answer is expected".strip()
    answer = "the right answer" if role == "gold" else "which answer it asks for"
    return Problem(lesson.where, what, "", f"Write in {lesson.called('expected')} {answer}.")


def idle_lessons(study: Study, lessons: Sequence[KnownAnswer]) -> Iterator[Problem]:
    """Yield that nobody is trained, where the study speaks of training, or the other way round."""
    fix = "Give stimuli the role training in a manifest, list files in training.items, or write training: false."
    if study.training is False and lessons:
        yield study.problem("training", f"is false, so {_are(lessons)} not shown")
    elif not lessons and isinstance(study.training, Training):
        yield study.problem("training", "is written, and no stimuli have the role training", "", fix)
    elif not lessons and study.training and preset(study.preset).get("training"):
        what = f"is {study.preset}, which trains people before they rate, and no stimuli have the role training"
        yield study.problem("preset", what, "", fix)


def _whole(
    lesson: KnownAnswer,
    expected: Mapping[str, float],
    tolerance: Mapping[str, float],
    message: Mapping[str, str],
    problems: list[Problem],
) -> KnownAnswer:
    """Return the lesson with what is expected; a part that is not written for a question is that of all questions."""
    found: dict[str, Expectation] = {}
    for question in dict.fromkeys((*expected, *tolerance, *message)):
        value = expected.get(question, expected.get(EVERY))
        if value is None and question == EVERY and expected:
            continue  # said once for all questions of which something is expected
        if value is None:
            part = "tolerance" if question in tolerance else "message"
            said = f"{lesson.called(part, question)} is written, and no answer is expected"
            fix = f"Write {lesson.called('expected', question)} beside it."
            problems.append(Problem(lesson.where, said, "", fix))
            continue
        near = tolerance.get(question, tolerance.get(EVERY))
        found[question] = Expectation(value, near, message.get(question, message.get(EVERY, "")))
    if lesson.is_trap and not expected:
        fix = f"Write in {lesson.called('expected')} which answer it asks for."
        problems.append(Problem(lesson.where, f"{lesson.called('trap')} is true, and no answer is expected", "", fix))
    return KnownAnswer(lesson.where, lesson.key, lesson.number, found, lesson.anchor, lesson.is_trap)


def _by_question(value: _Value | Mapping[str, _Value] | None) -> Mapping[str, _Value]:
    if value is None:
        return {}
    return value if isinstance(value, Mapping) else {EVERY: value}


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _are(lessons: Sequence[KnownAnswer]) -> str:
    many = len(lessons)
    return "1 stimulus with role training is" if many == 1 else f"{many} stimuli with role training are"
