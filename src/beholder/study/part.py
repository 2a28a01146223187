"""What every part of a study is made of."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Annotated

from pydantic import BaseModel, ConfigDict, StringConstraints

from beholder.study.kind import Says

SLUG = r"^[a-z0-9][a-z0-9_-]{0,63}$"
SLUG_WORDS = "up to 64 small letters, digits, - and _, beginning with a letter or digit"
Slug = Annotated[str, StringConstraints(pattern=SLUG), Says(SLUG_WORDS)]
Text = Annotated[str, StringConstraints(min_length=1, pattern=r"\S"), Says("text that is not empty")]
SPAN = r"^[1-9][0-9]{0,5} ?(s|min|h|d)$"
Span = Annotated[
    str,
    StringConstraints(pattern=SPAN),
    Says("a time such as 30 min, 12 h or 30 d"),
]
_SECONDS = {"s": 1, "min": 60, "h": 3600, "d": 86400}


class Part(BaseModel):
    """Base of every part of a study: frozen, and unknown keys are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, allow_inf_nan=False)


def span(text: str) -> timedelta:
    """Return the time that a span such as `30 min` means."""
    found = re.fullmatch(r"([0-9]+) ?([a-z]+)", text)
    assert found is not None, text
    return timedelta(seconds=int(found[1]) * _SECONDS[found[2]])
