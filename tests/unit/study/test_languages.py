"""Studies in several languages: every text in each, no fallback, and the lines of what is missing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from beholder.errors import StudyError
from beholder.methods import find, load_study
from beholder.planning.growth import earlier_study
from beholder.study.languages import values_in_language
from beholder.study.serialization import digest, resolved_yaml, study_json
from beholder.study.yaml import plain_values
from support.pseudo_language import LONG, TURNED, pseudo_languages

HEAD = "beholder: 1\nname: tiny\nmethod: acr\nstimuli: stimuli\nlanguages: [en, eo, he]\n"
WHOLE = """title: {en: Tea, eo: Teo, he: תה}
questions:
  - {id: quality, text: {en: How good?, eo: Kiel bona?, he: כמה טוב?}, scale: acr5}
  - id: sweet
    text: {en: How sweet?, eo: Kiel dolĉa?, he: כמה מתוק?}
    scale: {min: 1, max: 2, labels: {en: [Little, Much], eo: [Malmulte, Multe], he: [מעט, הרבה]}, look: radio}
texts: {consent: texts/consent.md, thanks: {en: Thanks, eo: Dankon, he: תודה}}
before:
  - id: field
    text: {en: Tea taster?, eo: Ĉu?, he: טועם?}
    type: single
    options: {en: ["yes", "no"], eo: [jes, ne], he: [כן, לא]}
    correct: ["no"]
after:
  - {id: age, text: {en: Age, eo: Aĝo, he: גיל}, type: number, min: 18, when: "field = no"}
"""


@pytest.fixture
def folder(tmp_path: Path, pseudo_words: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with pseudo_languages(pseudo_words, monkeypatch):
        for code in ("", "eo", "he"):
            (tmp_path / "texts" / code).mkdir(parents=True, exist_ok=True)
            (tmp_path / "texts" / code / "consent.md").write_text(f"I agree {code}", "utf-8")
        yield tmp_path


def problems(folder: Path, text: str) -> list[str]:
    (folder / "study.yaml").write_text(text, "utf-8")
    with pytest.raises(StudyError) as caught:
        load_study(folder)
    return [str(problem) for problem in caught.value.problems]


def test_a_study_is_there_in_each_of_its_languages(folder: Path) -> None:
    (folder / "study.yaml").write_text(HEAD + WHOLE, "utf-8")
    study = load_study(folder)
    assert study.all_languages == ("en", LONG, TURNED)
    assert study.language == "en"
    turned = study.in_language("he")
    assert (turned.language, turned.title, turned.questions[1].text) == ("he", "תה", "כמה מתוק?")
    assert [text for _, text in turned.questions[1].scale.labels] == ["מעט", "הרבה"]
    assert turned.texts.consent == "texts/he/consent.md"
    # What is right, and what a question hangs on, follows the options.
    assert turned.before[0].correct == ("לא",)
    assert turned.after[0].when == ("field = לא",)
    assert study.before[0].correct == ("no",)


def test_a_resolved_study_has_all_languages_and_its_digest_knows_their_words(folder: Path) -> None:
    (folder / "study.yaml").write_text(HEAD + WHOLE, "utf-8")
    study = load_study(folder)
    text = resolved_yaml(study)
    again = earlier_study(text, study, find("acr"))
    assert again is not None
    for code in study.all_languages:
        assert again.in_language(code) == study.in_language(code)
    (folder / "study.yaml").write_text(HEAD + WHOLE.replace("תודה", "תודה רבה"), "utf-8")
    assert digest(study_json(load_study(folder))) != digest(study_json(study))
    assert values_in_language(plain_values(text), study.all_languages, "eo")["title"] == "Teo"


def test_texts_of_a_language_can_stand_in_a_file_of_their_own(folder: Path) -> None:
    plain = WHOLE.replace(", he: תה}", "}").replace(", he: [כן, לא]}", "}")
    (folder / "study.yaml").write_text(HEAD + plain, "utf-8")
    own = "title: תה\nbefore:\n- id: field\n  options: [כן, לא]\n"
    (folder / "texts" / "he" / "study.yaml").write_text(own, "utf-8")
    turned = load_study(folder).in_language("he")
    assert (turned.title, turned.before[0].options) == ("תה", ("כן", "לא"))
    (folder / "texts" / "he" / "study.yaml").write_text(own + "  kolor: x\n", "utf-8")
    assert problems(folder, HEAD + plain)[0].startswith("texts/he/study.yaml:5  before.0.kolor is not a known key.")


@pytest.mark.parametrize(
    ("changed", "to", "line", "what"),
    [
        ("title: {en: Tea, eo: Teo, he: תה}", "title: Tea", 6, "title has no text in eo and he. Allowed: a text in en, "
         "eo and he. Write title: {en: ..., eo: ..., he: ...}, or add it to texts/eo/study.yaml."),
        (", he: כמה טוב?", "", 8, "questions.0.text has no text in he. Allowed: a text in en, eo and he."),
        ("he: [מעט, הרבה]", "de: [a, b]", 11, "questions.1.scale.labels.de is for de, which is not among"),
        ("{en: [\"yes\", \"no\"], eo: [jes, ne], he: [כן, לא]}", '["yes", "no"]', 17, "before.0.options has no text"),
        ("eo: [jes, ne]", "eo: [jes, ne, eble]", 17, "before.0.options has 3 in eo, and 2 in the first language."),
        ("texts/consent.md", "texts/agree.md", 12, "texts.consent is texts/agree.md, and there is no texts/eo/"),
    ],
)  # fmt: skip
def test_a_text_that_is_missing_in_a_language_is_an_error_with_its_line(
    folder: Path, changed: str, to: str, line: int, what: str
) -> None:
    (folder / "texts" / "agree.md").write_text("I agree", "utf-8")
    assert changed in WHOLE
    found = problems(folder, HEAD + WHOLE.replace(changed, to))
    assert any(one.startswith(f"study.yaml:{line}  {what}") for one in found), found


@pytest.mark.parametrize(
    ("languages", "what"),
    [
        (
            "[en, xx]",
            "languages.1 is xx, and our words are not written in it. Allowed: those that `beholder",
        ),
        ("[en, eo, en]", "languages.2 is en a second time. Allowed: every language once."),
        ("[eo, en]\nlanguage: en", "language is en, and languages begins with eo. Allowed: eo, or nothing."),
    ],
)
def test_a_list_of_languages_that_does_not_fit_is_said(folder: Path, languages: str, what: str) -> None:
    head = HEAD.replace("[en, eo, he]", languages)
    assert any(one.partition("  ")[2].startswith(what) for one in problems(folder, head + WHOLE))


def test_levels_of_the_factor_language_are_the_languages(folder: Path) -> None:
    design = "design: {participants: 12, between: {language: {en: {}, eo: {}}}}\n"
    (found,) = problems(folder, HEAD + WHOLE + design)
    assert (
        "design.between.language has the levels en and eo. Allowed: the languages of the study: en, eo and he." in found
    )
    (folder / "study.yaml").write_text(HEAD + WHOLE + design.replace("eo: {}", "eo: {}, he: {}"), "utf-8")
    assert [*load_study(folder).design.between["language"]] == ["en", "eo", "he"]
