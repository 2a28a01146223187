"""Comparisons with earlier answers: which hold, and what is wrong with the others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from beholder.study.earlier_answers import as_public, is_asked, read_comparison, written_parts
from beholder.study.questionnaire import Ask
from support.study_texts import HEAD, load, refusal

ASKS = {
    ask.id: ask
    for ask in (
        Ask(id="field", text="?", type="single", options=("yes", "*no*")),
        Ask(id="uses", text="?", type="multiple", options=("phone", "a TV set")),
        Ask(id="age", text="?", type="number", min=18, max=120),
        Ask(id="ease", text="?", type="likert"),
        Ask(id="town", text="?", type="text"),
    )
}
HOLDS: list[tuple[str, Any, bool]] = [
    ("field = yes", "yes", True), ("field = no", "yes", False), ("field != no", "yes", True),
    ("field != no", None, False),
    ("uses has a TV set", ["phone", "a TV set"], True), ("uses has phone", ["a TV set"], False),
    ("uses lacks phone", ["a TV set"], True), ("uses lacks phone", None, False),
    ("age >= 40", 40, True), ("age>40", 40, False), ("age < 40.5", 40, True), ("age <= 39", 40, False),
    ("ease = Agree", 4, True), ("ease >= 4", 3, False), ("ease != 4", 3, True),
]  # fmt: skip


@pytest.mark.parametrize(("text", "answer", "holds"), HOLDS)
def test_a_comparison_holds_of_fitting_answers_and_never_of_none(text: str, answer: Any, holds: bool) -> None:
    comparison = read_comparison(text, ASKS)
    assert comparison is not None
    assert comparison.holds(answer) is holds
    assert is_asked([as_public(comparison)], {comparison.question: answer}) is holds


def test_what_names_no_question_or_has_no_sign_is_no_comparison() -> None:
    assert read_comparison("height > 3", ASKS) is None
    assert [written_parts(text) for text in ("age", "age >", "has phone", "a b = c")] == [None] * 4
    assert written_parts("uses has a TV set") == ("uses", "has", "a TV set")


ITEMS = """\
before:
  - {id: field, text: F, type: single, options: ["yes", "no"], correct: ["no"]}
  - {id: age, text: A, type: number, min: 18, max: 120}
  - {id: glasses, text: G, type: likert, when: field = no}
  - {id: lenses, text: L, type: likert, when: [age > 300, ag > 20, nonsense, eased = 1]}
during:
  - {id: town, text: T, type: text, every: trial}
  - {id: uses, text: U, type: multiple, options: [a, b], every: 4, when: field = noo}
  - {id: hard, text: H, type: likert, every: trial, when: town = Bath}
after:
  - {id: eased, text: E, type: likert, when: uses = a}
  - {id: rest, text: R, type: likert, when: 5}
"""


def test_every_wrong_comparison_is_told_with_its_line_and_what_is_allowed(tmp_path: Path) -> None:
    first = HEAD.count("\n") + 1
    assert refusal(tmp_path, HEAD + ITEMS) == [
        f"study.yaml:{first + line}  {what}"
        for line, what in (
            (3, "before.2.when compares field on the same page, whose right answers no browser may know. Allowed: "
                "questions without correct, or of an earlier page. Take it out: who goes on was right."),
            (4, "before.3.when.0 compares age with 300, which is no answer to it. Allowed: a number, 18 to 120."),
            (4, "before.3.when.1 compares ag, which no question is called. Allowed: field, age or glasses. "
                "Did you mean age?"),
            (4, "before.3.when.2 is 'nonsense', which is not a comparison. Allowed: id, sign and value, as field = no, "
                "age >= 40 or devices has phone."),
            (4, "before.3.when.3 compares eased, which is not asked before it. Allowed: field, age or glasses."),
            (7, "during.1.when compares field with noo, which is no answer to it. Allowed: yes, no. Did you mean no?"),
            (8, "during.2.when compares town, an answer in people's own words. Allowed: questions of another type."),
            (10, "after.0.when compares uses by =. Allowed: has or lacks with type multiple. Write uses has a."),
            (11, "after.1.when is 5. Allowed: a comparison with an earlier answer, or a list of them: field = no, "
                 "age >= 40 or devices has phone."),
        )
    ]  # fmt: skip


def test_an_item_that_is_wrong_itself_is_told_once(tmp_path: Path) -> None:
    items = "before: [{id: a, text: A, type: single}, {id: b, text: B, type: likert, when: a = x}]\n"
    assert len(refusal(tmp_path, HEAD + items)) == 1


RECURRING = [
    ("{id: a, text: A, type: likert}", "during.0.every is missing. Allowed: trial, break, content, or after how many "
     "trials, such as 4."),
    ("{id: a, text: A, type: likert, every: sometimes}", "during.0.every is sometimes. Allowed: trial, break, content, "
     "or after how many trials, such as 4."),
    ("{id: a, text: A, type: likert, every: 0}", "during.0.every is 0. Allowed: trial, break, content, or after how "
     "many trials, such as 4."),
    ("{id: a, text: A, type: likert, every: break}", "during.0.every is break, and the study has no breaks. Allowed: "
     "trial, content, or a number of trials. Write design.breaks, after how many trials."),
    ("{id: a, text: A, type: single, options: [x, y], correct: [x], every: trial}", "during.0.correct is written, and "
     "who has begun to rate is not turned away. Ask it in before, or have a check judge."),
    ("{id: a, text: A, type: likert, every: trial, play: true}", "during.0.play has no file. Allowed: true beside "
     "file. Name the file, or take it out."),
    ("{id: a, text: A, type: likert, every: trial, file: ../a.png}", "during.0.file is ../a.png, outside the study "
     "folder. Allowed: a path inside the study folder, with / between folders. Move it into the study folder."),
]  # fmt: skip


@pytest.mark.parametrize(("item", "what"), RECURRING)
def test_what_is_wrong_with_an_item_between_trials_is_told(tmp_path: Path, item: str, what: str) -> None:
    assert refusal(tmp_path, f"{HEAD}during: [{item}]\n") == [f"study.yaml:{HEAD.count(chr(10)) + 1}  {what}"]


def test_an_item_before_or_after_the_trials_comes_once(tmp_path: Path) -> None:
    item = "after: [{id: a, text: A, type: likert, every: trial}]\n"
    assert refusal(tmp_path, HEAD + item)[0].endswith(
        "after.0.every is for questions between trials. Move the item to during, or take it out."
    )


def test_ids_are_unique_over_all_questionnaires(tmp_path: Path) -> None:
    items = "before: [{id: a, text: A, type: likert}]\nduring: [{id: a, text: A, type: likert, every: trial}]\n"
    assert refusal(tmp_path, HEAD + items)[0].endswith(
        "during.0.id is a, as is before.0.id. Allowed: every id once. Rename or remove one."
    )


def test_one_comparison_needs_no_list(tmp_path: Path) -> None:
    items = "before: [{id: a, text: A, type: likert}, {id: b, text: B, type: likert, when: a >= 4}]\n"
    assert load(tmp_path, HEAD + items).before[1].when == ("a >= 4",)
