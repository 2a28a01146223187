"""Lists of Prolific, page after page until nothing new comes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

from beholder.recruit.contract import PlatformRefused
from beholder.recruit.prolific.client import Client

_PAGE = 100


async def paged(client: Client, path: str, **query: str) -> AsyncIterator[Mapping[str, Any]]:
    """Yield what a list shows; what moved while it was read may come twice."""
    seen: set[str] = set()
    page = 1
    while True:
        try:
            listed = (await client.get(path, page=page, page_size=_PAGE, **query))["results"]
        except PlatformRefused:
            if page == 1:
                raise
            return  # there are lists that refuse a page beyond their last one
        if seen.issuperset(str(one["id"]) for one in listed):
            return
        for one in listed:
            seen.add(str(one["id"]))
            yield one
        page += 1
