"""Methods whose answer is one number for every rated slot and question: `{"scores": {"q1": {"s1": 72}}}`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from beholder.methods.contract import (
    Asked,
    Generator,
    Json,
    Judgement,
    Percept,
    Question,
    Refused,
    Scale,
    Slot,
    Study,
    Task,
    Trial,
    plain_text,
)
from beholder.methods.time_marks import marking, read_marks

_ANSWER_PARTS = ("scores", "ticks", "missing", "comment")
_TICK_RATE = 0.6
"""The probability with which a robot ticks each fault of the worst stimulus."""


class ScoreMethod:
    """Base of methods that ask the questions of the study and read a number for every rated slot.

    A question with `ticks` gets ticks in place of a number.
    """

    task: ClassVar[Task] = "rate"

    def questions(self, study: Study) -> tuple[Question, ...]:
        return study.questions

    def asked(self, study: Study) -> tuple[Asked, ...]:
        """Return the questions as they stand in every trial."""
        return ask_cached(self.questions(study))

    def other_slot(self, trial: Trial, slot: Slot) -> str | None:
        """Return the slot that this one is rated against, if the question is about both."""
        return None

    def extra(self, trial: Trial) -> Mapping[str, Json]:
        return {}

    def read(self, trial: Trial, answer: Json) -> Json:
        return read_scores(trial, answer)

    def judgements(self, trial: Trial, answer: Json) -> tuple[Judgement, ...]:
        return score_judgements(trial, answer, self.other_slot)

    def respond(self, trial: Trial, percept: Percept, rng: Generator) -> Json:
        return {**score_response(trial, percept), **tick_response(trial, percept, rng)}


def ask(questions: tuple[Question, ...]) -> tuple[Asked, ...]:
    """Return questions as they stand in a trial, in this order."""
    return tuple(
        Asked(f"q{place}", question.id, "ask", question.text, question.scale, question.keyed or "+", question.ticks)
        for place, question in enumerate(questions, 1)
    )


ask_cached = lru_cache(maxsize=32)(ask)
"""`ask` for the methods that ask the same in every trial: a plan has many of them."""


def read_scores(trial: Trial, answer: Json) -> Json:
    """Return the answer with exactly the scores and ticks of this trial, or raise Refused."""
    known = (*_ANSWER_PARTS, "marks") if marking(trial) is not None else _ANSWER_PARTS
    given = answer_parts(answer, known, '{"scores": {"q1": {"s1": number}}}')
    missing = read_missing(trial, given.get("missing", {}))
    rated = [slot.id for slot in trial.slots if slot.rated]
    needed = [slot for slot in rated if slot not in missing]
    # Where the reference would not play, the scores may be left out.
    is_void = any(slot.id in missing for slot in trial.slots if not slot.rated)
    read: dict[str, Json] = {}
    for part, value in (("scores", _read_value), ("ticks", _read_ticks)):
        asked = [asked for asked in trial.asked if bool(asked.ticks) == (part == "ticks")]
        if not asked:
            if part in given:
                raise Refused.because("not_asked_for", where=f"answer.{part}", allowed="leave them out", part=part)
            continue
        where = f"answer.{part}"
        inner = exact_object(given.get(part), [one.id for one in asked], where, part)
        normal: dict[str, Json] = {}
        for one in asked:
            here = f"{where}.{one.id}"
            required = [] if is_void and inner[one.id] == {} else needed
            values = exact_object(inner[one.id], required, here, part)
            normal[one.id] = {slot: value(one, values[slot], f"{here}.{slot}") for slot in required}
        read[part] = normal
    if missing:
        read["missing"] = missing
    return read | read_comment(given) | read_marks(trial, given)


def score_judgements(
    trial: Trial, answer: Json, other_slot: Callable[[Trial, Slot], str | None] | None = None
) -> tuple[Judgement, ...]:
    """Return one judgement for every question and rated slot, or for every tick of one; a missing slot has no value.

    `other_slot` returns the slot that one is rated against.
    """
    parts = cast("Mapping[str, Any]", answer)
    judgements: list[Judgement] = []
    for asked in trial.asked:
        judge = _tick_judgements if asked.ticks else _score_judgement
        for slot in trial.slots:
            if slot.rated:
                judgements += judge(asked, slot, parts, other_slot(trial, slot) if other_slot else None)
    return tuple(judgements)


def score_response(trial: Trial, percept: Percept) -> dict[str, Json]:
    """Return the scores of a simulated participant who perceives these strengths and uses the whole scale.

    Scores of a statement keyed `-` are reversed.
    """
    scores: dict[str, Json] = {}
    for asked in trial.asked:
        if not asked.ticks:
            felt = _strengths(trial, asked, percept)
            turned = {slot: 1 - strength if asked.keyed == "-" else strength for slot, strength in felt.items()}
            scores[asked.id] = {slot: _nearest_value(asked.scale, strength) for slot, strength in turned.items()}
    return {"scores": scores} if scores else {}


def score_values(
    scale: Scale, strengths: NDArray[np.float64], *, is_reversed: NDArray[np.bool_] | bool = False
) -> NDArray[np.float64]:
    """Return the scores for an array of perceived strengths: `score_response`, vectorised."""
    inside = np.clip(strengths, 0.0, 1.0)
    turned = np.where(is_reversed, 1 - inside, inside)
    steps = np.rint(turned * round((scale.max - scale.min) / scale.step))
    return np.asarray(scale.min + scale.step * steps, np.float64)


def tick_response(trial: Trial, percept: Percept, rng: Generator) -> dict[str, Json]:
    """Return the ticks of a simulated participant: more faults for lower strengths."""
    ticks: dict[str, Json] = {}
    for asked in trial.asked:
        if asked.ticks:
            felt = _strengths(trial, asked, percept)
            ticks[asked.id] = {slot: _draw_ticks(len(asked.ticks), strength, rng) for slot, strength in felt.items()}
    return {"ticks": ticks} if ticks else {}


def _strengths(trial: Trial, asked: Asked, percept: Percept) -> dict[str, float]:
    """Return the strength that is perceived of each rated slot, between 0 and 1."""
    return {slot.id: min(1.0, max(0.0, percept[f"{asked.id}.{slot.id}"])) for slot in trial.slots if slot.rated}


def _score_judgement(asked: Asked, slot: Slot, given: Mapping[str, Any], other: str | None) -> Iterator[Judgement]:
    value = given["scores"][asked.id].get(slot.id)
    low, high = asked.scale.min, asked.scale.max
    keyed = low + high - value if value is not None and asked.keyed == "-" else value
    yield Judgement(
        question=asked.question,
        kind="score",
        slot=slot.id,
        value=value,
        raw_value=value,
        scale_min=low,
        scale_max=high,
        other_slot=other,
        keyed=keyed,
        missing=_missing_reason(value, slot.id, given),
    )


def _tick_judgements(asked: Asked, slot: Slot, given: Mapping[str, Any], other: str | None) -> Iterator[Judgement]:
    ticked = given["ticks"][asked.id].get(slot.id)
    for place, text in enumerate(map(plain_text, asked.ticks)):
        value = None if ticked is None else int(place in ticked)
        yield Judgement(
            question=asked.question,
            kind="pick",
            slot=slot.id,
            value=value,
            raw_value=value,
            scale_min=0,
            scale_max=1,
            other_slot=other,
            unit=text,
            missing=_missing_reason(value, slot.id, given),
        )


def _missing_reason(value: float | None, slot: str, given: Mapping[str, Any]) -> str | None:
    """Return why there is no value; a slot whose reference is missing has none either."""
    return None if value is not None else given.get("missing", {}).get(slot, "media_error")


def _read_value(asked: Asked, value: Json, where: str) -> int | float:
    scale = asked.scale
    given = finite_number(value)
    if given is None or not scale.holds(given):
        raise Refused.because(
            "value_not_on_scale",
            where=where,
            allowed=f"{scale.min:g} to {scale.max:g} in steps of {scale.step:g}",
            value=value,
        )
    return int(given) if float(given).is_integer() else given


def _read_ticks(asked: Asked, value: Json, where: str) -> list[int]:
    known = range(len(asked.ticks))
    places = value if isinstance(value, list | tuple) else None
    if places is None or any(isinstance(place, bool) or place not in known for place in places):
        raise Refused.because("not_ticks", where=where, allowed=f"places from 0 to {known[-1]}", value=value)
    if len(set(places)) != len(places):
        raise Refused.because("tick_twice", where=where, allowed="every place once", value=value)
    return sorted(int(cast("int", place)) for place in places)


def _draw_ticks(count: int, strength: float, rng: Generator) -> list[int]:
    return [place for place, draw in enumerate(rng.random(count)) if draw < _TICK_RATE * (1 - strength)]


def _nearest_value(scale: Scale, strength: float) -> int | float:
    steps = round((scale.max - scale.min) / scale.step)
    value = scale.min + scale.step * round(strength * steps)
    return int(value) if float(value).is_integer() else value


# Reading answers, in every family

MAX_TEXT_LENGTH = 5000
"""Characters of a comment or a reason."""
MAX_TEXTS = 20
"""Texts that make one reason."""
_MAX_NUMBER = 1e15


def answer_parts(answer: Json, known: Sequence[str], shape: str) -> Mapping[str, Json]:
    """Return the parts of an answer, or raise Refused where it has others."""
    if not isinstance(answer, Mapping):
        raise Refused.because("answer_not_an_object", where="answer", allowed=shape)
    for part in answer:
        if part not in known:
            raise Refused.because("not_part_of_an_answer", where=f"answer.{part}", allowed=", ".join(known), part=part)
    return answer


def exact_object(given: Json, names: Sequence[str], where: str, what: str) -> Mapping[str, Json]:
    """Return an object with exactly these names, or raise Refused."""
    if not isinstance(given, Mapping):
        raise Refused.because("none_given", where=where, allowed=f"an object with {', '.join(names)}", what=what)
    for name in given:
        if name not in names:
            raise Refused.because("not_in_this_trial", where=f"{where}.{name}", allowed=", ".join(names), name=name)
    for name in names:
        if name not in given:
            raise Refused.because(
                "without_answer", where=f"{where}.{name}", allowed=f"all of {', '.join(names)}", name=name
            )
    return given


def read_missing(trial: Trial, missing: Json) -> dict[str, Json]:
    """Return which slots would not play; whether the log shows it is not decided here."""
    if not isinstance(missing, Mapping):
        raise Refused.because("missing_not_an_object", where="answer.missing", allowed='{"s3": "media_error"}')
    slots = [slot.id for slot in trial.slots]
    for slot, reason in missing.items():
        if slot not in slots or reason != "media_error":
            raise Refused.because(
                "cannot_be_missing",
                where=f"answer.missing.{slot}",
                allowed=f"media_error, for one of {', '.join(slots)}",
                slot=slot,
                reason=reason,
            )
    return dict(missing)


def read_comment(given: Mapping[str, Json]) -> dict[str, Json]:
    """Return the comment as a part of the answer, if there is one."""
    comment = given.get("comment")
    if comment is None:
        return {}
    if not isinstance(comment, str) or len(comment) > MAX_TEXT_LENGTH:
        raise Refused.because(
            "comment_cannot_be_kept", where="answer.comment", allowed=f"text of up to {MAX_TEXT_LENGTH} characters"
        )
    return {"comment": comment}


def finite_number(value: Json) -> int | float | None:
    """Return a finite number, or None for anything else; true is no number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if -_MAX_NUMBER < value < _MAX_NUMBER else None  # not even NaN, and no integer too large for a float
