"""Questionnaires: the items before, between and after the trials, and the types of question that an item can be.

A type is one object: what the researcher may write, which answers are accepted and which are right, what a robot
answers, alone or as one of many simulated people, and how answers are tabulated. How it is drawn is its entry in
`web/steps/questions.js`.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple

from pydantic import Field, model_validator

from beholder.errors import Refused, did_you_mean
from beholder.study.earlier_answers import EXAMPLE, AnswerComparison, read_comparison
from beholder.study.markdown import plain_page, plain_text, plain_words
from beholder.study.parts import Fault, ShownText, Slug, StudyPart, Text, raise_faults
from beholder.study.questions import SCALES
from beholder.study.value_kinds import Allowed, Shown
from beholder.types import Json

if TYPE_CHECKING:
    from numpy.random import Generator


class Ask(StudyPart):
    """One item of a questionnaire."""

    unfit: ClassVar[Mapping[str, Fault]] = {
        "every": Fault("is for questions between trials", "", "Move the item to during, or take it out.")
    }

    id: Slug = Field(description="Names the answer in the tables.")
    text: ShownText = Field(description="What participants read: Markdown.")
    type: Literal["single", "multiple", "likert", "number", "text"] = Field(
        description="One choice, several choices, a row of labels, a number, or free text."
    )
    options: Annotated[tuple[ShownText, ...], Shown()] = Field(
        default=(),
        description="The choices of `single` and `multiple`; the labels of `likert`: **bold**, *italic*, `code`.",
    )
    required: bool = Field(default=True, description="Whether the page can be left without an answer.")
    placeholder: Annotated[str, Shown()] | None = Field(default=None, description="Shown in an empty field.")
    min: float | None = Field(default=None, description="Lowest `number`.")
    max: float | None = Field(default=None, description="Highest `number`; longest `text` in characters.")
    correct: tuple[Text, ...] | None = Field(
        default=None, description="Right answers; another answer ends the session kindly. Never sent to the browser."
    )
    file: Text | None = Field(default=None, description="A file in the study folder that is shown, or can be played.")
    play: bool = Field(default=False, description="The file has to be played to its end, or seen, to go on.")
    when: Annotated[tuple[Text, ...], Allowed(f"a comparison with an earlier answer, or a list of them: {EXAMPLE}")] = (
        Field(
            default=(),
            description="Asked only where a comparison with an earlier answer holds, or all of a list.",
        )
    )

    @model_validator(mode="before")
    @classmethod
    def _one_comparison(cls, data: Any) -> Any:
        if isinstance(data, dict) and isinstance(data.get("when"), str):
            return {**data, "when": (data["when"],)}
        return data

    @property
    def kind(self) -> QuestionType:
        """Its type, with everything that depends on it."""
        return QUESTION_TYPES[self.type]

    @property
    def title(self) -> str:
        """The question without marks, for tables and figures."""
        return plain_page(self.text)

    @property
    def choices(self) -> tuple[str, ...]:
        """The options without marks, as answers and tables have them."""
        return tuple(map(plain_text, self.options))

    @property
    def right_choices(self) -> tuple[str, ...]:
        """The right answers without marks."""
        return tuple(map(plain_text, self.correct or ()))

    def comparisons(self, asks: Mapping[str, Ask]) -> tuple[AnswerComparison, ...]:
        """Return the comparisons on which it is asked; without those of questions that are not among `asks`."""
        read = (read_comparison(text, asks) for text in self.when)
        return tuple(comparison for comparison in read if comparison is not None)

    @model_validator(mode="after")
    def _fits_type(self) -> Ask:
        faults = self.kind.option_faults(self)
        if self.play and self.file is None:
            faults.append(Fault("has no file", "true beside file", "Name the file, or take it out.", ("play",)))
        for index, option in enumerate(self.options):
            if plain_text(option) in self.choices[:index]:
                faults.append(Fault(f"is {option} a second time", "every option once", "", ("options", index)))
        faults += self._limits() + self._right_answers()
        raise_faults(faults)
        return self

    def _limits(self) -> list[Fault]:
        faults = []
        for key, limit in (("min", self.min), ("max", self.max)):
            if limit is not None and key not in self.kind.keys:
                faults.append(Fault(f"does not go with type {self.type}", "", "Take it out.", (key,)))
        faults += self.kind.limit_faults(self)
        if self.min is not None and self.max is not None and self.min > self.max:
            faults.append(Fault(f"is {self.min:g}, above max {self.max:g}", "min up to max", "", ("min",)))
        return faults

    def _right_answers(self) -> list[Fault]:
        if self.correct is None:
            return []
        if "correct" not in self.kind.keys:
            allowed = " and ".join(name for name, kind in QUESTION_TYPES.items() if "correct" in kind.keys)
            return [Fault(f"does not go with type {self.type}", f"types {allowed}", "", ("correct",))]
        if not self.correct:
            return [Fault("is an empty list", "one or more of the options", "", ("correct",))]
        allowed = ", ".join(self.options)
        return [
            Fault(
                f"is {answer}, which is not among the options",
                allowed,
                did_you_mean(answer, self.options),
                ("correct", index),
            )
            for index, answer in enumerate(self.correct)
            if plain_text(answer) not in self.choices
        ]


Every = Literal["trial", "break", "content"]


class RecurringAsk(Ask):
    """One item of the questionnaires between trials."""

    every: Annotated[
        Every | Annotated[int, Field(ge=1, le=10_000)],
        Allowed("trial, break, content, or after how many trials, such as 4"),
    ] = Field(
        description="When it is asked: after each `trial`, before each `break`, after the last trial of each "
        "`content`, or after every so many trials."
    )

    @model_validator(mode="after")
    def _screens_nobody(self) -> RecurringAsk:
        if self.correct is not None:
            fix = "Ask it in before, or have a check judge."
            raise_faults([Fault("is written, and who has begun to rate is not turned away", "", fix, ("correct",))])
        return self


ADDED_KEYS: Mapping[str, Any] = {"file": None, "play": False, "when": []}
"""Keys of items that came later, with their defaults: digests of studies without them do not contain them."""


def item_json(item: Ask) -> dict[str, Any]:
    """Return an item as JSON, without keys that came later and are not written."""
    written = item.model_dump(mode="json")
    return {key: value for key, value in written.items() if key not in ADDED_KEYS or value != ADDED_KEYS[key]}


class TabulatedAnswer(NamedTuple):
    """One row of an answer in the export: the words, and the number that stands for them, if any."""

    answer: Any
    value: float | None


class QuestionType(ABC):
    """One type of item. A robot knows an item as the browser gets it, everything else as the researcher wrote it."""

    name: ClassVar[str]
    keys: ClassVar[frozenset[str]] = frozenset()
    """Which of the keys options, min, max and correct an item may have."""
    is_choice: ClassVar[bool] = False
    """Whether an answer is exactly one of the options."""
    is_several: ClassVar[bool] = False
    """Whether an answer can be several of the options."""
    is_scale: ClassVar[bool] = False
    """Whether an answer is a place among labels in order, so that a mean says something."""
    is_number: ClassVar[bool] = False
    """Whether an answer is a number of any size, which is summarised and not counted."""
    is_free_text: ClassVar[bool] = False
    """Whether an answer is in people's own words, which is listed and not counted, and not exported unless asked."""
    signs: ClassVar[tuple[str, ...]] = ()
    """By what a later item can compare an answer; by nothing where it is in people's own words."""

    def compared_value(self, ask: Ask, written: str) -> Json:
        """Return what is written in a comparison as an answer that can be given; None where none is meant."""
        plain = plain_text(written)
        return plain if plain in ask.choices else None

    def compared_words(self, ask: Ask) -> str:
        """Return with what an answer can be compared, in words."""
        return ", ".join(ask.choices)

    def option_faults(self, ask: Ask) -> list[Fault]:
        """Return what is wrong with the options in the study file."""
        if ask.options and "options" not in self.keys:
            return [Fault(f"does not go with type {self.name}", "", "Take it out.", ("options",))]
        return []

    def limit_faults(self, ask: Ask) -> list[Fault]:
        """Return what is wrong with min and max, beyond that min is not above max."""
        return []

    @abstractmethod
    def accepts(self, ask: Ask, answer: Json) -> bool:
        """Return whether an answer can have been given."""

    @abstractmethod
    def refusal(self, ask: Ask, where: str) -> Refused:
        """Return what participants read where an answer is not accepted, and which answers are."""

    def is_correct(self, ask: Ask, answer: Any) -> bool:
        """Return whether an answer is a right one."""
        return answer in ask.right_choices

    def right_answer(self, correct: Sequence[str]) -> Json:
        """Return an answer that is right."""
        return correct[0]

    @abstractmethod
    def robot_answer(self, item: Mapping[str, Any]) -> Json:
        """Return an answer that is accepted."""

    @abstractmethod
    def simulated_answer(self, ask: Ask, rng: Generator) -> Json:
        """Return an answer of one of many people: it is accepted, and it varies by the rules in docs/rehearsing.md."""

    def is_left_out(self, ask: Ask, rng: Generator) -> bool:
        """Return whether a simulated person gives no answer, where none is required."""
        return not ask.required and bool(rng.random() < _LEFT_OUT)

    def other_answer(self, item: Mapping[str, Any], usual: Json) -> Json:
        """Return another answer than the usual one, if there is a choice."""
        return usual

    def fitting_answer(self, ask: Ask) -> Json:
        """Return the answer that a browser test has to give to go on; None where any will do."""
        return self.right_answer(ask.correct) if ask.correct else None

    def labels(self, ask: Ask) -> dict[str, str]:
        """Return the label of each answer that is offered, by the answer as it stands in a table."""
        return {option: option for option in ask.choices}

    def answers_in(self, cell: str) -> list[str]:
        """Return the answers in a cell of participants.csv, each of which is counted."""
        return [cell]

    def tabulate(self, ask: Ask, answer: Any) -> list[TabulatedAnswer]:
        """Return an answer as rows of the export, one for each choice."""
        return [_tabulated(answer, ask.choices)]

    def bounds(self, ask: Ask) -> tuple[float | None, float | None]:
        """Return the lowest and the highest answer."""
        return None, None


