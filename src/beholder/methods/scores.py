"""The family of answers `{"scores": {"q1": {"s1": 72}}}`: one number for every rated slot and every question."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from beholder.methods.contract import (
    Asked,
    Generator,
    Json,
    Judgement,
    Percept,
    Question,
    Refused,
    Scale,
    Study,
    Trial,
)

_PARTS = ("scores", "missing", "comment")


class ScoreMethod:
    """What this family shares: the study's questions are asked, and every rated slot gets a number for each."""

    def questions(self, study: Study) -> tuple[Question, ...]:
        return study.questions

    def asked(self, study: Study) -> tuple[Asked, ...]:
        """Return the questions as they stand in every trial."""
        return tuple(Asked(f"q{n}", q.id, "ask", q.text, q.scale) for n, q in enumerate(self.questions(study), 1))

    def extra(self, trial: Trial) -> Mapping[str, Json]:
        return {}

    def read(self, trial: Trial, answer: Json) -> Json:
        return read_scores(trial, answer)

    def judgements(self, trial: Trial, answer: Json) -> tuple[Judgement, ...]:
        return score_judgements(trial, answer)

    def respond(self, trial: Trial, percept: Percept, rng: Generator) -> Json:
        return score_response(trial, percept)


def read_scores(trial: Trial, answer: Json) -> Json:
    """Return the answer with exactly the scores of this trial, or raise Refused."""
    if not isinstance(answer, Mapping):
        raise Refused("The answer is not an object", where="answer", allowed='{"scores": {"q1": {"s1": number}}}')
    for part in answer:
        if part not in _PARTS:
            raise Refused(f"{part} is not part of an answer", where=f"answer.{part}", allowed=", ".join(_PARTS))
    rated = [slot.id for slot in trial.slots if slot.rated]
    missing = _read_missing(rated, answer.get("missing", {}))
    scores = _exactly(answer.get("scores"), [asked.id for asked in trial.asked], "answer.scores")
    wanted = [slot for slot in rated if slot not in missing]
    normal: dict[str, dict[str, Json]] = {}
    for asked in trial.asked:
        where = f"answer.scores.{asked.id}"
        values = _exactly(scores[asked.id], wanted, where)
        normal[asked.id] = {slot: _value(asked.scale, values[slot], f"{where}.{slot}") for slot in wanted}
    read: dict[str, Json] = {"scores": normal}
    if missing:
        read["missing"] = missing
    comment = answer.get("comment")
    if comment is not None:
        if not isinstance(comment, str) or len(comment) > 5000:
            raise Refused("The comment cannot be kept", where="answer.comment", allowed="text of up to 5000 characters")
        read["comment"] = comment
    return read


def score_judgements(trial: Trial, answer: Json) -> tuple[Judgement, ...]:
    """Return one judgement of kind `score` for every question and rated slot; a missing slot has no value."""
    given = cast("Mapping[str, Mapping[str, Any]]", answer)
    missing = given.get("missing", {})
    found = []
    for asked in trial.asked:
        scores = given["scores"][asked.id]
        for slot in trial.slots:
            if not slot.rated:
                continue
            value = scores.get(slot.id)
            found.append(
                Judgement(
                    question=asked.question,
                    kind="score",
                    slot=slot.id,
                    value=value,
                    raw_value=value,
                    scale_min=asked.scale.min,
                    scale_max=asked.scale.max,
                    missing=missing.get(slot.id),
                )
            )
    return tuple(found)


def score_response(trial: Trial, percept: Percept) -> Json:
    """Return the answer of somebody who perceives these strengths and uses the whole scale."""
    return {
        "scores": {
            asked.id: {
                slot.id: _nearest(asked.scale, percept[f"{asked.id}.{slot.id}"]) for slot in trial.slots if slot.rated
            }
            for asked in trial.asked
        }
    }


def _read_missing(rated: list[str], missing: Json) -> dict[str, Json]:
    if not isinstance(missing, Mapping):
        raise Refused("missing is not an object", where="answer.missing", allowed='{"s3": "media_error"}')
    for slot, reason in missing.items():
        if slot not in rated or reason != "media_error":
            raise Refused(
                f"{slot} cannot be missing for {reason}",
                where=f"answer.missing.{slot}",
                allowed=f"media_error, for one of {', '.join(rated)}",
            )
    return dict(missing)


def _exactly(given: Json, wanted: list[str], where: str) -> Mapping[str, Json]:
    if not isinstance(given, Mapping):
        raise Refused("No scores are given", where=where, allowed=f"an object with {', '.join(wanted)}")
    for name in given:
        if name not in wanted:
            raise Refused(f"{name} is not in this trial", where=f"{where}.{name}", allowed=", ".join(wanted))
    for name in wanted:
        if name not in given:
            raise Refused(f"{name} has no answer", where=f"{where}.{name}", allowed=f"all of {', '.join(wanted)}")
    return given


def _value(scale: Scale, value: Json, where: str) -> int | float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not scale.holds(value):
        raise Refused(
            f"{value!r} is not on the scale",
            where=where,
            allowed=f"{scale.min:g} to {scale.max:g} in steps of {scale.step:g}",
        )
    return int(value) if float(value).is_integer() else value


def _nearest(scale: Scale, strength: float) -> int | float:
    steps = round((scale.max - scale.min) / scale.step)
    value = scale.min + scale.step * round(min(1.0, max(0.0, strength)) * steps)
    return int(value) if float(value).is_integer() else value
