"""What was chosen between two, as it comes from the browser: read exactly, or refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from beholder.methods.answers import LONGEST, MOST_TEXTS, exactly, number, parts, read_comment, read_missing
from beholder.methods.contract import Json, Refused, Scale, Slot, Trial


def compared(trial: Trial) -> tuple[Slot, Slot]:
    """Return the two slots that are compared, in the order shown."""
    first, second = (slot for slot in trial.slots if slot.rated)
    return first, second


def grades_of(scale: Scale) -> list[float]:
    """Return how much better one can be: the part of the scale above zero."""
    count = round((scale.max - scale.min) / scale.step)
    values = [round(scale.min + scale.step * place, 9) for place in range(count + 1)]
    return [value for value in values if value > 0]


def read_choices(trial: Trial, answer: Json) -> Json:
    """Return the answer with exactly the choices of this trial, or raise Refused."""
    given, missing = _opened(trial, answer)
    if missing:
        return _without_choices(given, missing)
    choices = exactly(given.get("choices"), [asked.id for asked in trial.asked], "answer.choices", "choices")
    slots = [slot.id for slot in compared(trial)]
    read: dict[str, Json] = {
        "choices": {
            asked.id: _choice(asked.scale, choices[asked.id], slots, f"answer.choices.{asked.id}")
            for asked in trial.asked
        }
    }
    return read | read_reasons(trial, given) | read_comment(given)


def read_same(trial: Trial, answer: Json) -> Json:
    """Return the answer `{"choices": {"q1": {"same_as": "s1"}}}`, or raise Refused."""
    given, missing = _opened(trial, answer)
    if missing:
        return _without_choices(given, missing)
    choices = exactly(given.get("choices"), [asked.id for asked in trial.asked], "answer.choices", "choices")
    known = [slot.id for slot in compared(trial)] + ["unsure"] * bool(trial.draws.get("unsure"))
    normal: dict[str, Json] = {}
    for name, choice in choices.items():
        where = f"answer.choices.{name}"
        said = exactly(choice, ["same_as"], where, "choices")["same_as"]
        if not isinstance(said, str) or said not in known:
            raise Refused(f"{said!r} cannot be the same", where=f"{where}.same_as", allowed=", ".join(known))
        normal[name] = {"same_as": said}
    return {"choices": normal, **read_reasons(trial, given), **read_comment(given)}


def read_reasons(trial: Trial, given: Mapping[str, Json]) -> dict[str, Json]:
    """Return the reasons by question, or raise Refused where they are not asked for, or missing."""
    wish, where = trial.draws.get("reason", "none"), "answer.reasons"
    reasons = given.get("reasons")
    if reasons is None and wish != "required":
        return {}
    if wish == "none":
        raise Refused("No reasons are asked for", where=where, allowed="leave them out")
    known = [asked.id for asked in trial.asked]
    if not isinstance(reasons, Mapping) or any(name not in known for name in reasons):
        raise Refused("The reasons cannot be kept", where=where, allowed=f"an object with {', '.join(known)}")
    for name in known:
        texts = reasons.get(name, [])
        if not isinstance(texts, list | tuple) or not all(isinstance(text, str) for text in texts):
            raise Refused("The reason cannot be kept", where=f"{where}.{name}", allowed="a list of texts")
        if len(texts) > MOST_TEXTS or sum(len(cast("str", text)) for text in texts) > LONGEST:
            allowed = f"up to {LONGEST} characters in up to {MOST_TEXTS} texts"
            raise Refused("The reason is too long", where=f"{where}.{name}", allowed=allowed)
        if wish == "required" and not any(cast("str", text).strip() for text in texts):
            raise Refused("A reason is missing", where=f"{where}.{name}", allowed="a list with a text")
    return {"reasons": {name: list(cast("list[Json]", texts)) for name, texts in reasons.items()}} if reasons else {}


def _opened(trial: Trial, answer: Json) -> tuple[Mapping[str, Json], dict[str, Json]]:
    given = parts(answer, ("choices", "missing", "reasons", "comment"), '{"choices": {"q1": {"better": "s1"}}}')
    return given, read_missing(trial, given.get("missing", {}))


def _without_choices(given: Mapping[str, Json], missing: dict[str, Json]) -> Json:
    """Return the answer to a comparison of which a part would not play: there is none."""
    if given.get("choices", {}) != {}:
        raise Refused("There is nothing to compare", where="answer.choices", allowed="{} where a slot is missing")
    return {"choices": {}, "missing": missing, **read_comment(given)}


def _choice(scale: Scale, choice: Json, slots: list[str], where: str) -> Json:
    if not isinstance(choice, Mapping) or not {"better"} <= set(choice) <= {"better", "grade"}:
        raise Refused("The choice cannot be read", where=where, allowed='{"better": slot, "grade": number}')
    better, known = choice["better"], [*slots, *(["tie"] if scale.holds(0) else [])]
    if not isinstance(better, str) or better not in known:
        raise Refused(f"{better!r} cannot be better", where=f"{where}.better", allowed=", ".join(known))
    grades = grades_of(scale)
    if better == "tie":
        if "grade" in choice:
            raise Refused("A tie has no grade", where=f"{where}.grade", allowed="leave it out")
        return {"better": better}
    if "grade" not in choice and len(grades) == 1:
        return {"better": better}
    grade = number(choice.get("grade"))
    if grade is None or grade not in grades:
        allowed = ", ".join(f"{value:g}" for value in grades)
        raise Refused(f"{choice.get('grade')!r} is not a grade", where=f"{where}.grade", allowed=allowed)
    if len(grades) == 1:
        return {"better": better}
    return {"better": better, "grade": int(grade) if float(grade).is_integer() else grade}
