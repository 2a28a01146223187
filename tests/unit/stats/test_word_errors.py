"""Word errors: against counts by hand, and against a plain table of all alignments."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beholder.stats.word_errors import WordErrors, confusions, word_errors


def by_table(said: Sequence[str], heard: Sequence[str]) -> tuple[int, int, int, int]:
    """Return right, substituted, missed and added of the best alignment, from a table with a row for each word."""
    # (errors, -right, substituted, missed, added) of the best alignment of the first words of both
    table = [[(other, 0, 0, 0, other) for other in range(len(heard) + 1)]]
    for place, word in enumerate(said, 1):
        row = [(place, 0, 0, place, 0)]
        for other, typed in enumerate(heard, 1):
            errors, right, substituted, missed, added = table[place - 1][other - 1]
            both = (errors, right - 1, substituted, missed, added)
            swapped = (errors + 1, right, substituted + 1, missed, added)
            above, left = table[place - 1][other], row[other - 1]
            row.append(
                min(
                    both if word == typed else swapped,
                    (above[0] + 1, above[1], above[2], above[3] + 1, above[4]),
                    (left[0] + 1, left[1], left[2], left[3], left[4] + 1),
                )
            )
        table.append(row)
    _, right, substituted, missed, added = table[-1][-1]
    return -right, substituted, missed, added


@pytest.mark.parametrize(
    ("said", "heard", "counts"),
    [
        # words, right, substituted, missed, added, characters, character errors
        ("the small boat", "the small boat", (3, 3, 0, 0, 0, 12, 0)),
        ("the small boat", "the small goat", (3, 2, 1, 0, 0, 12, 1)),
        ("the small boat", "small boats there", (3, 1, 1, 1, 1, 12, 9)),
        ("the small boat", "", (3, 0, 0, 3, 0, 12, 12)),
        ("boat", "the very small boat", (1, 1, 0, 0, 3, 4, 12)),
        ("a b", "b a", (2, 1, 0, 1, 1, 2, 2)),  # two errors in any case: with one word right, not with two others
        ("", "one", (0, 0, 0, 0, 1, 0, 3)),
        ("", "", (0, 0, 0, 0, 0, 0, 0)),
    ],
)
def test_errors_are_those_that_are_counted_by_hand(said: str, heard: str, counts: tuple[int, ...]) -> None:
    assert word_errors(said.split(), heard.split()) == WordErrors(*counts)


WORDS = st.lists(st.sampled_from(["a", "b", "c", "ab", "abc"]), max_size=9)


@given(WORDS, WORDS)
def test_errors_are_those_of_the_best_of_all_alignments(said: list[str], heard: list[str]) -> None:
    found = word_errors(said, heard)
    assert (found.right, found.substituted, found.missed, found.added) == by_table(said, heard)
    assert found.errors == sum(by_table(said, heard)[1:])
    assert found.character_errors == sum(by_table("".join(said), "".join(heard))[1:])
    assert len(list(confusions(said, heard))) == found.errors


@given(WORDS.filter(bool), st.data())
def test_each_further_error_leaves_as_many_words_right_or_fewer(said: list[str], data: st.DataObject) -> None:
    heard, before = list(said), len(said)
    for place in data.draw(st.permutations(range(len(said)))):
        heard[place] = "another"
        right = word_errors(said, heard).right
        assert right == before - 1
        before = right
    assert before == 0


def test_a_confusion_is_what_was_said_and_what_was_heard() -> None:
    said, heard = ["she", "cut", "the", "white", "bread"], ["he", "cut", "white", "bread", "up"]
    assert list(confusions(said, heard)) == [("she", "he"), ("the", ""), ("", "up")]
