"""Lists of the fake, page by page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from beholder.recruit.fake.answers import Call, Refusal


def paged(found: Sequence[Any], call: Call, size: int = 20) -> list[Any]:
    """Return the page that was asked for; beyond the last one there is nothing."""
    size, page = int(call.query.get("page_size", size)), int(call.query.get("page", 1))
    if size < 1 or page < 1:
        raise Refusal("page and page_size must be 1 at least.")
    return list(found[(page - 1) * size : page * size])
