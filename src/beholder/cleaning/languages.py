"""Languages of sessions: in which each took part, and answers to questionnaires in the words of the first one.

A study in several languages has one table: what was answered in another language stands in it as the option of the
first language, and the language as a factor between participants.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from beholder.study.languages import LANGUAGE, values_in_language
from beholder.study.markdown import plain_text
from beholder.study.yaml import plain_values

if TYPE_CHECKING:
    from beholder.cleaning.facts import AnswerRecord, SessionRecord
    from beholder.cleaning.sessions import JudgedSession
    from beholder.study.model import Study

_QUESTIONNAIRES = ("before", "during", "after")
_CONSENT = "consent"


@dataclass(frozen=True)
class AnswerLanguages:
    """The languages of one study text, and the options of its questionnaires in each."""

    text: str

    @cached_property
    def codes(self) -> Sequence[str]:
        """The languages, the first one that of tables; none where there is one."""
        # Most studies have one, and their texts are long.
        if "\nlanguages:" not in self.text:
            return ()
        codes = self._values.get("languages")
        return [str(code) for code in codes] if isinstance(codes, list) and len(codes) > 1 else ()

    @cached_property
    def _values(self) -> Mapping[str, Any]:
        return plain_values(self.text)

    def of(self, answers: Mapping[str, AnswerRecord]) -> str | None:
        """Return the language in which somebody agreed or declined; None before that, or where there is one."""
        if not self.codes or _CONSENT not in answers:
            return None
        told = answers[_CONSENT].answer.get("language")
        return str(told) if told in self.codes else self.codes[0]

    def in_first(self, answers: dict[str, AnswerRecord], language: str | None) -> dict[str, AnswerRecord]:
        """Return answers with the options of questionnaires in the words of the first language."""
        if language is None or language == self.codes[0]:
            return answers
        words = self._words[language]
        return {
            key: given._replace(answer={**given.answer, "answers": _in_words(given.answer["answers"], words)})
            if key.startswith("questions:")
            else given
            for key, given in answers.items()
        }

    @cached_property
    def _words(self) -> Mapping[str, Mapping[str, Mapping[str, str]]]:
        """By language and item: each option, and the same one in the first language."""
        first = values_in_language(self._values, self.codes, self.codes[0])
        return {code: _options(values_in_language(self._values, self.codes, code), first) for code in self.codes}


def _options(values: Mapping[str, Any], first: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    return {
        str(item["id"]): dict(zip(map(plain_text, item["options"]), map(plain_text, same["options"]), strict=False))
        for name in _QUESTIONNAIRES
        for item, same in zip(values.get(name, ()), first.get(name, ()), strict=False)
    }


def _in_words(given: Mapping[str, Any], words: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    told: dict[str, Any] = {}
    for name, answer in given.items():
        own = words.get(name, {})
        if isinstance(answer, list):
            told[name] = [own.get(one, one) for one in answer]
        else:
            told[name] = own.get(answer, answer) if isinstance(answer, str) else answer
    return told


def spoken_group(visit: SessionRecord) -> Mapping[str, str]:
    """Return a session's levels of factors between participants, with its language where there are several."""
    if visit.language is None or LANGUAGE in visit.group:
        return visit.group
    return {**visit.group, LANGUAGE: visit.language}


def spoken_factors(study: Study) -> tuple[str, ...]:
    """Return the factors between participants of a study, its language among them where there are several."""
    between = tuple(study.design.between)
    return (*between, LANGUAGE) if len(study.all_languages) > 1 and LANGUAGE not in between else between


def language_rows(judged: Iterable[JudgedSession]) -> list[dict[str, Any]]:
    """Return each language with how many people took part in it, finished and are used; none where there is one."""
    judged = [one for one in judged if one.visit.language is not None]
    rows = []
    for code in sorted({str(one.visit.language) for one in judged}):
        theirs = [one for one in judged if one.visit.language == code]
        finished = [one for one in theirs if one.visit.outcome == "completed"]
        used = [one for one in theirs if one.decision.use]
        people = [len({one.visit.participant for one in some}) for some in (theirs, finished, used)]
        rows.append({"language": code, **dict(zip(("began", "finished", "used"), people, strict=True))})
    return rows
