"""What was found again of a study that another one repeats."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pandas as pd

from beholder.comparison.contrasts import COLUMNS
from beholder.comparison.replication import repetitions, replication, replication_words
from support.compared_sides import found_of, ratings


def contrast(pair: str, clear: float, other_clear: float, *, same: float = 1.0) -> list[object]:
    return [
        "quality",
        pair[0],
        pair[1],
        "one",
        "again",
        5.0,
        4.0 if same else -4.0,
        0.01,
        0.02,
        clear,
        other_clear,
        same,
        "",
    ]


def test_each_difference_gets_its_verdict_whichever_side_was_named_first(tmp_path: Path) -> None:
    sides = found_of(ratings(tmp_path / "one.csv", 1), ratings(tmp_path / "again.csv", 2)).sides.sides
    assert replication(sides, pd.DataFrame(columns=COLUMNS)) is None, "neither repeats the other"
    repeated = [sides[0], replace(sides[1], repeats=sides[0].name)]
    assert repetitions(repeated) == [("one", "again")]
    rows = [
        contrast("ab", 1, 1), contrast("ac", 1, 0), contrast("ad", 0, 1), contrast("bc", 0, 0),
        contrast("bd", 1, 1, same=0.0),
    ]  # fmt: skip
    found = replication(repeated, pd.DataFrame(rows, columns=COLUMNS))
    assert found is not None
    assert list(found.table["replication"]) == [
        "found again", "not clear again", "clear only again", "clear in neither", "clear the other way",
    ]  # fmt: skip
    assert replication_words(found) == (
        "again repeats one: of 3 clear differences, 1 found again; 1 is not clear again; 1 is clear the other way; "
        "1 is clear only now.",
    )
    turned = pd.DataFrame(rows, columns=COLUMNS).assign(side="again", other_side="one")
    swapped = replication(repeated[::-1], turned)
    assert swapped is not None
    assert list(swapped.table["replication"][1:3]) == ["clear only again", "not clear again"]
    assert replication_words(None) == ()


def test_a_study_without_a_clear_difference_leaves_nothing_to_find_again(tmp_path: Path) -> None:
    sides = found_of(ratings(tmp_path / "one.csv", 1), ratings(tmp_path / "again.csv", 2)).sides.sides
    repeated = [sides[0], replace(sides[1], repeats=sides[0].name)]
    found = replication(repeated, pd.DataFrame([contrast("ab", 0, 1)], columns=COLUMNS))
    assert replication_words(found) == ("again repeats one, in which no difference between conditions was clear.",)