def _tabulated(answer: Any, options: Sequence[str]) -> TabulatedAnswer:
    """Return an option with its place from 1; anything else has no place."""
    if answer in options:
        return TabulatedAnswer(answer, options.index(answer) + 1)
    return TabulatedAnswer(answer, None)


# What simulated people answer: assumptions, made so that the tables of a rehearsal look like those of a study.
_LEFT_OUT = 0.2
"""How often an answer that is not required is left out."""
_NEXT_OPTION = 0.6
"""How often an option is chosen, for each time that the one before it is."""
_TICKED = 0.4
"""How often each of several options is ticked."""
_AGREEMENT, _SPREAD = 0.62, 0.26
"""Mean and standard deviation of a place among labels, from 0 to 1."""
_SKEW, _SPAN = (1.5, 6.0), 100.0
"""Of the beta distribution of a number between its ends, and how far apart these are where one is not written."""
_COUNTRIES = ("United Kingdom", "Poland", "South Africa", "Portugal", "Italy", "Mexico", "Greece", "Kenya", "Chile")
_FREE_ANSWERS: Mapping[str, Sequence[str]] = {
    r"countr|nationalit|where do you live": _COUNTRIES,
    r"\bgender\b": ("female", "male", "non-binary"),
    r"\blanguage": ("English", "Polish", "Portuguese", "Italian", "Spanish", "Greek", "Swahili"),
}
"""What is written where a text, or its id, asks for it."""


