"""ab: two conditions, no more and no fewer."""

from __future__ import annotations

from support.method_studies import make_study, problems


def test_ab_compares_two_conditions() -> None:
    assert problems(make_study("ab", ["a", "b", "c"])) == [
        "conditions are 3, and ab compares two. Allowed: two conditions. For all pairs of more, use method: pair."
    ]
