"""Languages of sessions, and answers of questionnaires in the words of the first language."""

from __future__ import annotations

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, cast

from beholder.cleaning.facts import AnswerRecord
from beholder.cleaning.languages import AnswerLanguages, language_rows, spoken_group

TEXT = """name: tiny
languages: [en, de]
before:
- {id: tea, options: [{en: "yes", de: ja}, {en: "no", de: nein}]}
- {id: cups, options: {en: [one, two], de: [eine, zwei]}}
- {id: free, options: []}
"""


def answers(language: str | None, **given: Any) -> dict[str, AnswerRecord]:
    def record(key: str, answer: dict[str, Any]) -> AnswerRecord:
        return AnswerRecord(key, answer, {}, 0, 1, "mouse", datetime(2026, 1, 1, tzinfo=UTC))

    told = {} if language is None else {"language": language, "language_from": "link"}
    return {
        "consent": record("consent", {"agree": True, **told}),
        "questions:before": record("questions:before", {"answers": given}),
        "trial:1": record("trial:1", {"scores": {"q1": {"s1": 3}}}),
    }


def test_options_of_another_language_are_those_of_the_first() -> None:
    languages = AnswerLanguages(TEXT)
    given = answers("de", tea="nein", cups=["zwei", "eine"], free="nein")
    assert languages.of(given) == "de"
    assert languages.of({}) is None
    assert languages.of(answers(None)) == "en"
    read = languages.in_first(given, "de")
    assert read["questions:before"].answer["answers"] == {"tea": "no", "cups": ["two", "one"], "free": "nein"}
    assert read["trial:1"] is given["trial:1"]
    assert languages.in_first(given, "en") is given


def test_a_study_in_one_language_has_none_to_tell() -> None:
    assert AnswerLanguages("name: tiny\n").of(answers("de")) is None


def test_the_language_is_a_factor_and_a_row_of_the_account() -> None:
    def judged(person: str, language: str | None, outcome: str, *, use: bool) -> Any:
        visit = SimpleNamespace(participant=person, language=language, outcome=outcome, group={"layout": "grid"})
        return SimpleNamespace(visit=visit, decision=SimpleNamespace(use=use))

    some = [judged("a", "de", "completed", use=True), judged("b", "de", "withdrawn", use=False),
            judged("c", "en", "completed", use=True), judged("d", None, "no_consent", use=False)]  # fmt: skip
    assert spoken_group(some[0].visit) == {"layout": "grid", "language": "de"}
    assert spoken_group(some[3].visit) == {"layout": "grid"}
    assert language_rows(cast("Any", some)) == [
        {"language": "de", "began": 2, "finished": 1, "used": 1},
        {"language": "en", "began": 1, "finished": 1, "used": 1},
    ]