def _one_of(options: Sequence[str], rng: Generator) -> str:
    """Return one of the options, the first ones more often."""
    shares = [_NEXT_OPTION**place for place in range(len(options))]
    return options[int(rng.choice(len(options), p=[share / sum(shares) for share in shares]))]


_NUMERIC_SIGNS = ("=", "!=", "<", "<=", ">", ">=")


def _number(written: str) -> float | None:
    """Return the number in a text; None where there is none."""
    try:
        value = float(written)
    except ValueError:
        return None
    return value if abs(value) < float("inf") else None


class SingleChoice(QuestionType):
    """One of the options."""

    name = "single"
    keys = frozenset({"options", "correct"})
    is_choice = True
    signs = ("=", "!=")

    def option_faults(self, ask: Ask) -> list[Fault]:
        return _too_few_options(ask)

    def accepts(self, ask: Ask, answer: Json) -> bool:
        return answer in ask.choices

    def refusal(self, ask: Ask, where: str) -> Refused:
        return Refused.because("answer_not_offered", where=where, allowed=", ".join(ask.choices))

    def robot_answer(self, item: Mapping[str, Any]) -> Json:
        return plain_words(item["options"][-1])

    def simulated_answer(self, ask: Ask, rng: Generator) -> Json:
        return _one_of(ask.choices, rng)

    def other_answer(self, item: Mapping[str, Any], usual: Json) -> Json:
        return next((option for option in map(plain_words, item["options"]) if option != usual), usual)


