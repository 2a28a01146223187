"""What a report says of the views of a study."""

from __future__ import annotations

from typing import Any

import pytest

from beholder.reporting.views import view_words
from support.method_studies import make_study

SIDE, FLIP = "side by side at the same time", "in one place, of which one was shown at a time"
WIPE = "in one place, with a line between them that could be moved"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, None),
        ({"view": "flip"}, f"The two were looked at {FLIP}"),
        (
            {"view": ["wipe", "side-by-side"], "magnifier": True},
            f"The two were looked at {WIPE} or {SIDE}, as people chose, the first to begin with, "
            "and a magnifier showed the pixels of the files",
        ),
        (
            {"view": {"within": ["flip", "wipe"]}},
            f"Each person looked at the two in 2 ways, one in each trial: {FLIP} and {WIPE}",
        ),
    ],
)
def test_the_methods_section_names_the_views(options: dict[str, Any], words: str | None) -> None:
    assert view_words(make_study("pair", options=options)) == words


def test_views_between_groups_are_told_by_group() -> None:
    levels = {"turn": {"options": {"view": "flip"}}, "line": {"options": {"view": "wipe"}}}
    study = make_study("pair", design={"participants": 6, "trials": 2, "between": {"look": levels}})
    assert view_words(study) == (
        f"How the two were looked at was different by group (turn: The two were looked at {FLIP}; "
        f"line: The two were looked at {WIPE})"
    )
