"""language: words that are missing in sentences of the person's language are chosen (reference: checks 4).

The sentences are ours, a bank for each language in `bank/`; some are drawn for each attempt, others than before while
there are any. In a study with several languages each person meets those of the language in which they take part.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import ClassVar, NamedTuple, Self

from numpy.random import Generator
from pydantic import Field, model_validator

from beholder.checks.contract import Verdict
from beholder.checks.page_contract import Attempt, CheckContext, CheckTask
from beholder.checks.questions import ChoiceCheck, items_of
from beholder.errors import Problem
from beholder.formats import join_names
from beholder.study.model import Study
from beholder.study.parts import Fault, Validity, raise_faults
from beholder.study.qualification import CheckOptions
from beholder.types import Json
from beholder.words import english_name, language_name, languages, read_items, word_file

BANK = Path(__file__).parent / "bank"
GAP = "___"
"""Where the word is missing in a sentence of the bank."""
_SHOWN_GAP = "______"


class GapSentence(NamedTuple):
    """A sentence with a gap, and the words to choose from."""

    text: str
    options: tuple[str, ...]

    @property
    def correct(self) -> str:
        """The word that fits: the first one of the bank."""
        return self.options[0]


def has_sentences(language: str) -> bool:
    """Return whether there are sentences in a language."""
    return word_file(BANK / f"{language}.json").is_file()


def sentences(language: str) -> tuple[GapSentence, ...]:
    """Return the sentences of a language that has some."""
    return tuple(GapSentence(item["text"], tuple(item["options"])) for item in read_items(BANK, language)["items"])


class Language(ChoiceCheck):
    name = "language"
    title = "Language"
    summary = "Knowledge of the language of the study."
    is_told_when_off: ClassVar[bool] = False
    reasons: ClassVar[Mapping[str, str]] = {"wrong": "too few missing words found"}
    order = 105

    class Options(CheckOptions):
        """The language of the study: words that are missing in sentences, which are ours, in the person's language."""

        valid: Validity | None = Field(default="30 d", description="How long a pass counts in the same language.")
        draw: int = Field(default=6, ge=1, description="How many sentences are asked.")
        right: int = Field(default=5, ge=1, description="How many have to be right.")

        @model_validator(mode="after")
        def _fits(self) -> Self:
            if self.right > self.draw:
                what = f"is {self.right}, of {self.draw} that are asked"
                raise_faults([Fault(what, f"1 to {self.draw}", "", ("right",))])
            return self

    options: Options

    @property
    def asked(self) -> int:
        return self.options.draw

    @property
    def needed(self) -> int:
        return self.options.right

    def choices(self) -> Sequence[int]:
        return [len(sentence.options) for sentence in sentences(self.language)]

    def pose(self, rng: Generator, context: CheckContext) -> CheckTask:
        bank, seen = sentences(self.language), _seen(context.answers.get(self.name))
        fresh = [sentence for sentence in bank if sentence.text not in seen]
        if len(fresh) < self.asked:  # then all come again
            fresh, seen = list(bank), []
        public: list[Json] = []
        private: list[Json] = []
        for place, number in enumerate(rng.choice(len(fresh), self.asked, replace=False).tolist(), 1):
            sentence = fresh[number]
            options: list[Json] = [str(option) for option in rng.permutation(sentence.options)]
            # Nothing of a sentence is markup: underscores are its gap.
            text = f"<p>{escape(sentence.text.replace(GAP, _SHOWN_GAP))}</p>"
            public.append({"id": f"q{place}", "text": text, "options": options})
            private.append({
                "id": f"{self.language}-{bank.index(sentence) + 1}", "options": options, "correct": sentence.correct,
                "topic": sentence.text,
            })  # fmt: skip
        return CheckTask({"items": public}, {"items": private, "language": self.language, "seen": [*seen]})

    def read(self, private: Mapping[str, Json], answer: Json) -> Mapping[str, Json]:
        """Return the answers, and every sentence so far: the next attempt asks others."""
        return {
            **super().read(private, answer),
            "seen": [*_seen(private), *(one["topic"] for one in items_of(private))],
        }

    def judge(self, attempt: Attempt) -> Verdict:
        verdict = super().judge(attempt)
        return verdict._replace(evidence={**verdict.evidence, "language": attempt.private["language"]})

    def is_carried(self, evidence: Mapping[str, Json]) -> bool:
        return evidence.get("language") == self.language

    def needs(self) -> Mapping[str, str | float]:
        return {"language": language_name(self.language)}

    def requirement(self) -> str:
        return f"{self.needed} of {self.asked} missing words"

    def problems(self, study: Study) -> Iterator[Problem]:
        key = f"qualification.{self.name}"
        for code in study.all_languages:
            if not has_sentences(code):
                there = join_names([english_name(one) for one in languages() if has_sentences(one)])
                what = f"has no sentences in {english_name(code)}, which is a language of the study"
                fix = f"Write {key}: false, or ask by qualification.questions with items of your own."
                yield study.problem(key, what, there, fix)
            elif self.asked > (most := len(sentences(code))):
                what = f"is {self.asked}, and there are {most} sentences in {english_name(code)}"
                yield study.problem(f"{key}.draw", what, f"1 to {most}")


def _seen(kept: Json) -> list[Json]:
    """Return the sentences that were asked up to an answer or a task; none without one."""
    seen = kept.get("seen") if isinstance(kept, Mapping) else None
    return list(seen) if isinstance(seen, Sequence) and not isinstance(seen, str) else []
