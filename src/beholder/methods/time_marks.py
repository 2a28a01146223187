"""Time marks: `[{"slot": "s1", "ms": 3200, "label": "blur"}]` beside an answer, made while a clip plays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, cast

from pydantic import (
    AfterValidator,
    Field,
    SerializerFunctionWrapHandler,
    StringConstraints,
    model_serializer,
    model_validator,
)

from beholder.errors import Problem, Refused
from beholder.methods.contract import Trial
from beholder.stimuli.catalogue import Catalogue
from beholder.study.model import Study
from beholder.study.parts import Fault, ShownText, StudyPart, raise_faults
from beholder.study.value_kinds import Allowed, Shown
from beholder.types import Json, Medium

ONE_LABEL = "mark"
"""What a mark is called in data where the study has no labels; the page has a word of its own for it."""
MOST_LABELS = 9
_LONGEST = 40
_MOST_MARKS = 200
TIMED: frozenset[Medium] = frozenset({"video", "audio"})
_Label = Annotated[
    str,
    StringConstraints(min_length=1, max_length=_LONGEST, pattern=r"\S"),
    Allowed(f"text of up to {_LONGEST} characters"),
]


class TimeMarks(StudyPart):
    """Marks that people set while a clip plays, where something is wrong with it: of `acr`, `likert` and `parallel`."""

    labels: Annotated[tuple[_Label, ...], Shown()] = Field(
        default=(),
        description=f"What a mark can say, up to {MOST_LABELS}, each with a button and a key of its own; when left out "
        f"there is one button, and every mark is called `{ONE_LABEL}` in the data.",
    )
    at_least: int = Field(
        default=0,
        ge=0,
        le=_MOST_MARKS,
        description="As many marks each page needs before it can be left. Above 0 people also mark what is flawless.",
    )
    most: int = Field(default=50, ge=1, le=_MOST_MARKS, description="As many marks one page can have.")
    ask: ShownText | None = Field(
        default=None, description="What people read above the buttons; a sentence of ours when left out."
    )

    @model_validator(mode="after")
    def _fits_together(self) -> TimeMarks:
        faults = []
        if len(self.labels) > MOST_LABELS:
            what = f"has {len(self.labels)} labels, and there are keys for {MOST_LABELS}"
            faults.append(Fault(what, f"up to {MOST_LABELS} labels", "", ("labels",)))
        for place, label in enumerate(self.labels):
            if label in self.labels[:place]:
                faults.append(Fault(f"is {label}, which is there already", "every label once", "", ("labels", place)))
        if self.at_least > self.most:
            what = f"is {self.at_least}, above most, {self.most}"
            faults.append(Fault(what, "at_least up to most", "", ("at_least",)))
        raise_faults(faults)
        return self


def _filled(value: TimeMarks | bool) -> TimeMarks | bool:
    return TimeMarks() if value is True else value


Marks = Annotated[TimeMarks | bool, AfterValidator(_filled)]
"""The option `marks` of a method."""


def marks_option() -> Any:
    """Return the field of the option, which stands behind those that are the method's own."""
    text = "Let people mark, while a video or sound plays, where something is wrong: `true` for one button, or "
    return Field(default=False, description=text + "`{labels, at_least, most, ask}`.")


