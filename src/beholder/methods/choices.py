"""Methods that compare two stimuli: `{"choices": {"q1": {"better": "s2", "grade": 2}}}`, or `{"better": "tie"}`.

No sign is on the wire. `raw_value` is as seen: above zero when the second, or right, one was called better. `value` is
about stimuli: above zero when the one that is judged was called better, wherever it stood.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Literal, cast

import numpy as np
from numpy.typing import NDArray

from beholder.methods.contract import (
    Asked,
    Catalogue,
    Generator,
    Json,
    Judgement,
    Medium,
    Percept,
    Problem,
    Question,
    Refused,
    Scale,
    Slot,
    Stimulus,
    Study,
    Task,
    Trial,
    Unit,
    Units,
)
from beholder.methods.pairs import pair_units
from beholder.methods.presentation import (
    hidden_role,
    is_side_by_side,
    medium_problems,
    pair_problems,
    presentation_draws,
    presentation_problems,
    public_draws,
    question_problems,
    seconds_shown,
)
from beholder.methods.scores import (
    MAX_TEXT_LENGTH,
    MAX_TEXTS,
    answer_parts,
    ask_cached,
    exact_object,
    finite_number,
    read_comment,
    read_missing,
)
from beholder.methods.views import views_of
from beholder.study.questions import SCALES
from beholder.study.scale_labels import label_set, with_side

NOISE = 0.1
"""Standard deviation of the noise that a robot adds to a difference between -1 and 1."""
_FULL_SCALE_DIFFERENCE = 0.6
"""The difference from which on a robot uses the end of the scale."""
_TIE_SHARE = 0.25
"""The share of that difference below which a robot has no preference."""


class ChoiceMethod:
    """Base of methods with two rated slots that ask which one is better, and by how much."""

    name: ClassVar[str]
    media: ClassVar[frozenset[Medium]]
    kind: ClassVar[Literal["diff", "choice"]] = "choice"
    task: ClassVar[Task] = "compare"

    def questions(self, study: Study) -> tuple[Question, ...]:
        shown = "free" if views_of(study) else study.options.get("presentation")
        return _page_questions(study.questions, bool(study.options.get("tie")), shown)

    def asked(self, study: Study) -> tuple[Asked, ...]:
        """Return the questions as they stand in every trial."""
        return ask_cached(self.questions(study))

    def problems(self, study: Study, catalogue: Catalogue) -> Iterable[Problem]:
        questions = self.questions(study)
        yield from question_problems(self.name, questions)
        yield from comparison_problems(questions, has_tie=bool(study.options.get("tie")))
        yield from medium_problems(self.name, self.media, catalogue)
        yield from pair_problems(self.name, study)
        yield from presentation_problems(study, catalogue)

    def units(self, study: Study, catalogue: Catalogue) -> Units:
        return Units(kind="pair", items=pair_units(study, catalogue), per_trial=2, shuffle="order")

    def compose(self, study: Study, unit: Unit, catalogue: Catalogue, rng: Generator) -> Trial:
        one, two = (catalogue.by_id[stimulus] for stimulus in unit.stimuli)
        asked = self.asked(study)
        return Trial(
            id=" ".join(unit.stimuli),
            content=unit.content,
            purpose="rate",
            slots=tuple(Slot(f"s{n}", s.id, hidden_role(s), None, True, None) for n, s in enumerate((one, two), 1)),
            asked=asked,
            draws={
                "judged": judged_stimulus(one, two, catalogue),
                "tie": any(question.scale.holds(0) for question in asked),
                **presentation_draws(study, catalogue, rng),
            },
            together=is_side_by_side(study, catalogue),
        )

    def extra(self, trial: Trial) -> Mapping[str, Json]:
        return public_draws(trial, "tie", "reason")

    def seconds(self, trial: Trial, catalogue: Catalogue) -> float:
        # Behind buttons people go back and forth.
        repetition = 1.5 if trial.draws.get("presentation") == "free" else 1.0
        writing = {"optional": 5, "required": 20}.get(str(trial.draws.get("reason")), 0)
        return repetition * seconds_shown(trial, catalogue) + 3 + (4 + writing) * len(trial.asked)

    def read(self, trial: Trial, answer: Json) -> Json:
        return read_choices(trial, answer)

    def judgements(self, trial: Trial, answer: Json) -> tuple[Judgement, ...]:
        given = cast("Mapping[str, Any]", answer)
        return tuple(self.judgement(trial, asked, given["choices"].get(asked.id)) for asked in trial.asked)

    def judgement(self, trial: Trial, asked: Asked, choice: Mapping[str, Any] | None) -> Judgement:
        """Return the judgement of one choice; without a value where a stimulus would not play."""
        slots = ComparedSlots.of(trial)
        raw = None if choice is None else raw_value(slots, asked.scale, choice)
        return slots.judgement(asked, self.kind, raw if raw is None else slots.turned(raw), raw)

    def respond(self, trial: Trial, percept: Percept, rng: Generator) -> Json:
        first, second = compared_slots(trial)
        choices: dict[str, Json] = {}
        for asked in trial.asked:
            difference = percept[f"{asked.id}.{second.id}"] - percept[f"{asked.id}.{first.id}"]
            difference = difference + rng.normal(0, NOISE)
            difference = -difference if asked.keyed == "-" else difference
            choices[asked.id] = _choose(asked.scale, difference, first.id, second.id)
        return {"choices": choices} | response_reasons(trial)


@dataclass(frozen=True)
class ComparedSlots:
    """The two slots that are compared, in the order shown, and which of them is judged."""

    first: Slot
    second: Slot
    judged_is_second: bool

    @classmethod
    def of(cls, trial: Trial) -> ComparedSlots:
        first, second = compared_slots(trial)
        # In a pair of one stimulus with itself either may be the judged one: take the first.
        return cls(first, second, first.stimulus != trial.draws["judged"])

    def turned(self, raw: float) -> float:
        """Return a value about slots as a value about stimuli."""
        return raw if self.judged_is_second or not raw else -raw

    def judgement(
        self,
        asked: Asked,
        kind: Literal["diff", "choice", "correct"],
        value: float | None,
        raw: float | None,
        *,
        limits: tuple[float, float] | None = None,
        missing: str = "media_error",
    ) -> Judgement:
        """Return the judgement about the judged slot, compared with the other."""
        judged, other = (self.second, self.first) if self.judged_is_second else (self.first, self.second)
        low, high = limits or (asked.scale.min, asked.scale.max)
        return Judgement(
            question=asked.question,
            kind=kind,
            slot=judged.id,
            value=value,
            raw_value=raw,
            scale_min=low,
            scale_max=high,
            other_slot=other.id,
            missing=missing if value is None else None,
        )


def judged_stimulus(one: Stimulus, two: Stimulus, catalogue: Catalogue) -> str:
    """Return the stimulus of a pair that a positive value favours, whatever the order on the screen.

    Against a reference it is the other one; else the one whose condition stands first in the study.
    """
    if (one.role == "reference") != (two.role == "reference"):
        return two.id if one.role == "reference" else one.id
    return min((one, two), key=lambda stimulus: catalogue.conditions.index(stimulus.condition)).id


def raw_value(seen: ComparedSlots, scale: Scale, choice: Mapping[str, Any]) -> float:
    """Return the choice as a number: above zero for the second, or right, slot."""
    if choice["better"] == "tie":
        return 0
    grade = choice.get("grade", scale.max)
    grade = int(grade) if float(grade).is_integer() else grade
    return cast("float", grade if choice["better"] == seen.second.id else -grade)


def comparison_problems(questions: tuple[Question, ...], has_tie: bool) -> Iterator[Problem]:
    """Yield scales that are not symmetric, or lack the 0 that `options.tie` needs."""
    for index, question in enumerate(questions):
        scale, key = question.scale, f"questions.{index}.scale"
        if scale.min != -scale.max:
            what = f"goes from {scale.min:g} to {scale.max:g}, and a comparison is the same to both sides"
            yield Problem(key, what, f"-{abs(scale.max):g} to {abs(scale.max):g}")
        elif scale.look != "radio":
            yield Problem(key, "has the look slider, and a comparison is a choice of words", "look: radio")
        elif has_tie and not scale.holds(0):
            yield Problem(key, "has no 0, and options.tie asks for one", "a scale with 0", "Write scale: pref3.")
        elif scale.numbers is not None:
            what = f"is {scale.numbers}, and answers of a comparison are sentences, whose sign nobody needs to know"
            yield Problem(f"{key}.numbers", what, "", "Take it out.")


def response_reasons(trial: Trial) -> dict[str, Json]:
    """Return the reasons of a robot: none, unless they are required."""
    if trial.draws.get("reason") != "required":
        return {}
    return {"reasons": {asked.id: ["It is what I perceived."] for asked in trial.asked}}


def choice_values(scale: Scale, felt: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the choices for an array of perceived differences, as raw values: `respond`, vectorised."""
    grades = np.array([0.0, *grades_of(scale)])
    strength = np.minimum(1.0, np.abs(felt) / _FULL_SCALE_DIFFERENCE)
    if len(grades) == 2:
        step = (strength >= _TIE_SHARE) | (not scale.holds(0))
    else:
        step = np.maximum(np.rint(strength * (len(grades) - 1)), 0 if scale.holds(0) else 1)
    return np.asarray(np.where(felt > 0, 1.0, -1.0) * grades[step.astype(np.int64)] + 0.0, np.float64)


