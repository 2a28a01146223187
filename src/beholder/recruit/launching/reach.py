"""Whether people will reach the server, and find this study there."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from beholder.errors import Problem
from beholder.study.model import Study

if TYPE_CHECKING:
    import httpx

HERE = "http://127.0.0.1:8000"
"""Where `beholder serve` listens when nothing is said."""
_SECONDS = 10.0


def wrong_address(study: Study, url: str, *, is_rehearsal: bool = False) -> Iterator[Problem]:
    """Yield what is wrong with an address as such; in a rehearsal it may be of this machine."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        yield Problem("--public-url", f"is {url}", "an address that begins with https:// or http://")
    elif study.recruit.mode == "prolific" and not is_rehearsal:
        if parts.scheme != "https":
            fix = "Put the server behind a name with a certificate; docs/serving.md says how."
            yield Problem("--public-url", f"is {url}", "an address that begins with https://, as Prolific asks", fix)
        elif is_near(url):
            fix = "Name the address under which participants reach the server."
            yield Problem("--public-url", f"is {url}, which only this machine reaches", "a public address", fix)


def near_only(study: Study, url: str) -> Iterator[Problem]:
    """Yield that only this machine reaches an address, where others should."""
    if study.recruit.mode in ("panel", "link") and is_near(url):
        fix = "Name the address under which participants reach the server with --public-url."
        yield Problem("--public-url", f"is {url}, which only this machine reaches", "", fix)


def is_near(url: str) -> bool:
    """Return whether an address is of this machine."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


async def unreached(study: Study, url: str, transport: httpx.AsyncBaseTransport | None = None) -> list[Problem]:
    """Return why people would not find the study at an address: nothing answers, or something else does."""
    import httpx

    start = (
        f"Start `beholder serve --public-url {url}` and leave it running, or name another address with --public-url."
    )
    try:
        async with httpx.AsyncClient(timeout=_SECONDS, transport=transport, trust_env=not is_near(url)) as client:
            answer = await client.get(f"{url}/healthz")
            found = answer.json()
    except (httpx.HTTPError, httpx.InvalidURL):
        return [Problem(url, "does not answer", "", start)]
    except ValueError:
        return [Problem(url, "answers, and is no server of Beholder", "", start)]
    if not isinstance(found, dict) or "study" not in found or "store" not in found:
        return [Problem(url, "answers, and is no server of Beholder", "", start)]
    if found["study"] != study.name:
        return [Problem(url, f"serves the study {found['study']}, not {study.name}", "", start)]
    if found["store"] != "ready":
        return [Problem(url, "serves this study, and cannot write its store", "", "Look at what the server prints.")]
    return []
