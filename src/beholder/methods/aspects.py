"""Methods with fixed questions about aspects of one stimulus, each after a play of its own, or all after one play."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import ClassVar, NamedTuple

from beholder.methods import method_folder
from beholder.methods.boards import SingleMethod
from beholder.methods.contract import (
    Catalogue,
    Generator,
    Json,
    Problem,
    Question,
    Study,
    Trial,
    Unit,
    Units,
    did_you_mean,
    marked,
    named_scale,
)
from beholder.methods.presentation import medium_problems, single_problems
from beholder.words import read_items


class Aspect(NamedTuple):
    """One thing to judge: a question with its words and its scale, and what to attend to in the play before it."""

    id: str
    label: str
    text: str
    attend: str
    scale: str

    def question(self) -> Question:
        """Return the question that asks for it."""
        return Question(id=self.id, text=self.text, scale=named_scale(self.scale), label=self.label)


def read_aspects(folder: Path, language: str = "en") -> tuple[Aspect, ...]:
    """Return the aspects of a method, from the words in its folder; the names in tables are English."""
    return tuple(Aspect(**one) for one in read_items(folder / "words", language))


class AspectMethod(SingleMethod):
    """Base of methods that ask about every aspect of one stimulus. Questions of the study replace words by their id."""

    scales: ClassVar[tuple[str, ...]]
    aspects: ClassVar[tuple[Aspect, ...]]
    """In the order of tables. The last one, the whole, is always asked last; the order of the others is balanced."""

    def is_in_passes(self, study: Study) -> bool:
        """Return whether the stimulus is played once more before each question."""
        return True

    def questions(self, study: Study) -> tuple[Question, ...]:
        return _worded(self.aspects_in(study.language), self.scales[0], study.questions)

    def aspects_in(self, language: str) -> tuple[Aspect, ...]:
        """Return the aspects in the words of a language."""
        return self.aspects if language == "en" else read_aspects(method_folder(self.name), language)

    def in_language(self, trial: Trial, study: Study) -> Trial:
        """Return a trial with what people are told to attend to in the language of a study."""
        if trial.passes == 1 or study.language == "en":
            return replace(trial, draws={name: one for name, one in trial.draws.items() if name != "attend"})
        told = {aspect.id: aspect.attend for aspect in self.aspects_in(study.language)}
        return replace(trial, draws={**trial.draws, "attend": told})

    def problems(self, study: Study, catalogue: Catalogue) -> Iterable[Problem]:
        yield from self._question_problems(study)
        yield from medium_problems(self.name, self.media, catalogue)
        yield from single_problems(self.name, study)
        needed, most = self._passes(study), study.playback.max_plays
        if most is not None and most < needed:
            what = f"is {most}, and {self.name} plays everything {needed} times, once before each question"
            yield Problem("playback.max_plays", what, f"{needed} or more", "Leave it out.")

    def units(self, study: Study, catalogue: Catalogue) -> Units:
        *parts, whole = (aspect.id for aspect in self.aspects)
        turned = [(*parts[place:], *parts[:place], whole) for place in range(len(parts))]
        return replace(super().units(study, catalogue), orders=tuple(turned) if self.is_in_passes(study) else ())

    def compose(self, study: Study, unit: Unit, catalogue: Catalogue, rng: Generator) -> Trial:
        return self.in_language(
            replace(super().compose(study, unit, catalogue, rng), passes=self._passes(study)), study
        )

    def extra(self, trial: Trial) -> Mapping[str, Json]:
        if trial.passes == 1:
            return {}
        told = trial.draws.get("attend")
        attend = told if isinstance(told, Mapping) else {aspect.id: aspect.attend for aspect in self.aspects}
        return {"attend": [marked(str(attend.get(asked.question, asked.text))) for asked in trial.asked]}

    def seconds(self, trial: Trial, catalogue: Catalogue) -> float:
        heard = catalogue.by_id[trial.slots[0].stimulus].probe.duration_ms / 1000
        return trial.passes * (heard + 2) + 4 * len(trial.asked)

    def _passes(self, study: Study) -> int:
        return len(self.aspects) if self.is_in_passes(study) else 1

    def _question_problems(self, study: Study) -> Iterator[Problem]:
        """Yield questions that are none of the aspects, and those that have ticks or sliders."""
        known = [aspect.id for aspect in self.aspects]
        for index, question in enumerate(study.questions):
            if question.id not in known:
                what = f"is {question.id}, and {self.name} asks for {', '.join(known)}"
                fix = did_you_mean(question.id, known) or "Write it in another study, or use method: likert."
                yield Problem(f"questions.{index}.id", what, ", ".join(known), fix)
            elif question.ticks:
                yield Problem(f"questions.{index}.ticks", f"do not fit {self.name}", "", "Leave them out.")


# A plan composes every trial from the same few questions.
@lru_cache(maxsize=32)
def _worded(aspects: tuple[Aspect, ...], usual: str, written: tuple[Question, ...]) -> tuple[Question, ...]:
    """Return a question for each aspect, in the words that the study has for it, else in ours."""
    by_id = {question.id: question for question in written}
    questions = []
    for aspect in aspects:
        own = by_id.get(aspect.id)
        if own is None:
            questions.append(aspect.question())
            continue
        # Where the study names no scale, it has the first one of the method, which is that of another aspect.
        scale = named_scale(aspect.scale) if own.scale == named_scale(usual) else own.scale
        questions.append(own.model_copy(update={"scale": scale, "label": own.label or aspect.label}))
    return tuple(questions)
