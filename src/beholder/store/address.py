"""Addresses of stores, as they may be shown."""

from __future__ import annotations

from urllib.parse import urlsplit


def name_of(url: str) -> str:
    """Return an address without user and password; a folder as it is."""
    if not url.startswith(("postgresql://", "postgres://")):
        return url
    parts = urlsplit(url)
    return f"postgresql://{parts.hostname or ''}{f':{parts.port}' if parts.port else ''}{parts.path}"