def _choose(scale: Scale, felt: float, first: str, second: str) -> Json:
    grades = grades_of(scale)
    strength = min(1.0, abs(felt) / _FULL_SCALE_DIFFERENCE)
    better = second if felt > 0 else first
    if len(grades) == 1:
        return {"better": "tie" if scale.holds(0) and strength < _TIE_SHARE else better}
    step = round(strength * len(grades))
    if step == 0:
        if scale.holds(0):
            return {"better": "tie"}
        step = 1
    grade = grades[step - 1]
    return {"better": better, "grade": int(grade) if float(grade).is_integer() else grade}


# A plan composes every trial from the same few questions.
@lru_cache(maxsize=32)
def _page_questions(questions: tuple[Question, ...], has_tie: bool, presentation: str | None) -> tuple[Question, ...]:
    """Return the questions with ties and with labels that name the sides; scales written out stay as they are."""
    return tuple(_with_labels(_with_tie(question) if has_tie else question, presentation) for question in questions)


def _with_tie(question: Question) -> Question:
    return question.model_copy(update={"scale": SCALES["pref3"]}) if question.scale == SCALES["pref2"] else question


_LEFT, _RIGHT = label_set("sides")
_SIDES = {"side-by-side": (_LEFT, _RIGHT), "free": ("A", "B")}
"""What the two are called on the page, by presentation."""


