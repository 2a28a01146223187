"""Transcripts: found by content or condition, split into words, and refused with their place where they do not fit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from beholder.methods import load_study
from beholder.methods.contract import Study
from beholder.methods.transcripts import bare_word, compared_words, split_words, transcript_hash, transcript_of
from support.method_studies import QUESTION, make_catalogue, make_study
from support.method_studies import problems as problems_of

SENTENCE = "The small boat reached the harbour."
TIMES = "word,start,end\nThe,0.1,0.2\nboat.,0.2,0.9\n"


def study_in(folder: Path, files: dict[str, str]) -> Study:
    """Return a study in a folder with these transcripts."""
    for name, text in files.items():
        path = folder / "transcripts" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    written = {
        "beholder": 1, "name": "tiny", "title": "Tiny", "method": "word-select", "stimuli": "stimuli",
        "conditions": ["a", "b"], "questions": [QUESTION], "design": {"participants": 6, "trials": 2},
    }  # fmt: skip
    (folder / "study.yaml").write_text(json.dumps(written), "utf-8")
    return load_study(folder)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The “small” boat — reached (the) shore.", ["The ", "“small” ", "boat — ", "reached ", "(the) ", "shore."]),
        ("¿Qué tal?\n\nBien.", ["¿Qué ", "tal?\n", "Bien."]),
        ("don't  stop", ["don't ", "stop"]),
        ("שלום עולם, מה שלומך?", ["שלום ", "עולם, ", "מה ", "שלומך?"]),
        ("学生です。", ["学", "生", "で", "す。"]),
        (" ... ", []),
    ],
)
def test_a_text_is_split_into_words_in_every_script_and_nothing_of_it_is_lost(text: str, words: list[str]) -> None:
    assert list(split_words(text)) == words
    if words:
        assert "".join(words).split() == text.split() or "".join(words) == text.strip()


def test_a_bare_word_has_no_punctuation_around_it() -> None:
    assert [bare_word(word) for word in ("“small” ", "don't ", "3.5 %", "¿Qué ")] == ["small", "don't", "3.5", "Qué"]


def test_words_of_a_condition_come_before_those_of_the_content_and_times_before_plain_text(tmp_path: Path) -> None:
    files = {"one.txt": SENTENCE, "one.csv": TIMES, "b/one.txt": "Something else."}
    study, catalogue = study_in(tmp_path, files), make_catalogue(medium="audio")
    usual = transcript_of(study, catalogue.by_id["a/one"])
    assert (usual.words, usual.times) == (("The ", "boat. "), ((100, 200), (200, 900)))
    assert transcript_of(study, catalogue.by_id["b/one"]).words == ("Something ", "else.")


def test_words_may_overlap_and_the_heading_may_have_capitals(tmp_path: Path) -> None:
    study = study_in(tmp_path, {"one.csv": 'Word,Start,End\nso,0,0.9\n"and\n then",0.5,1\n'})
    read = transcript_of(study, make_catalogue(medium="audio").by_id["a/one"])
    assert (read.words, read.times) == (("so ", "and then "), ((0, 900), (500, 1000)))


def test_the_plan_changes_with_its_transcripts(tmp_path: Path) -> None:
    study = study_in(tmp_path, {"one.txt": SENTENCE})
    before = transcript_hash(study)
    (tmp_path / "transcripts" / "one.txt").write_text("Other words.", "utf-8")
    assert len({before, transcript_hash(study), transcript_hash(make_study("acr"))}) == 3


FILES = {"one.txt": SENTENCE, "two.txt": SENTENCE, "three.txt": SENTENCE}


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({}, "options.transcripts is transcripts, which is not there. Allowed: a folder in the study folder. Make the "
         "folder transcripts with a text for each content, such as transcripts/one.txt."),
        ({"one.txt": SENTENCE}, "options.transcripts is transcripts, which has no text of three, two. Allowed: a text "
         "for each content. Write transcripts/three.txt, or transcripts/three.csv with the time of every word."),
        ({**FILES, "one.txt": " — "}, "holds no words. Allowed: what is said in the clip. Write the text."),
        ({**FILES, "one.txt": "word " * 301}, "has 301 words. Allowed: up to 300. Cut the clip into parts."),
        ({**FILES, "one.csv": "a,b\n1,2\n"}, "begins with a,b. Allowed: a header line word,start,end, and a line for "
         "each word."),
        ({**FILES, "one.csv": "word,start,end\nA,1,0.5\n"}, "begins at 1 and ends at 0.5. Allowed: seconds from 0 on, "
         "the end after the start."),
        ({**FILES, "one.csv": "word,start,end\nA,x,1\n"}, "begins at x and ends at 1. Allowed: seconds from 0 on, the "
         "end after the start."),
        ({**FILES, "one.csv": "word,start,end\n-,0,1\n"}, "has no word in '-,0,1'. Allowed: a header line "
         "word,start,end, and a line for each word."),
        ({**FILES, "one.csv": "word,start,end\nA,0,9\nB,1,2\n"}, "ends at 9 s, and its clip lasts 3 s. Allowed: times "
         "in seconds, within the clip."),
        ({**FILES, "one.csv": "word,start,end\nA,0,1,2\n"}, "has 4 cells. Allowed: a header line word,start,end, and "
         "a line for each word."),
        ({**FILES, "one.txt": ""}, "holds no words. Allowed: what is said in the clip. Write the text."),
        ({**FILES, "one.txt": "a\nb\x1b[31m"}, "has the control character '\\x1b' in line 2. Allowed: text. Take it "
         "out: it cannot be read."),
        ({**FILES, "one.txt": 201 * "x"}, "has a word of 201 letters. Allowed: up to 200."),
    ],
)  # fmt: skip
def test_what_is_wrong_with_transcripts_is_told_with_what_is_allowed(
    tmp_path: Path, files: dict[str, str], said: str
) -> None:
    study = study_in(tmp_path, files)
    assert problems_of(study, make_catalogue(medium="audio")) == [said]


def test_a_transcript_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    study = study_in(tmp_path, FILES)
    (tmp_path / "transcripts" / "two.txt").write_bytes("Größe".encode("latin-1"))
    assert problems_of(study, make_catalogue(medium="audio")) == ["is not UTF-8. Allowed: UTF-8. Save it as UTF-8."]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Don’t PANIC: it's a well-known café!", "dont panic its a well known café"),
        ("我们走吧。 OK", "我 们 走 吧 ok"),
        ("مُحَمَّدٌ ذهبـ إلى", "محمد ذهب إلى"),
        ("שָׁלוֹם", "שלום"),
        ("می\u200cروم", "میروم"),
        ("ＡＢＣ１２ ﬁne Straße e\u0301te\u0301", "abc12 fine strasse été"),
        ("नमस्ते दुनिया", "नमस्ते दुनिया"),
        (" … — !? 🙂", ""),
    ],
)
def test_texts_are_compared_without_case_punctuation_and_ways_to_write_the_same(text: str, words: str) -> None:
    assert " ".join(compared_words(text)) == words
    assert compared_words(" ".join(compared_words(text))) == compared_words(text)
