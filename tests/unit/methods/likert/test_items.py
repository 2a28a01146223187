"""The ready-made sets of statements."""

from __future__ import annotations

import pytest

from beholder.methods.likert.items import ITEM_SETS
from support.likert_items import asked


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