def _with_labels(question: Question, presentation: str | None) -> Question:
    if presentation not in _SIDES or question.scale not in SCALES.values():
        return question
    return question.model_copy(update={"scale": _with_sides(question.scale, _SIDES[presentation])})


def _with_sides(scale: Scale, sides: tuple[str, str]) -> Scale:
    labels = tuple((value, _side_label(value, text, *sides)) for value, text in scale.labels)
    return scale.model_copy(update={"labels": labels})


def scale_of_ratings(scale: Scale, sides: tuple[str, str] | None) -> Scale:
    """Return the scale of a page with the words of its ratings, which say what is better and not where it stood.

    `sides` are what is preferred below and above zero; without them it is the condition that is worse or better.
    """
    for named in SCALES.values():
        if scale == named or scale in [_with_sides(named, places) for places in _SIDES.values()]:
            return named if sides is None else _with_sides(named, sides)
    return scale


def _side_label(value: float, text: str, one: str, two: str) -> str:
    """Return a label of a comparison scale with its side: `Left slightly better`."""
    if not value:
        return text
    side = two if value > 0 else one
    return side if text in (label_set("preference")[0], label_set("preference")[-1]) else with_side(text, side)


# Reading choices


def compared_slots(trial: Trial) -> tuple[Slot, Slot]:
    """Return the two slots that are compared, in the order shown."""
    first, second = (slot for slot in trial.slots if slot.rated)
    return first, second


def grades_of(scale: Scale) -> list[float]:
    """Return the grades of a scale: its values above zero."""
    count = round((scale.max - scale.min) / scale.step)
    values = [round(scale.min + scale.step * place, 9) for place in range(count + 1)]
    return [value for value in values if value > 0]


def read_choices(trial: Trial, answer: Json) -> Json:
    """Return the answer with exactly the choices of this trial, or raise Refused."""
    given, missing = _read_parts(trial, answer)
    if missing:
        return _without_choices(given, missing)
    choices = exact_object(given.get("choices"), [asked.id for asked in trial.asked], "answer.choices", "choices")
    slots = [slot.id for slot in compared_slots(trial)]
    read: dict[str, Json] = {
        "choices": {
            asked.id: _read_choice(asked.scale, choices[asked.id], slots, f"answer.choices.{asked.id}")
            for asked in trial.asked
        }
    }
    return read | read_reasons(trial, given) | read_comment(given)


