"""The study file is read by the rules of YAML 1.2, with lines, and never surprises."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from beholder.errors import StudyError
from beholder.methods import load_study
from beholder.study.yaml import core_value, read_document

HEAD = "beholder: 1\nname: tiny\ntitle: Tiny\nmethod: acr\nstimuli: stimuli\n"


def load(folder: Path, text: str | bytes) -> Any:
    file = folder / "study.yaml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return load_study(file)


def refusal(folder: Path, text: str | bytes) -> str:
    with pytest.raises(StudyError) as caught:
        load(folder, text)
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True), ("False", False), ("yes", "yes"), ("no", "no"), ("on", "on"), ("off", "off"), ("y", "y"),
        ("", None), ("~", None), ("null", None), ("NA", "NA"), ("none", "none"),
        ("12", 12), ("-7", -7), ("0o17", 15), ("0x1F", 31), ("017", 17), ("1_000", "1_000"), ("12:30:00", "12:30:00"),
        ("1.5", 1.5), (".5", 0.5), ("1e3", 1000.0), ("1.", 1.0), ("2020-01-01", "2020-01-01"), ("²", "²"), ("٣", "٣"),
        ("-.inf", float("-inf")), ("-", "-"), (".", "."), ("1e", "1e"), ("9" * 5000, "9" * 5000),
    ],
)  # fmt: skip
def test_a_plain_scalar_means_what_the_core_schema_says(text: str, value: object) -> None:
    read = core_value(text)
    assert read == value
    assert type(read) is type(value)


def test_not_a_number_is_a_float() -> None:
    assert repr(core_value(".nan")) == "nan"


def test_where_a_name_is_expected_everything_stays_text(tmp_path: Path) -> None:
    study = load(
        tmp_path,
        HEAD + "conditions: [01, 1.0, no, NA, true, {name: 1e3, label: 007}, 0x10]\n"
        "design: {always: [1.0, no]}\n"
        "before: [{id: 1, text: 2, type: single, options: [yes, no, 3.10], correct: [3.10]}]\n",
    )
    assert [c.name for c in study.conditions] == ["01", "1.0", "no", "NA", "true", "1e3", "0x10"]
    assert study.conditions[5].label == "007"
    assert study.design.always == ("1.0", "no")
    assert study.before[0].options == ("yes", "no", "3.10")
    assert (study.before[0].id, study.before[0].text, study.before[0].correct) == ("1", "2", ("3.10",))


def test_what_is_kept_verbatim_follows_the_core_schema(tmp_path: Path) -> None:
    study = load(
        tmp_path, HEAD + 'source: {a: 0x1F, b: 12:30:00, c: on, d: "1", e: [~, 1.5, true], 1: f, g: !!str 5}\n'
    )
    assert study.source == {
        "a": 31, "b": "12:30:00", "c": "on", "d": "1", "e": [None, 1.5, True], "1": "f", "g": "5",
    }  # fmt: skip


def test_anchors_and_aliases_are_fine(tmp_path: Path) -> None:
    study = load(
        tmp_path,
        HEAD + "questions:\n"
        "  - {id: a, text: First, scale: &wide {min: 0, max: 10, look: slider}}\n"
        "  - {id: b, text: Second, scale: *wide}\n",
    )
    assert study.questions[0].scale == study.questions[1].scale


def test_a_question_mark_may_end_a_plain_text_inside_braces(tmp_path: Path) -> None:
    study = load(tmp_path, HEAD + "questions: [{id: a, text: Is it good?, scale: acr5}, {text: Why? And how, id: b}]\n")
    assert [q.text for q in study.questions] == ["Is it good?", "Why? And how"]


def test_a_byte_order_mark_and_windows_lines_are_fine(tmp_path: Path) -> None:
    assert load(tmp_path, b"\xef\xbb\xbf" + HEAD.replace("\n", "\r\n").encode()).name == "tiny"


def test_a_folder_means_the_study_in_it(tmp_path: Path) -> None:
    load(tmp_path, HEAD)
    assert load_study(tmp_path).folder == tmp_path


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(StudyError) as caught:
        load_study(tmp_path / "nothing.yaml")
    assert str(caught.value) == (
        f"{tmp_path / 'nothing.yaml'}  is not there. Allowed: a study file or its folder. "
        "Give the path of a study, or start one with `beholder new METHOD FOLDER`."
    )


def test_a_folder_without_a_study_is_named(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"study\.yaml  is not there"):
        load_study(tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "study.yaml:1  is empty. Allowed: a map of keys. Start with `beholder new METHOD FOLDER`."),
        ("# only words\n", "study.yaml:1  is empty. Allowed: a map of keys. Start with `beholder new METHOD FOLDER`."),
        ("- a\n- b\n", "study.yaml:1  holds a list. Allowed: a map of keys such as `title: Video quality`."),
        ("hello\n", "study.yaml:1  holds one value. Allowed: a map of keys such as `title: Video quality`."),
        (b"name: caf\xe9\n", "study.yaml:1  is not UTF-8. Allowed: UTF-8. Save the file as UTF-8."),
        ("a: 1\nb: \x07\n", "study.yaml:2  holds the character 0x07. Allowed: printable text."),
        ("a:\n\tb: 1\n", "study.yaml:2  is indented with a tab. Allowed: spaces. Replace the tab by spaces."),
        ("a: *x\n", "study.yaml:1  uses an alias that stands nowhere: found undefined alias 'x'. "
                    "Allowed: aliases of anchors further up."),
        ("a: 1\n---\nb: 2\n", "study.yaml:2  begins a second document. Allowed: one document. Take the line --- out."),
        ("title: How: much\n", "study.yaml:1  has a colon where no key can be. "
                               'Allowed: one key and one value in a line. Put a text that holds ": " in quotes.'),
        ("a: [1, 2\nb: 3\n", "study.yaml:2  is not YAML: expected ',' or ']', but got ':' "
                             "(while parsing a flow sequence). Allowed: YAML. Look at this line and the one above it."),
        ("a: &a [*a]\n", "study.yaml:1  holds an alias of a value that contains it. "
                         "Allowed: aliases of finished values."),
        ("a: " + "[" * 60 + "]" * 60, "study.yaml:1  is nested deeper than 50 levels. Allowed: at most 50 levels."),
        ('a: "\\UFFFFFFFF"\n', "study.yaml:1  holds an escape that is no character. "
                               "Allowed: escapes such as \\n and \\u00e9."),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_explained(tmp_path: Path, text: str | bytes, message: str) -> None:
    assert refusal(tmp_path, text) == message


def test_a_duplicate_key_names_both_lines(tmp_path: Path) -> None:
    assert refusal(tmp_path, HEAD + "design: {seed: 2}\ntitle: Other\n") == (
        "study.yaml:7  title is written twice, in lines 3 and 7. Allowed: every key once. Keep one of them."
    )


def test_duplicate_keys_are_told_together_with_other_problems(tmp_path: Path) -> None:
    lines = refusal(tmp_path, HEAD + "design: {seed: 2, seed: 3, trials: 0}\n").splitlines()
    assert lines == [
        "study.yaml:6  seed is written twice, in lines 6 and 6. Allowed: every key once. Keep one of them.",
        "study.yaml:6  design.trials is 0. Allowed: a whole number, 1 to 10,000.",
    ]


def test_a_tag_is_refused(tmp_path: Path) -> None:
    assert refusal(tmp_path, HEAD + "source: !!python/name:os.system x\n") == (
        "study.yaml:6  has the tag !!python/name:os.system. Allowed: plain values without tags. Take the tag out."
    )


def test_a_key_has_to_be_a_word(tmp_path: Path) -> None:
    assert refusal(tmp_path, HEAD + "source: {[a]: b}\n") == (
        "study.yaml:6  has a list or a map as a key. Allowed: plain words as keys."
    )


def test_two_escapes_of_json_are_one_character(tmp_path: Path) -> None:
    assert load(tmp_path, HEAD + 'source: "\\ud83d\\ude00"\n').source == "\U0001f600"


def test_half_a_character_is_refused(tmp_path: Path) -> None:
    assert refusal(tmp_path, HEAD + 'source: "\\ud800"\n') == (
        "study.yaml:6  holds half of a character, by an escape. Allowed: whole characters."
    )


def test_aliases_of_aliases_do_not_explode(tmp_path: Path) -> None:
    text = HEAD + "source:\n  a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
    for level in range(1, 12):
        text += f"  a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 10)}]\n"
    assert refusal(tmp_path, text) == (
        "study.yaml:1  expands to more than 100000 values by its aliases. Allowed: aliases of small values."
    )


def test_a_very_large_file_is_refused(tmp_path: Path) -> None:
    assert refusal(tmp_path, "#" * 1_000_001) == "study.yaml  has 1000001 bytes. Allowed: at most 1000000 bytes."


def test_a_merge_key_is_not_yaml_1_2(tmp_path: Path) -> None:
    assert refusal(tmp_path, HEAD + "design:\n  <<: {seed: 3}\n") == (
        "study.yaml:7  design.<< is a merge, which YAML 1.2 does not have. Allowed: keys. Write the keys out."
    )


def test_the_document_knows_the_line_of_every_place(tmp_path: Path) -> None:
    load(tmp_path, HEAD + "questions:\n  - id: a\n    text: b\n")
    document = read_document(tmp_path)
    assert document.line(("questions", 0, "text")) == 8
    assert document.line(("questions", 0, "scale", "min")) == 7
    assert document.line(("nothing",)) == 1
