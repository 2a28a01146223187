"""A study on Prolific with screen-outs and a budget."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from support.recruit_context import ON_PROLIFIC


def screening(setup: Any, posting: str) -> Callable[[int], None]:
    """Return a function that adds screen-outs."""
    codes = setup.fake.studies.find(posting).body["completion_codes"]
    out = next(one["code"] for one in codes if one["code_type"] == "SCREENED_OUT")

    def turn_away(people: int) -> None:
        for _ in range(people):
            setup.fake.people.take(posting).start().finish(out)

    return turn_away


SCREENED = ON_PROLIFIC | {"screen_out": "0.30 GBP"}


NO_MORE = (
    "budget is 12.50 GBP, and with one more who does not fit the study may cost 12.85 GBP. Allowed: 12.85 GBP or more. "
    "Nobody was let in again. Raise it, or end here: `beholder close`."
)
