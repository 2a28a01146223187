"""What people were asked: the study texts in the store, which stay as they were when study.yaml changes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from beholder.checks.contract import Watch
from beholder.cleaning.sessions import JudgedSession
from beholder.methods.contract import Method, all_questions
from beholder.study.design import Level
from beholder.study.languages import values_in_language
from beholder.study.model import Playback, Question, Study
from beholder.study.questionnaire import Ask, RecurringAsk
from beholder.study.recruitment import SOURCES
from beholder.study.yaml import plain_values

_Item = TypeVar("_Item", bound=Ask)


@dataclass(frozen=True)
class StudyText:
    """One study text: what participants read, its questions without marks, and what they had to watch."""

    title: str
    questions: tuple[Question, ...]
    watch: Watch
    before: tuple[Ask, ...] = ()
    during: tuple[RecurringAsk, ...] = ()
    after: tuple[Ask, ...] = ()
    watched: Mapping[tuple[str, str], Watch] = field(default_factory=dict)
    """What else had to be watched by who had a level of a factor, by both."""
    contrasts: tuple[tuple[str, str], ...] = ()
    """The contrasts that it names."""

    def watch_of(self, group: Mapping[str, str]) -> Watch:
        """Return what had to be watched by a group of participants."""
        return next((self.watched[pair] for pair in group.items() if pair in self.watched), self.watch)

    @property
    def asks(self) -> tuple[Ask, ...]:
        """The items of all questionnaires."""
        return (*self.before, *self.during, *self.after)


def read_text(text: str, study: Study, method: Method) -> StudyText:
    """Return what stands in a stored study text; the study as it is now fills what the text leaves to the method."""
    values = text_values(text)
    title = str(values.get("title", study.title))
    if "questions" in values:
        written = [{key: one[key] for key in Question.model_fields if key in one} for one in values["questions"]]
        study = study.model_copy(update={"questions": tuple(Question.model_validate(one) for one in written)})
    if isinstance(values.get("options"), dict):
        study = study.model_copy(update={"options": values["options"]})
    between = _between(values)
    study = study.model_copy(update={"design": study.design.model_copy(update={"between": between})})
    return StudyText(
        title,
        tuple(question.plain for question in all_questions(study, method)),
        _watch(values, method),
        _asks(values, "before", Ask, study.before),
        _asks(values, "during", RecurringAsk, study.during),
        _asks(values, "after", Ask, study.after),
        watched=_watched(between),
        contrasts=_contrasts(values),
    )


def text_rows(texts: Mapping[str, StudyText], judged: Sequence[JudgedSession]) -> list[dict[str, Any]]:
    """Return each study text with its used sessions and participants, in the order in which sessions began."""
    rows = []
    for digest in dict.fromkeys(one.visit.digest for one in judged):
        used = [one.visit for one in judged if one.visit.digest == digest and one.decision.use]
        text = texts[digest]
        rows.append(
            {
                "digest": digest,
                "title": text.title,
                "watch": text.watch,
                "questions": [question.model_dump(mode="json") for question in text.questions],
                "used_sessions": len(used),
                "used_participants": len({visit.participant for visit in used}),
            }
        )
    return rows


def _asks(values: Mapping[str, Any], place: str, model: type[_Item], now: tuple[_Item, ...]) -> tuple[_Item, ...]:
    """Return the items of a questionnaire as they were written, else as they are `now`."""
    if place not in values:
        return now
    written = [{key: one[key] for key in model.model_fields if key in one} for one in values[place]]
    return tuple(model.model_validate(one) for one in written)


def _watch(values: Mapping[str, Any], method: Method) -> Watch:
    """Return what had to be watched: as written, else the method's default, else ours."""
    for source in (values, method.defaults):
        playback = source.get("playback")
        if isinstance(playback, Mapping) and "watch" in playback:
            return cast(Watch, playback["watch"])
    return Playback().watch


def _between(values: Mapping[str, Any]) -> dict[str, dict[str, Level]]:
    """Return the factors between participants as they were written."""
    design = values.get("design")
    between = design.get("between") if isinstance(design, Mapping) else None
    return {
        factor: {name: Level.model_validate(level or {}) for name, level in levels.items()}
        for factor, levels in (between or {}).items()
    }


def _watched(between: Mapping[str, Mapping[str, Level]]) -> dict[tuple[str, str], Watch]:
    return {
        (factor, name): cast(Watch, level.playback["watch"])
        for factor, levels in between.items()
        for name, level in levels.items()
        if "watch" in level.playback
    }


def _contrasts(values: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Return the contrasts as they were written."""
    analyse = values.get("analyse")
    written = analyse.get("contrasts") if isinstance(analyse, Mapping) else None
    return tuple((str(one), str(other)) for one, other in written or ())


def text_values(text: str) -> dict[str, Any]:
    """Return the map in a study text, in its first language, by the rules of YAML 1.2 by which it was written."""
    values = plain_values(text)
    codes = values.get("languages")
    if isinstance(codes, list) and len(codes) > 1:
        return cast("dict[str, Any]", values_in_language(values, codes, codes[0]))
    return values


# Masks for e-mail addresses and platform ids in exported texts


E_MAIL, ID = "[e-mail]", "[id]"
_LOCAL = r"[\w.+%'’-]"
_ADDRESS = re.compile(rf"(?<!{_LOCAL}){_LOCAL}+@[\w-]+(?:\.[\w-]+)+")
_PLATFORM_ID = re.compile("|".join(source.id_pattern for source in SOURCES if source.id_pattern))
_MIN_ID_LENGTH = 5
"""Letters that an id has to have: the number of a seat is in many sentences that are about something else."""


class Masks:
    """Puts the marks into texts, and counts them by the table that a text stands in."""

    def __init__(self, ids: Iterable[str] = ()) -> None:
        self._ids = sorted({id.casefold() for id in ids if len(id) >= _MIN_ID_LENGTH}, key=lambda id: (-len(id), id))
        self.counts: Counter[str] = Counter()

    def text(self, text: str, table: str = "") -> str:
        """Return a text without addresses, ids that look like a platform's, and those that are known."""
        masked, addresses = _ADDRESS.subn(E_MAIL, text)
        masked, ids = _PLATFORM_ID.subn(ID, masked)
        folded = masked.casefold()
        for id in self._ids:
            if id in folded:
                masked, count = re.subn(rf"(?<!\w){re.escape(id)}(?!\w)", ID, masked, flags=re.IGNORECASE)
                ids += count
        if addresses or ids:
            self.counts[table] += addresses + ids
        return masked

    def value(self, value: Any, table: str) -> Any:
        """Return JSON whose texts are masked."""
        if isinstance(value, str):
            return self.text(value, table)
        if isinstance(value, Mapping):
            return {name: self.value(one, table) for name, one in value.items()}
        return [self.value(one, table) for one in value] if isinstance(value, list | tuple) else value