class SeveralChoices(QuestionType):
    """Any number of the options."""

    name = "multiple"
    keys = frozenset({"options", "correct"})
    is_several = True
    signs = ("has", "lacks")

    def option_faults(self, ask: Ask) -> list[Fault]:
        return _too_few_options(ask)

    def accepts(self, ask: Ask, answer: Json) -> bool:
        return (
            isinstance(answer, list)
            and all(choice in ask.choices for choice in answer)
            and len(set(answer)) == len(answer)
        )

    def refusal(self, ask: Ask, where: str) -> Refused:
        return Refused.because("some_answer_not_offered", where=where, allowed=", ".join(ask.choices))

    def is_correct(self, ask: Ask, answer: Any) -> bool:
        return set(answer) == set(ask.right_choices)

    def right_answer(self, correct: Sequence[str]) -> Json:
        return list(correct)

    def robot_answer(self, item: Mapping[str, Any]) -> Json:
        return [plain_words(item["options"][0])]

    def simulated_answer(self, ask: Ask, rng: Generator) -> Json:
        ticked: list[Json] = [option for option in ask.choices if rng.random() < _TICKED]
        return ticked or [_one_of(ask.choices, rng)]

    def answers_in(self, cell: str) -> list[str]:
        try:
            choices = json.loads(cell)
        except ValueError:
            return [cell]
        return [str(choice) for choice in choices] if isinstance(choices, list) else [cell]

    def tabulate(self, ask: Ask, answer: Any) -> list[TabulatedAnswer]:
        return [_tabulated(choice, ask.choices) for choice in answer]


def _too_few_options(ask: Ask) -> list[Fault]:
    if len(ask.options) >= 2:
        return []
    return [Fault(f"has fewer than two options, and type {ask.type} needs them", "two or more options")]


class LabelRow(QuestionType):
    """A place in a row of labels, from 1: the options, or how far somebody agrees."""

    name = "likert"
    keys = frozenset({"options"})
    is_scale = True
    signs = _NUMERIC_SIGNS

    def compared_value(self, ask: Ask, written: str) -> Json:
        words = [plain_text(word) for word in self.words(ask.options)]
        if plain_text(written) in words:
            return 1 + words.index(plain_text(written))
        place = _number(written)
        return place if place in range(1, len(words) + 1) else None

    def compared_words(self, ask: Ask) -> str:
        return f"1 to {len(self.words(ask.options))}, or its words: {', '.join(self.words(ask.options))}"

    def option_faults(self, ask: Ask) -> list[Fault]:
        if len(ask.options) != 1:
            return []
        return [Fault("has one option", "two or more labels, or none for the five usual ones")]

    def words(self, options: Sequence[str]) -> Sequence[str]:
        """Return the labels, from the lowest."""
        return options or [word for _, word in SCALES["agree5"].labels]

    def accepts(self, ask: Ask, answer: Json) -> bool:
        return isinstance(answer, int) and not isinstance(answer, bool) and 1 <= answer <= len(self.words(ask.options))

    def refusal(self, ask: Ask, where: str) -> Refused:
        return Refused.because("place_not_on_scale", where=where, allowed=f"1 to {len(self.words(ask.options))}")

    def robot_answer(self, item: Mapping[str, Any]) -> Json:
        return 1 + len(self.words(item["options"])) // 2

    def simulated_answer(self, ask: Ask, rng: Generator) -> Json:
        last = len(self.words(ask.options))
        return min(last, max(1, round(1 + (last - 1) * float(rng.normal(_AGREEMENT, _SPREAD)))))

    def labels(self, ask: Ask) -> dict[str, str]:
        return {str(place): f"{place} {word}" for place, word in enumerate(self.words(ask.choices), 1)}

    def tabulate(self, ask: Ask, answer: Any) -> list[TabulatedAnswer]:
        return [TabulatedAnswer(self.words(ask.choices)[int(answer) - 1], answer)]


