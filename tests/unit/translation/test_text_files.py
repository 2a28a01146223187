"""Every text of ours in other languages: none missing, none left over, the same values, the plural forms of CLDR."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from beholder.errors import UserError
from beholder.study.consistency import languages
from beholder.translation.text_files import SOURCE, TextFile, faults, known_language, plural_categories, text_files

TRANSLATED = [language for language in languages() if language != SOURCE]


def test_every_text_is_there_in_english() -> None:
    names = {file.name for file in text_files()}
    assert {"web/words/en.json", "web/words/en/gold.json", "checks/colour/words/en.json"} <= names
    assert {"methods/acr/texts/consent.md", "methods/mismatch/genea/naturalness/texts/consent.md"} <= names
    assert {fault.what for fault in faults(SOURCE)} == {"is still English"}


@pytest.mark.parametrize("language", TRANSLATED)
def test_a_language_says_all_that_english_says(language: str) -> None:
    assert [str(fault) for fault in faults(language)] == []


@pytest.mark.parametrize("language", TRANSLATED)
def test_a_language_says_how_it_is_written(language: str) -> None:
    head = json.loads(text_files()[0].path(language).read_text("utf-8"))
    assert head["locale"].partition("-")[0] == language.partition("-")[0]
    assert head["direction"] == ("rtl" if language == "ar" else "ltr")


@pytest.mark.parametrize(
    ("language", "categories"),
    [
        ("de", "one other"), ("fr", "one other"), ("ja", "other"), ("pl", "one few many other"),
        ("ar", "zero one two few many other"), ("pt-BR", "one other"),
    ],
)  # fmt: skip
def test_plural_forms_are_those_that_cldr_asks_for(language: str, categories: str) -> None:
    assert plural_categories(language) == tuple(categories.split())


def folder_of(tmp_path: Path, english: object, polish: object) -> TextFile:
    for name, texts in (("en", english), ("pl", polish)):
        (tmp_path / f"{name}.json").write_text(json.dumps(texts), "utf-8")
    return TextFile(tmp_path / "en.json")


@pytest.mark.parametrize(
    ("english", "polish", "what"),
    [
        ({"a": "Stop here"}, {}, "is missing: Stop here"),
        ({"a": "Stop here"}, {"a": "Stop here"}, "is still English"),
        ({"a": "Stop here"}, {"a": " "}, "is empty"),
        ({}, {"b": "Dalej"}, "is not in English"),
        ({"a": "{n} of {total}"}, {"a": "{n} z {totl}"}, "has {n}, {totl}, and the English has {n}, {total}"),
        ({"a": "Press **Stop** now"}, {"a": "Stop"}, "has other marks of bold type than the English"),
        ({"a": "Bad; Fair; Good"}, {"a": "Źle; Dobrze"}, "has another number of labels than the English"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_said(
    tmp_path: Path, english: object, polish: object, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = folder_of(tmp_path, english, polish)
    monkeypatch.setattr("beholder.translation.text_files.text_files", lambda: (file,))
    monkeypatch.setattr("beholder.translation.text_files.PACKAGE", tmp_path)
    (fault,) = faults("pl")
    assert fault.what == what


def test_a_plural_form_that_a_language_needs_is_missed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    polish = {"left": {"one": "1 strona", "many": "{n} stron", "other": "{n} strony"}}
    file = folder_of(tmp_path, {"left": {"one": "1 page", "other": "{n} pages"}}, polish)
    monkeypatch.setattr("beholder.translation.text_files.text_files", lambda: (file,))
    monkeypatch.setattr("beholder.translation.text_files.PACKAGE", tmp_path)
    assert [str(fault) for fault in faults("pl")] == ["en.json left#few: is missing: {n} pages"]


def test_a_code_that_is_no_other_language_is_refused() -> None:
    for code, what in (("en", "is English, from which the others are made"), ("klingon", "is klingon, and is none")):
        with pytest.raises(UserError) as caught:
            known_language(code)
        assert what in str(caught.value)
    assert known_language("pt-BR") == "pt-BR"
