"""Addresses in a manifest: fetched once into media/cache, with the hash of what came."""

from __future__ import annotations

import hashlib
import json
import uuid
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from beholder.errors import Problem, StimuliError
from beholder.stimuli.stripping import put_in_place

if TYPE_CHECKING:
    import httpx


def cached(address: str, cache: Path) -> Path | None:
    """Return the fetched file of an address, None when it is not there whole."""
    path = _place(address, cache)
    try:
        record = json.loads(_record(path).read_text(encoding="utf-8"))
        return path if record["address"] == address and record["bytes"] == path.stat().st_size else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def fetch(address: str, cache: Path, where: str, transport: httpx.BaseTransport | None = None) -> Path:
    """Return the file of an https address, fetched unless it is in the cache; raise StimuliError when it fails."""
    import httpx

    there = cached(address, cache)
    if there is not None:
        return there

    def only_https(request: httpx.Request) -> None:
        if request.url.scheme != "https":
            raise httpx.UnsupportedProtocol(f"it leads on to {request.url.scheme}://{request.url.host}")

    path = _place(address, cache)
    part = path.with_name(f".{path.stem}.{uuid.uuid4().hex}.part")
    digest = hashlib.sha256()
    size = 0
    try:
        cache.mkdir(parents=True, exist_ok=True)
        client = httpx.Client(
            transport=transport, follow_redirects=True, timeout=30, event_hooks={"request": [only_https]}
        )
        with client, client.stream("GET", address) as response, part.open("wb") as file:
            response.raise_for_status()
            for piece in response.iter_bytes():
                digest.update(piece)
                size += file.write(piece)
        put_in_place(part, path)
        record = {"address": address, "sha256": digest.hexdigest(), "bytes": size}
        _record(path).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    except httpx.HTTPStatusError as error:
        raise _unfetched(where, address, f"the server answers {error.response.status_code}") from error
    except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
        raise _unfetched(where, address, str(error) or type(error).__name__) from error
    finally:
        part.unlink(missing_ok=True)
    return path


def _place(address: str, cache: Path) -> Path:
    suffix = PurePosixPath(urlsplit(address).path).suffix.lower()
    return cache / (hashlib.sha256(address.encode()).hexdigest()[:32] + suffix)


def _record(path: Path) -> Path:
    return path.with_name(path.name + ".json")


def _unfetched(where: str, address: str, reason: str) -> StimuliError:
    fix = "Check the address, or put the file into the study folder."
    return StimuliError(Problem(where, f"{address} cannot be fetched: {reason}", fix=fix))
