"""Transcripts: found by content or condition, split into words, and refused with their place where they do not fit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from beholder.methods import load_study
from beholder.methods.contract import Study
from beholder.methods.transcripts import bare_word, split_words, transcript_hash, transcript_of
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
        ({**FILES, "one.csv": "word,start,end\nA,0,9\n"}, "ends at 9 s, and its clip lasts 3 s. Allowed: times in "
         "seconds, within the clip."),
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
