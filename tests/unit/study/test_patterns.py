"""Patterns that a researcher writes: the language of regular expressions, with an end."""

from __future__ import annotations

import pytest

from beholder.study.patterns import LONGEST_PATTERN, Pattern, PatternError, PatternTimeout

SLOW = r"((x|xx)+)(?!.*x)\b(?<=y)"
"""It tries every way to write sixty letters as ones and twos."""


def test_a_pattern_names_the_groups_of_a_whole_name() -> None:
    pattern = Pattern(r"(?P<content>[^_]+)_(?P<condition>.+?)(?:_(?P<view>\d))?")
    assert pattern.groups == ("content", "condition", "view")
    assert pattern.match("city_high") == {"content": "city", "condition": "high", "view": ""}
    assert pattern.match("city") is None


def test_a_pattern_that_would_take_years_is_stopped() -> None:
    with pytest.raises(PatternTimeout):
        Pattern(SLOW).match("x" * 60)


@pytest.mark.parametrize("text", ["(", "a{3", "(?P<a>x)(?P<a", "a" * (LONGEST_PATTERN + 1), "a{99999999999}"])
def test_what_is_no_pattern_is_told(text: str) -> None:
    if text == "a{3":
        assert Pattern(text).match("a{3") == {}  # as in Python, an open brace is a letter
    else:
        with pytest.raises(PatternError):
            Pattern(text)
