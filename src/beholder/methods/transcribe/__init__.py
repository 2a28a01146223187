"""transcribe: type what you heard, held against what was said: how intelligible it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, ClassVar, cast

from pydantic import Field

from beholder.methods.contract import (
    PERCENTAGE_POINTS,
    Asked,
    BaseModel,
    Catalogue,
    Generator,
    Json,
    Judgement,
    Medium,
    Metric,
    MetricWords,
    Paper,
    Percept,
    Problem,
    Refused,
    Scale,
    Scoring,
    Study,
    StudyPart,
    Task,
    Trial,
)
from beholder.methods.scores import exact_object
from beholder.methods.transcripts import Transcript, TranscriptFolder, TranscriptMethod, compared_words, share_right

PERCENT_RIGHT = Scale(min=0, max=100)
"""The percentage of the words that are right."""
MOST_CHARACTERS = 2000
"""Of a text: far more than anybody types of one clip, and few enough to be compared at once."""
_MISSED = 0.5
"""How often a robot leaves a word out that it did not understand; else it types another one."""
_ADDED = 0.1
"""How often it types a word more beside that one."""
_SIMILAR = str.maketrans("bpdtgkfvszmnlraeiou", "pbtdkgvfzsnmrleaoui")
"""Sounds that are taken for each other."""


class TranscribeOptions(StudyPart):
    """Options of `transcribe`."""

    transcripts: TranscriptFolder = "transcripts"
    alike: tuple[Annotated[tuple[str, ...], Field(min_length=2)], ...] = Field(
        default=(),
        description="Words that count as the same, such as `[[their, there], [colour, color]]`: each list is one word.",
    )


class Transcribe(TranscriptMethod):
    """One recording or video: what was understood is typed, and compared with what was said."""

    name: ClassVar[str] = "transcribe"
    task: ClassVar[Task] = "type"
    media: ClassVar[frozenset[Medium]] = frozenset({"audio", "video"})
    scales: ClassVar[tuple[str, ...]] = ()
    scale: ClassVar[Scale] = PERCENT_RIGHT
    answered_by: ClassVar[str] = "a text is typed"
    part: ClassVar[str] = "texts"
    shape: ClassVar[str] = '{"texts": {"q1": {"s1": "what was heard"}}}'
    most_characters: ClassVar[int] = MOST_CHARACTERS
    Options: ClassVar[type[BaseModel]] = TranscribeOptions
    analyses: ClassVar[tuple[str, ...]] = ("error_rates", "confusions", "scores", "pairs")
    # Who has heard a sentence once knows it: nobody hears it under another condition.
    defaults: ClassVar[Mapping[str, Json]] = {"design": {"contents": "once"}}
    paper: ClassVar[Paper] = Paper(
        "transcription",
        "Participants typed what they had heard, or said that they had understood nothing",
        ("levenshtein1966",),
    )
    scoring: ClassVar[Scoring] = Scoring(
        {
            "score": Metric(
                "Words right",
                "Percentage of the words that were said which a participant typed, by fewest errors.",
                MetricWords(
                    unit=PERCENTAGE_POINTS,
                    answers="a text, or nothing understood; scored by the percentage of the words that are right",
                ),
            )
        },
        short="transcribe",
        citation="Levenshtein (1966), Soviet Physics Doklady 10",
    )

    def problems(self, study: Study, catalogue: Catalogue) -> Iterable[Problem]:
        yield from super().problems(study, catalogue)
        if len(study.questions) > 1:
            what = f"are {len(study.questions)}, and {self.name} asks for one text"
            yield Problem("questions", what, "one question", "Leave the others out, or ask them in another study.")
        yield from _alike_problems(study)

    def word_count(self, trial: Trial) -> int:
        return len(compared_words(_said(trial)))

    def draws(self, study: Study, transcript: Transcript) -> dict[str, Json]:
        alike = _alike(study)
        return {"said": transcript.text, **({"alike": cast("dict[str, Json]", alike)} if alike else {})}

    def extra(self, trial: Trial) -> Mapping[str, Json]:
        # What is said is the answer: no browser learns it.
        return {"most": MOST_CHARACTERS}

    def read_question(self, trial: Trial, given: Json, where: str) -> Json:
        (slot,) = trial.slots
        return {slot.id: _read_text(exact_object(given, [slot.id], where, "texts")[slot.id], f"{where}.{slot.id}")}

    def judgements(self, trial: Trial, answer: Json) -> tuple[Judgement, ...]:
        given = cast("Mapping[str, Any]", answer)
        (slot,) = trial.slots
        return tuple(
            _judgement(trial, asked, slot.id, given["texts"].get(asked.id, {}).get(slot.id)) for asked in trial.asked
        )

    def respond(self, trial: Trial, percept: Percept, rng: Generator) -> Json:
        (slot,) = trial.slots
        texts: dict[str, Json] = {}
        for asked in trial.asked:
            strength = min(1.0, max(0.0, percept[f"{asked.id}.{slot.id}"]))
            typed = []
            for word in compared_words(_said(trial)):
                if rng.random() < strength:
                    typed.append(word)
                elif rng.random() >= _MISSED:
                    typed += [_misheard(word), *(["and"] if rng.random() < _ADDED else [])]
            texts[asked.id] = {slot.id: " ".join(typed)}
        return {"texts": texts}

    def seconds(self, trial: Trial, catalogue: Catalogue) -> float:
        # Many people listen twice; on a phone, a word takes them a second and a half.
        listening = 2 * catalogue.by_id[trial.slots[0].stimulus].probe.duration_ms / 1000
        return listening + 4 + 1.5 * self.word_count(trial)


def _said(trial: Trial) -> str:
    return cast("str", trial.draws["said"])


def _judgement(trial: Trial, asked: Asked, slot: str, typed: str | None) -> Judgement:
    low, high = PERCENT_RIGHT.min, PERCENT_RIGHT.max
    if typed is None:
        return Judgement(asked.question, "score", slot, None, None, low, high, missing="media_error")
    alike = cast("Mapping[str, str] | None", trial.draws.get("alike"))
    said, heard = compared_words(_said(trial), alike), compared_words(typed, alike)
    value = 100 * share_right(said, heard)
    return Judgement(
        asked.question, "score", slot, value, None, low, high, keyed=value, said=" ".join(said), heard=" ".join(heard)
    )


def _read_text(text: Json, where: str) -> str:
    """Return what was typed without the space around it; empty where nothing was understood."""
    if not isinstance(text, str) or len(text) > MOST_CHARACTERS:
        raise Refused.because(
            "no_text", where=where, allowed=f"a text of up to {MOST_CHARACTERS} characters, empty if nothing was heard"
        )
    return text.strip()


def _misheard(word: str) -> str:
    """Return another word that sounds like this one, or looks like it in other scripts than ours."""
    similar = word[0].translate(_SIMILAR)
    following = chr(ord(word[0]) + 1)
    return (similar if similar != word[0] else following if following.isalpha() else "o") + word[1:]


# Words that count as the same


def _alike(study: Study) -> dict[str, str]:
    """Return by each word the one that it counts as: the first of its list."""
    groups = [[compared_words(word) for word in words] for words in study.options.get("alike") or ()]
    return {" ".join(word): " ".join(group[0]) for group in groups for word in group[1:]}


def _alike_problems(study: Study) -> Iterator[Problem]:
    """Yield what is no single word, and words that stand in two lists."""
    seen: dict[str, int] = {}
    for index, words in enumerate(study.options.get("alike") or ()):
        for place, word in enumerate(words):
            where = f"options.alike.{index}.{place}"
            compared = compared_words(word)
            if len(compared) != 1:
                what = f"is {word!r}, which is {len(compared)} words as they are compared"
                yield Problem(where, what, "one word", "Case, apostrophes and punctuation do not count anyway.")
            elif seen.setdefault(compared[0], index) != index:
                yield Problem(where, f"is {word!r}, which stands in another list too", "every word in one list")


transcribe = Transcribe()