class MarkableOptions(StudyPart):
    """Base of the options of methods that have `marks`."""

    @model_serializer(mode="wrap")
    def _as_before(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Return the options as they are written; where nobody marks, as they were when nobody could."""
        written: dict[str, Any] = handler(self)
        if written["marks"] is False:
            del written["marks"]
        return written


def marks_of(study: Study) -> TimeMarks | None:
    """Return how a study lets people mark; None where it does not."""
    written: Any = study.options.get("marks", False)
    if not written:
        return None
    return written if isinstance(written, TimeMarks) else _settings(written)


def _settings(written: Any) -> TimeMarks:
    return TimeMarks() if written is True else TimeMarks.model_validate(written)


def mark_problems(name: str, study: Study, catalogue: Catalogue) -> Iterator[Problem]:
    """Yield why nothing can be marked, as what does not play has no time, or not as often as is asked for."""
    marks = marks_of(study)
    if marks is None:
        return
    still = sorted({stimulus.medium for stimulus in catalogue.stimuli} - TIMED)
    if still:
        words = {"image": "images", "text": "texts"}
        what = f"is on, and stimuli are {' and '.join(words.get(one, one) for one in still)}, which do not play"
        yield Problem("options.marks", what, "videos and sounds", f"Take it out: {name} rates them as they are.")
    if marks.at_least and study.playback.max_plays is not None:
        what = f"is {marks.at_least}, and with playback.max_plays nobody could play it again to set what is missing"
        yield Problem("options.marks.at_least", what, "0, or no playback.max_plays")


# In a trial


def with_marks(trial: Trial, study: Study) -> Trial:
    """Return a trial in which people can mark, where the study lets them; else as it is."""
    marks = marks_of(study)
    if marks is None:
        return trial
    drawn: dict[str, Json] = {
        "labels": [*marks.labels], "at_least": marks.at_least, "most": marks.most, "ask": marks.ask,
    }  # fmt: skip
    return replace(trial, draws={**trial.draws, "marks": drawn})


def marks_in_language(trial: Trial, study: Study) -> Trial:
    """Return a trial of the plan with the words of marks in the language of a study; the data keep the first labels."""
    drawn, marks = marking(trial), marks_of(study)
    if drawn is None or marks is None:
        return trial
    said: dict[str, Json] = {} if [*marks.labels] == drawn["labels"] else {"marks_said": [*marks.labels]}
    return replace(trial, draws={**trial.draws, "marks": {**drawn, "ask": marks.ask}, **said})


def marking(trial: Trial) -> Mapping[str, Json] | None:
    """Return how people mark in this trial; None where they do not."""
    drawn = trial.draws.get("marks")
    # A method of another package may draw something of that name.
    return drawn if isinstance(drawn, Mapping) and drawn.keys() == TimeMarks.model_fields.keys() else None


def mark_extra(trial: Trial) -> dict[str, Json]:
    """Return what the page has to know of marks."""
    drawn = marking(trial)
    said = {"marks_said": trial.draws["marks_said"]} if "marks_said" in trial.draws else {}
    return {} if drawn is None else {"marks": dict(drawn), **said}


def mark_labels(trial: Trial) -> tuple[str, ...]:
    """Return the labels that marks of this trial can have."""
    drawn = marking(trial) or {}
    return tuple(cast("Sequence[str]", drawn.get("labels") or ())) or (ONE_LABEL,)


def markable_slots(trial: Trial) -> tuple[str, ...]:
    """Return the slots in which marks can lie; of what plays at once, what is rated."""
    return tuple(slot.id for slot in trial.slots if slot.rated or not trial.together)


# Reading an answer


_PARTS = ("slot", "ms", "label")
_AT_ONCE_MS = 300
"""A position may run so much ahead of what the log tells: as much as what counts as watched."""


def read_marks(trial: Trial, given: Mapping[str, Json]) -> dict[str, Json]:
    """Return the marks as a part of the answer, in the order of slots and time; nothing where nobody marks.

    Whether their places were played, and are within the clip, is not decided here: only the log knows.
    """
    drawn = marking(trial)
    if drawn is None:
        return {}
    marks = given.get("marks", [])
    most = int(cast("int", drawn["most"]))
    if not isinstance(marks, list | tuple):
        raise Refused.because("marks_not_a_list", where="answer.marks", allowed='[{"slot": "s1", "ms": 3200, ...}]')
    if len(marks) > most:
        raise Refused.because("too_many_marks", where="answer.marks", allowed=f"up to {most}", n=len(marks))
    read = [_read_mark(trial, mark, f"answer.marks.{place}") for place, mark in enumerate(marks)]
    order = {slot.id: place for place, slot in enumerate(trial.slots)}
    read.sort(key=lambda one: (order[one["slot"]], one["ms"], one["label"]))
    return {"marks": [*read]}


def _read_mark(trial: Trial, mark: Json, where: str) -> dict[str, Any]:
    if not isinstance(mark, Mapping) or set(mark) != set(_PARTS):
        raise Refused.because("not_a_mark", where=where, allowed="an object with slot, ms and label")
    slot, ms, label = (mark[part] for part in _PARTS)
    slots, labels = markable_slots(trial), mark_labels(trial)
    if slot not in slots:
        raise Refused.because("mark_slot_unknown", where=f"{where}.slot", allowed=", ".join(slots), slot=slot)
    if label not in labels:
        raise Refused.because("mark_label_unknown", where=f"{where}.label", allowed=", ".join(labels), label=label)
    if isinstance(ms, bool) or not isinstance(ms, int) or ms < 0:
        raise Refused.because("mark_not_a_time", where=f"{where}.ms", allowed="whole milliseconds, 0 or more", ms=ms)
    return {"slot": slot, "ms": ms, "label": label}


def check_marks(
    trial: Trial,
    answer: Json,
    lengths_ms: Mapping[str, int],
    played: Mapping[str, Sequence[tuple[float, float]]],
) -> None:
    """Raise Refused where a mark lies outside its clip or where it was never played, or marks are missing.

    `played` are the stretches of each slot that the log proves, in milliseconds.
    """
    drawn = marking(trial)
    if drawn is None or answer is None:
        return
    given = cast("Mapping[str, Any]", answer)
    missing = given.get("missing", {})
    for place, mark in enumerate(given["marks"]):
        where, slot, ms = f"answer.marks.{place}", mark["slot"], mark["ms"]
        if slot in missing:
            raise Refused.because("mark_on_missing", where=where, allowed="no mark there", slot=slot)
        if ms > lengths_ms[slot]:
            raise Refused.because("mark_past_end", where=f"{where}.ms", allowed=f"up to {lengths_ms[slot]}", ms=ms)
        if not any(start - _AT_ONCE_MS <= ms <= end + _AT_ONCE_MS for start, end in played[slot]):
            raise Refused.because("mark_not_played", where=f"{where}.ms", allowed="where it was played", ms=ms)
    at_least = int(cast("int", drawn["at_least"]))
    has_all = not any(slot in missing for slot in markable_slots(trial))
    if has_all and len(given["marks"]) < at_least:
        raise Refused.because(
            "too_few_marks", where="answer.marks", allowed=f"{at_least} or more", n=len(given["marks"])
        )
