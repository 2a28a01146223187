"""questions: a quiz on language or instructions, some items drawn from a pool each time (reference: checks 4).

The page gets texts and options only. Participants read the topics of wrong answers, never the right ones.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from math import comb
from typing import Annotated, Any, ClassVar, Self

from numpy.random import Generator
from pydantic import Field, model_validator

from beholder.checks.contract import Verdict
from beholder.checks.page_contract import (
    Attempt,
    BrowserPage,
    CheckContext,
    CheckTask,
    PageCheck,
    RobotAbilities,
)
from beholder.errors import did_you_mean
from beholder.study.markdown import markdown, marked, plain_page, plain_text
from beholder.study.parts import Fault, ShownText, Slug, StudyPart, Validity, raise_faults
from beholder.study.qualification import CheckOptions
from beholder.study.value_kinds import Shown
from beholder.types import Json


class Quiz(StudyPart):
    """One item of the quiz, with its right answer."""

    id: Slug = Field(description="Names the item in the evidence.")
    text: ShownText = Field(description="What participants read: Markdown.")
    options: Annotated[tuple[ShownText, ...], Shown()] = Field(
        min_length=2, description="What can be chosen: **bold**, *italic*, `code`."
    )
    correct: ShownText = Field(description="The right option. Never sent to the browser.")
    topic: ShownText | None = Field(default=None, description="What is told when it was wrong, in place of its text.")

    @model_validator(mode="after")
    def _offers_the_right_one(self) -> Quiz:
        faults = [
            Fault(f"is {option} a second time", "every option once", "", ("options", place))
            for place, option in enumerate(self.options)
            if plain_text(option) in map(plain_text, self.options[:place])
        ]
        if plain_text(self.correct) not in map(plain_text, self.options):
            what = f"is {self.correct}, which is not among the options"
            faults.append(Fault(what, ", ".join(self.options), did_you_mean(self.correct, self.options), ("correct",)))
        raise_faults(faults)
        return self


class ChoiceCheck(PageCheck):
    """Base of checks that ask several items, each with one right option, on one page.

    The private half of a task has them as `items`: `id`, `options`, `correct`, and the `topic` that researchers read.
    """

    reasons: ClassVar[Mapping[str, str]] = {"wrong": "wrong answers"}
    stage = "qualify"
    scope = "person"
    seconds = 40

    @property
    @abstractmethod
    def asked(self) -> int:
        """Number of items in an attempt."""

    @property
    @abstractmethod
    def needed(self) -> int:
        """Number of items that have to be right."""

    @abstractmethod
    def choices(self) -> Sequence[int]:
        """Return the number of options of each item of the pool."""

    def read(self, private: Mapping[str, Json], answer: Json) -> Mapping[str, Json]:
        assert isinstance(answer, Mapping)
        answers = answer.get("answers")
        items = items_of(private)
        names = [f"q{place}" for place in range(1, len(items) + 1)]
        if not isinstance(answers, Mapping) or set(answers) - set(names):
            raise self.refuse("answers", "other_answers", f"an object with {', '.join(names)}")
        for name, item in zip(names, items, strict=True):
            if answers.get(name) not in item["options"]:
                raise self.refuse(f"answers.{name}", "answer_not_offered", ", ".join(item["options"]))
        return {"answers": {name: answers[name] for name in names}}

    def judge(self, attempt: Attempt) -> Verdict:
        answers = attempt.answer["answers"]
        assert isinstance(answers, Mapping)
        items = items_of(attempt.private)
        wrong = [item for item, choice in zip(items, answers.values(), strict=True) if choice != item["correct"]]
        right = len(items) - len(wrong)
        is_enough = right >= self.needed
        return self.verdict(
            "pass" if is_enough else "fail", "" if is_enough else "wrong", measured=right, needed=self.needed,
            asked=len(items), wrong=[item["id"] for item in wrong],
            topics=list(dict.fromkeys(item["topic"] for item in wrong)),
        )  # fmt: skip

    def message_values(self, verdict: Verdict) -> Mapping[str, str | float]:
        topics, asked = verdict.evidence.get("topics"), verdict.evidence.get("asked")
        listed = "; ".join(str(topic).rstrip(" .?!:") for topic in topics) if isinstance(topics, Sequence) else ""
        return {
            "right": _whole(verdict.measured), "needed": _whole(verdict.needed), "asked": _whole(asked),
            "topics": listed,
        }  # fmt: skip

    def guess_rate(self) -> float:
        """Return the probability that random answers pass, over all draws from the pool."""
        # ways[j][k]: over all choices of j items, the summed probability that k of them are guessed right.
        pool = self.choices()
        ways = [[0.0] * (self.asked + 1) for _ in range(self.asked + 1)]
        ways[0][0] = 1.0
        for options in pool:
            guess = 1 / options
            for taken in range(self.asked, 0, -1):
                for right in range(taken, -1, -1):
                    hit = ways[taken - 1][right - 1] * guess if right else 0.0
                    ways[taken][right] += hit + ways[taken - 1][right] * (1 - guess)
        return sum(ways[self.asked][self.needed :]) / comb(len(pool), self.asked)

    def respond(self, task: CheckTask, robot: RobotAbilities, rng: Generator) -> Json:
        is_able = robot.can(self.name)
        answers: dict[str, Json] = {}
        for place, item in enumerate(items_of(task.private), 1):
            wrong = [option for option in item["options"] if option != item["correct"]]
            answers[f"q{place}"] = item["correct"] if is_able else wrong[int(rng.integers(len(wrong)))]
        return {"answers": answers}

    @classmethod
    async def take(cls, page: BrowserPage) -> None:
        for item, option in page.answer["answers"].items():
            await page.tick(f'[data-item="{item}"] input[value="{option}"]')
        await page.leave()


class Questions(ChoiceCheck):
    name = "questions"
    title = "Quiz"
    summary = "A quiz with right answers."
    example: ClassVar[Mapping[str, Any]] = {
        "items": [{"id": f"q{n}", "text": "Which?", "options": [*"abcd"], "correct": "a"} for n in range(12)],
        "draw": 4, "right": 3,
    }  # fmt: skip
    unique = ("items", "id")
    order = 110

    class Options(CheckOptions):
        """A quiz on language or instructions: some items drawn from a pool."""

        valid: Validity | None = Field(default="30 d", description="How long a pass counts.")
        items: tuple[Quiz, ...] = Field(min_length=1, description="The pool.")
        draw: int | None = Field(default=None, ge=1, description="How many are asked; all when left out.")
        right: int | None = Field(default=None, ge=1, description="How many have to be right; all when left out.")

        @model_validator(mode="after")
        def _fits(self) -> Self:
            pool = len(self.items)
            count, faults = self.draw or pool, []
            if count > pool:
                faults.append(Fault(f"is {count}, of a pool of {pool}", f"1 to {pool}", "", ("draw",)))
            if self.right is not None and self.right > count:
                faults.append(Fault(f"is {self.right}, of {count} that are asked", f"1 to {count}", "", ("right",)))
            raise_faults(faults)
            return self

    options: Options

    @property
    def asked(self) -> int:
        """Number of items in an attempt."""
        return self.options.draw or len(self.options.items)

    @property
    def needed(self) -> int:
        """Number of items that have to be right."""
        return self.options.right or self.asked

    def choices(self) -> Sequence[int]:
        return [len(item.options) for item in self.options.items]

    def pose(self, rng: Generator, context: CheckContext) -> CheckTask:
        drawn = sorted(rng.choice(len(self.options.items), self.asked, replace=False).tolist())
        items = {f"q{place}": self.options.items[number] for place, number in enumerate(drawn, 1)}
        public: list[Json] = [
            {"id": name, "text": markdown(item.text), "options": [marked(option) for option in item.options]}
            for name, item in items.items()
        ]
        private: list[Json] = [
            {
                "id": item.id, "options": [plain_text(option) for option in item.options],
                "correct": plain_text(item.correct), "topic": _topic(item),
            }
            for item in items.values()
        ]  # fmt: skip
        return CheckTask({"items": public}, {"items": private})


def items_of(private: Mapping[str, Json]) -> list[Mapping[str, Any]]:
    """Return the items of an attempt, in the order in which they are asked."""
    items = private["items"]
    assert isinstance(items, Sequence)
    return [item for item in items if isinstance(item, Mapping)]


def _topic(item: Quiz) -> str:
    """Return what is shown about a wrong item: its topic, or its text without markup."""
    return plain_page(item.text) if item.topic is None else plain_text(item.topic)


def _whole(value: Json) -> str:
    return str(value) if isinstance(value, int) else ""
