"""The ready-made sets of statements."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from beholder.errors import StudyError
from beholder.methods import find, load_study
from beholder.methods.contract import Question
from beholder.methods.likert.items import ITEM_SETS, ItemWording, origin_of, same_words, statement_digest
from beholder.study.serialization import resolved_yaml
from support.likert_items import asked
from support.method_studies import make_study, problems


def test_statements_have_labels_and_reversed_ones_a_name_for_their_turned_scores() -> None:
    names = {one.id: (one.label, one.turned) for one in (*asked("avatar-a"), *asked("avatar-b"), *asked("sync"))}
    assert names["like"] == ("Affinity", None)
    assert names["facialexpressions"] == ("Emotion accuracy", None)
    assert {label: turned for label, turned in names.values() if turned} == {
        "Creepy": "Not creepy", "Delay": "No delay",
    }  # fmt: skip
    own = [{"id": "creepy", "text": "It is eerie.", "label": "Eerie"}, {"id": "like", "text": "I like it."}]
    names = {one.id: (one.label, one.turned) for one in asked("avatar-a", questions=own)}
    assert (names["creepy"], names["like"]) == (("Eerie", "Not creepy"), ("Affinity", None))
    calm = [{"id": "creepy", "text": "It puts me at ease.", "keyed": "+", "label": "Ease"}]
    assert [(one.label, one.turned) for one in asked("avatar-a", questions=calm) if one.id == "creepy"] == [
        ("Ease", None)
    ]


def test_avatar_a_has_its_eight_dimensions_and_one_is_reversed() -> None:
    assert [(question.id, question.keyed) for question in asked("avatar-a")] == [
        ("realistic", "+"), ("trust", "+"), ("comfortableusing", "+"), ("comfortableinteracting", "+"),
        ("appropriate", "+"), ("creepy", "-"), ("formal", "+"), ("like", "+"),
    ]  # fmt: skip


def test_the_other_sets_have_their_statements() -> None:
    assert [question.id for question in asked("avatar-b")] == ["lookslike", "facialexpressions"]
    named = asked("avatar-b", options={"extra": ["gesture_acc"]})
    assert [question.id for question in named] == ["lookslike", "facialexpressions", "gesture_acc"]
    assert [question.id for question in asked("avatar-short")] == ["realistic", "lookslike", "facialexpressions"]
    assert [(question.id, question.keyed) for question in asked("sync")] == [
        ("lips", "+"), ("body", "+"), ("delay", "-"),
    ]  # fmt: skip
    tokens = asked("problem-token")
    assert [question.id for question in tokens] == ["picture", "sound"]
    assert all(len(question.ticks) > 5 and "Something else" in question.ticks[-1] for question in tokens)


@pytest.mark.parametrize("name", ITEM_SETS)
def test_every_statement_of_a_set_is_a_sentence_said_once(name: str) -> None:
    questions = asked(name)
    assert len({question.text for question in questions}) == len(questions)
    for question in questions:
        assert question.text[0].isupper()
        assert question.text[-1] == "."
        assert [text for _, text in question.scale.labels] == [
            "Strongly disagree", "Disagree", "Neutral", "Agree", "Strongly agree",
        ]  # fmt: skip


# The wording of a set

STUDY = """
beholder: 1
name: avatars
title: Avatars
method: likert
options: {items: avatar-a, wording: wording.yaml}
stimuli: stimuli
"""
WORDING = """
source: Somebody (2020)
scenario: Think of a call.
statements:
  realistic: It is **realistic**.
  lookslike: They look alike.
