"""Which values a field of the study takes, and how a message names them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from beholder.study.value_kinds import Allowed, field_kind, kind_of


class Options(BaseModel):
    """A model with one field of each kind."""

    count: int = Field(default=1, ge=1, le=10)
    share: float = Field(default=0.5, gt=0)
    side: Literal["left", "right"] = "left"
    is_on: bool = True
    names: tuple[str, ...] = ()
    day: Annotated[str, Allowed("a day such as 2027-01-31")] = ""
    free: Any = None


@pytest.mark.parametrize(
    ("field", "words"),
    [
        ("count", "a whole number, 1 to 10"),
        ("share", "a number above 0"),
        ("side", "left or right"),
        ("is_on", "true or false"),
        ("names", "a list"),
        ("day", "a day such as 2027-01-31"),
        ("free", ""),
    ],
)
def test_a_field_says_in_words_what_it_takes(field: str, words: str) -> None:
    assert field_kind(Options.model_fields[field]).words() == words


def test_a_name_stays_text_and_a_section_may_be_left_empty() -> None:
    assert kind_of(str).wants_text
    assert not kind_of(str | float).wants_text
    assert kind_of(Options).is_container
    assert not kind_of(bool | Options).is_container