class NumberEntry(QuestionType):
    """A number, from min to max."""

    name = "number"
    keys = frozenset({"min", "max"})
    is_number = True
    signs = _NUMERIC_SIGNS

    def compared_value(self, ask: Ask, written: str) -> Json:
        value, (low, high) = _number(written), self._ends(ask)
        return value if value is not None and low <= value <= high else None

    def compared_words(self, ask: Ask) -> str:
        low, high = self._ends(ask)
        return "a number" if (low, high) == (float("-inf"), float("inf")) else f"a number, {low:g} to {high:g}"

    def accepts(self, ask: Ask, answer: Json) -> bool:
        low, high = self._ends(ask)
        return isinstance(answer, int | float) and not isinstance(answer, bool) and low <= answer <= high

    def refusal(self, ask: Ask, where: str) -> Refused:
        low, high = self._ends(ask)
        return Refused.because("number_not_possible", where=where, allowed=f"{low:g} to {high:g}")

    def _ends(self, ask: Ask) -> tuple[float, float]:
        return (
            ask.min if ask.min is not None else float("-inf"),
            ask.max if ask.max is not None else float("inf"),
        )

    def robot_answer(self, item: Mapping[str, Any]) -> Json:
        low, high = item["min"], item["max"]
        return (low + high) / 2 if low is not None and high is not None else (low if low is not None else high or 0)

    def simulated_answer(self, ask: Ask, rng: Generator) -> Json:
        low = ask.min if ask.min is not None else (ask.max or _SPAN) - _SPAN
        high = ask.max if ask.max is not None else low + _SPAN
        answer = low + (high - low) * float(rng.beta(*_SKEW))
        # Ages and counts are whole; a share from 0 to 1 is not.
        whole = round(answer)
        return whole if low <= whole <= high and high - low > 1 else round(min(high, max(low, answer)), 3)

    def fitting_answer(self, ask: Ask) -> Json:
        return ask.min if ask.min is not None else ask.max

    def tabulate(self, ask: Ask, answer: Any) -> list[TabulatedAnswer]:
        return [TabulatedAnswer(answer, answer)]

    def bounds(self, ask: Ask) -> tuple[float | None, float | None]:
        return ask.min, ask.max


class TextEntry(QuestionType):
    """Free text of at most max characters."""

    name = "text"
    keys = frozenset({"max"})
    is_free_text = True
    longest: ClassVar[int] = 5000

    def limit_faults(self, ask: Ask) -> list[Fault]:
        if ask.max is None or (ask.max >= 1 and ask.max == round(ask.max)):
            return []
        return [Fault(f"is {ask.max:g}", "a whole number of characters, 1 or more", "", ("max",))]

    def accepts(self, ask: Ask, answer: Json) -> bool:
        return isinstance(answer, str) and len(answer) <= self._longest(ask)

    def refusal(self, ask: Ask, where: str) -> Refused:
        return Refused.because("text_too_long", where=where, allowed=f"up to {self._longest(ask)} characters")

    def _longest(self, ask: Ask) -> int:
        return int(ask.max) if ask.max is not None else self.longest

    def robot_answer(self, item: Mapping[str, Any]) -> Json:
        return "A robot has nothing to say."

    def simulated_answer(self, ask: Ask, rng: Generator) -> Json:
        about = f"{ask.id} {ask.text}".casefold()
        known = next((answers for words, answers in _FREE_ANSWERS.items() if re.search(words, about)), ())
        return (_one_of(known, rng) if known else "A robot has nothing to say.")[: self._longest(ask)]

    def is_left_out(self, ask: Ask, rng: Generator) -> bool:
        # Texts of robots, all the same, would fill pages.
        return not ask.required


QUESTION_TYPES: Mapping[str, QuestionType] = {
    kind.name: kind for kind in (SingleChoice(), SeveralChoices(), LabelRow(), NumberEntry(), TextEntry())
}
