"""Every leaf of a source has one fate, and the report lists neighbouring rows as one."""

from __future__ import annotations

from beholder.importing.provenance import UNREAD, Leaf, Provenance


def row(line: int) -> Leaf:
    return Leaf("votes.csv", "row", str(line), line)


def test_of_two_things_that_are_said_of_a_leaf_the_worse_stays() -> None:
    account = Provenance()
    for first, second in (("mapped", "broken"), ("broken", "mapped")):
        leaf = Leaf("a.yaml", "key", f"{first}.{second}")
        account.settle(leaf, first, "one")  # type: ignore[arg-type]
        account.settle(leaf, second, "two")  # type: ignore[arg-type]
    assert account.counts() == {"mapped": 0, "assumed": 0, "unsupported": 0, "broken": 2}


def test_what_nobody_has_looked_at_is_unsupported_with_its_value() -> None:
    account = Provenance()
    account.register(Leaf("a.yaml", "key", "odd", 4), 12, is_kept=True)
    account.register(Leaf("a.yaml", "key", "private"), "a name")
    account.close()
    assert account.entries("unsupported") == [
        {"file": "a.yaml", "key": "odd", "line": 4, "why": UNREAD, "value": 12},
        {"file": "a.yaml", "key": "private", "why": UNREAD},
    ]
    assert account.unsupported_values() == {"a.yaml#odd": 12}


def test_neighbouring_rows_with_the_same_words_are_listed_as_one() -> None:
    account = Provenance()
    for line in (2, 3, 4, 6):
        account.settle(row(line), "mapped", "rating")
    account.settle(row(7), "broken", "has 3 cells", "left out")
    assert account.entries("mapped") == [{"file": "votes.csv", "row": "2-6", "line": 2, "to": "rating"}]
    assert account.entries("broken")[0] == {
        "file": "votes.csv", "row": "7", "line": 7, "what": "has 3 cells", "done": "left out",
    }  # fmt: skip
    assert sum(account.counts().values()) == 5


def test_assumptions_and_doubts_are_told_once() -> None:
    account = Provenance()
    account.assume("design.participants", 20, "the source does not say")
    account.assume("design.participants", 20, "the source does not say")
    account.doubt("untouched", 2)
    account.doubt("untouched")
    assert len(account.assumptions) == 1
    assert account.notes == {"untouched": 3}
