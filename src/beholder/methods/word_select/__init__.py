"""word-select: mark the words of a transcript that answer a question (ReSEval's word selection)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, ClassVar, cast

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
    Unit,
)
from beholder.methods.scores import exact_object
from beholder.methods.transcripts import Transcript, TranscriptFolder, TranscriptMethod, bare_word

MARKED = Scale(min=0, max=1, look="radio")
"""Not marked, marked; means are shares of words."""
_RATE = 0.9
"""The probability with which a robot marks a word that stands out, of the worst stimulus."""
_EVERY = 3
"""Every third word stands out to robots; the others are marked four times as rarely."""
_PLAIN = 0.25


class WordSelectOptions(StudyPart):
    """Options of `word-select`."""

    transcripts: TranscriptFolder = "transcripts"
    listens: int = Field(
        default=2, ge=1, le=5, description="How often a recording or video has to be played whole; a text is read once."
    )
    follow: bool = Field(
        default=True, description="Show which word is heard while the clip plays, where the times of words are given."
    )


class WordSelect(TranscriptMethod):
    """One stimulus with its words: for each question, the words that answer it, or none of them."""

    name: ClassVar[str] = "word-select"
    counts_faults: ClassVar[bool] = True
    task: ClassVar[Task] = "mark"
    media: ClassVar[frozenset[Medium]] = frozenset({"audio", "video", "text"})
    scales: ClassVar[tuple[str, ...]] = ()
    scale: ClassVar[Scale] = MARKED
    answered_by: ClassVar[str] = "words are marked"
    part: ClassVar[str] = "picks"
    shape: ClassVar[str] = '{"picks": {"q1": {"words": [0, 4], "none": false}}}'
    Options: ClassVar[type[BaseModel]] = WordSelectOptions
    analyses: ClassVar[tuple[str, ...]] = ("words", "word_agreement", "scores", "pairs")
    defaults: ClassVar[Mapping[str, Json]] = {"design": {"contents": "apart"}}
    paper: ClassVar[Paper] = Paper(
        "word selection",
        "Participants marked the words of a transcript that answered the question, or said that none did",
        ("cole2017", "morrison2022"),
    )
    scoring: ClassVar[Scoring] = Scoring(
        {
            "pick": Metric(
                "Words marked",
                "Share of the words that a participant marked, over the words of a stimulus.",
                MetricWords(unit=PERCENTAGE_POINTS, is_quality=False, ticked="marked", ticked_of="words"),
            )
        },
        short="word-select",
        citation="Cole, Mahrt and Roy (2017), Crowd-sourcing prosodic annotation",
    )

    def problems(self, study: Study, catalogue: Catalogue) -> Iterable[Problem]:
        yield from super().problems(study, catalogue)
        most, listens = study.playback.max_plays, study.options["listens"]
        is_played = any(stimulus.medium != "text" for stimulus in catalogue.stimuli)
        if is_played and most is not None and most < listens:
            what = f"is {most}, and {self.name} asks for {listens} plays (options.listens)"
            yield Problem("playback.max_plays", what, f"{listens} or more", "Leave it out, or write listens: 1.")

    def word_count(self, trial: Trial) -> int:
        return len(_words(trial))

    def draws(self, study: Study, transcript: Transcript) -> dict[str, Json]:
        times: list[Json] = [list(time) for time in transcript.times] if study.options.get("follow", True) else []
        return {"words": list(transcript.words), **({"times": times} if times else {})}

    def compose(self, study: Study, unit: Unit, catalogue: Catalogue, rng: Generator) -> Trial:
        trial = super().compose(study, unit, catalogue, rng)
        is_text = catalogue.by_id[trial.id].medium == "text"
        return replace(trial, passes=1 if is_text else int(study.options.get("listens", 1)))

    def extra(self, trial: Trial) -> Mapping[str, Json]:
        return trial.draws

    def read_question(self, trial: Trial, given: Json, where: str) -> Json:
        return _read_pick(given, len(_words(trial)), where)

    def judgements(self, trial: Trial, answer: Json) -> tuple[Judgement, ...]:
        given = cast("Mapping[str, Any]", answer)
        (slot,) = trial.slots
        judgements: list[Judgement] = []
        for asked in trial.asked:
            pick = given["picks"].get(asked.id)
            if pick is None:
                judgements.append(_judgement(asked, slot.id, None))
                continue
            marked = set(pick["words"])
            for place, word in enumerate(_words(trial)):
                one = _judgement(asked, slot.id, int(place in marked))
                judgements.append(one._replace(unit=str(place + 1), word=bare_word(word)))
        return tuple(judgements)

    def respond(self, trial: Trial, percept: Percept, rng: Generator) -> Json:
        picks: dict[str, Json] = {}
        for asked in trial.asked:
            strength = min(1.0, max(0.0, percept[f"{asked.id}.{trial.slots[0].id}"]))
            draws = rng.random(len(_words(trial)))
            marked = [place for place, draw in enumerate(draws) if draw < mark_probability(place, strength)]
            picks[asked.id] = {"words": cast("list[Json]", marked), "none": not marked}
        return {"picks": picks}

    def seconds(self, trial: Trial, catalogue: Catalogue) -> float:
        # Who has to listen once listens a second time while they mark.
        listening = max(2, trial.passes) * catalogue.by_id[trial.slots[0].stimulus].probe.duration_ms / 1000
        return listening + 3 + 6 * len(trial.asked)


def mark_probability(place: int, strength: float) -> float:
    """Return how likely a robot that perceives this strength marks a word: more for lower strengths."""
    return _RATE * (1 - strength) * (1.0 if place % _EVERY == 1 else _PLAIN)


def _words(trial: Trial) -> list[str]:
    return cast("list[str]", trial.draws["words"])


def _judgement(asked: Asked, slot: str, value: int | None) -> Judgement:
    missing = "media_error" if value is None else None
    return Judgement(asked.question, "pick", slot, value, value, MARKED.min, MARKED.max, missing=missing)


def _read_pick(pick: Json, count: int, where: str) -> Json:
    """Return the places of marked words in order, and whether none is an answer; raises Refused for anything else."""
    parts = exact_object(pick, ["words", "none"], where, "words")
    words, none = parts["words"], parts["none"]
    if not isinstance(none, bool):
        raise Refused.because("neither_yes_nor_no", where=f"{where}.none", allowed="true or false", name="none")
    places = words if isinstance(words, list | tuple) else None
    if places is None or any(isinstance(place, bool) or place not in range(count) for place in places):
        allowed = f"places from 0 to {count - 1}"
        raise Refused.because("not_words", where=f"{where}.words", allowed=allowed, value=words)
    if len(set(places)) != len(places):
        raise Refused.because("word_twice", where=f"{where}.words", allowed="every place once", value=words)
    allowed = "words, or none: true without any"
    if none and places:
        raise Refused.because("none_of_them", where=where, allowed=allowed)
    if not none and not places:
        raise Refused.because("nothing_marked", where=where, allowed=allowed)
    return {"words": sorted(int(cast("int", place)) for place in places), "none": none}


word_select = WordSelect()
