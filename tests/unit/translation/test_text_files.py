"""Every text of ours in other languages: none missing, none left over, the same values, the plural forms of CLDR."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from beholder.errors import UserError
from beholder.translation.text_files import (
    BANK,
    SOURCE,
    TextFile,
    bank_faults,
    faults,
    known_language,
    plural_categories,
    text_faults,
    text_files,
)
from beholder.words import languages

TRANSLATED = [language for language in languages() if language != SOURCE]


def test_every_text_is_there_in_english() -> None:
    names = {file.name for file in text_files()}
    assert {"web/words/en.json", "web/words/en/gold.json", "checks/colour/words/en.json"} <= names
    assert {"methods/acr/texts/consent.md", "methods/mismatch/genea/naturalness/texts/consent.md"} <= names
    assert {"methods/acr/words/example/en.json", "checks/language/words/en.json", "translation/about/en.json"} <= names
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
    (fault,) = text_faults("pl")
    assert fault.what == what


def test_a_plural_form_that_a_language_needs_is_missed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    polish = {"left": {"one": "1 strona", "many": "{n} stron", "other": "{n} strony"}}
    file = folder_of(tmp_path, {"left": {"one": "1 page", "other": "{n} pages"}}, polish)
    monkeypatch.setattr("beholder.translation.text_files.text_files", lambda: (file,))
    monkeypatch.setattr("beholder.translation.text_files.PACKAGE", tmp_path)
    assert [str(fault) for fault in text_faults("pl")] == ["en.json left#few: is missing: {n} pages"]


def test_a_code_that_is_no_other_language_is_refused() -> None:
    for code, what in (("en", "is English, from which the others are made"), ("klingon", "is klingon, and is none")):
        with pytest.raises(UserError) as caught:
            known_language(code)
        assert what in str(caught.value)
    assert known_language("pt-BR") == "pt-BR"


def test_words_that_are_the_same_in_both_languages_are_no_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = {"a": "Pause", "b": "{n} Participants", "c": "iPhone, iPad", "d": "Continue"}
    file = folder_of(tmp_path, texts, texts)
    about = tmp_path / "added" / "translation" / "about"
    about.mkdir(parents=True)
    (about / "pl.json").write_text(json.dumps({"same": ["Pause", "participants"]}), "utf-8")
    monkeypatch.setenv("BEHOLDER_WORDS", str(tmp_path / "added"))
    monkeypatch.setattr("beholder.translation.text_files.text_files", lambda: (file,))
    monkeypatch.setattr("beholder.translation.text_files.PACKAGE", tmp_path)
    assert [str(fault) for fault in text_faults("pl")] == ["en.json d: is still English"]


def test_names_of_items_in_tables_are_not_translated() -> None:
    (items,) = (file for file in text_files() if file.name == "methods/p835/words/en.json")
    assert set(items.texts(SOURCE)) == {f"{place}/{key}" for place in range(3) for key in ("text", "attend")}


@pytest.mark.parametrize(
    ("item", "what"),
    [
        ({"text": "Eine ___ und ___.", "options": [*"abcd"]}, "items/0/text: has not one gap, written ___"),
        ({"text": "Eine ___.", "options": [*"abca"]}, "items/0/options: are not four different words"),
        ({"text": "She drank a cup of ___.", "options": [*"abcd"]}, "items/0/text: is still English"),
    ],
)  # fmt: skip
def test_items_of_a_language_check_that_do_not_fit_are_said(
    tmp_path: Path, item: object, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = [{"text": f"{n} ___", "options": [*"abcd"]} for n in range(19)]
    (tmp_path / "en.json").write_text((BANK / "en.json").read_text("utf-8"), "utf-8")
    monkeypatch.setattr("beholder.translation.text_files.BANK", tmp_path)
    assert [str(fault) for fault in bank_faults("pl")] == ["pl.json: is missing: 20 sentences or more with a gap"]
    (tmp_path / "pl.json").write_text(json.dumps({"source": "ours, unreviewed", "items": [item, *good]}), "utf-8")
    assert [str(fault) for fault in bank_faults("pl")] == [f"pl.json {what}"]
    (tmp_path / "pl.json").write_text(json.dumps({"items": good}), "utf-8")
    assert [str(fault) for fault in bank_faults("pl")] == [
        "pl.json source: is missing: who wrote the items", "pl.json items: are 19, fewer than 20",
    ]  # fmt: skip
