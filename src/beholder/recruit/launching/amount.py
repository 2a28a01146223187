"""The amount that somebody names to say that they have seen it."""

from __future__ import annotations

import re

from beholder.errors import Problem, RecruitError
from beholder.study.money import Sum, money


def named(text: str, example: Sum) -> Sum:
    """Return the amount that a text such as `54.00 GBP` or `54 gbp` names, or raise RecruitError."""
    found = re.fullmatch(r"\s*([0-9]{1,7}(?:\.[0-9]{2})?)\s*([A-Za-z]{3})\s*", text)
    if found is None:
        raise RecruitError(Problem("--publish", f'is "{text}"', f'an amount and its currency, such as "{example}"'))
    return money(f"{found[1]} {found[2].upper()}")