def read_identification(trial: Trial, answer: Json) -> Json:
    """Return the answer `{"choices": {"q1": {"same_as": "s1"}}}`, or raise Refused."""
    given, missing = _read_parts(trial, answer)
    if missing:
        return _without_choices(given, missing)
    choices = exact_object(given.get("choices"), [asked.id for asked in trial.asked], "answer.choices", "choices")
    known = [slot.id for slot in compared_slots(trial)] + ["unsure"] * bool(trial.draws.get("unsure"))
    normal: dict[str, Json] = {}
    for name, choice in choices.items():
        where = f"answer.choices.{name}"
        answer_slot = exact_object(choice, ["same_as"], where, "choices")["same_as"]
        if not isinstance(answer_slot, str) or answer_slot not in known:
            raise Refused.because(
                "cannot_be_the_same", where=f"{where}.same_as", allowed=", ".join(known), answer_slot=answer_slot
            )
        normal[name] = {"same_as": answer_slot}
    return {"choices": normal, **read_reasons(trial, given), **read_comment(given)}


def read_reasons(trial: Trial, given: Mapping[str, Json]) -> dict[str, Json]:
    """Return the reasons by question, or raise Refused where they are not asked for, or missing."""
    rule, where = trial.draws.get("reason", "none"), "answer.reasons"
    reasons = given.get("reasons")
    if reasons is None and rule != "required":
        return {}
    if rule == "none":
        raise Refused.because("reasons_not_asked", where=where, allowed="leave them out")
    known = [asked.id for asked in trial.asked]
    if not isinstance(reasons, Mapping) or any(name not in known for name in reasons):
        raise Refused.because("reasons_cannot_be_kept", where=where, allowed=f"an object with {', '.join(known)}")
    for name in known:
        texts = reasons.get(name, [])
        if not isinstance(texts, list | tuple) or not all(isinstance(text, str) for text in texts):
            raise Refused.because("reason_cannot_be_kept", where=f"{where}.{name}", allowed="a list of texts")
        if len(texts) > MAX_TEXTS or sum(len(cast("str", text)) for text in texts) > MAX_TEXT_LENGTH:
            allowed = f"up to {MAX_TEXT_LENGTH} characters in up to {MAX_TEXTS} texts"
            raise Refused.because("reason_too_long", where=f"{where}.{name}", allowed=allowed)
        if rule == "required" and not any(cast("str", text).strip() for text in texts):
            raise Refused.because("no_reason", where=f"{where}.{name}", allowed="a list with a text")
    return {"reasons": {name: list(cast("list[Json]", texts)) for name, texts in reasons.items()}} if reasons else {}


def _read_parts(trial: Trial, answer: Json) -> tuple[Mapping[str, Json], dict[str, Json]]:
    given = answer_parts(answer, ("choices", "missing", "reasons", "comment"), '{"choices": {"q1": {"better": "s1"}}}')
    return given, read_missing(trial, given.get("missing", {}))


def _without_choices(given: Mapping[str, Json], missing: dict[str, Json]) -> Json:
    """Return the answer to a comparison with a missing stimulus: no choices."""
    if given.get("choices", {}) != {}:
        raise Refused.because("nothing_to_compare", where="answer.choices", allowed="{} where a slot is missing")
    return {"choices": {}, "missing": missing, **read_comment(given)}


def _read_choice(scale: Scale, choice: Json, slots: list[str], where: str) -> Json:
    if not isinstance(choice, Mapping) or not {"better"} <= set(choice) <= {"better", "grade"}:
        raise Refused.because("unreadable_choice", where=where, allowed='{"better": slot, "grade": number}')
    better, known = choice["better"], [*slots, *(["tie"] if scale.holds(0) else [])]
    if not isinstance(better, str) or better not in known:
        raise Refused.because("cannot_be_better", where=f"{where}.better", allowed=", ".join(known), better=better)
    grades = grades_of(scale)
    if better == "tie":
        if "grade" in choice:
            raise Refused.because("tie_without_grade", where=f"{where}.grade", allowed="leave it out")
        return {"better": better}
    if "grade" not in choice and len(grades) == 1:
        return {"better": better}
    grade = finite_number(choice.get("grade"))
    if grade is None or grade not in grades:
        allowed = ", ".join(f"{value:g}" for value in grades)
        raise Refused.because("not_a_grade", where=f"{where}.grade", allowed=allowed, grade=choice.get("grade"))
    if len(grades) == 1:
        return {"better": better}
    return {"better": better, "grade": int(grade) if float(grade).is_integer() else grade}