"""


def load(folder: Path, wording: str | None = WORDING, study: str = STUDY) -> Any:
    (folder / "study.yaml").write_text(study, "utf-8")
    if wording is not None:
        (folder / "wording.yaml").write_text(wording, "utf-8")
    return load_study(folder / "study.yaml")


def refused(folder: Path, wording: str | None, study: str = STUDY) -> list[str]:
    with pytest.raises(StudyError) as error:
        load(folder, wording, study)
    return [str(problem) for problem in error.value.problems]


def test_statements_of_a_file_take_the_place_of_ours_and_stay_in_the_study(tmp_path: Path) -> None:
    study = load(tmp_path)
    texts = {one.id: one.text for one in find("likert").questions(study)}
    assert texts["realistic"] == "It is **realistic**."
    assert texts["creepy"] == "Something about this appearance makes me uneasy."
    assert "lookslike" not in texts  # of another set: one file serves several
    # What is kept with every session has the words themselves: a file may change later.
    (tmp_path / "again.yaml").write_text(resolved_yaml(study), "utf-8")
    (tmp_path / "wording.yaml").unlink()
    assert load_study(tmp_path / "again.yaml").options == study.options


def test_a_question_of_the_study_has_the_last_word() -> None:
    options = {"items": "avatar-a", "wording": {"statements": {"creepy": "It is odd."}}}
    study = make_study("likert", options=options, questions=[{"id": "creepy", "text": "It is eerie."}])
    assert {one.id: one.text for one in find("likert").questions(study)}["creepy"] == "It is eerie."


@pytest.mark.parametrize(
    ("wording", "said"),
    [
        (None, "study.yaml:6 options.wording is wording.yaml, which is not in the study folder. Allowed: a YAML file "
               "in the study folder, or {source, scenario, statements}."),
        ("statements: {realistc: Real.}", "wording.yaml:1 statements.realistc is not the id of an item. Allowed: "
                                          "realistic, trust,"),
        ("statements: {}", "wording.yaml:1 statements is empty. Allowed: a text for one item at least."),
        ("source: x", "wording.yaml:1 statements is missing."),
        ("- a", "wording.yaml:1 holds a list. Allowed: a map of keys"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_used_is_told_with_its_line(tmp_path: Path, wording: str | None, said: str) -> None:
    (told,) = refused(tmp_path, wording)
    assert said in " ".join(told.split())


def test_a_file_outside_the_study_folder_is_refused(tmp_path: Path) -> None:
    (told,) = refused(tmp_path, None, STUDY.replace("wording: wording.yaml", "wording: ../wording.yaml"))
    assert "options.wording is ../wording.yaml, outside the study folder." in told


def test_a_wording_without_a_set_or_for_another_one_is_a_problem() -> None:
    words = {"statements": {"lips": "In time."}}
    without = make_study("likert", options={"wording": words})
    assert [str(one) for one in problems(without)] == [
        "options.wording has words for item sets, and options.items is left out. Allowed: avatar-a, avatar-b, "
        "avatar-short, sync, problem-token."
    ]
    other = make_study("likert", options={"items": "avatar-a", "wording": words}, questions=None)
    assert "options.wording has no statement of items: avatar-a. Allowed: realistic, trust," in str(problems(other)[0])


def test_the_report_tells_ours_published_and_own_words_apart() -> None:
    wording = {"source": "Somebody (2020)", "statements": {"realistic": "It is real.", "lookslike": "Alike."}}
    study = make_study("likert", options={"items": "avatar-short", "wording": wording}, questions=None)
    by_id = {one.id: one for one in find("likert").questions(study)}

    def origin(name: str, text: str) -> str:
        return origin_of(study, by_id[name], text)

    assert origin("facialexpressions", by_id["facialexpressions"].text) == "Our wording."
    assert origin("lookslike", "Alike.") == "The published wording of Somebody (2020)."
    assert origin("lookslike", "Much alike.") == "The study's own wording."
    # The paper has this statement, and it is another one: a file cannot claim what it does not hold.
    assert origin("realistic", "It is real.") == (
        "The study's own wording, not the published one, although its file names Somebody (2020)."
    )
    published = " ".join(["This", "representation", "is", "**realistic**."])
    assert origin("realistic", published) == "The published wording."
    plain = make_study("likert")
    assert origin_of(plain, Question(id="quality", text="?"), "?") == ""


def test_words_are_the_same_whatever_their_signs() -> None:
    assert same_words("This is **real**, isn't it?", "this is real isnt it")
    assert not same_words("It is real.", "It is not real.")
    assert statement_digest("It is *real*.") == statement_digest("It is real")
    assert ItemWording(statements={"trust": "x"}).source is None
